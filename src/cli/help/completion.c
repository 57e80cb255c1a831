/* SPDX-License-Identifier: Apache-2.0 */

/* muster completion: a script for a shell, written from the tables of commands. */
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "cli/help/completion_internal.h"

bool completion_is_file(const struct command_option *option)
{
    static const char *const names[] = {"FILE", "PATH", "FOLDER"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strncmp(option->value, names[i], strlen(names[i])) == 0)
            return true;
    }
    return false;
}

void completion_print_quoted(const char *text, const char *quote, const char *backslash)
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

void completion_print_list(const char *const *words)
{
    for (const char *const *word = words; *word; word++)
        (void)printf("%s%s", word == words ? "" : " ", *word);
}

void completion_print_commands(const struct command *const *list)
{
    for (const struct command *const *at = list; *at; at++)
        (void)printf("%s%s", at == list ? "" : " ", command_word(*at));
}

const char *completion_live_kind(const struct command *command)
{
    if (command->operands == OPERANDS_LIVE_WORKLOADS)
        return "workloads";
    return command->operands == OPERANDS_LIVE_QUEUES ? "queues" : "nodes";
}

static const char *const shells[] = {"bash", "zsh", "fish", NULL};
static void (*const writers[])(void) = {completion_bash, completion_zsh, completion_fish};

static int run(const struct command *command, struct arguments *arguments)
{
    int status;

    if (!arguments_operands(arguments, 1, &status))
        return status;
    if (arguments->operand_count == 0)
        return command_wrong(command, "a shell is missing: bash, zsh or fish");
    for (size_t i = 0; i < ARRAY_LEN(writers); i++) {
        if (strcmp(arguments->operands[0], shells[i]) == 0) {
            writers[i]();
            return EXIT_FINE;
        }
    }
    return command_wrong(command, "expected bash, zsh or fish, found '%s'", arguments->operands[0]);
}

static const char *const examples[] = {
    "source <(muster completion bash)",
    "muster completion fish | source",
    "muster completion zsh > ~/.zsh/functions/_muster",
    NULL,
};

const struct command completion_command = {
    .name = "completion",
    .summary = "print the completion script of a shell",
    .usage = "bash|zsh|fish",
    .group = GROUP_INTERNALS,
    .examples = examples,
    .words = shells,
    .operands = OPERANDS_NONE,
    .run = run,
};
