/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The life of jobs. A job's work goes on at the speed of the pods that run, as long as those are its minimum; whenever
 * their number changes, what has been done is brought up to date and the end is planned anew. The end that was planned
 * before is known by its generation when it comes up.
 */
#include "engine/engine.h"
#include "model/books.h"
#include "model/delta.h"
#include "sim/play/play_internal.h"

static struct play_pod *pod_at(struct play *play, pod_id pod)
{
    struct play_inner *inner = play->inner;

    while (inner->pods.len <= pod)
        vec_push(&inner->pods, (struct play_pod){.job = NO_ID, .node = NO_ID});
    return &inner->pods.items[pod];
}

/* The job that a gang is, or NULL. */
static const struct play_job *job_of(const struct play *play, gang_id gang)
{
    const struct play_inner *inner = play->inner;
    uint32_t job = gang < inner->job_of_gang.len ? inner->job_of_gang.items[gang] : NO_ID;

    return job == NO_ID ? NULL : &play->jobs.items[job];
}

static void count_waiting(struct play *play, int change)
{
    play->inner->waiting += (uint32_t)change;
    series_set(&play->timeline, play->waiting, play->inner->waiting);
}

uint32_t play_add_job(struct play *play, struct play_job job)
{
    const struct gang *gang = &play->state->gangs.items[job.gang];
    struct play_inner *inner = play->inner;
    uint32_t index = play->jobs.len;

    job.name = gang->name;
    job.label = job.from_trace ? gang->name : play_label_of(play->state, job.gang);
    job.namespace = gang->namespace;
    job.queue = gang->queue == NO_ID ? NO_ID : inner->queue_of.items[gang->queue];
    while (inner->job_of_gang.len <= job.gang)
        vec_push(&inner->job_of_gang, NO_ID);
    inner->job_of_gang.items[job.gang] = index;
    vec_push(&play->jobs, job);
    count_waiting(play, 1);
    return index;
}

static void count_done(struct play_job *job, nsec_t now)
{
    if (job->is_going)
        job->done += (play_work)job->running * (now - job->since);
    job->since = now;
}

static void plan_end(struct play *play, uint32_t index)
{
    struct play_job *job = &play->jobs.items[index];
    play_work left = job->work - job->done;

    job->generation++;
    if (!job->is_going || job->work < 0)
        return;
    play_events_add(&play->inner->events, play->inner->now + (nsec_t)((left + job->running - 1) / job->running),
                    PLAY_END, index, job->generation);
}

static void set_going(struct play *play, struct play_job *job)
{
    struct play_inner *inner = play->inner;
    const struct gang *gang = &play->state->gangs.items[job->gang];

    count_waiting(play, -1);
    job->is_going = true;
    if (job->first_start == 0)
        job->first_start = inner->now;
    if (inner->is_loading)
        return;
    state_set_gang_times(play->state, job->gang, inner->now, gang->last_eviction, 0);
    vec_foreach (&inner->min_runtimes, min)
        play_events_add(&inner->events, inner->now + *min, PLAY_WAKE, NO_ID, 0);
}

/* Work since the last checkpoint is gone; how much that was, in GPU x nanoseconds. */
static double set_broken(struct play *play, struct play_job *job)
{
    play_work step = (play_work)job->checkpoint * job->pods;
    play_work kept = step > 0 ? job->done / step * step : 0;
    double lost = (double)(job->done - kept) * gpu_to_double(job->pod_gpus);

    count_waiting(play, 1);
    job->is_going = false;
    job->done = kept;
    job->lost += lost;
    for (uint32_t q = job->queue; q != NO_ID; q = play->queues.items[q].parent)
        series_add(&play->timeline, play->queues.items[q].lost, lost);
    return lost;
}

/* One pod more or less runs. Returns what work was lost by that. */
static double change_running(struct play *play, uint32_t index, int change)
{
    struct play_job *job = &play->jobs.items[index];
    double lost = 0;
    bool can_go;

    count_done(job, play->inner->now);
    job->running += (uint32_t)change;
    can_go = job->running > 0 && job->running >= job->min && !job->is_ending;
    if (can_go && !job->is_going)
        set_going(play, job);
    else if (!can_go && job->is_going)
        lost = set_broken(play, job);
    plan_end(play, index);
    return lost;
}

void play_pod_waits(struct play *play, pod_id pod, uint32_t job)
{
    struct play_pod *at = pod_at(play, pod);

    *at = (struct play_pod){.job = job, .node = NO_ID, .asked = pod_asked(play->state, pod).v[SHARE_GPU]};
    play_queue_pending(play, play->jobs.items[job].queue, at->asked);
}

static void draw_start(struct play *play, pod_id pod, const struct play_pod *at)
{
    struct gantt_place place = {
        .node = at->node,
        .lanes = (uint32_t)(state_books(play->state, at->node).allocatable[RES_GPU] / GPU_ONE),
        .gpus = at->held.v[SHARE_GPU],
        .groups = &play->state->pods.items[pod].groups,
    };

    gantt_start(&play->gantt, pod, at->job, &place, play->inner->now);
}

void play_pod_starts(struct play *play, pod_id pod, node_id node)
{
    struct play_pod *at = pod_at(play, pod);
    const struct play_job *job;

    if (at->job == NO_ID || at->is_running)
        return;
    job = &play->jobs.items[at->job];
    at->is_running = true;
    at->node = node;
    at->since = play->inner->now;
    at->held = pod_accepted(play->state, pod);
    play_queue_pending(play, job->queue, -at->asked);
    play_queue_used(play, job->queue, &at->held, 1);
    draw_start(play, pod, at);
    (void)change_running(play, at->job, 1);
}

/* It runs no more, for whatever reason. Returns what work was lost by that. */
static double stop_pod(struct play *play, struct play_pod *at)
{
    struct play_job *job = &play->jobs.items[at->job];

    at->is_running = false;
    job->used += (double)(play->inner->now - at->since) * gpu_to_double(at->held.v[SHARE_GPU]);
    play_queue_used(play, job->queue, &at->held, -1);
    return change_running(play, at->job, -1);
}

static void free_place(struct play *play, pod_id pod, struct play_pod *at, enum gantt_end how)
{
    gantt_stop(&play->gantt, pod, how, play->inner->now);
    if (at->node != NO_ID)
        play_touch_node(play, at->node);
    at->node = NO_ID;
    at->evicted = 0;
}

static void note_eviction(struct play *play, uint32_t index, uint32_t for_job, uint8_t action, double lost)
{
    struct play_job *job = &play->jobs.items[index];
    struct play_eviction *last = play->evictions.len > 0 ? &vec_last(&play->evictions) : NULL;

    play->evicted_pods++;
    for (uint32_t q = job->queue; q != NO_ID; q = play->queues.items[q].parent)
        series_add(&play->timeline, play->queues.items[q].evictions, 1);
    if (job->evicted_at == play->inner->now) {
        if (last && last->job == index && last->time == job->evicted_at) {
            last->pods++;
            last->lost += lost;
        }
        return;
    }
    job->evicted_at = play->inner->now;
    job->evictions++;
    play_events_add(&play->inner->events, play->inner->now + play->inner->options.grace, PLAY_LEFT, index, 0);
    if (play->evictions.len < PLAY_EVICTIONS_KEPT)
        vec_push(&play->evictions, (struct play_eviction){play->inner->now, index, for_job, 1, lost, action});
}

void play_pod_evicted(struct play *play, pod_id pod, gang_id on_behalf, uint8_t action)
{
    struct play_pod *at = pod_at(play, pod);
    const struct play_job *other = on_behalf == NO_ID ? NULL : job_of(play, on_behalf);
    const struct gang *gang;
    double lost;

    if (at->job == NO_ID)
        return;
    if (!at->is_running) {
        /* It was only promised a place in this cycle, and lost the promise: it never left off waiting. */
        if (at->evicted == 0 && play->state->pods.items[pod].status == POD_RELEASING)
            state_move_pod(play->state, pod, POD_PENDING, NO_ID, (struct group_list){0});
        return;
    }
    at->evicted = play->inner->now;
    lost = stop_pod(play, at);
    note_eviction(play, at->job, other ? (uint32_t)(other - play->jobs.items) : NO_ID, action, lost);
    gang = &play->state->gangs.items[play->jobs.items[at->job].gang];
    state_set_gang_times(play->state, play->jobs.items[at->job].gang, gang->last_start, play->inner->now,
                         gang->stale_since);
}

static void wait_again(struct play *play, pod_id pod, struct play_pod *at)
{
    play_queue_pending(play, play->jobs.items[at->job].queue, at->asked);
    state_move_pod(play->state, pod, POD_PENDING, NO_ID, (struct group_list){0});
}

/* The pods of a gang as they are now; valid until the next call. */
static void list_members(struct play *play, gang_id id)
{
    const struct gang *gang = &play->state->gangs.items[id];

    vec_clear(&play->inner->members);
    for (uint32_t i = 0; i < gang->group_count; i++)
        for (uint32_t k = 0; k < gang->groups[i].pods.len; k++)
            vec_push(&play->inner->members, gang->groups[i].pods.items[k]);
}

void play_pods_left(struct play *play, uint32_t job)
{
    struct play_inner *inner = play->inner;

    if (play->jobs.items[job].gang == NO_ID)
        return;
    list_members(play, play->jobs.items[job].gang);
    vec_foreach (&inner->members, pod) {
        struct play_pod *at = pod_at(play, *pod);

        if (at->evicted == 0 || at->evicted + inner->options.grace > inner->now)
            continue;
        free_place(play, *pod, at, GANTT_EVICTED);
        wait_again(play, *pod, at);
    }
}

/* A gang that lost some of its minimum is stale: after a grace period the engine takes the rest of it down. */
static void mark_stale(struct play *play, const struct play_job *job)
{
    const struct gang *gang = &play->state->gangs.items[job->gang];
    nsec_t grace = gang->has_grace ? gang->staleness_grace : play->inner->staleness_grace;

    if (job->running == 0 || job->is_going || gang->stale_since != 0)
        return;
    state_set_gang_times(play->state, job->gang, gang->last_start, gang->last_eviction, play->inner->now);
    if (grace >= 0)
        play_events_add(&play->inner->events, play->inner->now + grace, PLAY_WAKE, NO_ID, 0);
}

void play_pod_failed(struct play *play, pod_id pod)
{
    struct play_pod *at = pod_at(play, pod);
    struct play_job *job;

    if (at->job == NO_ID || at->node == NO_ID)
        return;
    job = &play->jobs.items[at->job];
    if (at->is_running) {
        bool was_going = job->is_going;

        (void)stop_pod(play, at);
        job->failures += was_going && !job->is_going;
    }
    free_place(play, pod, at, GANTT_FAILED);
    wait_again(play, pod, at);
    mark_stale(play, job);
}

void play_end_job(struct play *play, uint32_t index)
{
    struct play_job *job = &play->jobs.items[index];
    struct state *state = play->state;
    struct play_inner *inner = play->inner;

    count_done(job, inner->now);
    if (!job->is_going)
        count_waiting(play, -1);
    /* From here on pods leave one by one, and none of that is a loss. */
    job->is_going = false;
    job->is_ending = true;
    list_members(play, job->gang);
    vec_foreach (&inner->members, pod) {
        struct play_pod *at = pod_at(play, *pod);
        const struct pod *of = &state->pods.items[*pod];

        if (at->is_running)
            (void)stop_pod(play, at);
        else if (at->evicted == 0)
            play_queue_pending(play, job->queue, -at->asked);
        free_place(play, *pod, at, GANTT_DONE);
        at->job = NO_ID;
        state_drop_pod(state, state_name(state, of->namespace), state_name(state, of->name));
    }
    state_drop_gang(state, state_name(state, job->namespace), state_name(state, job->name));
    inner->job_of_gang.items[job->gang] = NO_ID;
    job->gang = NO_ID;
    job->ended = inner->now;
    job->generation++;
    play->jobs_ended++;
}

static void load_pod(struct play *play, pod_id pod, uint32_t job)
{
    const struct pod *of = &play->state->pods.items[pod];

    play_pod_waits(play, pod, job);
    if (status_in(of->status, ALLOCATED_SET) && of->node != NO_ID) {
        play_pod_starts(play, pod, of->node);
    } else if (of->status == POD_RELEASING) {
        struct play_pod *at = pod_at(play, pod);

        at->node = of->node;
        at->evicted = play->inner->now;
        play_queue_pending(play, play->jobs.items[job].queue, -at->asked);
        play_events_add(&play->inner->events, play->inner->now + play->inner->options.grace, PLAY_LEFT, job, 0);
    }
}

static void load_gang(struct play *play, gang_id id)
{
    const struct gang *gang = &play->state->gangs.items[id];
    struct play_job job = {.gang = id, .submitted = play->inner->now, .trace_job = NO_ID, .work = -1};
    uint32_t index;

    for (uint32_t i = 0; i < gang->group_count; i++) {
        const struct group *group = &gang->groups[i];

        job.pods += group->pods.len;
        job.min += group->is_pod_set && group->min > 0 ? (uint32_t)group->min : 0;
        for (uint32_t k = 0; k < group->pods.len; k++)
            job.gpus += pod_asked(play->state, group->pods.items[k]).v[SHARE_GPU];
    }
    job.min = MAX(job.min, 1u);
    job.pod_gpus = job.pods > 0 ? job.gpus / job.pods : 0;
    if (gang->preemption_delay > 0)
        play_events_add(&play->inner->events, MAX(gang->created + gang->preemption_delay, play->inner->now), PLAY_WAKE,
                        NO_ID, 0);
    index = play_add_job(play, job);
    list_members(play, id);
    vec_foreach (&play->inner->members, pod)
        load_pod(play, *pod, index);
}

/* What the state holds already. It must be settled. */
void play_load_gangs(struct play *play)
{
    play->inner->is_loading = true;
    for (gang_id id = 0; id < play->state->gangs.len; id++)
        if (play->state->gangs.items[id].is_present)
            load_gang(play, id);
    play->inner->is_loading = false;
}
