/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "cli/commands.h"

/*
 * What the writers of completions share. Each prints a whole script from the tables of commands: commands, verbs, options,
 * the values that an option can have, and files where a file can stand. A script runs the program while a person types for
 * names of a cluster alone, by 'muster complete'.
 */
void completion_bash(void);
void completion_zsh(void);
void completion_fish(void);

/* Whether files can stand behind the option: when its value is called one. */
bool completion_is_file(const struct command_option *option);

/* Within single quotes, which all three shells take literally but for the quote itself; `quote` and `backslash` are what
 * those characters become. */
void completion_print_quoted(const char *text, const char *quote, const char *backslash);

/* Words with a space between them. */
void completion_print_list(const char *const *words);
void completion_print_commands(const struct command *const *list);

/* The argument of 'muster complete live' for the operands of a command. */
const char *completion_live_kind(const struct command *command);
