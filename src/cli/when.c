/* SPDX-License-Identifier: Apache-2.0 */

/* muster when: when a workload will start, by futures of the cluster. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/time.h"
#include "cli/commands.h"
#include "cli/simulate_shared.h"
#include "cli/when_call.h"
#include "cli/work/api.h"

enum {
    OPTION_OUTPUT,
    OPTION_FILE,
    OPTION_HISTORY,
    OPTION_JOURNAL,
    OPTION_TRACE,
    OPTION_AT,
    OPTION_FUTURES,
    OPTION_HORIZON,
    OPTION_SEED,
    OPTION_WITHIN,
    OPTION_BACKTEST,
    OPTION_WARM_UP,
    OPTION_AT_MOST,
    OPTION_ROWS,
    OPTION_KUBECONFIG
};

static const struct command_option when_options[] = {
    [OPTION_OUTPUT] = OUTPUT_OPTION,
    [OPTION_FILE] = {'f', "filename", "FILE", NULL, "work that is not submitted yet; may be repeated"},
    [OPTION_HISTORY] = {0, "history", "PATH", NULL, "past work: a trace (docs/traces.md), or the folder of a journal"},
    [OPTION_JOURNAL] = {0, "journal", "FOLDER", NULL, "read cluster and history from the journal of a scheduler"},
    [OPTION_TRACE] = {0, "trace", "FILE", NULL, "simulate a trace up to the time of --at, which is then the present"},
    [OPTION_AT] = {0, "at", "TIME", NULL, "the moment to answer for, with --journal or --trace"},
    [OPTION_FUTURES] = {0, "futures", "N", NULL, "how many futures to simulate (default 100)"},
    [OPTION_HORIZON] = {0, "horizon", "TIME", NULL, "how far to look ahead (default 14d)"},
    [OPTION_SEED] = {0, "seed", "N", NULL, "seed of the random numbers (default 1)"},
    [OPTION_WITHIN] = {0, "within", "TIME", NULL, "answer after that time, with at least 10 futures"},
    [OPTION_BACKTEST] = {0, "backtest", "EVERY", NULL,
                         "with --trace: predict at intervals of the trace, and compare with what happened"},
    [OPTION_WARM_UP] = {0, "warm-up", "TIME", NULL, "backtest: time before the first prediction (default 7d)"},
    [OPTION_AT_MOST] = {0, "at-most", "N", NULL, "backtest: workloads at each moment (default 50)"},
    [OPTION_ROWS] = {0, "rows-out", "FILE", NULL, "backtest: write a row for each prediction as CSV"},
    [OPTION_KUBECONFIG] = KUBECONFIG_OPTION,
};

static const char *const when_examples[] = {
    "muster when team-a/train-llm",
    "muster when team-a/train-llm kube:staging --history month.csv",
    "muster when -f job.yaml cluster/ --history /var/lib/muster/journal",
    "muster when train --journal /var/lib/muster/journal --at 2026-03-01T12:00:00Z",
    "muster when cluster.yaml --trace month.csv --backtest 6h",
    NULL,
};

/* All output is made before any is written, so that bad input leaves none. */
static int run(struct when_call *call)
{
    struct err err = {0};
    _cleanup_(freep) char *text = NULL;
    size_t len = 0;
    int r;

    call->begun = nsec_now_monotonic();
    call->out = open_memstream(&text, &len);
    if (!call->out)
        return command_failed(-ENOMEM, &(struct err){-ENOMEM, "no memory for the output"});
    if (call->journal)
        r = when_call_answer_journal(call, &err);
    else
        r = call->trace ? when_call_answer_trace(call, &err) : when_call_answer_cluster(call, &err);
    (void)fclose(call->out);
    if (r < 0)
        return command_failed(r, &err);
    (void)fputs(text, stdout);
    return EXIT_FINE;
}

/* Without a PATH, the server that submit and list use. */
static int run_here(struct when_call *call)
{
    _cleanup_(freep) char *local = NULL;

    if (call->paths.len == 0 && !call->journal) {
        local = api_local_config(&(struct api_place){.kubeconfig = call->kubeconfig});
        vec_push(&call->paths, CLUSTER_LIVE);
        if (local)
            call->kubeconfig = local;
    }
    return run(call);
}

static int set_duration(const char *text, nsec_t max, nsec_t *ret, struct err *err)
{
    int r = long_duration_parse(text, ret, err);

    if (r >= 0 && (*ret <= 0 || *ret > max))
        return err_set(err, -EINVAL, "'%s' is not above 0, or too long", text);
    return r;
}

static int set_count(const char *text, uint32_t min, uint32_t max, uint32_t *ret, struct err *err)
{
    uint64_t number = 0;
    int r = whole_number_parse(text, min, max, &number, err);

    if (r >= 0)
        *ret = (uint32_t)number;
    return r;
}

#define HORIZON_MAX (8 * 7 * 24 * NSEC_PER_HOUR)
#define YEAR (365 * 24 * NSEC_PER_HOUR)
enum { AT_MOST_MAX = 100000 };

static int set_option(struct when_call *call, int option, const char *value, struct err *err)
{
    switch (option) {
    case OPTION_OUTPUT:
        call->as_json = strcmp(value, "json") == 0;
        return 0;
    case OPTION_FILE:
        vec_push(&call->files, value);
        return 0;
    case OPTION_HISTORY:
        call->history = value;
        return 0;
    case OPTION_JOURNAL:
        call->journal = value;
        return 0;
    case OPTION_TRACE:
        call->trace = value;
        return 0;
    case OPTION_ROWS:
        call->rows = value;
        return 0;
    case OPTION_KUBECONFIG:
        call->kubeconfig = value;
        return 0;
    case OPTION_AT:
        call->has_at = true;
        return time_parse(value, &call->at, err);
    case OPTION_FUTURES:
        return set_count(value, WHEN_FUTURES_MIN, WHEN_FUTURES_MAX, &call->options.futures, err);
    case OPTION_AT_MOST:
        return set_count(value, 1, AT_MOST_MAX, &call->at_most, err);
    case OPTION_SEED:
        return whole_number_parse(value, 0, INT64_MAX, &call->options.future.seed, err);
    case OPTION_HORIZON:
        return set_duration(value, HORIZON_MAX, &call->options.future.horizon, err);
    case OPTION_WITHIN:
        return set_duration(value, YEAR, &call->within, err);
    case OPTION_BACKTEST:
        return set_duration(value, YEAR, &call->every, err);
    case OPTION_WARM_UP:
        return set_duration(value, YEAR, &call->warm_up, err);
    default:
        return err_set(err, -EINVAL, "there is no option %d", option);
    }
}

/* What does not go together; NULL: nothing. */
static const char *conflict_in(const struct when_call *call)
{
    if (call->every > 0 && !call->trace)
        return "--backtest needs --trace";
    if (call->rows && call->every == 0)
        return "--rows-out needs --backtest";
    if (call->trace && call->journal)
        return "--trace and --journal cannot be combined";
    if (call->trace && (call->history || call->files.len > 0))
        return "--trace brings its own history; --history and -f cannot be combined with it";
    if (call->trace && call->every == 0 && !call->has_at)
        return "--trace needs --at or --backtest";
    if (call->has_at && !call->trace && !call->journal)
        return "--at needs --journal or --trace";
    if (call->journal && (call->paths.len > 0 || call->files.len > 0))
        return "--journal brings its own cluster; PATH and -f cannot be combined with it";
    if (call->journal && !call->workload)
        return "a WORKLOAD is missing";
    if (call->trace && call->paths.len == 0)
        return "a PATH is missing";
    return NULL;
}

static int read_call(const struct command *command, struct when_call *call, struct arguments *arguments)
{
    struct err err = {0};
    size_t first = 0;
    int option;

    while ((option = arguments_next(arguments)) >= 0)
        if (set_option(call, option, arguments->value, &err) < 0)
            return command_wrong(command, "--%s: %s", when_options[option].long_name, err.text);
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (call->every == 0 && call->files.len == 0) {
        if (arguments->operand_count == 0)
            return command_wrong(command, "a WORKLOAD is missing");
        call->workload = arguments->operands[first++];
    }
    for (size_t i = first; i < arguments->operand_count; i++)
        vec_push(&call->paths, arguments->operands[i]);
    const char *conflict = conflict_in(call);
    return conflict ? command_wrong(command, "%s", conflict) : run_here(call);
}

static int run_when(const struct command *command, struct arguments *arguments)
{
    struct when_call call = {.warm_up = 7 * 24 * NSEC_PER_HOUR, .at_most = 50};

    when_options_init(&call.options);
    int status = read_call(command, &call, arguments);
    vec_done(&call.files);
    vec_done(&call.paths);
    return status;
}

const struct command when_command = {
    .name = "when",
    .summary = "estimate when a workload will start, by simulated futures",
    .usage = "[OPTION...] WORKLOAD [PATH...] | -f FILE [PATH...] | --trace FILE --backtest EVERY PATH...",
    .text =
        "Simulates many futures of the cluster: run times are drawn from past runs of similar workloads, within\n"
        "declared limits, and new work arrives as it did in the past. The answer is the median start, with an\n"
        "80 % and a 90 % interval, and the data that it is based on. PATH is as for 'muster why'; without one, the\n"
        "Muster of this machine or the cluster of the kubeconfig is read. With -f, the answer is for work that is\n"
        "not submitted yet, and all operands are PATHs. Nothing in the cluster is changed.\n",
    .group = GROUP_TRY,
    .options = when_options,
    .option_count = ARRAY_LEN(when_options),
    .examples = when_examples,
    .operands = OPERANDS_WORKLOAD,
    .run = run_when,
};
