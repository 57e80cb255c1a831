/* SPDX-License-Identifier: Apache-2.0 */

/* muster gpu status: which program uses which GPU, once, as tables or as the daemon's JSON. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/gpu/gpu.h"
#include "cli/gpu/screen.h"
#include "text/terminal.h"

enum { OPTION_OUTPUT, OPTION_FOLDER };

static const struct command_option options[] = {
    [OPTION_OUTPUT] = OUTPUT_OPTION,
    [OPTION_FOLDER] = GPU_FOLDER_OPTION,
};

static const char *const examples[] = {
    "muster gpu status",
    "muster gpu status -o json",
    NULL,
};

static int print(const char *status, bool as_json, struct err *err)
{
    struct terminal terminal = terminal_of(stdout);
    struct gpu_screen screen = {.width = terminal.width, .has_colour = terminal.has_colour, .sort = GPU_SORT_NAME};

    if (!as_json)
        return gpu_screen_draw(&screen, status, stdout, err);
    (void)puts(status);
    return 0;
}

static int run(const struct command *command, struct arguments *arguments)
{
    const char *values[ARRAY_LEN(options)] = {0};
    struct err err = {0};
    int option;

    while ((option = arguments_next(arguments)) >= 0)
        values[option] = arguments->value;
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count > 0)
        return command_wrong(command, "unexpected argument '%s'", arguments->operands[0]);

    _cleanup_(freep) char *folder = gpu_folder(values[OPTION_FOLDER]);
    _cleanup_(freep) char *status = NULL;
    int r = gpu_ask(folder, "GET", "/v1/status", NULL, &status, &err);
    if (r >= 0)
        r = print(status, values[OPTION_OUTPUT] && strcmp(values[OPTION_OUTPUT], "json") == 0, &err);
    return r < 0 ? gpu_failed(r, &err) : EXIT_FINE;
}

const struct command gpu_status_command = {
    .name = "gpu status",
    .summary = "print GPUs, the programs that hold them and those that wait",
    .usage = "[-o table|json] [--folder FOLDER]",
    .text = "Prints once and exits; 'muster gpu top' refreshes every second.\n",
    .options = options,
    .option_count = ARRAY_LEN(options),
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run,
};
