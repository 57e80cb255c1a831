/* SPDX-License-Identifier: Apache-2.0 */

/* The loop: time jumps from event to event; what happens at one moment is taken in together, and one cycle follows. */
#include "sim/play/play.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bitset.h"
#include "base/err.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "model/delta.h"
#include "sim/journal/journal.h"
#include "sim/play/play_internal.h"
#include "sim/trace/trace.h"

enum { CYCLES_A_REPORT = 256 };

void play_options_init(struct play_options *options)
{
    *options = (struct play_options){
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
            return err_set(err, -EINVAL, "line %u: queue: '%s' has queues below it, one of which has to take the work",
                           job->line, trace_str(trace, job->queue));
    }
    return 0;
}

static int check_trace(const struct play *play, const struct trace *trace, struct err *err)
{
    struct bitset parents = {0};

    find_parents(play->state, &parents);
    int r = check_queues(play->state, trace, &parents, err);
    bitset_done(&parents);
    if (r < 0)
        return r;
    for (uint32_t i = 0; i < trace->events.len; i++) {
        const struct trace_event *event = &trace->events.items[i];

        if (event->kind >= TRACE_NODE_DOWN && state_find_node(play->state, trace_str(trace, event->node)) == NO_ID)
            return err_set(err, -EINVAL, "line %u: name: the cluster has no node called '%s'", event->line,
                           trace_str(trace, event->node));
    }
    return 0;
}

static void add_min_runtime(struct play_inner *inner, nsec_t min)
{
    if (min <= 0)
        return;
    vec_foreach (&inner->min_runtimes, other)
        if (*other == min)
            return;
    vec_push(&inner->min_runtimes, min);
}

static void find_min_runtimes(struct play *play, const struct config *config)
{
    add_min_runtime(play->inner, config->default_preempt_min_runtime);
    add_min_runtime(play->inner, config->default_reclaim_min_runtime);
    vec_foreach (&play->state->queues, queue) {
        if (queue->has_preempt_min_runtime)
            add_min_runtime(play->inner, queue->preempt_min_runtime);
        if (queue->has_reclaim_min_runtime)
            add_min_runtime(play->inner, queue->reclaim_min_runtime);
    }
}

static void add_series(struct play *play)
{
    struct series **const all[] = {&play->capacity,    &play->used,        &play->idle_empty,
                                   &play->idle_partly, &play->idle_shared, &play->waiting};

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        *all[i] = timeline_add(&play->timeline);
}

static void load(struct play *play, const struct config *config)
{
    struct play_inner *inner = play->inner;
    const struct trace *trace = inner->trace;

    play->start = inner->options.start;
    if (trace && trace->events.len > 0)
        play->start = trace->events.items[0].time;
    inner->now = play->end = play->start;
    inner->staleness_grace = config->staleness_grace;
    timeline_init(&play->timeline, play->start);
    add_series(play);
    play->gantt.is_off = !inner->options.has_gantt;
    engine_take_in(play->engine);
    play_load_queues(play);
    play_load_nodes(play);
    find_min_runtimes(play, config);
    play_load_gangs(play);
    for (uint32_t i = 0; trace && i < trace->jobs.len; i++)
        vec_push(&inner->job_of_trace, NO_ID);
    if (inner->options.usage.is_on) {
        inner->usage = usage_new(&inner->options.usage, play->start, play->queues.len);
        usage_seed(play);
    }
    play_events_add(&inner->events, play->start, PLAY_WAKE, NO_ID, 0);
}

/* One event of our own; whether it changes anything that a cycle could see. */
static bool happen(struct play *play, const struct play_event *event)
{
    switch (event->kind) {
    case PLAY_END:
        if (play->jobs.items[event->job].generation != event->generation)
            return false;
        play_end_job(play, event->job);
        return true;
    case PLAY_LEFT:
        play_pods_left(play, event->job);
        return true;
    case PLAY_TICK:
        play->inner->has_tick = false;
        return true;
    case PLAY_WAKE:
        break;
    }
    return true;
}

static int take_trace_event(struct play *play, const struct trace_event *event, struct err *err)
{
    struct play_inner *inner = play->inner;
    node_id node;
    uint32_t job;

    switch (event->kind) {
    case TRACE_SUBMIT:
        return play_submit(play, event->job, err);
    case TRACE_CANCEL:
        job = inner->job_of_trace.items[event->job];
        if (job != NO_ID && play->jobs.items[job].gang != NO_ID) {
            play->jobs.items[job].is_cancelled = true;
            play_end_job(play, job);
        }
        return 0;
    case TRACE_NODE_DOWN:
    case TRACE_NODE_UP:
        node = state_find_node(play->state, trace_str(inner->trace, event->node));
        return event->kind == TRACE_NODE_UP ? play_node_up(play, node, err) : play_node_down(play, node, err);
    case _TRACE_EVENT_MAX:
        break;
    }
    return 0;
}

static nsec_t trace_next(const struct play_inner *inner)
{
    if (!inner->trace || inner->next_trace == inner->trace->events.len)
        return NSEC_MAX;
    return inner->trace->events.items[inner->next_trace].time;
}

/* Everything that happens now. */
static int take_in(struct play *play, bool *ret_is_changed, struct err *err)
{
    struct play_inner *inner = play->inner;
    int r = 0;

    *ret_is_changed = false;
    while (play_events_next(&inner->events) == inner->now) {
        struct play_event event = play_events_take(&inner->events);

        *ret_is_changed |= happen(play, &event);
    }
    while (r >= 0 && trace_next(inner) == inner->now) {
        r = take_trace_event(play, &inner->trace->events.items[inner->next_trace++], err);
        *ret_is_changed = true;
    }
    return r;
}

/* Nodes that decisions touch, so that what is idle is counted while the books are theirs. */
static void touch_nodes(struct play *play, const struct decision *decisions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (decisions[i].kind == DECISION_BIND)
            play_touch_node(play, decisions[i].node);
}

static void carry_out(struct play *play, const struct decision *decision)
{
    struct state *state = play->state;
    const struct pod *pod = &state->pods.items[decision->pod];

    if (decision->kind == DECISION_EVICT)
        play_pod_evicted(play, decision->pod, decision->on_behalf, (uint8_t)decision->action);
    if (decision->kind != DECISION_BIND)
        return;
    /* A later action of the same cycle may have evicted it already. */
    if (pod->status == POD_BINDING)
        state_move_pod(state, decision->pod, POD_RUNNING, pod->node, pod->groups);
    play->binds++;
    play_pod_starts(play, decision->pod, decision->node);
}

static void run_cycle(struct play *play, const struct config *config)
{
    struct play_inner *inner = play->inner;
    const struct decision *decisions;
    size_t count;

    engine_take_in(play->engine);
    engine_open(play->engine, inner->now);
    play_read_shares(play);
    if (inner->options.journal)
        journal_cycle_begin(inner->options.journal, play->cycles + 1, inner->now);
    for (uint32_t i = 0; i < config->action_count; i++)
        engine_run(play->engine, config->actions[i]);
    if (inner->options.journal)
        journal_cycle_end(inner->options.journal, play->engine, config->actions, config->action_count);
    decisions = engine_decisions(play->engine, &count);
    touch_nodes(play, decisions, count);
    play_count_idle(play);
    engine_close(play->engine);
    uint64_t evicted = play->evicted_pods;
    for (size_t i = 0; i < count; i++)
        carry_out(play, &decisions[i]);
    play->cycles++;
    /*
     * A scheduler does not wait until they have left: it looks again, and may evict more for those who still wait. In a
     * trace something happens every few moments that has it look.
     */
    if (play->evicted_pods > evicted && inner->options.grace > 0 && !inner->trace)
        play_events_add(&inner->events, inner->now, PLAY_WAKE, NO_ID, 0);
}

/* Past use moves on while somebody waits and something else is still to happen. */
static void plan_tick(struct play *play)
{
    struct play_inner *inner = play->inner;

    if (!inner->usage || inner->has_tick || inner->waiting == 0 ||
        (inner->events.heap.len == 0 && trace_next(inner) == NSEC_MAX))
        return;
    inner->has_tick = true;
    play_events_add(&inner->events, usage_next(inner->usage), PLAY_TICK, NO_ID, 0);
}

static void report_progress(const struct play *play)
{
    const struct play_inner *inner = play->inner;
    const struct trace *trace = inner->trace;
    struct play_progress progress = {
        .start = play->start,
        .now = inner->now,
        .last_arrival = trace && trace->events.len ? trace->events.items[trace->events.len - 1].time : inner->now,
        .jobs = trace ? trace->jobs.len : 0,
        .jobs_ended = play->jobs_ended,
        .cycles = play->cycles,
    };

    if (inner->options.progress && play->cycles % CYCLES_A_REPORT == 0)
        inner->options.progress(inner->options.progress_context, &progress);
}

static int run(struct play *play, const struct config *config, struct err *err)
{
    struct play_inner *inner = play->inner;

    for (;;) {
        nsec_t next = MIN(play_events_next(&inner->events), trace_next(inner));
        bool is_changed;
        int r;

        if (next == NSEC_MAX || next > inner->options.until)
            return 0;
        if (inner->options.max_cycles && play->cycles >= inner->options.max_cycles) {
            play->is_cut = true;
            return 0;
        }
        inner->now = next;
        timeline_advance(&play->timeline, next);
        if (inner->usage)
            usage_advance(play, next);
        r = take_in(play, &is_changed, err);
        if (r < 0)
            return r;
        if (!is_changed)
            continue;
        play->end = next;
        run_cycle(play, config);
        plan_tick(play);
        report_progress(play);
    }
}

/* The log is closed: what still runs has run up to here. */
static void finish(struct play *play)
{
    struct play_inner *inner = play->inner;

    if (inner->options.until != NSEC_MAX && !play->is_cut)
        play->end = MAX(play->end, inner->options.until);
    inner->now = play->end;
    timeline_advance(&play->timeline, play->end);
    vec_foreach (&inner->pods, pod)
        if (pod->job != NO_ID && pod->is_running)
            play->jobs.items[pod->job].used += (double)(play->end - pod->since) * gpu_to_double(pod->held.v[SHARE_GPU]);
    timeline_finish(&play->timeline);
    gantt_finish(&play->gantt, play->end);
    engine_take_in(play->engine);
    engine_open(play->engine, play->end);
}

int play_run(struct play *play, struct state *state, const struct config *config, const struct play_options *options,
             const struct trace *trace, struct err *err)
{
    int r;

    *play = (struct play){.state = state, .inner = xcalloc(1, sizeof *play->inner)};
    play->inner->options = *options;
    play->inner->trace = trace;
    play->has_trace = trace != NULL;
    play->engine = engine_new(state, config);
    if (trace && (r = check_trace(play, trace, err)) < 0)
        return r;
    load(play, config);
    r = run(play, config, err);
    if (r < 0)
        return r;
    finish(play);
    return 0;
}

void play_done(struct play *play)
{
    struct play_inner *inner = play->inner;

    if (!inner)
        return;
    engine_free(play->engine);
    timeline_done(&play->timeline);
    gantt_done(&play->gantt);
    vec_done(&play->jobs);
    vec_done(&play->queues);
    vec_done(&play->evictions);
    play_events_done(&inner->events);
    vec_done(&inner->job_of_gang);
    vec_done(&inner->pods);
    vec_done(&inner->nodes);
    vec_done(&inner->touched);
    vec_done(&inner->job_of_trace);
    vec_done(&inner->queue_of);
    vec_done(&inner->min_runtimes);
    vec_done(&inner->failing);
    vec_done(&inner->members);
    usage_free(inner->usage);
    free(inner);
    play->inner = NULL;
}
