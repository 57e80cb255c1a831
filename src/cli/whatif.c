/* SPDX-License-Identifier: Apache-2.0 */

/* muster whatif: the next scheduling cycle, or the coming hours, with a change and without it. */
#include "sim/whatif/whatif.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/simulate_shared.h"
#include "cluster/cluster_reading.h"
#include "sim/report/requirement.h"
#include "sim/simulate/simulate.h"
#include "sim/trace/trace.h"
#include "sim/whatif/hours.h"
#include "sim/when/past_journal.h"
#include "text/table.h"

enum {
    OPTION_OUTPUT,
    OPTION_REQUIRE,
    OPTION_HOURS,
    OPTION_HISTORY,
    OPTION_FUTURES,
    OPTION_SEED,
    OPTION_KUBECONFIG,
    _OPTION_MAX
};

enum { HOURS_MAX = 8 * 7 * 24 };

static const struct command_option whatif_options[] = {
    [OPTION_OUTPUT] = OUTPUT_OPTION,
    [OPTION_REQUIRE] = {0, "require", "REQUIREMENT", NULL,
                        "exit with status 1 unless this holds with the change: lab/train=Running, evictions<=2*A"},
    [OPTION_HOURS] = {0, "hours", "N", NULL, "look at the coming hours, by simulated futures, instead of one cycle"},
    [OPTION_HISTORY] = {0, "history", "PATH", NULL,
                        "with --hours: past work, a trace (docs/traces.md) or the folder of a journal"},
    [OPTION_FUTURES] = {0, "futures", "N", NULL, "with --hours: how many futures to simulate (default 100)"},
    [OPTION_SEED] = {0, "seed", "N", NULL, "with --hours: seed of the random numbers (default 1)"},
    [OPTION_KUBECONFIG] = KUBECONFIG_OPTION,
};

static const char *const whatif_examples[] = {
    "muster whatif examples/three-teams.json queue/vision.quota=0",
    "muster whatif kube: node/gpu-3=drained",
    "muster whatif -o json cluster/ new=job.yaml --require 'evictions<=0'",
    "muster whatif kube: queue/vision.quota=24 --hours 48 --history month.csv",
    NULL,
};

struct call {
    bool as_json;
    bool is_set[_OPTION_MAX];
    const char *kubeconfig;
    const char *history;
    uint64_t hours;  // 0: one cycle
    uint64_t futures;
    uint64_t seed;
    struct requirements requirements;
    VEC(struct whatif_change) changes;
    VEC(const char *) paths;     // of the cluster
    VEC(const char *) extended;  // and of what is new
    bool has_new;
    FILE *out;
};

static int answer(struct call *call, struct simulation *sim, struct simulation *extended, struct err *err)
{
    const struct table_view view = table_view_of(stdout);
    struct whatif whatif;
    int r = whatif_ask(&whatif, sim, extended, call->changes.items, call->changes.len, err);

    if (r >= 0)
        r = requirements_judge(&call->requirements, &whatif.without, &whatif.with, err);
    if (r >= 0 && call->as_json)
        whatif_write(&whatif, call->changes.items, call->changes.len, &call->requirements, call->out);
    else if (r >= 0)
        whatif_print(&whatif, &call->requirements, &view, call->out);
    whatif_done(&whatif);
    return r;
}

static struct hours_question question_of(struct call *call, struct past *history)
{
    struct when_options usual;

    when_options_init(&usual);
    return (struct hours_question){
        .changes = call->changes.items,
        .change_count = call->changes.len,
        .history = history,
        .future = {.seed = call->is_set[OPTION_SEED] ? call->seed : usual.future.seed,
                   .horizon = (nsec_t)call->hours * NSEC_PER_HOUR},
        .futures = call->is_set[OPTION_FUTURES] ? (uint32_t)call->futures : usual.futures,
        .requirements = &call->requirements,
    };
}

static int answer_hours(struct call *call, const struct hours_cluster *base, const struct hours_cluster *extended,
                        struct err *err)
{
    const struct table_view view = table_view_of(stdout);
    struct past history;
    struct hours hours;
    struct trace past;
    int r = 0;

    trace_init(&past);
    past_init(&history, &past);
    if (call->history)
        r = past_read(&history, call->history, base->sim->start, err);
    if (r >= 0) {
        struct hours_question question = question_of(call, &history);

        question.base = *base;
        question.extended = *extended;
        r = hours_ask(&hours, &question, err);
        if (r >= 0 && call->as_json)
            hours_write(&hours, &question, call->out);
        else if (r >= 0)
            hours_print(&hours, &question, &view, call->out);
        hours_done(&hours);
    }
    past_done(&history);
    trace_done(&past);
    return r;
}

/* The objects of a cluster belong to its reading, which stays for as long. */
static int load_paths(const struct call *call, const char *const *paths, size_t count, struct simulation *sim,
                      struct cluster_reading **ret_reading, struct err *err)
{
    struct cluster_source source;

    cluster_source_init(&source, call->kubeconfig);
    source.options.ret_reading = call->hours > 0 ? ret_reading : NULL;
    return simulation_load(sim, &source.options, paths, count, err);
}

static int answer_clusters(struct call *call, const struct hours_cluster *base, const struct hours_cluster *extended,
                           struct err *err)
{
    return call->hours > 0 ? answer_hours(call, base, extended, err) : answer(call, base->sim, extended->sim, err);
}

static int load_extended(struct call *call, const struct hours_cluster *base, struct err *err)
{
    _cleanup_(cluster_reading_freep) struct cluster_reading *reading = NULL;
    struct simulation sim;

    if (!call->has_new)
        return answer_clusters(call, base, &(struct hours_cluster){0}, err);
    int r = load_paths(call, call->extended.items, call->extended.len, &sim, &reading, err);
    if (r >= 0)
        r = answer_clusters(call, base, &(struct hours_cluster){&sim, reading ? cluster_reading_set(reading) : NULL},
                            err);
    simulation_done(&sim);
    return r;
}

static int load(struct call *call, struct err *err)
{
    _cleanup_(cluster_reading_freep) struct cluster_reading *reading = NULL;
    struct simulation sim;
    int r = load_paths(call, call->paths.items, call->paths.len, &sim, &reading, err);

    if (r >= 0) {
        warn_about(&sim);
        r = load_extended(call, &(struct hours_cluster){&sim, reading ? cluster_reading_set(reading) : NULL}, err);
    }
    simulation_done(&sim);
    return r;
}

/* All output is made before any is written, so that bad input leaves none. */
static int run(struct call *call)
{
    struct err err = {0};
    _cleanup_(freep) char *text = NULL;
    size_t len = 0;
    int r;

    call->out = open_memstream(&text, &len);
    if (!call->out)
        return command_failed(-ENOMEM, &(struct err){-ENOMEM, "no memory for the output"});
    r = load(call, &err);
    (void)fclose(call->out);
    if (r < 0)
        return command_failed(r, &err);
    (void)fputs(text, stdout);
    return requirements_hold(&call->requirements) ? EXIT_FINE : EXIT_FAILED;
}

static int sort_operands(const struct command *command, struct call *call, const struct arguments *arguments)
{
    struct err err = {0};

    for (size_t i = 0; i < arguments->operand_count; i++) {
        const char *word = arguments->operands[i];
        struct whatif_change change;
        if (!whatif_is_change(word)) {
            vec_push(&call->paths, word);
            continue;
        }
        if (whatif_change_parse(&change, word, &err) < 0)
            return command_wrong(command, "%s", err.text);
        vec_push(&call->changes, change);
        call->has_new |= change.kind == WHATIF_NEW;
    }
    if (call->paths.len == 0)
        return command_wrong(command, "a PATH is missing");
    vec_foreach (&call->paths, path)
        vec_push(&call->extended, *path);
    vec_foreach (&call->changes, change) {
        if (change->kind == WHATIF_NEW)
            vec_push(&call->extended, change->name);
    }
    return EXIT_FINE;
}

static int set_option(struct call *call, int option, const char *value, struct err *err)
{
    call->is_set[option] = true;
    switch (option) {
    case OPTION_OUTPUT:
        call->as_json = strcmp(value, "json") == 0;
        return 0;
    case OPTION_REQUIRE:
        return requirements_add(&call->requirements, value, err);
    case OPTION_HOURS:
        return whole_number_parse(value, 1, HOURS_MAX, &call->hours, err);
    case OPTION_HISTORY:
        call->history = value;
        return 0;
    case OPTION_FUTURES:
        return whole_number_parse(value, WHEN_FUTURES_MIN, WHEN_FUTURES_MAX, &call->futures, err);
    case OPTION_SEED:
        return whole_number_parse(value, 0, INT64_MAX, &call->seed, err);
    case OPTION_KUBECONFIG:
        call->kubeconfig = value;
        return 0;
    default:
        return err_set(err, -EINVAL, "there is no option %d", option);
    }
}

static int read_options(const struct command *command, struct call *call, struct arguments *arguments)
{
    static const int of_hours[] = {OPTION_HISTORY, OPTION_FUTURES, OPTION_SEED};
    struct err err = {0};
    int option;

    while ((option = arguments_next(arguments)) >= 0)
        if (set_option(call, option, arguments->value, &err) < 0)
            return command_wrong(command, "--%s: %s", whatif_options[option].long_name, err.text);
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    for (size_t i = 0; i < ARRAY_LEN(of_hours); i++)
        if (call->is_set[of_hours[i]] && call->hours == 0)
            return command_wrong(command, "--%s needs --hours", whatif_options[of_hours[i]].long_name);
    return sort_operands(command, call, arguments);
}

static int run_whatif(const struct command *command, struct arguments *arguments)
{
    struct call call = {0};
    int status = read_options(command, &call, arguments);

    /* Help, too, ends the call with success. */
    if (status == EXIT_FINE && call.paths.len > 0)
        status = run(&call);
    requirements_done(&call.requirements);
    vec_done(&call.changes);
    vec_done(&call.paths);
    vec_done(&call.extended);
    return status;
}

const struct command whatif_command = {
    .name = "whatif",
    .summary = "show what a change would do in the next scheduling cycle, or the coming hours",
    .usage = "[-o table|json] [--hours N] [--require REQUIREMENT]... PATH... CHANGE...",
    .text =
        "PATH is a manifest, a folder of manifests, a KAI snapshot, a scenario, or kube: or kube:CONTEXT for a live\n"
        "cluster (read-only: only list requests are made). CHANGE is one of\n"
        "\n"
        "  queue/NAME.quota=16          also .limit and .weight, in GPUs; NAME.cpu.quota and NAME.memory.quota for "
        "others\n"
        "  queue/NAME.priority=200\n"
        "  workload/NAME.priority=100\n"
        "  workload/NAME=gone\n"
        "  node/NAME=lost               or drained, or +2 for two more nodes like it\n"
        "  new=FILE                     the workloads, queues and nodes that the file describes\n"
        "\n"
        "The next cycle runs twice, with all changes and without them. The answer lists the workloads that start or "
        "are\n"
        "evicted, and the queues whose fair share or allocation differs. In --require, A is the value without the "
        "change.\n"
        "\n"
        "With --hours the cluster is simulated into many futures, each with the changes and without them: who starts "
        "in\n"
        "how many of them and how soon, and how long the work of each queue waits. A requirement then has to hold in "
        "90 %\n"
        "of the futures.\n",
    .group = GROUP_TRY,
    .options = whatif_options,
    .option_count = ARRAY_LEN(whatif_options),
    .examples = whatif_examples,
    .operands = OPERANDS_PATHS,
    .run = run_whatif,
};
