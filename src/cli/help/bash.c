/* SPDX-License-Identifier: Apache-2.0 */

/* Completion for bash: one function with a case for each command and verb. */
#include <stdio.h>

#include "cli/help/completion_internal.h"

static void print_value(const struct command_option *option)
{
    (void)fputs("        ", stdout);
    if (option->short_name)
        (void)printf("-%c | ", option->short_name);
    (void)printf("--%s) ", option->long_name);
    if (option->choices) {
        (void)fputs("words='", stdout);
        completion_print_list(option->choices);
        (void)puts("' ;;");
    } else {
        (void)puts(completion_is_file(option) ? "files=yes ;;" : ";;");
    }
}

static void print_options(const struct command *command)
{
    for (size_t i = 0; i < command_option_count(command); i++) {
        const struct command_option option = command_option_at(command, i);

        if (option.short_name)
            (void)printf("-%c ", option.short_name);
        (void)printf("--%s ", option.long_name);
    }
    (void)fputs("-h --help", stdout);
}

/* What can stand where no option and no value of one does. */
static void print_operands(const struct command *command)
{
    if (command->words) {
        (void)fputs("                words='", stdout);
        completion_print_list(command->words);
        (void)puts("'");
    }
    switch (command->operands) {
    case OPERANDS_COMMANDS:
        (void)puts("                words=$(_muster_commands \"${COMP_WORDS[@]:2:COMP_CWORD-2}\")");
        break;
    case OPERANDS_WORKLOAD:
        (void)puts("                words=$(_muster_workloads) || files=yes");
        break;
    case OPERANDS_LIVE_WORKLOADS:
    case OPERANDS_LIVE_QUEUES:
    case OPERANDS_LIVE_NODES:
        (void)printf("                words=$(\"${COMP_WORDS[0]}\" complete live %s 2>/dev/null)\n",
                     completion_live_kind(command));
        break;
    case OPERANDS_PATHS:
        (void)puts("                files=yes");
        break;
    case OPERANDS_PROGRAM:
        (void)puts("                files=yes words=$(compgen -c -- \"$cur\")");
        break;
    case OPERANDS_NONE:
        if (!command->words)
            (void)puts("                :");
        break;
    }
}

static void print_leaf(const struct command *command)
{
    (void)printf("    '%s')\n        case $prev in\n", command->name);
    for (size_t i = 0; i < command_option_count(command); i++) {
        const struct command_option option = command_option_at(command, i);

        if (option.value)
            print_value(&option);
    }
    (void)fputs("        *)\n            if [[ $cur == -* ]]; then\n                words='", stdout);
    print_options(command);
    (void)puts("'\n            else");
    print_operands(command);
    (void)puts("            fi\n            ;;\n        esac\n        ;;");
}

static void print_command(const struct command *command)
{
    if (!command->verbs) {
        print_leaf(command);
        return;
    }
    (void)printf("    '%s') words='", command->name);
    completion_print_commands(command->verbs);
    (void)puts(" -h --help' ;;");
    for (const struct command *const *verb = command->verbs; *verb; verb++)
        print_leaf(*verb);
}

/* A function that lists commands, or the verbs of the command that it is given. */
static void print_list_function(void)
{
    (void)puts("_muster_commands()\n{\n    case $* in");
    (void)fputs("    '') echo ", stdout);
    completion_print_commands(commands);
    (void)puts(" ;;");
    for (const struct command *const *command = commands; *command; command++) {
        if (!(*command)->verbs)
            continue;
        (void)printf("    %s) echo ", (*command)->name);
        completion_print_commands((*command)->verbs);
        (void)puts(" ;;");
    }
    (void)puts("    esac\n}\n");
}

/* Asks the program for the workloads of the cluster that is named behind the cursor. Bash takes kube:prod for three words. */
static void print_workloads_function(void)
{
    (void)puts("_muster_workloads()\n"
               "{\n"
               "    local word last= args=(\"${COMP_WORDS[@]:2:COMP_CWORD-1}\")\n\n"
               "    for word in \"${COMP_WORDS[@]:COMP_CWORD+1}\"; do\n"
               "        if [[ $word == : || ($last == : && $COMP_LINE == *\":$word\"*) ]]; then\n"
               "            args[${#args[@]} - 1]+=$word\n"
               "        else\n"
               "            args+=(\"$word\")\n"
               "        fi\n"
               "        last=$word\n"
               "    done\n"
               "    \"${COMP_WORDS[0]}\" complete workloads $((COMP_CWORD - 2)) \"${args[@]}\" 2>/dev/null\n"
               "}\n");
}

/* The line that makes "gpu run" of the command and its verb. */
static void print_verbs_case(void)
{
    const char *gap = "";

    (void)fputs("    case $command in\n    ", stdout);
    for (const struct command *const *command = commands; *command; command++) {
        if (!(*command)->verbs)
            continue;
        (void)printf("%s%s", gap, (*command)->name);
        gap = " | ";
    }
    (void)puts(") ((COMP_CWORD > 2)) && command+=\" ${COMP_WORDS[2]}\" ;;\n    esac");
}

void completion_bash(void)
{
    (void)puts("# Completion of muster for bash, written by 'muster completion bash'.\n"
               "# To try it: source <(muster completion bash)\n");
    print_list_function();
    print_workloads_function();
    (void)puts("_muster()\n"
               "{\n"
               "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
               "    local command=${COMP_WORDS[1]} words= files= IFS=$' \\t\\n'\n\n"
               "    # Bash takes --output=json for three words.\n"
               "    if [[ $cur == = ]]; then\n"
               "        cur=\n"
               "    elif [[ $prev == = ]]; then\n"
               "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
               "    fi\n"
               "    COMPREPLY=()\n"
               "    if ((COMP_CWORD == 1)); then\n"
               "        COMPREPLY=($(compgen -W \"$(_muster_commands) -h --help --version\" -- \"$cur\"))\n"
               "        return\n"
               "    fi");
    print_verbs_case();
    (void)puts("    case $command in");
    for (const struct command *const *command = commands; *command; command++)
        print_command(*command);
    (void)puts("    esac\n"
               "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
               "    if [[ $files ]]; then\n"
               "        IFS=$'\\n'\n"
               "        compopt -o filenames 2>/dev/null\n"
               "        COMPREPLY+=($(compgen -f -- \"$cur\"))\n"
               "    fi\n"
               "}\n\n"
               "complete -F _muster muster");
}
