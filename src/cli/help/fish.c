/* SPDX-License-Identifier: Apache-2.0 */

/* Completion for fish: one line for each word that can be offered, with the condition for it. */
#include <stdio.h>

#include "cli/help/completion_internal.h"

/* `extra` is a word that must follow the command: "''" for none yet. */
static void print_condition(const struct command *command, const char *extra)
{
    (void)printf("complete -c muster -n '__muster_is %s%s' ", command->name, extra);
}

static void print_help(const char *text)
{
    (void)fputs(" -d '", stdout);
    completion_print_quoted(text, "\\'", "\\\\");
    (void)puts("'");
}

static void print_option(const struct command *command, const struct command_option *option)
{
    print_condition(command, "");
    if (option->short_name)
        (void)printf("-s %c ", option->short_name);
    (void)printf("-l %s", option->long_name);
    if (option->value)
        (void)fputs(completion_is_file(option) && !option->choices ? " -r -F" : " -x", stdout);
    if (option->choices) {
        (void)fputs(" -a '", stdout);
        completion_print_list(option->choices);
        (void)putchar('\'');
    }
    print_help(option->help);
}

static void print_operands(const struct command *command)
{
    if (command->words) {
        print_condition(command, "");
        (void)fputs("-a '", stdout);
        completion_print_list(command->words);
        (void)puts("'");
    }
    switch (command->operands) {
    case OPERANDS_COMMANDS:
        print_condition(command, " \"\"");
        (void)fputs("-a '", stdout);
        completion_print_commands(commands);
        (void)puts("'");
        for (const struct command *const *with = commands; *with; with++) {
            if (!(*with)->verbs)
                continue;
            (void)printf("complete -c muster -n '__muster_is %s %s' -a '", command->name, (*with)->name);
            completion_print_commands((*with)->verbs);
            (void)puts("'");
        }
        break;
    case OPERANDS_WORKLOAD:
        print_condition(command, "");
        (void)puts("-F -a '(__muster_workloads)'");
        break;
    case OPERANDS_LIVE_WORKLOADS:
    case OPERANDS_LIVE_QUEUES:
    case OPERANDS_LIVE_NODES:
        print_condition(command, "");
        (void)printf("-f -a '(muster complete live %s 2>/dev/null)'\n", completion_live_kind(command));
        break;
    case OPERANDS_PATHS:
        print_condition(command, "");
        (void)puts("-F");
        break;
    case OPERANDS_PROGRAM:
        print_condition(command, "");
        (void)puts("-F -a '(__fish_complete_command)'");
        break;
    case OPERANDS_NONE:
        break;
    }
}

static void print_leaf(const struct command *command)
{
    for (size_t i = 0; i < command_option_count(command); i++) {
        const struct command_option option = command_option_at(command, i);

        print_option(command, &option);
    }
    print_condition(command, "");
    (void)fputs("-s h -l help", stdout);
    print_help("print help and exit");
    print_operands(command);
}

static void print_command(const struct command *command)
{
    if (!command->verbs) {
        print_leaf(command);
        return;
    }
    for (const struct command *const *verb = command->verbs; *verb; verb++) {
        print_condition(command, " \"\"");
        (void)printf("-a %s", command_word(*verb));
        print_help((*verb)->summary);
        print_leaf(*verb);
    }
}

void completion_fish(void)
{
    (void)puts("# Completion of muster for fish, written by 'muster completion fish'.\n"
               "# To try it: muster completion fish | source\n\n"
               "function __muster_is -d 'whether these are the first words behind muster'\n"
               "    set -l words (commandline -opc)\n"
               "    set -e words[1]\n"
               "    for word in $argv\n"
               "        test \"$words[1]\" = \"$word\"; or return 1\n"
               "        set -e words[1]\n"
               "    end\n"
               "end\n\n"
               "function __muster_workloads -d 'the workloads of the cluster that is named behind the cursor'\n"
               "    set -l words (commandline -op) \"\"\n"
               "    set -l cursor (math (count (commandline -opc)) - 2)\n"
               "    test $cursor -ge 0; and muster complete workloads $cursor $words[3..-1] 2>/dev/null\n"
               "end\n\n"
               "complete -c muster -f\n"
               "complete -c muster -n '__muster_is \"\"' -s h -l help -d 'list the commands'\n"
               "complete -c muster -n '__muster_is \"\"' -l version -d 'print the version'");
    for (const struct command *const *command = commands; *command; command++) {
        (void)printf("complete -c muster -n '__muster_is \"\"' -a %s", (*command)->name);
        print_help((*command)->summary);
    }
    for (const struct command *const *command = commands; *command; command++)
        print_command(*command);
}
