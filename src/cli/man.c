/* SPDX-License-Identifier: Apache-2.0 */

/* Manual pages in roff, written from the table of commands: muster(1), and muster-COMMAND(1) for each of them. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/suggest.h"

enum { OPTION_LIST };

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

static void print_title(const struct command *command)
{
    (void)fputs(".\\\" Written by 'muster man'.\n.TH MUSTER", stdout);
    if (command) {
        (void)fputs("\\-", stdout);
        for (const char *c = command->name; *c; c++)
            (void)putchar(toupper((unsigned char)*c));
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
               ".TP\n.B 1\nThe system failed, or a bound that was asked for does not hold.\n"
               ".TP\n.B 2\nThe call is wrong, or the input cannot be understood.\n"
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

static void print_page(const struct command *command)
{
    print_title(command);
    (void)printf("muster\\-%s \\- ", command->name);
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
    (void)puts(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nTell about the command.");
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
               "Muster shares GPUs between teams: who runs now, where, at whose expense, and why not yet.\n"
               ".SH COMMANDS");
    for (const struct command *command = commands; command->name; command++) {
        (void)printf(".TP\n.BR muster\\-%s (1)\n", command->name);
        print_sentence(command->summary);
    }
    (void)puts(".SH OPTIONS\n"
               ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nList the commands.\n"
               ".TP\n\\fB\\-\\-version\\fR\nPrint the version.");
    print_exit_status();
    (void)puts(".SH ENVIRONMENT\n"
               ".TP\n.B NO_COLOR\nWhen it is set and not empty, tables have no colours.\n"
               "They have none in files and pipes.\n"
               ".TP\n.B COLUMNS\nThe width of the terminal, in place of what the terminal says.\n"
               ".SH EXAMPLES");
    for (const struct command *command = commands; command->name; command++)
        print_examples(command);
}

static int list_pages(void)
{
    for (const struct command *command = commands; command->name; command++)
        (void)puts(command->name);
    return EXIT_FINE;
}

int run_man(const struct command *command, struct arguments *arguments)
{
    const struct command *about;
    bool is_list = false;
    int option;

    while ((option = arguments_next(arguments)) >= 0)
        is_list = option == OPTION_LIST;
    if (option == ARGUMENT_HELP)
        return command_help(command);
    if (option == ARGUMENT_WRONG)
        return EXIT_WRONG_CALL;
    if (arguments->operand_count > (is_list ? 0 : 1))
        return command_wrong(command, "'%s' is too much", arguments->operands[is_list ? 0 : 1]);
    if (is_list)
        return list_pages();
    if (arguments->operand_count == 0) {
        print_overview();
        return EXIT_FINE;
    }
    about = command_find(arguments->operands[0]);
    if (!about)
        return command_unknown(arguments->operands[0]);
    print_page(about);
    return EXIT_FINE;
}
