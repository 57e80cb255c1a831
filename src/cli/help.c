/* SPDX-License-Identifier: Apache-2.0 */

/* Help, written from the table of commands. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/suggest.h"

#ifndef MUSTER_VERSION
#define MUSTER_VERSION "0.1.0"
#endif

const char muster_version[] = MUSTER_VERSION;

static void print_options(const struct command *command)
{
    (void)puts("\nOptions:");
    for (size_t i = 0; i < command_option_count(command); i++) {
        const struct command_option option = command_option_at(command, i);
        char names[128];
        int len = snprintf(names, sizeof names, "%c%c%s--%s%s%s", option.short_name ? '-' : ' ',
                           option.short_name ? option.short_name : ' ', option.short_name ? ", " : "  ",
                           option.long_name, option.value ? " " : "", option.value ? option.value : "");

        if (len > 27)
            (void)printf("  %s\n  %28s %s", names, "", option.help);
        else
            (void)printf("  %-28s %s", names, option.help);
        if (*command_option_default(command, i))
            (void)printf(" (default %s)", command_option_default(command, i));
        (void)putchar('\n');
    }
    (void)printf("  %-28s %s\n", "-h, --help", "this text");
}

static int help_all(void)
{
    (void)puts("Muster shares GPUs between teams: who runs now, where, at whose expense, and why not yet.\n\n"
               "Usage: muster COMMAND [OPTION...] [ARGUMENT...]\n\nCommands:");
    for (const struct command *command = commands; command->name; command++)
        (void)printf("  %-12s %s\n", command->name, command->summary);
    (void)puts(
        "\n'muster help COMMAND' tells about one of them. Status 0 is success, 1 failure, 2 a wrong call or input.");
    return EXIT_FINE;
}

int command_help(const struct command *command)
{
    if (!command)
        return help_all();
    (void)printf("Usage: muster %s%s%s\n\n%c%s.\n", command->name, *command->usage ? " " : "", command->usage,
                 command->summary[0] & ~0x20, command->summary + 1);
    if (command->text)
        (void)printf("\n%s", command->text);
    print_options(command);
    if (command->examples)
        (void)puts("\nExamples:");
    for (const char *const *example = command->examples; example && *example; example++)
        (void)printf("  %s\n", *example);
    return EXIT_FINE;
}

int run_help(const struct command *command, struct arguments *arguments)
{
    const struct command *about = NULL;
    int status;

    (void)command;
    if (!arguments_operands(arguments, 1, &status))
        return status;
    if (arguments->operand_count == 1) {
        about = command_find(arguments->operands[0]);
        if (!about)
            return command_unknown(arguments->operands[0]);
    }
    return command_help(about);
}

int run_version(const struct command *command, struct arguments *arguments)
{
    int status;

    (void)command;
    if (!arguments_operands(arguments, 0, &status))
        return status;
    (void)printf("muster %s\n", muster_version);
    return EXIT_FINE;
}
