/* SPDX-License-Identifier: Apache-2.0 */

/* Completion for zsh: _arguments for each command and verb. */
#include <stdio.h>
#include <string.h>

#include "cli/help/completion_internal.h"

/* The explanation of an option stands in brackets, within quotes. */
static void print_explanation(const char *text)
{
    (void)putchar('[');
    for (; *text; text++) {
        if (strchr("[]\\", *text))
            (void)printf("\\%c", *text);
        else if (*text == '\'')
            (void)fputs("'\\''", stdout);
        else
            (void)putchar(*text);
    }
    (void)putchar(']');
}

static void print_value(const struct command_option *option)
{
    (void)printf(":%s:", option->value);
    if (!option->choices) {
        (void)fputs(completion_is_file(option) ? "_files" : " ", stdout);
        return;
    }
    (void)putchar('(');
    completion_print_list(option->choices);
    (void)putchar(')');
}

/* '*'{-o+,--output=}'[help]:value:(choices)': both names share the rest. What has a value may come again. */
static void print_option(const struct command_option *option)
{
    const char *name = option->long_name;
    bool has_value = option->value != NULL;

    (void)printf("            '%s", has_value ? "*" : "");
    if (option->short_name)
        (void)printf("'{-%c%s,--%s%s}'", option->short_name, has_value ? "+" : "", name, has_value ? "=" : "");
    else
        (void)printf("--%s%s", name, has_value ? "=" : "");
    print_explanation(option->help);
    if (has_value)
        print_value(option);
    (void)puts("' \\");
}

static void print_operands(const struct command *command)
{
    if (command->words) {
        (void)fputs(" \\\n            '1:word:(", stdout);
        completion_print_list(command->words);
        (void)fputs(")'", stdout);
    }
    switch (command->operands) {
    case OPERANDS_COMMANDS:
        (void)fputs(" \\\n            '1:command:_muster_commands' '2:verb:_muster_verbs'", stdout);
        break;
    case OPERANDS_WORKLOAD:
        (void)fputs(" \\\n            '1:workload:_muster_workloads' '*:file:_files'", stdout);
        break;
    case OPERANDS_LIVE_WORKLOADS:
    case OPERANDS_LIVE_QUEUES:
    case OPERANDS_LIVE_NODES:
        (void)printf(" \\\n            '*:name:($(muster complete live %s 2>/dev/null))'",
                     completion_live_kind(command));
        break;
    case OPERANDS_PATHS:
        (void)fputs(" \\\n            '*:file:_files'", stdout);
        break;
    case OPERANDS_PROGRAM:
        (void)fputs(" \\\n            '(-)1:program:_command_names -e' '*::argument:_normal'", stdout);
        break;
    case OPERANDS_NONE:
        break;
    }
}

static void print_leaf(const struct command *command)
{
    (void)printf("    %s)\n        _arguments -s -S \\\n", command_word(command));
    for (size_t i = 0; i < command_option_count(command); i++) {
        const struct command_option option = command_option_at(command, i);

        print_option(&option);
    }
    (void)fputs("            '(- *)'{-h,--help}'[print help and exit]'", stdout);
    print_operands(command);
    (void)puts("\n        ;;");
}

/* Commands with verbs look at the words behind the command in the same way as the program at those behind its name. */
static void print_command(const struct command *command)
{
    if (!command->verbs) {
        print_leaf(command);
        return;
    }
    (void)printf("    %s)\n        _muster_%s\n        ;;\n", command->name, command->name);
}

/* 'name:summary' of each, for _describe. */
static void print_described(const struct command *const *list)
{
    for (; *list; list++) {
        (void)printf("        '%s:", command_word(*list));
        completion_print_quoted((*list)->summary, "'\\''", "\\\\");
        (void)puts("'");
    }
}

static void print_verb_functions(const struct command *command)
{
    (void)printf("_muster_%s_verbs()\n{\n    local -a verbs=(\n", command->name);
    print_described(command->verbs);
    (void)printf("    )\n    _describe -t verbs verb verbs\n}\n\n"
                 "_muster_%s()\n{\n"
                 "    local curcontext=$curcontext state line\n"
                 "    local -A opt_args\n\n"
                 "    _arguments -C \\\n"
                 "        '(- *)'{-h,--help}'[print help and exit]' \\\n"
                 "        '1:verb:_muster_%s_verbs' \\\n"
                 "        '*::argument:->arguments' && return\n"
                 "    case $words[1] in\n",
                 command->name, command->name);
    for (const struct command *const *verb = command->verbs; *verb; verb++)
        print_leaf(*verb);
    (void)puts("    esac\n}\n");
}

/* For 'muster help COMMAND VERB'. */
static void print_verbs_function(void)
{
    (void)puts("_muster_verbs()\n{\n    case $words[CURRENT-1] in");
    for (const struct command *const *command = commands; *command; command++) {
        if ((*command)->verbs)
            (void)printf("    %s) _muster_%s_verbs ;;\n", (*command)->name, (*command)->name);
    }
    (void)puts("    esac\n}\n");
}

void completion_zsh(void)
{
    (void)puts("#compdef muster\n"
               "# Completion of muster for zsh, written by 'muster completion zsh'.\n"
               "# Save it as _muster in a folder of $fpath.\n\n"
               "_muster_commands()\n"
               "{\n"
               "    local -a commands=(");
    print_described(commands);
    (void)puts("    )\n"
               "    _describe -t commands command commands\n"
               "}\n");
    for (const struct command *const *command = commands; *command; command++) {
        if ((*command)->verbs)
            print_verb_functions(*command);
    }
    print_verbs_function();
    (void)puts("_muster_workloads()\n"
               "{\n"
               "    local -a names=(${(f)\"$(muster complete workloads $((CURRENT - 2)) \"${(@)words[2,-1]}\" "
               "2>/dev/null)\"})\n"
               "    compadd -a names\n"
               "}\n");
    (void)puts("_muster()\n"
               "{\n"
               "    local curcontext=$curcontext state line\n"
               "    local -A opt_args\n\n"
               "    _arguments -C \\\n"
               "        '(- *)'{-h,--help}'[list the commands]' \\\n"
               "        '(- *)--version[print the version]' \\\n"
               "        '1:command:_muster_commands' \\\n"
               "        '*::argument:->arguments' && return\n"
               "    case $words[1] in");
    for (const struct command *const *command = commands; *command; command++)
        print_command(*command);
    (void)puts("    esac\n"
               "}\n\n"
               "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
               "    _muster \"$@\"\n"
               "else\n"
               "    compdef _muster muster\n"
               "fi");
}
