/* SPDX-License-Identifier: Apache-2.0 */

/* Reading options by a command's table: -o json, -ojson, --output json, --output=json. Operands may stand anywhere, but for
 * commands that start a program: there the first one ends the options. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/command.h"
#include "text/suggest.h"
#include "text/terminal.h"

const char *const output_choices[] = {"table", "json", NULL};

/* Options of every command, which stand behind its own ones. */
static const struct command_option common_options[] = {
    {0, "color", "auto|always|never", colour_choice_names, "when to print colors (default auto: on a terminal)"},
};

static size_t option_count(const struct command *command)
{
    return command->option_count + ARRAY_LEN(common_options);
}

static const struct command_option *option_at(const struct command *command, size_t i)
{
    return i < command->option_count ? &command->options[i] : &common_options[i - command->option_count];
}

bool command_has_letter(const struct command *command, char letter)
{
    for (size_t i = 0; i < command_option_count(command); i++) {
        if (command_option_at(command, i).short_name == letter)
            return true;
    }
    return false;
}

size_t command_option_count(const struct command *command)
{
    return command_is_service(command) ? service_option_count(command) : option_count(command);
}

struct command_option command_option_at(const struct command *command, size_t i)
{
    return command_is_service(command) ? service_option_at(command, i) : *option_at(command, i);
}

void arguments_init(struct arguments *a, const struct command *command, int argc, const char *const *argv)
{
    *a = (struct arguments){.command = command, .argc = argc, .argv = argv};
    a->operands = xcalloc((size_t)argc + 1, sizeof *a->operands);
}

void arguments_done(struct arguments *a)
{
    free(a->operands);
    a->operands = NULL;
}

/* Which of the choices the value is; -1 when it is none of them. */
static int choice_of(const struct command_option *option, const char *value)
{
    for (int i = 0; option->choices[i]; i++) {
        if (strcmp(option->choices[i], value) == 0)
            return i;
    }
    return -1;
}

/* An option of every command: its value is used here. Another one is passed on. */
static int use_common(struct arguments *a, int i)
{
    if ((size_t)i < a->command->option_count)
        return i;
    terminal_choose_colour((enum colour_choice)choice_of(option_at(a->command, (size_t)i), a->value));
    return arguments_next(a);
}

/* Takes the value of option `i`: `attached`, or the next word. */
static int take_value(struct arguments *a, int i, const char *attached)
{
    const struct command_option *option = option_at(a->command, (size_t)i);

    a->value = attached;
    if (!attached && a->next < a->argc)
        a->value = a->argv[a->next++];
    if (!a->value) {
        (void)command_wrong(a->command, "--%s needs a value: %s", option->long_name, option->value);
        return ARGUMENT_WRONG;
    }
    if (option->choices && choice_of(option, a->value) < 0) {
        (void)command_wrong(a->command, "--%s: expected %s, found '%s'", option->long_name, option->value, a->value);
        return ARGUMENT_WRONG;
    }
    return use_common(a, i);
}

static int unknown_option(const struct arguments *a, const char *word, size_t len)
{
    struct suggestion suggestion;
    char typed[64];
    char hint[SUGGESTION_MAX];

    (void)snprintf(typed, sizeof typed, "%.*s", (int)len, word);
    suggestion_init(&suggestion, typed);
    for (size_t i = 0; i < option_count(a->command); i++)
        suggestion_offer(&suggestion, option_at(a->command, i)->long_name);
    (void)command_wrong(a->command, "there is no option --%s%s", typed, suggestion_text(&suggestion, "--", hint));
    return ARGUMENT_WRONG;
}

static int read_long(struct arguments *a, const char *word)
{
    const char *equals = strchr(word, '=');
    size_t len = equals ? (size_t)(equals - word) : strlen(word);

    if (strcmp(word, "help") == 0)
        return ARGUMENT_HELP;
    for (size_t i = 0; i < option_count(a->command); i++) {
        const struct command_option *option = option_at(a->command, i);

        if (strlen(option->long_name) != len || strncmp(option->long_name, word, len) != 0)
            continue;
        if (option->value)
            return take_value(a, (int)i, equals ? equals + 1 : NULL);
        if (!equals)
            return (int)i;
        (void)command_wrong(a->command, "--%s takes no value", option->long_name);
        return ARGUMENT_WRONG;
    }
    return unknown_option(a, word, len);
}

/* One letter of a word such as -vo json. */
static int read_short(struct arguments *a, const char *word)
{
    char letter = *word;

    a->rest = word[1] ? word + 1 : NULL;
    for (size_t i = 0; i < option_count(a->command); i++) {
        const struct command_option *option = option_at(a->command, i);
        const char *attached = a->rest;

        if (option->short_name != letter)
            continue;
        if (!option->value)
            return (int)i;
        a->rest = NULL;
        return take_value(a, (int)i, attached);
    }
    if (letter == 'h')
        return ARGUMENT_HELP;
    (void)command_wrong(a->command, "there is no option -%c", letter);
    return ARGUMENT_WRONG;
}

static void add_operand(struct arguments *a, const char *word)
{
    a->operands[a->operand_count++] = word;
    if (a->command->operands == OPERANDS_PROGRAM)
        a->has_ended = true;
}

int arguments_next(struct arguments *a)
{
    if (a->rest)
        return read_short(a, a->rest);
    while (a->next < a->argc) {
        const char *word = a->argv[a->next++];

        if (a->has_ended || word[0] != '-' || word[1] == '\0')
            add_operand(a, word);
        else if (strcmp(word, "--") == 0)
            a->has_ended = true;
        else if (word[1] == '-')
            return read_long(a, word + 2);
        else
            return read_short(a, word + 1);
    }
    return ARGUMENT_END;
}

int arguments_status(const struct arguments *a, int option)
{
    return option == ARGUMENT_HELP ? command_help(a->command) : EXIT_WRONG_CALL;
}

bool arguments_number(const struct arguments *a, const char *option, long min, long max, long *ret)
{
    char *end;
    long number;

    errno = 0;
    number = strtol(a->value, &end, 10);
    if (errno || end == a->value || *end || number < min || number > max) {
        (void)command_wrong(a->command, "--%s: expected a whole number from %ld to %ld, found '%s'", option, min, max,
                            a->value);
        return false;
    }
    *ret = number;
    return true;
}

bool arguments_operands(struct arguments *a, size_t max, int *ret_status)
{
    int option = arguments_next(a);

    if (option == ARGUMENT_END && a->operand_count <= max)
        return true;
    *ret_status = option == ARGUMENT_END ? command_wrong(a->command, "unexpected argument '%s'", a->operands[max])
                                         : arguments_status(a, option);
    return false;
}
