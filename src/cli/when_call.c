/* SPDX-License-Identifier: Apache-2.0 */

/* The answers of muster when: the world, its past and its work are brought together from where the call says. */
#include "cli/when_call.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/simulate_shared.h"
#include "cluster/cluster_reading.h"
#include "engine/engine.h"
#include "model/state.h"
#include "sim/replay/replay.h"
#include "sim/simulate/simulate.h"
#include "sim/trace/trace.h"
#include "sim/when/backtest.h"
#include "sim/when/follower.h"
#include "sim/when/past_journal.h"
#include "sim/why/why_find.h"
#include "text/table.h"

/* ---- Answers. ---- */

static bool has_time(void *context)
{
    const struct when_call *call = context;

    return nsec_now_monotonic() - call->begun < call->within;
}

struct answers VEC_OF(struct when_answer);

static int ask(struct when_call *call, const struct future_world *world, struct answers *answers, struct err *err)
{
    const struct table_view view = table_view_of(stdout);
    struct when_basis basis = when_basis(world);

    if (call->within > 0) {
        call->options.goes_on = has_time;
        call->options.context = call;
    }
    int r = when_ask(world, &call->options, answers->items, answers->len, err);
    if (r < 0)
        return r;
    if (call->as_json)
        when_write(world, &basis, &call->options, answers->items, answers->len, call->out);
    else
        when_print(world, &basis, &call->options, answers->items, answers->len, &view, call->out);
    return 0;
}

static int find_target(const struct when_call *call, const struct why_input *input, struct answers *answers,
                       struct err *err)
{
    struct why_target target;
    int r = why_find(input, call->workload, &target, err);

    if (r < 0)
        return r;
    if (target.gang == NO_ID)
        return err_set(err, -EINVAL, "%s belongs to another scheduler", call->workload);
    vec_push(answers, (struct when_answer){.gang = target.gang});
    return 0;
}

static int list_new(const struct state *base, const struct state *state, struct answers *answers, struct err *err)
{
    for (gang_id id = 0; id < state->gangs.len; id++) {
        const struct gang *gang = &state->gangs.items[id];
        const char *namespace = state_name(state, gang->namespace);

        if (gang->is_present && (state_find_gang(base, namespace, state_name(state, gang->name)) == NO_ID))
            vec_push(answers, (struct when_answer){.gang = id});
    }
    return answers->len > 0 ? 0 : err_set(err, -EINVAL, "-f: the files have no workload that is new to the cluster");
}

/* ---- A cluster from files, or a live one. ---- */

static int answer_world(struct when_call *call, struct simulation *sim, const struct object_set *objects,
                        const struct state *base, struct err *err)
{
    struct answers answers = {0};
    struct past history;
    struct trace past;

    trace_init(&past);
    past_init(&history, &past);
    state_settle(sim->state);
    _cleanup_(freep) struct future_fact *facts = when_facts(sim->state, objects, sim->start);
    struct why_input input = {.state = sim->state, .objects = objects, .notes = &sim->notes.found};
    struct future_world world = {
        .state = sim->state,
        .config = &sim->config,
        .now = sim->start,
        .grace = 30 * NSEC_PER_SEC,
        .usage = simulation_usage(sim),
        .history = &history,
        .facts = facts,
    };
    int r = call->workload ? find_target(call, &input, &answers, err) : list_new(base, sim->state, &answers, err);
    if (r >= 0 && call->history)
        r = past_read(&history, call->history, sim->start, err);
    if (r >= 0)
        r = ask(call, &world, &answers, err);
    vec_done(&answers);
    past_done(&history);
    trace_done(&past);
    return r;
}

static int load(const struct when_call *call, struct simulation *sim, bool with_files,
                struct cluster_reading **ret_reading, struct err *err)
{
    VEC(const char *) paths = {0};
    struct cluster_source source;

    vec_foreach (&call->paths, path)
        vec_push(&paths, *path);
    for (uint32_t i = 0; with_files && i < call->files.len; i++)
        vec_push(&paths, call->files.items[i]);
    cluster_source_init(&source, call->kubeconfig);
    source.options.ret_reading = ret_reading;
    int r = simulation_load(sim, &source.options, paths.items, paths.len, err);
    vec_done(&paths);
    return r;
}

int when_call_answer_cluster(struct when_call *call, struct err *err)
{
    _cleanup_(cluster_reading_freep) struct cluster_reading *reading = NULL;
    struct simulation base = {0};
    struct simulation sim;
    int r = load(call, &sim, true, &reading, err);

    if (r >= 0 && !call->workload)
        r = load(call, &base, false, NULL, err);
    if (r >= 0) {
        warn_about(&sim);
        r = answer_world(call, &sim, reading ? cluster_reading_set(reading) : NULL, base.state, err);
    }
    simulation_done(&sim);
    if (!call->workload && base.state)
        simulation_done(&base);
    return r;
}

/* ---- A journal at a moment. ---- */

static int answer_moment(struct when_call *call, struct replay_moment *moment, struct err *err)
{
    struct answers answers = {0};
    struct past history;
    struct trace past;

    trace_init(&past);
    past_init(&history, &past);
    engine_close(moment->engine);
    engine_free(moment->engine);
    moment->engine = NULL;
    state_settle(moment->state);
    _cleanup_(freep) struct future_fact *facts = when_facts(moment->state, NULL, moment->now);
    struct why_input input = {.state = moment->state};
    struct future_world world = {
        .state = moment->state,
        .config = &moment->config,
        .now = moment->now,
        .grace = 30 * NSEC_PER_SEC,
        .history = &history,
        .facts = facts,
    };
    int r = find_target(call, &input, &answers, err);
    if (r >= 0)
        r = call->history ? past_read(&history, call->history, moment->now, err)
                          : past_read_journal(&history, call->journal, moment->now, err);
    if (r >= 0)
        r = ask(call, &world, &answers, err);
    vec_done(&answers);
    past_done(&history);
    trace_done(&past);
    return r;
}

int when_call_answer_journal(struct when_call *call, struct err *err)
{
    struct replay_moment moment;
    int r = replay_find(&moment, call->journal, call->has_at ? call->at : NSEC_MAX, err);

    if (r >= 0)
        r = answer_moment(call, &moment, err);
    replay_moment_done(&moment);
    return r;
}

/* ---- A trace up to a moment. ---- */

static int answer_run(struct when_call *call, struct simulation *sim, struct trace *trace, struct err *err)
{
    struct answers answers = {0};
    struct follower follower;
    struct state *copy = follower_state(&sim->run);

    follower_init(&follower, trace);
    follower_update(&follower, &sim->run);
    _cleanup_(freep) struct future_fact *facts = follower_facts(&follower, &sim->run, copy);
    struct why_input input = {.state = copy};
    struct future_world world = {
        .state = copy,
        .config = &sim->config,
        .now = sim->run.end,
        .grace = 30 * NSEC_PER_SEC,
        .usage = simulation_usage(sim),
        .history = &follower.history,
        .facts = facts,
    };
    int r = find_target(call, &input, &answers, err);
    if (r >= 0)
        r = ask(call, &world, &answers, err);
    vec_done(&answers);
    follower_done(&follower);
    state_free(copy);
    return r;
}

static int answer_trace(struct when_call *call, struct simulation *sim, struct trace *trace, struct err *err)
{
    struct sim_run_options options;

    sim_run_options_init(&options);
    options.has_gantt = false;
    options.until = call->at;
    int r = simulation_run(sim, &options, trace, err);
    return r < 0 ? r : answer_run(call, sim, trace, err);
}

struct rows {
    const struct backtest *backtest;
    const struct simulation *sim;
};

static void write_rows(void *context, FILE *out)
{
    const struct rows *rows = context;

    backtest_write_rows(rows->backtest, rows->sim, out);
}

static int run_backtest(struct when_call *call, struct simulation *sim, struct trace *trace, struct err *err)
{
    struct backtest_options options = {
        .when = call->options,
        .every = call->every,
        .warm_up = call->warm_up,
        .at_most = call->at_most,
        .until = call->has_at ? call->at : NSEC_MAX,
    };
    struct backtest backtest;
    int r = backtest_run(&backtest, sim, trace, &options, err);

    if (r >= 0 && call->rows)
        r = write_file(call->rows, write_rows, &(struct rows){&backtest, sim}, err);
    if (r >= 0)
        backtest_print(&backtest, call->out);
    backtest_done(&backtest);
    return r;
}

int when_call_answer_trace(struct when_call *call, struct err *err)
{
    struct simulation sim;
    struct trace trace;

    trace_init(&trace);
    int r = load(call, &sim, false, NULL, err);
    if (r >= 0)
        r = trace_read(&trace, call->trace, err);
    if (r >= 0)
        r = call->every > 0 ? run_backtest(call, &sim, &trace, err) : answer_trace(call, &sim, &trace, err);
    simulation_done(&sim);
    trace_done(&trace);
    return r;
}
