/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"

/*
 * What a person can type: one table of commands, each with its options. Dispatch, help and completion all read it.
 */
enum { EXIT_FINE = 0, EXIT_FAILED = 1, EXIT_WRONG_CALL = 2 };  // 2 also for input that cannot be understood

struct command_option {
    char short_name;             // 0: none
    const char *long_name;       // without the dashes
    const char *value;           // what it takes, as help calls it; NULL: nothing
    const char *const *choices;  // the values that there are, ended by NULL; NULL: any
    const char *help;
};

struct arguments;

struct command {
    const char *name;
    const char *summary;  // one line for the list of commands
    const char *usage;    // behind the name
    const char *text;     // what it does, lines of their own
    const struct command_option *options;
    size_t option_count;
    const char *const *examples;  // ended by NULL
    int (*run)(const struct command *command, struct arguments *arguments);
};

/* All commands in the order in which help lists them, ended by one without a name. */
extern const struct command commands[];

const struct command *command_find(const char *name);

/* Runs what the arguments of the program say; returns its exit status. */
int command_main(int argc, char **argv);

/* The arguments of one command, read one by one. */
struct arguments {
    const struct command *command;
    const char *const *argv;
    int argc;
    int next;
    bool has_ended;         // "--" was there
    const char *rest;       // of a word of several short options
    const char *value;      // of the option just read
    const char **operands;  // what is no option, in order
    size_t operand_count;
};

enum { ARGUMENT_END = -1, ARGUMENT_WRONG = -2, ARGUMENT_HELP = -3 };

/*
 * The next option as its index in the command's table. ARGUMENT_END after the last one, when all operands are known;
 * ARGUMENT_WRONG when it makes no sense, of which standard error has been told; ARGUMENT_HELP for -h and --help.
 */
int arguments_next(struct arguments *a);

void arguments_init(struct arguments *a, const struct command *command, int argc, const char *const *argv);
void arguments_done(struct arguments *a);

/* The value of the option just read as a number within the range, or false with a message. */
MUST_CHECK bool arguments_number(const struct arguments *a, const char *option, long min, long max, long *ret);

/* Says what is wrong with the call and how to learn more. Returns EXIT_WRONG_CALL. */
int command_wrong(const struct command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

int command_help(const struct command *command);

/* The commands, one file each. */
int run_help(const struct command *command, struct arguments *arguments);
int run_scenario(const struct command *command, struct arguments *arguments);
int run_version(const struct command *command, struct arguments *arguments);
