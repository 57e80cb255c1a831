/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/when/backtest.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/state.h"
#include "sim/simulate/simulate.h"
#include "sim/trace/trace.h"
#include "sim/trace/trace_random.h"
#include "sim/when/follower.h"

/* Without limits, others could be told the time that nearly all of a person's work has kept to. */
#define USUAL_PART 0.99
enum { USUAL_RUNS = 20 };

struct testing {
    struct backtest *backtest;
    const struct backtest_options *options;
    struct simulation *sim;
    struct calibration calibration;
    struct prediction_list open;  // whose workloads have not started; by place the rows `open_rows`
    VEC(uint32_t) open_rows;
    struct random random;
    nsec_t next;
    bool is_begun;
    int r;
    struct err *err;
};

/* ---- Outcomes. ---- */

static void resolve(struct testing *testing, const struct sim_run *run)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < testing->open.len; i++) {
        const struct backtest_row *row = &testing->backtest->rows.items[testing->open_rows.items[i]];
        const struct sim_run_job *job = &run->jobs.items[row->job];

        if (job->first_start != 0)
            calibration_add(&testing->calibration, &testing->open.items[i], job->first_start);
        if (job->first_start != 0 || job->gang == NO_ID)
            continue;
        testing->open.items[kept] = testing->open.items[i];
        testing->open_rows.items[kept++] = testing->open_rows.items[i];
    }
    testing->open.len = kept;
    testing->open_rows.len = kept;
}

/* ---- One moment. ---- */

/* Waiting workloads that never ran, at most so many, in the order in which they came. */
static void choose(struct testing *testing, const struct sim_run *run, struct when_answer **ret_answers,
                   uint32_t **ret_jobs, uint32_t *ret_count)
{
    VEC(uint32_t) waiting = {0};

    for (uint32_t i = 0; i < run->jobs.len; i++) {
        const struct sim_run_job *job = &run->jobs.items[i];

        if (job->gang != NO_ID && job->first_start == 0 && job->from_trace)
            vec_push(&waiting, i);
    }
    while (waiting.len > testing->options->at_most)
        vec_remove_at(&waiting, (uint32_t)random_between(&testing->random, 0, waiting.len - 1));
    *ret_count = waiting.len;
    *ret_jobs = waiting.items;
    *ret_answers = xcalloc(MAX(waiting.len, 1u), sizeof **ret_answers);
}

/* Run times as an estimate by limits has them: declared, or what nearly all runs like it have kept to. */
static void set_limits(const struct past *history, struct future_fact *facts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (facts[i].limit == 0)
            facts[i].limit = past_usual(history, &facts[i].traits, USUAL_PART, USUAL_RUNS);
}

static int estimate_by_limits(const struct testing *testing, const struct future_world *world,
                              const struct when_answer *answers, uint32_t count, nsec_t *ret_starts)
{
    struct future_options options = testing->options->when.future;
    _cleanup_(freep) gang_id *targets = xcalloc(count, sizeof *targets);
    _cleanup_(freep) struct future_fact *facts = xcalloc(world->state->gangs.len, sizeof *facts);
    struct future_world limited = *world;

    memcpy(facts, world->facts, world->state->gangs.len * sizeof *facts);
    set_limits(world->history, facts, world->state->gangs.len);
    limited.facts = facts;
    options.by_limits = true;
    for (uint32_t i = 0; i < count; i++)
        targets[i] = answers[i].gang;
    return future_run(&limited, &options, 0, targets, count, ret_starts, testing->err);
}

static int predict(struct testing *testing, const struct sim_run *run, const struct future_world *world,
                   struct when_answer *answers, const uint32_t *jobs, uint32_t count)
{
    struct when_options options = testing->options->when;
    _cleanup_(freep) nsec_t *by_limits = xcalloc(count, sizeof *by_limits);

    options.calibration = &testing->calibration;
    options.open = &testing->open;
    for (uint32_t i = 0; i < count; i++) {
        const struct sim_run_job *job = &run->jobs.items[jobs[i]];

        answers[i].gang =
            state_find_gang(world->state, state_name(run->state, job->namespace), state_name(run->state, job->name));
    }
    int r = when_ask(world, &options, answers, count, testing->err);
    if (r >= 0)
        r = estimate_by_limits(testing, world, answers, count, by_limits);
    for (uint32_t i = 0; r >= 0 && i < count; i++)
        vec_push(&testing->backtest->rows, (struct backtest_row){jobs[i], answers[i], by_limits[i], 0});
    return r;
}

/* From here on the answers of this moment wait for their outcome, but for those that named no time. */
static void keep_open(struct testing *testing, uint32_t first)
{
    for (uint32_t i = first; i < testing->backtest->rows.len; i++) {
        const struct backtest_row *row = &testing->backtest->rows.items[i];

        if (row->answer.outcome != WHEN_EXPECTED)
            continue;
        vec_push(&testing->open, row->answer.prediction);
        vec_push(&testing->open_rows, i);
    }
}

static int ask(struct testing *testing, const struct sim_run *run)
{
    uint32_t first = testing->backtest->rows.len;
    _cleanup_(freep) struct when_answer *answers = NULL;
    _cleanup_(freep) uint32_t *jobs = NULL;
    uint32_t count;
    int r;

    choose(testing, run, &answers, &jobs, &count);
    if (count == 0)
        return 0;
    struct state *copy = follower_state(run);
    _cleanup_(freep) struct future_fact *facts = follower_facts(testing->backtest->follower, run, copy);
    struct future_world world = {
        .state = copy,
        .config = &testing->sim->config,
        .now = run->end,
        .grace = 30 * NSEC_PER_SEC,
        .history = &testing->backtest->follower->history,
        .facts = facts,
    };
    r = predict(testing, run, &world, answers, jobs, count);
    state_free(copy);
    keep_open(testing, first);
    return r;
}

static bool look(void *context, struct sim_run *run)
{
    struct testing *testing = context;

    if (!testing->is_begun) {
        testing->is_begun = true;
        testing->next = run->start + testing->options->warm_up;
    }
    if (run->end < testing->next || run->end > testing->options->until)
        return true;
    testing->next = run->end + testing->options->every;
    follower_update(testing->backtest->follower, run);
    resolve(testing, run);
    testing->r = ask(testing, run);
    return testing->r >= 0;
}

int backtest_run(struct backtest *backtest, struct simulation *sim, struct trace *trace,
                 const struct backtest_options *options, struct err *err)
{
    struct testing testing = {.backtest = backtest, .options = options, .sim = sim, .err = err};
    struct sim_run_options run;

    *backtest = (struct backtest){.follower = xcalloc(1, sizeof *backtest->follower)};
    follower_init(backtest->follower, trace);
    random_init(&testing.random, options->when.future.seed);
    sim_run_options_init(&run);
    run.has_gantt = false;
    run.after_cycle = look;
    run.context = &testing;
    int r = simulation_run(sim, &run, trace, err);
    if (r >= 0)
        r = testing.r;
    vec_foreach (&backtest->rows, row)
        row->start = sim->run.jobs.items[row->job].first_start;
    calibration_done(&testing.calibration);
    vec_done(&testing.open);
    vec_done(&testing.open_rows);
    return r;
}

void backtest_done(struct backtest *backtest)
{
    vec_done(&backtest->rows);
    if (backtest->follower)
        follower_done(backtest->follower);
    free(backtest->follower);
}
