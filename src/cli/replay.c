/* SPDX-License-Identifier: Apache-2.0 */

/* muster replay: the cycles of a journal, run again. */
#include "sim/replay/replay.h"

#include <string.h>

#include "base/err.h"
#include "cli/commands.h"
#include "text/table.h"

enum { OPTION_OUTPUT, OPTION_AT };

static const struct command_option replay_options[] = {
    [OPTION_OUTPUT] = OUTPUT_OPTION,
    [OPTION_AT] = {0, "at", "TIME", NULL, "show the last cycle at or before that time, such as 2026-03-01T12:00:00Z"},
};

static const char *const replay_examples[] = {
    "muster replay /var/lib/muster/journal",
    "muster replay --at 2026-03-01T12:00:00Z /var/lib/muster/journal",
    "muster simulate examples/gang --journal gang.journal && muster replay gang.journal",
    NULL,
};

struct call {
    bool as_json;
    bool has_at;
    nsec_t at;
};

static int show_moment(const struct call *call, const char *path)
{
    struct table_view view = table_view_of(stdout);
    struct replay_moment moment;
    struct err err = {0};
    int r = replay_find(&moment, path, call->at, &err);

    if (r >= 0 && call->as_json)
        replay_moment_write(&moment, stdout);
    else if (r >= 0)
        replay_moment_print(&moment, &view, stdout);
    replay_moment_done(&moment);
    return r < 0 ? command_failed(r, &err) : EXIT_FINE;
}

static int replay_all(const struct call *call, const char *path)
{
    struct table_view view = table_view_of(stdout);
    struct replay replay;
    struct err err = {0};

    replay_init(&replay);
    int r = replay_run(&replay, path, &err);
    int status = r < 0 ? command_failed(r, &err) : replay_is_same(&replay) ? EXIT_FINE : EXIT_FAILED;

    if (r >= 0 && call->as_json)
        replay_write(&replay, stdout);
    else if (r >= 0)
        replay_print(&replay, &view, stdout);
    replay_done(&replay);
    return status;
}

static int run_replay(const struct command *command, struct arguments *arguments)
{
    struct call call = {0};
    struct err err = {0};
    int option;

    while ((option = arguments_next(arguments)) >= 0) {
        if (option == OPTION_OUTPUT)
            call.as_json = strcmp(arguments->value, "json") == 0;
        else if (time_parse(arguments->value, &call.at, &err) < 0)
            return command_wrong(command, "--at: %s", err.text);
        else
            call.has_at = true;
    }
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count != 1)
        return command_wrong(command,
                             arguments->operand_count ? "expected one PATH, found several" : "a PATH is missing");
    return call.has_at ? show_moment(&call, arguments->operands[0]) : replay_all(&call, arguments->operands[0]);
}

const struct command replay_command = {
    .name = "replay",
    .summary = "run the cycles of a scheduler's journal again, or show one of them",
    .usage = "[-o table|json] [--at TIME] PATH",
    .text = "PATH is the folder of a journal, or one of its segments. Every recorded cycle runs again through the "
            "engine on\n"
            "the recorded state. The exit status is 1 when a decision or a verdict differs. docs/replay.md explains "
            "more.\n",
    .group = GROUP_TRY,
    .options = replay_options,
    .option_count = ARRAY_LEN(replay_options),
    .examples = replay_examples,
    .run = run_replay,
};
