/* SPDX-License-Identifier: Apache-2.0 */

/* Help and version, written from the tables of commands. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/help/layout.h"

enum { SUMMARY_COLUMN = 17, OPTION_COLUMN = 31 };

#ifndef MUSTER_VERSION
#define MUSTER_VERSION "0.1.0"
#endif

const char muster_version[] = MUSTER_VERSION;

void command_print_version(void)
{
    (void)printf("muster %s\n", muster_version);
}

static void print_options(const struct command *command)
{
    (void)puts("\nOptions:");
    for (size_t i = 0; i < command_option_count(command); i++) {
        const struct command_option option = command_option_at(command, i);
        const char *preset = command_option_default(command, i);
        char names[128];
        char text[512];

        (void)snprintf(names, sizeof names, "  %c%c%s--%s%s%s", option.short_name ? '-' : ' ',
                       option.short_name ? option.short_name : ' ', option.short_name ? ", " : "  ", option.long_name,
                       option.value ? " " : "", option.value ? option.value : "");
        (void)snprintf(text, sizeof text, "%s%s%s%s", option.help, *preset ? " (default " : "", preset,
                       *preset ? ")" : "");
        help_entry(names, OPTION_COLUMN, text);
    }
    help_entry(command_has_letter(command, 'h') ? "      --help" : "  -h, --help", OPTION_COLUMN,
               "print this help and exit");
}

/* The commands of a group, or the verbs of a command. */
static void print_summary(const char *name, const struct command *command)
{
    char names[64];

    (void)snprintf(names, sizeof names, "  %s", name);
    help_entry(names, SUMMARY_COLUMN, command->summary);
}

static const char *const group_titles[_COMMAND_GROUP_MAX] = {
    [GROUP_WORK] = "Work: submit workloads and follow them, on this machine or in a cluster",
    [GROUP_LOCAL] = "Local: Muster on this machine, without Kubernetes",
    [GROUP_TRY] = "Try it: simulate and explain, from files or read-only from a live cluster",
    [GROUP_CLUSTER] = "Cluster: the services of a Kubernetes cluster",
    [GROUP_NODE] = "Node: share the GPUs of a machine",
    [GROUP_INTERNALS] = "Internals: test cases, helpers, completion and manual pages",
};

static int help_all(void)
{
    (void)puts("Muster schedules AI workloads and shares GPUs between teams.\n\n"
               "Usage: muster COMMAND [OPTION...] [ARGUMENT...]");
    for (enum command_group group = 0; group < _COMMAND_GROUP_MAX; group++) {
        (void)printf("\n%s\n", group_titles[group]);
        for (const struct command *const *command = commands; *command; command++) {
            if ((*command)->group == group)
                print_summary((*command)->name, *command);
        }
    }
    (void)puts("\n'muster help COMMAND' describes a command and shows examples.\n"
               "Exit status: 0 success, 1 failure, 2 wrong usage or invalid input (docs/cli.md).");
    return EXIT_FINE;
}

static void print_verbs(const struct command *command)
{
    (void)puts("\nVerbs:");
    for (const struct command *const *verb = command->verbs; *verb; verb++)
        print_summary(command_word(*verb), *verb);
    (void)printf("\n'muster help %s VERB' describes a verb and its options.\n", command->name);
}

static void print_head(const struct command *command)
{
    char text[512];

    (void)snprintf(text, sizeof text, "muster %s%s%s", command->name, *command->usage ? " " : "", command->usage);
    help_line("Usage: ", text);
    (void)snprintf(text, sizeof text, "\n%c%s.\n", command->summary[0] & ~0x20, command->summary + 1);
    help_paragraphs(text);
}

int command_help(const struct command *command)
{
    if (!command)
        return help_all();
    print_head(command);
    if (command->text) {
        (void)putchar('\n');
        help_paragraphs(command->text);
    }
    if (command->verbs)
        print_verbs(command);
    else
        print_options(command);
    if (command->examples)
        (void)puts("\nExamples:");
    for (const char *const *example = command->examples; example && *example; example++)
        (void)printf("  %s\n", *example);
    return EXIT_FINE;
}

static int run_help(const struct command *command, struct arguments *arguments)
{
    const struct command *about = NULL;
    int status;

    (void)command;
    if (!arguments_operands(arguments, 2, &status))
        return status;
    status = command_find(arguments->operands, arguments->operand_count, &about);
    return status == EXIT_FINE ? command_help(about) : status;
}

static const char *const help_examples[] = {
    "muster help simulate",
    "muster help gpu run",
    NULL,
};

const struct command help_command = {
    .name = "help",
    .summary = "describe a command",
    .usage = "[COMMAND [VERB]]",
    .group = GROUP_INTERNALS,
    .examples = help_examples,
    .operands = OPERANDS_COMMANDS,
    .run = run_help,
};

static int run_version(const struct command *command, struct arguments *arguments)
{
    int status;

    (void)command;
    if (!arguments_operands(arguments, 0, &status))
        return status;
    command_print_version();
    return EXIT_FINE;
}

static const char *const version_examples[] = {"muster version", NULL};

const struct command version_command = {
    .name = "version",
    .summary = "print the version",
    .usage = "",
    .group = GROUP_INTERNALS,
    .examples = version_examples,
    .operands = OPERANDS_NONE,
    .run = run_version,
};
