/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"

/*
 * A command that a person can type: its options, its verbs if it has any, its texts and the function that runs it. Help,
 * manual pages and completions are written from this; `commands.h` has the table of all commands.
 */

/* Exit statuses; docs/cli.md explains them to users. 2 also stands for input that cannot be understood. */
enum { EXIT_FINE = 0, EXIT_FAILED = 1, EXIT_WRONG_CALL = 2 };

struct command_option {
    char short_name;             // 0: none
    const char *long_name;       // without the dashes
    const char *value;           // what it takes, as help calls it; NULL: nothing
    const char *const *choices;  // the values that there are, ended by NULL; NULL: any
    const char *help;
};

struct arguments;
struct err;
struct service_kind;

/* The part of help that lists the command. */
enum command_group {
    GROUP_WORK,
    GROUP_LOCAL,
    GROUP_TRY,
    GROUP_CLUSTER,
    GROUP_NODE,
    GROUP_INTERNALS,
    _COMMAND_GROUP_MAX
};

/* The arguments that are no options, for completion; besides the `words` of the command. */
enum command_operands {
    OPERANDS_PATHS,
    OPERANDS_WORKLOAD,        // a workload, then paths
    OPERANDS_LIVE_WORKLOADS,  // workloads of the server that the commands for people talk to
    OPERANDS_LIVE_QUEUES,
    OPERANDS_LIVE_NODES,
    OPERANDS_COMMANDS,
    OPERANDS_PROGRAM,  // a program with its arguments: options end at the first word that is none
    OPERANDS_NONE
};

struct command {
    const char *name;     // of a verb with that of the command: "gpu run"
    const char *summary;  // one line for the list of commands
    const char *usage;    // behind the name
    const char *text;     // what it does, lines of their own; NULL: the summary says it all
    enum command_group group;
    const struct command *const *verbs;  // ended by NULL; NULL: none. With verbs there are neither options nor `run`.
    bool has_default_verb;               // the first verb runs where none is given
    const struct command_option *options;
    size_t option_count;
    const struct service_kind *service;          // whose flags are the options instead; `run` is run_service then
    const struct service_kind *const *services;  // or several, in one process; ended by NULL
    bool is_local;  // of services: flags for other API servers, leases and KAI's logs are accepted and not shown
    const char *const *examples;  // ended by NULL
    const char *const *words;     // that the first operand can be, ended by NULL; NULL: any
    enum command_operands operands;
    int (*run)(const struct command *command, struct arguments *arguments);
};

/* The word that is typed for it: "run" for "gpu run". */
const char *command_word(const struct command *command);

/* The command that the words name, such as "gpu", "run"; NULL for none of them. Returns EXIT_FINE, or EXIT_WRONG_CALL after
 * a complaint that has the nearest name. */
MUST_CHECK int command_find(const char *const *words, size_t count, const struct command **ret);

/* Runs what the arguments of the program say; returns its exit status. */
int command_main(int argc, char **argv);

/* The row of the option that most commands have, and its values. */
#define OUTPUT_OPTION {'o', "output", "table|json", output_choices, "print tables for people (default), or JSON"}
extern const char *const output_choices[];

/* All options of a command: its own table or the flags of its service, then those that every command has. */
size_t command_option_count(const struct command *command);
struct command_option command_option_at(const struct command *command, size_t i);

/* Whether an option has that letter; -h is help for commands without one. */
bool command_has_letter(const struct command *command, char letter);

/* What an option of a service is when it is not given; "" when help says it, or nothing does. */
const char *command_option_default(const struct command *command, size_t i);

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
 * ARGUMENT_WRONG when it makes no sense, of which standard error has been told; ARGUMENT_HELP for -h and --help. --color,
 * which every command has, is taken here.
 */
int arguments_next(struct arguments *a);

/* The exit status when reading stopped at ARGUMENT_HELP, for which the help is printed here, or at ARGUMENT_WRONG. */
int arguments_status(const struct arguments *a, int option);

void arguments_init(struct arguments *a, const struct command *command, int argc, const char *const *argv);
void arguments_done(struct arguments *a);

/* The value of the option just read as a number within the range, or false with a message. */
MUST_CHECK bool arguments_number(const struct arguments *a, const char *option, long min, long max, long *ret);

/* Reads all arguments of a command without options: true when it has at most `max` operands. Otherwise the command ends
 * with `*ret_status`, since help or a complaint has been printed. */
MUST_CHECK bool arguments_operands(struct arguments *a, size_t max, int *ret_status);

/* Says on standard error what is wrong with the call and how to learn more. Returns EXIT_WRONG_CALL. */
int command_wrong(const struct command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Says on standard error what went wrong: one line, whatever the names in it hold. Returns the exit status for the
 * negative errno `code`: EXIT_WRONG_CALL for what the input can be blamed for, EXIT_FAILED for what the system did.
 */
int command_failed(int code, const struct err *err);

/* Says on standard error what was survived; `lines` are ended by a newline each and are changed. */
void command_warn(char *lines);

/* Says that standard output took no more, as errno has it. Returns EXIT_FAILED. */
int command_failed_to_write(void);

extern const char muster_version[];

/* Prints "muster VERSION". */
void command_print_version(void);

/* Prints the help of a command, or of the program for NULL; returns an exit status. */
int command_help(const struct command *command);

/* Of commands that are services: their flags as options, and how they run. */
size_t service_option_count(const struct command *command);
struct command_option service_option_at(const struct command *command, size_t i);
int run_service(const struct command *command, struct arguments *arguments);
int run_services(const struct command *command, const struct service_kind *const *kinds, size_t count, int argc,
                 const char *const *argv);

/* Whether the services can be run so; reports what is wrong with a flag or its value, and does nothing else. Returns
 * EXIT_FINE or EXIT_WRONG_CALL. */
int check_services(const struct command *command, const struct service_kind *const *kinds, size_t count, int argc,
                   const char *const *argv);

/* run_services() with one service that starts those of `hostable`, a list up to a NULL, itself. */
int run_host(const struct command *command, const struct service_kind *host, const struct service_kind *const *hostable,
             const struct arguments *arguments);

static inline bool command_is_service(const struct command *command)
{
    return command->service || command->services;
}
