/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Completions for shells, written from the table of commands: the commands, their options, the values that an option
 * can have, and files where a file can stand. Each script is whole: none asks the program while a person types.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "cli/command.h"

/* Whether files can stand behind the option: when its value is called one. */
static bool is_file(const struct command_option *option)
{
    static const char *const names[] = {"FILE", "PATH", "FOLDER"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strncmp(option->value, names[i], strlen(names[i])) == 0)
            return true;
    }
    return false;
}

/* In single quotes, which all three shells take literally but for the quote itself; fish wants backslashes doubled. */
static void print_quoted(const char *text, const char *quote, const char *backslash)
{
    for (; *text; text++) {
        if (*text == '\'')
            (void)fputs(quote, stdout);
        else if (*text == '\\')
            (void)fputs(backslash, stdout);
        else
            (void)putchar(*text);
    }
}

static void print_list(const char *const *words)
{
    for (const char *const *word = words; *word; word++)
        (void)printf("%s%s", word == words ? "" : " ", *word);
}

static void print_commands(void)
{
    for (const struct command *command = commands; command->name; command++)
        (void)printf("%s%s", command == commands ? "" : " ", command->name);
}

static void print_operands(const struct command *command)
{
    if (command->words)
        print_list(command->words);
    else if (command->operands == OPERANDS_COMMANDS)
        print_commands();
}

static void bash_value(const struct command_option *option)
{
    (void)fputs("        ", stdout);
    if (option->short_name)
        (void)printf("-%c | ", option->short_name);
    (void)printf("--%s) ", option->long_name);
    if (option->choices) {
        (void)fputs("words='", stdout);
        print_list(option->choices);
        (void)puts("' ;;");
    } else {
        (void)puts(is_file(option) ? "files=yes ;;" : ";;");
    }
}

/* What can stand where no value of an option does. */
static void bash_words(const struct command *command)
{
    (void)fputs("            if [[ $cur == -* ]]; then\n                words='", stdout);
    for (size_t i = 0; i < command_option_count(command); i++) {
        const struct command_option option = command_option_at(command, i);

        if (option.short_name)
            (void)printf("-%c ", option.short_name);
        (void)printf("--%s ", option.long_name);
    }
    (void)fputs("-h --help'\n            else\n                words='", stdout);
    print_operands(command);
    (void)printf("' files=%s\n            fi\n", command->operands == OPERANDS_PATHS ? "yes" : "");
}

static void bash_command(const struct command *command)
{
    (void)printf("    %s)\n        case $prev in\n", command->name);
    for (size_t i = 0; i < command_option_count(command); i++) {
        const struct command_option option = command_option_at(command, i);

        if (option.value)
            bash_value(&option);
    }
    (void)puts("        *)");
    bash_words(command);
    (void)puts("            ;;\n        esac\n        ;;");
}

static void write_bash(void)
{
    (void)puts("# Completion of muster for bash, written by 'muster completion bash'.\n"
               "# To try it: source <(muster completion bash)\n\n"
               "_muster()\n"
               "{\n"
               "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
               "    local words= files= IFS=$' \\t\\n'\n\n"
               "    # Bash takes --output=json for three words.\n"
               "    if [[ $cur == = ]]; then\n"
               "        cur=\n"
               "    elif [[ $prev == = ]]; then\n"
               "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
               "    fi\n"
               "    COMPREPLY=()\n"
               "    if ((COMP_CWORD == 1)); then");
    (void)fputs("        COMPREPLY=($(compgen -W '", stdout);
    print_commands();
    (void)puts(" -h --help --version' -- \"$cur\"))\n"
               "        return\n"
               "    fi\n"
               "    case ${COMP_WORDS[1]} in");
    for (const struct command *command = commands; command->name; command++)
        bash_command(command);
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

/* The explanation of an option stands in brackets, within quotes. */
static void zsh_explain(const char *text)
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

static void zsh_value(const struct command_option *option)
{
    (void)printf(":%s:", option->value);
    if (!option->choices) {
        (void)fputs(is_file(option) ? "_files" : " ", stdout);
        return;
    }
    (void)putchar('(');
    print_list(option->choices);
    (void)putchar(')');
}

/* '*'{-o+,--output=}'[help]:value:(choices)': both names share the rest. What has a value may come again. */
static void zsh_option(const struct command_option *option)
{
    const char *name = option->long_name;
    bool has_value = option->value != NULL;

    (void)printf("            '%s", has_value ? "*" : "");
    if (option->short_name)
        (void)printf("'{-%c%s,--%s%s}'", option->short_name, has_value ? "+" : "", name, has_value ? "=" : "");
    else
        (void)printf("--%s%s", name, has_value ? "=" : "");
    zsh_explain(option->help);
    if (has_value)
        zsh_value(option);
    (void)puts("' \\");
}

static void zsh_command(const struct command *command)
{
    (void)printf("    %s)\n        _arguments -s -S \\\n", command->name);
    for (size_t i = 0; i < command_option_count(command); i++) {
        const struct command_option option = command_option_at(command, i);

        zsh_option(&option);
    }
    (void)fputs("            '(- *)'{-h,--help}'[tell about the command]'", stdout);
    if (command->words) {
        (void)fputs(" \\\n            '1:word:(", stdout);
        print_list(command->words);
        (void)fputs(")'", stdout);
    }
    if (command->operands == OPERANDS_COMMANDS)
        (void)fputs(" \\\n            '1:command:_muster_commands'", stdout);
    if (command->operands == OPERANDS_PATHS)
        (void)fputs(" \\\n            '*:file:_files'", stdout);
    (void)puts("\n        ;;");
}

static void write_zsh(void)
{
    (void)puts("#compdef muster\n"
               "# Completion of muster for zsh, written by 'muster completion zsh'.\n"
               "# It belongs into a folder of $fpath, as _muster.\n\n"
               "_muster_commands()\n"
               "{\n"
               "    local -a commands=(");
    for (const struct command *command = commands; command->name; command++) {
        (void)printf("        '%s:", command->name);
        print_quoted(command->summary, "'\\''", "\\\\");
        (void)puts("'");
    }
    (void)puts("    )\n"
               "    _describe -t commands command commands\n"
               "}\n\n"
               "_muster()\n"
               "{\n"
               "    local curcontext=$curcontext state line\n"
               "    local -A opt_args\n\n"
               "    _arguments -C \\\n"
               "        '(- *)'{-h,--help}'[list the commands]' \\\n"
               "        '(- *)--version[print the version]' \\\n"
               "        '1:command:_muster_commands' \\\n"
               "        '*::argument:->arguments' && return\n"
               "    case $words[1] in");
    for (const struct command *command = commands; command->name; command++)
        zsh_command(command);
    (void)puts("    esac\n"
               "}\n\n"
               "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
               "    _muster \"$@\"\n"
               "else\n"
               "    compdef _muster muster\n"
               "fi");
}

static void fish_line(const char *command, const char *what)
{
    (void)printf("complete -c muster -n '__muster_is %s' %s", command, what);
}

static void fish_help(const char *text)
{
    (void)fputs(" -d '", stdout);
    print_quoted(text, "\\'", "\\\\");
    (void)puts("'");
}

static void fish_option(const struct command *command, const struct command_option *option)
{
    fish_line(command->name, "");
    if (option->short_name)
        (void)printf("-s %c ", option->short_name);
    (void)printf("-l %s", option->long_name);
    if (option->value)
        (void)fputs(is_file(option) && !option->choices ? " -r -F" : " -x", stdout);
    if (option->choices) {
        (void)fputs(" -a '", stdout);
        print_list(option->choices);
        (void)putchar('\'');
    }
    fish_help(option->help);
}

static void fish_command(const struct command *command)
{
    for (size_t i = 0; i < command_option_count(command); i++) {
        const struct command_option option = command_option_at(command, i);

        fish_option(command, &option);
    }
    fish_line(command->name, "-s h -l help");
    fish_help("tell about the command");
    if (command->operands == OPERANDS_PATHS)
        fish_line(command->name, "-F\n");
    if (command->words || command->operands == OPERANDS_COMMANDS) {
        fish_line(command->name, "-a '");
        print_operands(command);
        (void)puts("'");
    }
}

static void write_fish(void)
{
    (void)puts("# Completion of muster for fish, written by 'muster completion fish'.\n"
               "# To try it: muster completion fish | source\n\n"
               "function __muster_is -a command -d 'whether this is the command before the cursor'\n"
               "    set -l words (commandline -opc)\n"
               "    test \"$words[2]\" = \"$command\"\n"
               "end\n\n"
               "complete -c muster -f\n"
               "complete -c muster -n '__muster_is \"\"' -s h -l help -d 'list the commands'\n"
               "complete -c muster -n '__muster_is \"\"' -l version -d 'print the version'");
    for (const struct command *command = commands; command->name; command++) {
        (void)printf("complete -c muster -n '__muster_is \"\"' -a %s", command->name);
        fish_help(command->summary);
    }
    for (const struct command *command = commands; command->name; command++)
        fish_command(command);
}

int run_completion(const struct command *command, struct arguments *arguments)
{
    static const struct {
        const char *shell;
        void (*write)(void);
    } writers[] = {{"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}};
    int status;

    if (!arguments_operands(arguments, 1, &status))
        return status;
    if (arguments->operand_count == 0)
        return command_wrong(command, "for which shell? There are bash, zsh and fish");
    for (size_t i = 0; i < ARRAY_LEN(writers); i++) {
        if (strcmp(arguments->operands[0], writers[i].shell) == 0) {
            writers[i].write();
            return EXIT_FINE;
        }
    }
    return command_wrong(command, "there is no completion for '%s'; there are bash, zsh and fish",
                         arguments->operands[0]);
}
