/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The life of jobs. A job's work goes on at the speed of the pods that run, as long as those are its minimum; whenever
 * their number changes, what has been done is brought up to date and the end is planned anew. The end that was planned
 * before is known by its generation when it comes up.
 */
#include "engine/engine.h"
#include "model/books/books.h"
#include "model/delta.h"
#include "sim/run/run_internal.h"

static struct sim_run_pod *pod_at(struct sim_run *run, pod_id pod)
{
    struct sim_run_inner *inner = run->inner;

    while (inner->pods.len <= pod)
        vec_push(&inner->pods, (struct sim_run_pod){.job = NO_ID, .node = NO_ID});
    return &inner->pods.items[pod];
}

/* The job that a gang is, or NULL. */
static const struct sim_run_job *job_of(const struct sim_run *run, gang_id gang)
{
    const struct sim_run_inner *inner = run->inner;
    uint32_t job = gang < inner->job_of_gang.len ? inner->job_of_gang.items[gang] : NO_ID;

    return job == NO_ID ? NULL : &run->jobs.items[job];
}

static void count_waiting(struct sim_run *run, int change)
{
    run->inner->waiting += (uint32_t)change;
    series_set(&run->timeline, run->waiting, run->inner->waiting);
}

static void begin_waiting(struct sim_run *run, uint32_t job)
{
    count_waiting(run, 1);
    waits_begin(run, job);
}

uint32_t sim_run_add_job(struct sim_run *run, struct sim_run_job job)
{
    const struct gang *gang = &run->state->gangs.items[job.gang];
    struct sim_run_inner *inner = run->inner;
    uint32_t index = run->jobs.len;

    job.name = gang->name;
    job.label = job.from_trace ? gang->name : sim_run_label_of(run->state, job.gang);
    job.namespace = gang->namespace;
    job.queue = gang->queue == NO_ID ? NO_ID : inner->queue_of.items[gang->queue];
    while (inner->job_of_gang.len <= job.gang)
        vec_push(&inner->job_of_gang, NO_ID);
    inner->job_of_gang.items[job.gang] = index;
    vec_push(&run->jobs, job);
    sim_run_link_replica(run);
    begin_waiting(run, index);
    return index;
}

static void count_done(struct sim_run_job *job, nsec_t now)
{
    if (job->is_going)
        job->done += (sim_run_work)job->running * (now - job->since);
    job->since = now;
}

static void plan_end(struct sim_run *run, uint32_t index)
{
    struct sim_run_job *job = &run->jobs.items[index];
    sim_run_work left = job->work - job->done;

    job->generation++;
    if (!job->is_going || job->work < 0)
        return;
    sim_run_events_add(&run->inner->events, run->inner->now + (nsec_t)((left + job->running - 1) / job->running),
                       SIM_RUN_END, index, job->generation);
}

/* The pods of a gang as they are now; valid until the next call. */
static void list_members(struct sim_run *run, gang_id id)
{
    const struct gang *gang = &run->state->gangs.items[id];

    vec_clear(&run->inner->members);
    for (uint32_t i = 0; i < gang->group_count; i++)
        for (uint32_t k = 0; k < gang->groups[i].pods.len; k++)
            vec_push(&run->inner->members, gang->groups[i].pods.items[k]);
}

/* The nodes of its pods, each once. A gang is bound in one cycle, pod by pod: the last of them has just got its place. */
static void keep_places(struct sim_run *run, struct sim_run_job *job)
{
    job->first_place = run->places.len;
    list_members(run, job->gang);
    vec_foreach (&run->inner->members, pod) {
        node_id node = pod_at(run, *pod)->node;
        bool is_new = node != NO_ID;

        for (uint32_t i = job->first_place; is_new && i < run->places.len; i++)
            is_new = run->places.items[i] != node;
        if (is_new)
            vec_push(&run->places, node);
    }
    job->place_count = run->places.len - job->first_place;
}

static void set_going(struct sim_run *run, struct sim_run_job *job)
{
    struct sim_run_inner *inner = run->inner;
    const struct gang *gang = &run->state->gangs.items[job->gang];

    count_waiting(run, -1);
    job->is_going = true;
    if (job->first_start == 0) {
        job->first_start = inner->now;
        if (inner->options.has_places)
            keep_places(run, job);
    }
    if (inner->is_loading)
        return;
    state_set_gang_times(run->state, job->gang, inner->now, gang->last_eviction, 0);
    vec_foreach (&inner->min_runtimes, min)
        sim_run_events_add(&inner->events, inner->now + *min, SIM_RUN_WAKE, NO_ID, 0);
}

/* Work since the last checkpoint is gone; how much that was, in GPU x nanoseconds. */
static double set_broken(struct sim_run *run, struct sim_run_job *job)
{
    sim_run_work step = (sim_run_work)job->checkpoint * job->pods;
    sim_run_work kept = step > 0 ? job->done / step * step : 0;
    double lost = (double)(job->done - kept) * gpu_to_double(job->pod_gpus);

    begin_waiting(run, (uint32_t)(job - run->jobs.items));
    job->is_going = false;
    job->done = kept;
    job->lost += lost;
    for (uint32_t q = job->queue; q != NO_ID; q = run->queues.items[q].parent)
        series_add(&run->timeline, run->queues.items[q].lost, lost);
    return lost;
}

/* One pod more or less runs. Returns what work was lost by that. */
static double change_running(struct sim_run *run, uint32_t index, int change)
{
    struct sim_run_job *job = &run->jobs.items[index];
    double lost = 0;
    bool can_go;

    count_done(job, run->inner->now);
    job->running += (uint32_t)change;
    can_go = job->running > 0 && job->running >= job->min && !job->is_ending;
    if (can_go && !job->is_going)
        set_going(run, job);
    else if (!can_go && job->is_going)
        lost = set_broken(run, job);
    plan_end(run, index);
    return lost;
}

void sim_run_pod_waits(struct sim_run *run, pod_id pod, uint32_t job)
{
    struct sim_run_pod *at = pod_at(run, pod);

    *at = (struct sim_run_pod){.job = job, .node = NO_ID, .asked = pod_asked(run->state, pod).v[SHARE_GPU]};
    sim_run_queue_pending(run, run->jobs.items[job].queue, at->asked);
}

static void draw_start(struct sim_run *run, pod_id pod, const struct sim_run_pod *at)
{
    struct gantt_place place = {
        .node = at->node,
        .lanes = (uint32_t)(state_books(run->state, at->node).allocatable[RES_GPU] / GPU_ONE),
        .gpus = at->held.v[SHARE_GPU],
        .groups = &run->state->pods.items[pod].groups,
    };

    gantt_start(&run->gantt, pod, at->job, &place, run->inner->now);
}

void sim_run_pod_starts(struct sim_run *run, pod_id pod, node_id node)
{
    struct sim_run_pod *at = pod_at(run, pod);
    const struct sim_run_job *job;

    if (at->job == NO_ID || at->is_running)
        return;
    job = &run->jobs.items[at->job];
    at->is_running = true;
    at->node = node;
    at->since = run->inner->now;
    at->held = pod_accepted(run->state, pod);
    sim_run_queue_pending(run, job->queue, -at->asked);
    sim_run_queue_used(run, job->queue, &at->held, 1);
    draw_start(run, pod, at);
    (void)change_running(run, at->job, 1);
}

/* It runs no more, for whatever reason. Returns what work was lost by that. */
static double stop_pod(struct sim_run *run, struct sim_run_pod *at)
{
    struct sim_run_job *job = &run->jobs.items[at->job];

    at->is_running = false;
    job->used += (double)(run->inner->now - at->since) * gpu_to_double(at->held.v[SHARE_GPU]);
    sim_run_queue_used(run, job->queue, &at->held, -1);
    return change_running(run, at->job, -1);
}

static void free_place(struct sim_run *run, pod_id pod, struct sim_run_pod *at, enum gantt_end how)
{
    gantt_stop(&run->gantt, pod, how, run->inner->now);
    if (at->node != NO_ID)
        sim_run_touch_node(run, at->node);
    at->node = NO_ID;
    at->evicted = 0;
}

static void note_eviction(struct sim_run *run, uint32_t index, uint32_t for_job, uint8_t action, double lost)
{
    struct sim_run_job *job = &run->jobs.items[index];
    struct sim_run_eviction *last = run->evictions.len > 0 ? &vec_last(&run->evictions) : NULL;

    run->evicted_pods++;
    for (uint32_t q = job->queue; q != NO_ID; q = run->queues.items[q].parent)
        series_add(&run->timeline, run->queues.items[q].evictions, 1);
    if (job->evicted_at == run->inner->now) {
        if (last && last->job == index && last->time == job->evicted_at) {
            last->pods++;
            last->lost += lost;
        }
        return;
    }
    job->evicted_at = run->inner->now;
    job->evictions++;
    sim_run_events_add(&run->inner->events, run->inner->now + run->inner->options.grace, SIM_RUN_LEFT, index, 0);
    if (run->evictions.len < SIM_RUN_EVICTIONS_KEPT)
        vec_push(&run->evictions, (struct sim_run_eviction){run->inner->now, index, for_job, 1, lost, action});
}

void sim_run_pod_evicted(struct sim_run *run, pod_id pod, gang_id on_behalf, uint8_t action)
{
    struct sim_run_pod *at = pod_at(run, pod);
    const struct sim_run_job *other = on_behalf == NO_ID ? NULL : job_of(run, on_behalf);
    const struct gang *gang;
    double lost;

    if (at->job == NO_ID)
        return;
    if (!at->is_running) {
        /* It was only promised a place in this cycle, and lost the promise: it never left off waiting. */
        if (at->evicted == 0 && run->state->pods.items[pod].status == POD_RELEASING)
            state_move_pod(run->state, pod, POD_PENDING, NO_ID, (struct group_list){0});
        return;
    }
    at->evicted = run->inner->now;
    lost = stop_pod(run, at);
    note_eviction(run, at->job, other ? (uint32_t)(other - run->jobs.items) : NO_ID, action, lost);
    gang = &run->state->gangs.items[run->jobs.items[at->job].gang];
    state_set_gang_times(run->state, run->jobs.items[at->job].gang, gang->last_start, run->inner->now,
                         gang->stale_since);
}

static void wait_again(struct sim_run *run, pod_id pod, struct sim_run_pod *at)
{
    sim_run_queue_pending(run, run->jobs.items[at->job].queue, at->asked);
    state_move_pod(run->state, pod, POD_PENDING, NO_ID, (struct group_list){0});
}

void sim_run_pods_left(struct sim_run *run, uint32_t job)
{
    struct sim_run_inner *inner = run->inner;

    if (run->jobs.items[job].gang == NO_ID)
        return;
    list_members(run, run->jobs.items[job].gang);
    vec_foreach (&inner->members, pod) {
        struct sim_run_pod *at = pod_at(run, *pod);

        if (at->evicted == 0 || at->evicted + inner->options.grace > inner->now)
            continue;
        free_place(run, *pod, at, GANTT_EVICTED);
        wait_again(run, *pod, at);
    }
}

/* A gang that lost some of its minimum is stale: after a grace period the engine takes the rest of it down. */
static void mark_stale(struct sim_run *run, const struct sim_run_job *job)
{
    const struct gang *gang = &run->state->gangs.items[job->gang];
    nsec_t grace = gang->has_grace ? gang->staleness_grace : run->inner->staleness_grace;

    if (job->running == 0 || job->is_going || gang->stale_since != 0)
        return;
    state_set_gang_times(run->state, job->gang, gang->last_start, gang->last_eviction, run->inner->now);
    if (grace >= 0)
        sim_run_events_add(&run->inner->events, run->inner->now + grace, SIM_RUN_WAKE, NO_ID, 0);
}

void sim_run_pod_failed(struct sim_run *run, pod_id pod)
{
    struct sim_run_pod *at = pod_at(run, pod);
    struct sim_run_job *job;

    if (at->job == NO_ID || at->node == NO_ID)
        return;
    job = &run->jobs.items[at->job];
    if (at->is_running) {
        bool was_going = job->is_going;

        (void)stop_pod(run, at);
        job->failures += was_going && !job->is_going;
    }
    free_place(run, pod, at, GANTT_FAILED);
    wait_again(run, pod, at);
    mark_stale(run, job);
}

void sim_run_end_job(struct sim_run *run, uint32_t index)
{
    struct sim_run_job *job = &run->jobs.items[index];
    struct state *state = run->state;
    struct sim_run_inner *inner = run->inner;

    count_done(job, inner->now);
    if (!job->is_going)
        count_waiting(run, -1);
    /* From here on pods leave one by one, and none of that is a loss. */
    job->is_going = false;
    job->is_ending = true;
    list_members(run, job->gang);
    vec_foreach (&inner->members, pod) {
        struct sim_run_pod *at = pod_at(run, *pod);
        const struct pod *of = &state->pods.items[*pod];

        if (at->is_running)
            (void)stop_pod(run, at);
        else if (at->evicted == 0)
            sim_run_queue_pending(run, job->queue, -at->asked);
        free_place(run, *pod, at, GANTT_DONE);
        at->job = NO_ID;
        state_drop_pod(state, state_name(state, of->namespace), state_name(state, of->name));
    }
    state_drop_gang(state, state_name(state, job->namespace), state_name(state, job->name));
    inner->job_of_gang.items[job->gang] = NO_ID;
    job->gang = NO_ID;
    job->ended = inner->now;
    job->generation++;
    run->jobs_ended++;
}

static void load_pod(struct sim_run *run, pod_id pod, uint32_t job)
{
    const struct pod *of = &run->state->pods.items[pod];

    sim_run_pod_waits(run, pod, job);
    if (status_in(of->status, ALLOCATED_SET) && of->node != NO_ID) {
        sim_run_pod_starts(run, pod, of->node);
    } else if (of->status == POD_RELEASING) {
        struct sim_run_pod *at = pod_at(run, pod);

        at->node = of->node;
        at->evicted = run->inner->now;
        sim_run_queue_pending(run, run->jobs.items[job].queue, -at->asked);
        sim_run_events_add(&run->inner->events, run->inner->now + run->inner->options.grace, SIM_RUN_LEFT, job, 0);
    }
}

static void load_gang(struct sim_run *run, gang_id id)
{
    const struct gang *gang = &run->state->gangs.items[id];
    struct sim_run_job job = {.gang = id, .submitted = run->inner->now, .trace_job = NO_ID, .work = -1};
    uint32_t index;

    for (uint32_t i = 0; i < gang->group_count; i++) {
        const struct group *group = &gang->groups[i];

        job.pods += group->pods.len;
        job.min += group->is_pod_set && group->min > 0 ? (uint32_t)group->min : 0;
        for (uint32_t k = 0; k < group->pods.len; k++)
            job.gpus += pod_asked(run->state, group->pods.items[k]).v[SHARE_GPU];
    }
    job.min = MAX(job.min, 1u);
    job.pod_gpus = job.pods > 0 ? job.gpus / job.pods : 0;
    if (gang->preemption_delay > 0)
        sim_run_events_add(&run->inner->events, MAX(gang->created + gang->preemption_delay, run->inner->now),
                           SIM_RUN_WAKE, NO_ID, 0);
    if (run->inner->options.life) {
        struct sim_run_life life = run->inner->options.life(run->inner->options.context, run->state, id);

        job.work = life.run < 0 ? -1 : (sim_run_work)life.run * MAX(job.pods, 1u);
        job.done = life.run < 0 ? 0 : (sim_run_work)MIN(life.done, life.run) * MAX(job.pods, 1u);
    }
    index = sim_run_add_job(run, job);
    list_members(run, id);
    vec_foreach (&run->inner->members, pod)
        load_pod(run, *pod, index);
}

/* What the state holds already. It must be settled. */
void sim_run_load_gangs(struct sim_run *run)
{
    run->inner->is_loading = true;
    for (gang_id id = 0; id < run->state->gangs.len; id++)
        if (run->state->gangs.items[id].is_present)
            load_gang(run, id);
    run->inner->is_loading = false;
}
