/* SPDX-License-Identifier: Apache-2.0 */

/* The loop: time jumps from event to event; what happens at one moment is taken in together, and one cycle follows. */
#include "sim/run/run.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bitset.h"
#include "base/err.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "journal/journal.h"
#include "model/delta.h"
#include "sim/run/run_internal.h"
#include "sim/trace/trace.h"

enum { CYCLES_A_REPORT = 256 };

void sim_run_options_init(struct sim_run_options *options)
{
    *options = (struct sim_run_options){
        .start = TRACE_ORIGIN,
        .until = NSEC_MAX,
        .grace = 30 * NSEC_PER_SEC,
        .usage = {.window = 7 * 24 * NSEC_PER_HOUR, .interval = NSEC_PER_MIN},
        .has_gantt = true,
    };
}

/* Marks the queues with others below them, which take no work themselves. The state need not be settled. */
static void find_parents(const struct state *state, struct bitset *parents)
{
    bitset_resize(parents, state->queues.len);
    vec_foreach (&state->queues, queue) {
        queue_id parent = queue->is_present ? state_find_queue(state, state_name(state, queue->parent_name)) : NO_ID;

        if (parent != NO_ID)
            bitset_set(parents, parent);
    }
}

static int check_queues(const struct state *state, const struct trace *trace, const struct bitset *parents,
                        struct err *err)
{
    for (uint32_t i = 0; i < trace->jobs.len; i++) {
        const struct trace_job *job = &trace->jobs.items[i];
        queue_id queue = state_find_queue(state, trace_str(trace, job->queue));

        if (queue == NO_ID || !state->queues.items[queue].is_present)
            return err_set(err, -EINVAL, "line %u: queue: the cluster has no queue called '%s'", job->line,
                           trace_str(trace, job->queue));
        if (bitset_test(parents, queue))
            return err_set(err, -EINVAL, "line %u: queue: '%s' has child queues; name one of them", job->line,
                           trace_str(trace, job->queue));
    }
    return 0;
}

static int check_trace(const struct sim_run *run, const struct trace *trace, struct err *err)
{
    struct bitset parents = {0};

    find_parents(run->state, &parents);
    int r = check_queues(run->state, trace, &parents, err);
    bitset_done(&parents);
    if (r < 0)
        return r;
    for (uint32_t i = 0; i < trace->events.len; i++) {
        const struct trace_event *event = &trace->events.items[i];

        if (event->kind >= TRACE_NODE_DOWN && state_find_node(run->state, trace_str(trace, event->node)) == NO_ID)
            return err_set(err, -EINVAL, "line %u: name: the cluster has no node called '%s'", event->line,
                           trace_str(trace, event->node));
    }
    return 0;
}

static void add_min_runtime(struct sim_run_inner *inner, nsec_t min)
{
    if (min <= 0)
        return;
    vec_foreach (&inner->min_runtimes, other)
        if (*other == min)
            return;
    vec_push(&inner->min_runtimes, min);
}

static void find_min_runtimes(struct sim_run *run, const struct config *config)
{
    add_min_runtime(run->inner, config->default_preempt_min_runtime);
    add_min_runtime(run->inner, config->default_reclaim_min_runtime);
    vec_foreach (&run->state->queues, queue) {
        if (queue->has_preempt_min_runtime)
            add_min_runtime(run->inner, queue->preempt_min_runtime);
        if (queue->has_reclaim_min_runtime)
            add_min_runtime(run->inner, queue->reclaim_min_runtime);
    }
}

static void add_series(struct sim_run *run)
{
    struct series **const all[] = {&run->capacity,    &run->used,        &run->idle_empty,
                                   &run->idle_partly, &run->idle_shared, &run->waiting};

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        *all[i] = timeline_add(&run->timeline);
}

static void load(struct sim_run *run, const struct config *config)
{
    struct sim_run_inner *inner = run->inner;
    const struct trace *trace = inner->trace;

    run->start = inner->options.start;
    if (trace && trace->events.len > 0 && !inner->options.keeps_start)
        run->start = trace->events.items[0].time;
    inner->now = run->end = run->start;
    inner->staleness_grace = config->staleness_grace;
    timeline_init(&run->timeline, run->start);
    add_series(run);
    run->gantt.is_off = !inner->options.has_gantt;
    waits_init(&run->waits, &run->timeline, inner->options.has_waits);
    engine_take_in(run->engine);
    sim_run_load_queues(run);
    sim_run_load_nodes(run);
    find_min_runtimes(run, config);
    sim_run_load_gangs(run);
    for (uint32_t i = 0; trace && i < trace->jobs.len; i++)
        vec_push(&inner->job_of_trace, NO_ID);
    if (inner->options.usage.is_on) {
        inner->usage = usage_window_new(&inner->options.usage, run->start, run->queues.len);
        usage_window_seed(run);
    }
    sim_run_events_add(&inner->events, run->start, SIM_RUN_WAKE, NO_ID, 0);
}

/* One event of our own; whether it changes anything that a cycle could see. */
static bool happen(struct sim_run *run, const struct sim_run_event *event)
{
    switch (event->kind) {
    case SIM_RUN_END:
        if (run->jobs.items[event->job].generation != event->generation)
            return false;
        sim_run_end_job(run, event->job);
        return true;
    case SIM_RUN_LEFT:
        sim_run_pods_left(run, event->job);
        return true;
    case SIM_RUN_TICK:
        run->inner->has_tick = false;
        return true;
    case SIM_RUN_WAKE:
        break;
    }
    return true;
}

static int take_trace_event(struct sim_run *run, const struct trace_event *event, struct err *err)
{
    struct sim_run_inner *inner = run->inner;
    node_id node;
    uint32_t job;

    switch (event->kind) {
    case TRACE_SUBMIT:
        return sim_run_submit(run, event->job, err);
    case TRACE_CANCEL:
        job = inner->job_of_trace.items[event->job];
        if (job != NO_ID && run->jobs.items[job].gang != NO_ID) {
            run->jobs.items[job].is_cancelled = true;
            sim_run_end_job(run, job);
        }
        return 0;
    case TRACE_NODE_DOWN:
    case TRACE_NODE_UP:
        node = state_find_node(run->state, trace_str(inner->trace, event->node));
        return event->kind == TRACE_NODE_UP ? sim_run_node_up(run, node, err) : sim_run_node_down(run, node, err);
    case _TRACE_EVENT_MAX:
        break;
    }
    return 0;
}

static nsec_t trace_next(const struct sim_run_inner *inner)
{
    if (!inner->trace || inner->next_trace == inner->trace->events.len)
        return NSEC_MAX;
    return inner->trace->events.items[inner->next_trace].time;
}

/* Everything that happens now. */
static int take_in(struct sim_run *run, bool *ret_is_changed, struct err *err)
{
    struct sim_run_inner *inner = run->inner;
    int r = 0;

    *ret_is_changed = false;
    while (sim_run_events_next(&inner->events) == inner->now) {
        struct sim_run_event event = sim_run_events_take(&inner->events);

        *ret_is_changed |= happen(run, &event);
    }
    while (r >= 0 && trace_next(inner) == inner->now) {
        r = take_trace_event(run, &inner->trace->events.items[inner->next_trace++], err);
        *ret_is_changed = true;
    }
    return r;
}

/* Nodes that decisions touch, so that what is idle is counted while the books are theirs. */
static void touch_nodes(struct sim_run *run, const struct decision *decisions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (decisions[i].kind == DECISION_BIND)
            sim_run_touch_node(run, decisions[i].node);
}

static void carry_out(struct sim_run *run, const struct decision *decision)
{
    struct state *state = run->state;
    const struct pod *pod = &state->pods.items[decision->pod];

    if (decision->kind == DECISION_EVICT)
        sim_run_pod_evicted(run, decision->pod, decision->on_behalf, (uint8_t)decision->action);
    if (decision->kind != DECISION_BIND)
        return;
    /* A later action of the same cycle may have evicted it already. */
    if (pod->status == POD_BINDING)
        state_move_pod(state, decision->pod, POD_RUNNING, pod->node, pod->groups);
    run->binds++;
    sim_run_pod_starts(run, decision->pod, decision->node);
}

static void run_cycle(struct sim_run *run, const struct config *config)
{
    struct sim_run_inner *inner = run->inner;
    const struct decision *decisions;
    size_t count;

    engine_take_in(run->engine);
    engine_open(run->engine, inner->now);
    sim_run_read_shares(run);
    if (inner->options.journal)
        journal_cycle_begin(inner->options.journal, run->cycles + 1, inner->now);
    for (uint32_t i = 0; i < config->action_count; i++)
        engine_run(run->engine, config->actions[i]);
    if (inner->options.journal)
        journal_cycle_end(inner->options.journal, run->engine, config->actions, config->action_count);
    decisions = engine_decisions(run->engine, &count);
    touch_nodes(run, decisions, count);
    sim_run_count_idle(run);
    engine_close(run->engine);
    uint64_t evicted = run->evicted_pods;
    for (size_t i = 0; i < count; i++)
        carry_out(run, &decisions[i]);
    waits_read(run);
    run->cycles++;
    /*
     * A scheduler does not wait until they have left: it looks again, and may evict more for those who still wait. In a
     * trace something happens every few moments that has it look.
     */
    if (run->evicted_pods > evicted && inner->options.grace > 0 && !inner->trace)
        sim_run_events_add(&inner->events, inner->now, SIM_RUN_WAKE, NO_ID, 0);
}

/* Past use moves on while somebody waits and something else is still to happen. */
static void plan_tick(struct sim_run *run)
{
    struct sim_run_inner *inner = run->inner;

    if (!inner->usage || inner->has_tick || inner->waiting == 0 ||
        (inner->events.heap.len == 0 && trace_next(inner) == NSEC_MAX))
        return;
    inner->has_tick = true;
    sim_run_events_add(&inner->events, usage_window_next(inner->usage), SIM_RUN_TICK, NO_ID, 0);
}

static void report_progress(const struct sim_run *run)
{
    const struct sim_run_inner *inner = run->inner;
    const struct trace *trace = inner->trace;
    struct sim_run_progress progress = {
        .start = run->start,
        .now = inner->now,
        .last_arrival = trace && trace->events.len ? trace->events.items[trace->events.len - 1].time : inner->now,
        .jobs = trace ? trace->jobs.len : 0,
        .jobs_ended = run->jobs_ended,
        .cycles = run->cycles,
    };

    if (inner->options.progress && run->cycles % CYCLES_A_REPORT == 0)
        inner->options.progress(inner->options.progress_context, &progress);
}

/*
 * Who looks far ahead need not know to the second what comes in what order: what happens shortly after a cycle waits for
 * others, and they have one cycle together. True: there will be one.
 */
static bool waits_for_others(struct sim_run *run)
{
    struct sim_run_inner *inner = run->inner;
    const struct sim_run_options *options = &inner->options;

    if (options->coarse == 0 || run->cycles == 0)
        return false;
    nsec_t due = inner->last_cycle + MIN((inner->last_cycle - run->start) / options->coarse, options->coarse_most);
    if (inner->now >= due)
        return false;
    if (inner->next_cycle <= inner->now) {
        inner->next_cycle = due;
        sim_run_events_add(&inner->events, due, SIM_RUN_WAKE, NO_ID, 0);
    }
    return true;
}

static int run_cycles(struct sim_run *run, const struct config *config, struct err *err)
{
    struct sim_run_inner *inner = run->inner;

    for (;;) {
        nsec_t next = MIN(sim_run_events_next(&inner->events), trace_next(inner));
        bool is_changed;
        int r;

        if (next == NSEC_MAX || next > inner->options.until)
            return 0;
        if (inner->options.max_cycles && run->cycles >= inner->options.max_cycles) {
            run->is_cut = true;
            return 0;
        }
        inner->now = next;
        timeline_advance(&run->timeline, next);
        if (inner->usage)
            usage_window_advance(run, next);
        r = take_in(run, &is_changed, err);
        if (r < 0)
            return r;
        if (!is_changed || waits_for_others(run))
            continue;
        run->end = inner->last_cycle = next;
        run_cycle(run, config);
        plan_tick(run);
        report_progress(run);
        if (inner->options.after_cycle && !inner->options.after_cycle(inner->options.context, run))
            return 0;
    }
}

/* The log is closed: what still runs has run up to here. */
static void finish(struct sim_run *run)
{
    struct sim_run_inner *inner = run->inner;

    if (inner->options.until != NSEC_MAX && !run->is_cut)
        run->end = MAX(run->end, inner->options.until);
    inner->now = run->end;
    timeline_advance(&run->timeline, run->end);
    vec_foreach (&inner->pods, pod)
        if (pod->job != NO_ID && pod->is_running)
            run->jobs.items[pod->job].used += (double)(run->end - pod->since) * gpu_to_double(pod->held.v[SHARE_GPU]);
    waits_finish(run);
    timeline_finish(&run->timeline);
    gantt_finish(&run->gantt, run->end);
    engine_take_in(run->engine);
    engine_open(run->engine, run->end);
}

int sim_run_run(struct sim_run *run, struct state *state, const struct config *config,
                const struct sim_run_options *options, const struct trace *trace, struct err *err)
{
    int r;

    *run = (struct sim_run){.state = state, .inner = xcalloc(1, sizeof *run->inner)};
    run->inner->options = *options;
    run->inner->trace = trace;
    run->has_trace = trace != NULL;
    run->engine = engine_new(state, config);
    if (trace && (r = check_trace(run, trace, err)) < 0)
        return r;
    load(run, config);
    r = run_cycles(run, config, err);
    if (r < 0)
        return r;
    finish(run);
    return 0;
}

void sim_run_done(struct sim_run *run)
{
    struct sim_run_inner *inner = run->inner;

    if (!inner)
        return;
    engine_free(run->engine);
    timeline_done(&run->timeline);
    gantt_done(&run->gantt);
    waits_done(&run->waits);
    vec_done(&run->jobs);
    vec_done(&run->queues);
    vec_done(&run->places);
    vec_done(&run->evictions);
    sim_run_events_done(&inner->events);
    vec_done(&inner->job_of_gang);
    vec_done(&inner->pods);
    vec_done(&inner->nodes);
    vec_done(&inner->touched);
    vec_done(&inner->job_of_trace);
    vec_done(&inner->queue_of);
    vec_done(&inner->min_runtimes);
    vec_done(&inner->failing);
    map64_done(&inner->last_replica);
    vec_done(&inner->members);
    usage_window_free(inner->usage);
    free(inner);
    run->inner = NULL;
}
