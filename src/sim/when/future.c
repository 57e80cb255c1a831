/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/when/future.h"

#include <stdio.h>

#include "base/hash.h"
#include "base/mem.h"
#include "model/retell/retell.h"
#include "model/state.h"
#include "sim/trace/trace.h"
#include "sim/trace/trace_random.h"

/*
 * Arrivals are copied from the past in blocks, so that bursts stay bursts, and for the length of a spell from the same
 * week or day, so that busy days stay together: were each block drawn for itself, all futures would be alike on average.
 */
#define BLOCK (4 * NSEC_PER_HOUR)
#define DAY (24 * NSEC_PER_HOUR)
#define WEEK (7 * DAY)
#define SPELL (2 * DAY)
/* Of the past, so many weeks count; a few of them are believed in half of the draws, else the same hours of any day are. */
enum { WEEKS_MAX = 8, WEEKS_HALF_BELIEVED = 1 };
enum { ARRIVALS_MAX = 1000000 };
/* Half a percent of the time from now on is exact enough; more than minutes would keep GPUs idle between short runs. */
enum { COARSE = 200 };
#define COARSE_MOST (5 * NSEC_PER_MIN)
#define NAME_SEED UINT64_C(0x77686e)

struct future {
    const struct future_world *world;
    const struct future_options *options;
    uint32_t number;
    struct trace *trace;     // of what comes; names and parts are the history's
    const gang_id *targets;  // NULL: all of it is looked at when it is over
    uint32_t target_count;
    uint32_t open;   // targets that have not started
    uint32_t *jobs;  // of the targets, in the simulation; NULL before the first cycle
    nsec_t *starts;
};

static struct random random_for(const struct future *future, uint64_t what)
{
    const uint64_t parts[] = {future->options->seed, future->number, what};
    struct random random;

    random_init(&random, hash_bytes(parts, sizeof parts, NAME_SEED));
    return random;
}

/* ---- Run times. ---- */

/* Longer than anything known: what has lasted goes on for about as long again. */
static nsec_t draw_beyond(nsec_t elapsed, struct random *random)
{
    double factor = 1 / (1 - random_unit(random));

    return (nsec_t)MIN((double)MAX(elapsed, NSEC_PER_MIN) * factor, (double)(52 * WEEK));
}

static nsec_t draw_run(const struct future *future, const struct future_fact *fact, struct random *random)
{
    nsec_t least = fact->elapsed;
    nsec_t run = past_draw(future->world->history, &fact->traits, &least, random);

    if (run < 0 && fact->limit > least)
        run = least + (nsec_t)(random_unit(random) * (double)(fact->limit - least));
    else if (run < 0)
        run = draw_beyond(least, random);
    if (fact->limit > 0 && run > fact->limit)
        run = MAX(fact->limit, fact->elapsed);
    return MAX(run, fact->elapsed + NSEC_PER_SEC);
}

static struct sim_run_life life_of(void *context, const struct state *copy, gang_id id)
{
    const struct future *future = context;
    const struct gang *gang = &copy->gangs.items[id];
    const char *namespace = state_name(copy, gang->namespace);
    const char *name = state_name(copy, gang->name);
    gang_id at = state_find_gang(future->world->state, namespace, name);
    struct random random = random_for(future, hash_str(name, hash_str(namespace, 0)));

    if (at == NO_ID)
        return (struct sim_run_life){-1, 0};
    const struct future_fact *fact = &future->world->facts[at];
    if (!future->options->by_limits)
        return (struct sim_run_life){draw_run(future, fact, &random), fact->is_undone ? 0 : fact->elapsed};
    if (fact->limit == 0)
        return (struct sim_run_life){-1, 0};
    nsec_t run = MAX(fact->limit, fact->elapsed + NSEC_PER_SEC);
    return (struct sim_run_life){run, fact->elapsed};
}

/* ---- Arrivals. ---- */

/* A past block of the same hours of the week or, where few are known, of the day; 0: nothing is known. */
static nsec_t pick_block(const struct past *history, nsec_t begin, nsec_t now, struct random *random)
{
    nsec_t first = history->jobs.len > 0 ? history->jobs.items[0].submitted : now;
    nsec_t step = WEEK;
    int64_t past = MIN((begin + BLOCK - 1 - now) / WEEK + 1, WEEKS_MAX);  // weeks back to the first that is over
    int64_t weeks = MIN((begin - past * WEEK - first) / WEEK + 1, WEEKS_MAX);

    if (begin - past * WEEK < first)
        weeks = 0;
    if (random_unit(random) >= (double)weeks / (double)(weeks + WEEKS_HALF_BELIEVED)) {
        step = DAY;
        past = (begin + BLOCK - 1 - now) / DAY + 1;
        weeks = begin - past * DAY < first ? 0 : MIN((begin - past * DAY - first) / DAY + 1, 7 * WEEKS_MAX);
    }
    if (weeks > 0)
        return begin - (past + random_between(random, 0, weeks - 1)) * step;
    /* Less than a day is known: any of it. */
    return now - first < BLOCK ? 0 : random_between(random, first, now - BLOCK);
}

/* The name of the nth workload to come, which no other workload has. */
static trace_name future_name(struct trace *trace, uint32_t n)
{
    char name[40];

    (void)snprintf(name, sizeof name, "muster-future-%u", n);
    return trace_intern(trace, name);
}

static bool has_queue(const struct state *state, const char *name)
{
    queue_id queue = state_find_queue(state, name);

    return queue != NO_ID && state->queues.items[queue].is_present && state->queues.items[queue].children.len == 0;
}

static void add_arrival(struct future *future, const struct past_job *past, nsec_t time)
{
    const struct future_world *world = future->world;
    struct past *history = world->history;
    struct trace_job job = history->trace->jobs.items[past->job];

    if (!has_queue(world->comes_to ? world->comes_to : world->state, trace_str(history->trace, job.queue)))
        return;
    struct random random = random_for(future, (uint64_t)time);
    struct future_fact fact = {
        .traits = past_traits_of(history->trace, past->job),
        .elapsed = past->started ? world->now - past->started : 0,
        .limit = job.limit,
    };
    job.run = past->run >= 0 ? past->run : draw_run(future, &fact, &random);
    job.name = future_name(history->trace, future->trace->jobs.len);
    job.recorded_start = 0;
    trace_submit(future->trace, time, &job);
}

static void add_block(struct future *future, nsec_t begin, nsec_t until)
{
    const struct past *history = future->world->history;
    struct random random = random_for(future, (uint64_t)(begin / SPELL));
    nsec_t from = pick_block(history, begin, future->world->now, &random);

    if (from == 0)
        return;
    for (uint32_t i = past_find(history, from); i < history->jobs.len; i++) {
        const struct past_job *past = &history->jobs.items[i];
        nsec_t time = begin + (past->submitted - from);

        if (past->submitted >= from + BLOCK || time >= until || future->trace->jobs.len >= ARRIVALS_MAX)
            return;
        if (time > future->world->now)
            add_arrival(future, past, time);
    }
}

static void add_arrivals(struct future *future)
{
    nsec_t now = future->world->now;
    nsec_t until = now + future->options->horizon;

    for (nsec_t begin = now - now % BLOCK; begin < until; begin += BLOCK)
        add_block(future, begin, until);
    /* Names may have moved: they are taken when all are there. */
    future->trace->names = future->world->history->trace->names;
    future->trace->parts.items = future->world->history->trace->parts.items;
    future->trace->parts.len = future->world->history->trace->parts.len;
}

/* ---- The simulation. ---- */

static void find_jobs(struct future *future, const struct sim_run *run)
{
    const struct state *from = future->world->state;

    future->jobs = xcalloc(MAX(future->target_count, 1u), sizeof *future->jobs);
    for (uint32_t i = 0; i < future->target_count; i++) {
        const struct gang *gang = &from->gangs.items[future->targets[i]];
        const char *name = state_name(from, gang->name);
        gang_id id = state_find_gang(run->state, state_name(from, gang->namespace), name);

        future->jobs[i] = NO_ID;
        for (uint32_t k = 0; id != NO_ID && k < run->jobs.len && future->jobs[i] == NO_ID; k++)
            if (run->jobs.items[k].gang == id)
                future->jobs[i] = k;
    }
}

/* Goes on until all targets have started. */
static bool look(void *context, struct sim_run *run)
{
    struct future *future = context;

    if (!future->jobs)
        find_jobs(future, run);
    for (uint32_t i = 0; i < future->target_count; i++) {
        uint32_t job = future->jobs[i];

        if (future->starts[i] != NSEC_MAX || job == NO_ID || run->jobs.items[job].first_start == 0)
            continue;
        future->starts[i] = run->jobs.items[job].first_start;
        future->open--;
    }
    return future->open > 0;
}

static int simulate(struct future *future, struct future_outcome *outcome, struct err *err)
{
    const struct future_world *world = future->world;
    const struct retell_change nothing = RETELL_CHANGE_INIT(NO_ID);
    struct sim_run_options options;

    sim_run_options_init(&options);
    options.start = world->now;
    options.keeps_start = true;
    options.until = world->now + future->options->horizon;
    options.grace = world->grace;
    options.coarse = COARSE;
    options.coarse_most = COARSE_MOST;
    options.usage = world->usage;
    options.replicas = world->replicas;
    options.has_gantt = false;
    options.has_waits = !future->targets;
    options.life = life_of;
    options.after_cycle = future->targets ? look : NULL;
    options.context = future;
    outcome->state = state_retell(world->state, &nothing);
    return sim_run_run(&outcome->run, outcome->state, world->config, &options, &outcome->trace, err);
}

int future_run(const struct future_world *world, const struct future_options *options, uint32_t number,
               const gang_id *targets, uint32_t target_count, nsec_t *ret_starts, struct err *err)
{
    struct future_outcome outcome = {0};
    struct future future = {
        .world = world,
        .options = options,
        .number = number,
        .trace = &outcome.trace,
        .targets = targets,
        .target_count = target_count,
        .open = target_count,
        .starts = ret_starts,
    };

    for (uint32_t i = 0; i < target_count; i++)
        ret_starts[i] = NSEC_MAX;
    if (!options->by_limits)
        add_arrivals(&future);
    int r = simulate(&future, &outcome, err);
    future_outcome_done(&outcome);
    free(future.jobs);
    return r;
}

int future_play(const struct future_world *world, const struct future_options *options, uint32_t number,
                struct future_outcome *ret, struct err *err)
{
    struct future future = {.world = world, .options = options, .number = number, .trace = &ret->trace};

    *ret = (struct future_outcome){0};
    add_arrivals(&future);
    int r = simulate(&future, ret, err);
    /* Figures are about what was there as well, not only about what came. */
    ret->run.has_trace = false;
    return r;
}

void future_outcome_done(struct future_outcome *outcome)
{
    sim_run_done(&outcome->run);
    state_free(outcome->state);
    vec_done(&outcome->trace.jobs);
    vec_done(&outcome->trace.events);
}

void future_take_in_running(const struct future_world *world)
{
    past_forget_going(world->history);
    for (gang_id id = 0; id < world->state->gangs.len; id++)
        if (world->state->gangs.items[id].is_present && world->facts[id].elapsed > 0)
            past_add_going(world->history, &world->facts[id].traits, world->facts[id].elapsed);
}
