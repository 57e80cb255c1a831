/* SPDX-License-Identifier: Apache-2.0 */

/* Manual pages in roff, written from the tables of commands: muster(1), muster-COMMAND(1) and muster-COMMAND-VERB(1). */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"

enum { OPTION_LIST };

static const struct command_option options[] = {
    [OPTION_LIST] = {0, "list", NULL, NULL, "list the commands and verbs that have a page, one per line"},
};

/* Text that roff prints as it is: dashes that can be copied, backslashes, and no line that looks like a request. */
static void print_escaped(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (i == 0 && (text[i] == '.' || text[i] == '\''))
            (void)fputs("\\&", stdout);
        if (text[i] == '\\')
            (void)fputs("\\e", stdout);
        else if (text[i] == '-')
            (void)fputs("\\-", stdout);
        else if (text[i] == '\'')
            (void)fputs("\\(aq", stdout);
        else
            (void)putchar(text[i]);
    }
}

static void print_text(const char *text)
{
    print_escaped(text, strlen(text));
}

/* A sentence of the table: it starts with a small letter and has no full stop. */
static void print_sentence(const char *text)
{
    (void)putchar(toupper((unsigned char)*text));
    print_text(text + 1);
    (void)puts(".");
}

/* Lines of their own: an empty one ends a paragraph, and what is indented stays as it is. */
static void print_paragraphs(const char *text)
{
    bool is_filled = true;

    while (*text) {
        size_t len = strcspn(text, "\n");
        bool keeps_lines = *text == ' ';

        if (len > 0 && keeps_lines == is_filled)
            (void)puts(keeps_lines ? ".PP\n.nf" : ".fi\n.PP");
        if (len > 0)
            is_filled = !keeps_lines;
        if (len == 0) {
            /* Lines that stay as they are begin with a paragraph of their own. */
            if (!is_filled || text[1] != ' ')
                (void)puts(is_filled ? ".PP" : "");
        } else {
            print_escaped(text, len);
            (void)putchar('\n');
        }
        text += len + (text[len] == '\n');
    }
    if (!is_filled)
        (void)puts(".fi");
}

/* "gpu\\-run" for "gpu run", as names of pages are; passed through `change`. */
static void print_page_name(const struct command *command, int (*change)(int c))
{
    for (const char *c = command->name; *c; c++) {
        if (*c == ' ')
            (void)fputs("\\-", stdout);
        else
            (void)putchar(change((unsigned char)*c));
    }
}

static int unchanged(int c)
{
    return c;
}

static void print_title(const struct command *command)
{
    (void)fputs(".\\\" Written by 'muster man'.\n.TH MUSTER", stdout);
    if (command) {
        (void)fputs("\\-", stdout);
        print_page_name(command, toupper);
    }
    (void)printf(" 1 \"\" \"muster %s\" \"Muster\"\n.SH NAME\n", muster_version);
}

static void print_examples(const struct command *command)
{
    for (const char *const *example = command->examples; example && *example; example++) {
        (void)puts(".nf\n.RS 4");
        print_text(*example);
        (void)puts("\n.RE\n.fi\n.sp");
    }
}

static void print_exit_status(void)
{
    (void)puts(".SH EXIT STATUS\n"
               ".TP\n.B 0\nSuccess.\n"
               ".TP\n.B 1\nThe command failed, or a required bound does not hold.\n"
               ".TP\n.B 2\nThe usage is wrong, or the input is invalid.\n"
               "One line on standard error says what is wrong, in which file and where in it.");
}

static void print_option(const struct command_option *option)
{
    (void)puts(".TP");
    if (option->short_name)
        (void)printf("\\fB\\-%c\\fR, ", option->short_name);
    (void)fputs("\\fB\\-\\-", stdout);
    print_text(option->long_name);
    (void)fputs("\\fR", stdout);
    if (option->value) {
        (void)fputs(" \\fI", stdout);
        print_text(option->value);
        (void)fputs("\\fR", stdout);
    }
    (void)putchar('\n');
    print_sentence(option->help);
}

static void print_options(const struct command *command)
{
    (void)puts(".SH OPTIONS");
    for (size_t i = 0; i < command_option_count(command); i++) {
        const struct command_option option = command_option_at(command, i);

        print_option(&option);
        if (*command_option_default(command, i)) {
            (void)fputs("Default: ", stdout);
            print_text(command_option_default(command, i));
            (void)puts(".");
        }
    }
    (void)puts(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nPrint help and exit.");
}

/* A page named in a list, with its summary. */
static void print_reference(const struct command *command)
{
    (void)fputs(".TP\n.BR muster\\-", stdout);
    print_page_name(command, unchanged);
    (void)puts(" (1)");
    print_sentence(command->summary);
}

static void print_verbs(const struct command *command)
{
    (void)puts(".SH VERBS");
    for (const struct command *const *verb = command->verbs; *verb; verb++)
        print_reference(*verb);
}

static void print_page(const struct command *command)
{
    print_title(command);
    (void)fputs("muster\\-", stdout);
    print_page_name(command, unchanged);
    (void)fputs(" \\- ", stdout);
    print_text(command->summary);
    (void)printf("\n.SH SYNOPSIS\n\\fBmuster %s\\fR", command->name);
    (void)putchar(*command->usage ? ' ' : '\n');
    if (*command->usage) {
        print_text(command->usage);
        (void)putchar('\n');
    }
    (void)puts(".SH DESCRIPTION");
    print_sentence(command->summary);
    if (command->text) {
        (void)puts(".PP");
        print_paragraphs(command->text);
    }
    if (command->verbs)
        print_verbs(command);
    else
        print_options(command);
    if (command->examples)
        (void)puts(".SH EXAMPLES");
    print_examples(command);
    print_exit_status();
    (void)puts(".SH SEE ALSO\n.BR muster (1)");
}

static void print_overview(void)
{
    print_title(NULL);
    (void)puts("muster \\- share GPUs between teams\n"
               ".SH SYNOPSIS\n\\fBmuster\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n"
               ".SH DESCRIPTION\n"
               "Muster schedules AI workloads and shares GPUs between teams.\n"
               ".SH COMMANDS");
    for (const struct command *const *command = commands; *command; command++)
        print_reference(*command);
    (void)puts(".SH OPTIONS\n"
               ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nList the commands.\n"
               ".TP\n\\fB\\-\\-version\\fR\nPrint the version.");
    print_exit_status();
    (void)puts(".SH ENVIRONMENT\n"
               ".TP\n.B NO_COLOR\nWhen set and not empty, output has no colors, unless \\-\\-color is given.\n"
               "Files and pipes get none.\n"
               ".TP\n.B TERM\nWhen unset or \\(lqdumb\\(rq, output has neither colors nor progress bars.\n"
               ".TP\n.B COLUMNS\nThe width of the output, instead of that of the terminal.\n"
               ".TP\n.B KUBECONFIG\nThe credentials for live clusters, as for kubectl.\n"
               ".SH EXAMPLES");
    for (const struct command *const *command = commands; *command; command++)
        print_examples(*command);
}

static int list_pages(void)
{
    for (const struct command *const *command = commands; *command; command++) {
        (void)puts((*command)->name);
        for (const struct command *const *verb = (*command)->verbs; verb && *verb; verb++)
            (void)puts((*verb)->name);
    }
    return EXIT_FINE;
}

static int run(const struct command *command, struct arguments *arguments)
{
    const struct command *about = NULL;
    bool is_list = false;
    int option;
    int status;

    while ((option = arguments_next(arguments)) >= 0)
        is_list = option == OPTION_LIST;
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count > (is_list ? 0 : 2))
        return command_wrong(command, "unexpected argument '%s'", arguments->operands[is_list ? 0 : 2]);
    if (is_list)
        return list_pages();
    status = command_find(arguments->operands, arguments->operand_count, &about);
    if (status != EXIT_FINE)
        return status;
    if (about)
        print_page(about);
    else
        print_overview();
    return EXIT_FINE;
}

static const char *const examples[] = {
    "muster man simulate | man -l -",
    "muster man gpu run | man -l -",
    NULL,
};

const struct command man_command = {
    .name = "man",
    .summary = "print a manual page",
    .usage = "[--list] [COMMAND [VERB]]",
    .text = "Prints the page of a command or verb, or of the program, in roff.\n",
    .group = GROUP_INTERNALS,
    .options = options,
    .option_count = ARRAY_LEN(options),
    .examples = examples,
    .operands = OPERANDS_COMMANDS,
    .run = run,
};
