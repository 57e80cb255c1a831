/* SPDX-License-Identifier: Apache-2.0 */

/* The table of commands. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "cli/command.h"

static const char *const output_choices[] = {"table", "json", NULL};

static const struct command_option scenario_options[] = {
    {'o', "output", "table|json", output_choices, "what to print: tables for people (default), or JSON"},
    {0, "repeat", "N", NULL, "play each scenario N times from a fresh state; timings are the medians"},
};

static const char *const scenario_examples[] = {
    "muster scenario examples/three-teams.json",
    "muster scenario -o json --repeat 5 cluster.json.gz",
    "generate-cluster | muster scenario -",
    NULL,
};

const struct command commands[] = {
    {
        .name = "scenario",
        .summary = "schedule a cluster described in a file, and say why the rest waits",
        .usage = "[-o table|json] [--repeat N] FILE...",
        .text =
            "Each FILE holds one scenario, or an array of them, as JSON: nodes, queues, jobs, and which actions run.\n"
            "It may be packed by gzip; '-' is standard input. Nothing but the file is looked at or changed.\n",
        .options = scenario_options,
        .option_count = ARRAY_LEN(scenario_options),
        .examples = scenario_examples,
        .run = run_scenario,
    },
    {
        .name = "version",
        .summary = "print the version",
        .usage = "",
        .run = run_version,
    },
    {
        .name = "help",
        .summary = "tell about a command",
        .usage = "[COMMAND]",
        .run = run_help,
    },
    {0},
};

const struct command *command_find(const char *name)
{
    for (const struct command *command = commands; command->name; command++) {
        if (strcmp(command->name, name) == 0)
            return command;
    }
    return NULL;
}

int command_wrong(const struct command *command, const char *format, ...)
{
    va_list args;

    (void)fputs("muster", stderr);
    if (command)
        (void)fprintf(stderr, " %s", command->name);
    (void)fputs(": ", stderr);
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fprintf(stderr, "\nTry 'muster help%s%s'.\n", command ? " " : "", command ? command->name : "");
    return EXIT_WRONG_CALL;
}

int command_main(int argc, char **argv)
{
    const struct command *command;
    struct arguments arguments;
    const char *name = argc > 1 ? argv[1] : NULL;
    int status;

    if (!name) {
        (void)command_help(NULL);
        return EXIT_WRONG_CALL;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    else if (strcmp(name, "--version") == 0)
        name = "version";
    command = command_find(name);
    if (!command)
        return command_wrong(NULL, name[0] == '-' ? "there is no option %s" : "there is no command '%s'", name);
    arguments_init(&arguments, command, argc - 2, (const char *const *)argv + 2);
    status = command->run(command, &arguments);
    arguments_done(&arguments);
    return status;
}
