/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Playing a scenario: one engine over one state, round after round. Time stands still: every session opens at the same
 * moment, and what a round decided is folded into the state by deltas as if it had been carried out since.
 */
#include "engine/engine.h"
#include "model/delta.h"
#include "model/state.h"
#include "sim/scenario/scenario.h"

#define STARTED_AGO (60 * NSEC_PER_SEC)

static nsec_t read_clock(const struct scenario_watch *watch)
{
    return watch->clock ? watch->clock() : 0;
}

/* What becomes of a pod between two rounds. Promises are forgotten already, by engine_close. */
static void fold_pod(struct state *state, pod_id id, bool stays_releasing)
{
    const struct pod *pod = &state->pods.items[id];

    switch ((enum pod_status)pod->status) {
    case POD_RELEASING:
        if (!stays_releasing)
            state_move_pod(state, id, POD_PENDING, NO_ID, (struct group_list){0});
        break;
    case POD_PIPELINED:
        state_move_pod(state, id, POD_PENDING, NO_ID, (struct group_list){0});
        break;
    case POD_BINDING:
        state_move_pod(state, id, POD_RUNNING, pod->node, pod->groups);
        break;
    default:
        break;
    }
}

static void fold_job(const struct scenario *s, const struct scenario_job *job)
{
    struct state *state = s->state;
    const struct gang *gang;
    bool has_started = false;
    nsec_t last_start;

    for (uint32_t i = 0; i < job->pod_count; i++) {
        pod_id pod = s->pods.items[job->first_pod + i];

        fold_pod(state, pod, job->stays_releasing);
        has_started |= status_in(state->pods.items[pod].status, ALLOCATED_SET);
    }
    gang = &state->gangs.items[job->gang];
    last_start = has_started ? SCENARIO_NOW - STARTED_AGO : 0;
    if (gang->last_start != last_start || gang->last_eviction != 0 || gang->stale_since != job->stale_since)
        state_set_gang_times(state, job->gang, last_start, 0, job->stale_since);
}

static void run_actions(const struct scenario *s, struct engine *engine, const struct scenario_watch *watch,
                        struct scenario_timing *timing)
{
    nsec_t before = read_clock(watch);
    nsec_t after;

    engine_open(engine, SCENARIO_NOW);
    after = read_clock(watch);
    timing->open = after - before;
    for (uint32_t i = 0; i < s->config.action_count; i++) {
        before = after;
        engine_run(engine, s->config.actions[i]);
        after = read_clock(watch);
        timing->action[s->config.actions[i]] = after - before;
    }
}

static void run_rounds(struct scenario *s, struct engine *engine, const struct scenario_watch *watch, nsec_t started)
{
    uint32_t total = s->rounds_until_match + s->rounds_after_match;

    for (uint32_t i = 0; i < total; i++) {
        struct scenario_round round = {.number = i, .is_last = i + 1 == total};
        bool is_match = s->is_multi_round && i + 1 == s->rounds_until_match;

        engine_take_in(engine);
        round.timing.state = read_clock(watch) - started;
        run_actions(s, engine, watch, &round.timing);
        if (watch->round)
            watch->round(watch->context, s, engine, &round);
        engine_close(engine);

        if (round.is_last && !is_match)
            break;
        started = read_clock(watch);
        vec_foreach (&s->jobs, job)
            fold_job(s, job);
        if (is_match) {
            engine_take_in(engine);
            if (watch->match)
                watch->match(watch->context, s);
        }
    }
}

int scenario_simulate(struct scenario *s, const struct json_at *at, const struct scenario_watch *watch, struct err *err)
{
    nsec_t started = read_clock(watch);
    struct engine *engine;
    int r = scenario_read(s, at, err);

    if (r < 0)
        return r;
    engine = engine_new(s->state, &s->config);
    run_rounds(s, engine, watch, started);
    engine_free(engine);
    return 0;
}
