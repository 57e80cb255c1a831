/* SPDX-License-Identifier: Apache-2.0 */

/* What adds up of pairs of futures, by workload and by queue. Those of the two sides are matched by name. */
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "model/gang.h"
#include "model/queue.h"
#include "model/state.h"
#include "sim/whatif/hours_internal.h"

#define NSEC_PER_GPU_HOUR ((double)NSEC_PER_HOUR)

/* ---- Rows. ---- */

static struct hours_workload *workload_of(struct hours *hours, const struct state *state, gang_id id)
{
    const struct gang *gang = &state->gangs.items[id];
    const char *namespace = state_name(state, gang->namespace);
    const char *name = state_name(state, gang->name);
    struct hours_workload *row = strmap_get(&hours->by_name, namespace, name);
    struct strbuf label;

    if (row)
        return row;
    strbuf_init(&label, WHATIF_NAME_MAX);
    workload_add_name(&label, state, id);
    row = ARENA_NEW(&hours->arena, struct hours_workload);
    row->namespace = arena_strdup(&hours->arena, namespace);
    row->gang = arena_strdup(&hours->arena, name);
    row->name = arena_strdup(&hours->arena, label.text);
    row->queue = arena_strdup(&hours->arena, state_name(state, gang->queue_name));
    strbuf_done(&label);
    (void)strmap_put(&hours->by_name, row->namespace, row->gang, row);
    vec_push(&hours->workloads, row);
    return row;
}

static struct hours_queue *queue_of(struct hours *hours, const char *name)
{
    struct hours_queue *row = strmap_get(&hours->by_queue, "", name);

    if (row)
        return row;
    row = ARENA_NEW(&hours->arena, struct hours_queue);
    row->name = arena_strdup(&hours->arena, name);
    (void)strmap_put(&hours->by_queue, "", row->name, row);
    vec_push(&hours->queues, row);
    return row;
}

bool hours_gang_runs(const struct gang *gang)
{
    return gang->active_allocated > 0 && gang->short_sets == 0;
}

static bool queue_takes_work(const struct queue *queue)
{
    return queue->is_present && !queue->is_orphan && queue->children.len == 0;
}

/* All that is there, so that rows do not depend on what futures bring. */
void hours_add_rows(struct hours *hours, const struct state *state, enum hours_side side)
{
    for (gang_id id = 0; id < state->gangs.len; id++) {
        const struct gang *gang = &state->gangs.items[id];

        if (!gang->is_present)
            continue;
        struct hours_fate *fate = &workload_of(hours, state, id)->sides[side];
        fate->is_there = true;
        fate->is_running = hours_gang_runs(gang);
    }
    for (queue_id id = 0; id < state->queues.len; id++)
        if (queue_takes_work(&state->queues.items[id]))
            (void)queue_of(hours, state_name(state, state->queues.items[id].name));
}

/* ---- A future. ---- */

static nsec_t waited(const struct sim_run *run, uint32_t job)
{
    nsec_t sum = 0;

    for (int code = 0; code < _VERDICT_CODE_MAX; code++)
        sum += waits_of(&run->waits, job, (enum verdict_code)code);
    return sum;
}

static void count_job(struct hours_figures *to, const struct sim_run *run, uint32_t index, bool ran_before)
{
    const struct sim_run_job *job = &run->jobs.items[index];

    to->workloads++;
    to->starts += job->first_start != 0 && !ran_before;
    to->evictions += job->evictions;
    to->waited += (double)waited(run, index) / (double)NSEC_PER_SEC;
    to->used += job->used / NSEC_PER_GPU_HOUR;
    to->lost += job->lost / NSEC_PER_GPU_HOUR;
}

static void take_fate(struct hours_fate *fate, const struct sim_run *run, const struct sim_run_job *job)
{
    fate->wait = job->first_start != 0 ? job->first_start - run->start : NSEC_MAX;
    fate->started += job->first_start != 0;
    fate->evicted += job->evictions > 0;
    vec_push(&fate->waits, fate->wait);
}

void hours_take_outcome(struct hours *hours, enum hours_side side, const struct sim_run *run)
{
    for (uint32_t i = 0; i < run->jobs.len; i++) {
        const struct sim_run_job *job = &run->jobs.items[i];
        struct hours_workload *row = NULL;

        if (!job->from_trace)
            row =
                strmap_get(&hours->by_name, state_name(run->state, job->namespace), state_name(run->state, job->name));
        bool ran_before = row && row->sides[side].is_running;
        if (row)
            take_fate(&row->sides[side], run, job);
        count_job(&hours->whole[side], run, i, ran_before);
        if (job->queue != NO_ID) {
            const char *queue = state_name(run->state, run->queues.items[job->queue].name);
            count_job(&queue_of(hours, queue)->sides[side], run, i, ran_before);
        }
    }
}

void hours_compare_pair(struct hours *hours)
{
    for (uint32_t i = 0; i < hours->workloads.len; i++) {
        struct hours_workload *row = hours->workloads.items[i];

        if (!row->sides[HOURS_WITHOUT].is_there || !row->sides[HOURS_WITH].is_there)
            continue;
        row->sooner += row->sides[HOURS_WITH].wait < row->sides[HOURS_WITHOUT].wait;
        row->later += row->sides[HOURS_WITH].wait > row->sides[HOURS_WITHOUT].wait;
    }
}

/* ---- What adds up. ---- */

static int by_time(const void *l_, const void *r_)
{
    const nsec_t *l = l_;
    const nsec_t *r = r_;

    return *l < *r ? -1 : *l > *r;
}

static void find_median(struct hours_fate *fate)
{
    fate->median_wait = NSEC_MAX;
    if (fate->waits.len == 0)
        return;
    qsort(fate->waits.items, fate->waits.len, sizeof *fate->waits.items, by_time);
    fate->median_wait = fate->waits.items[fate->waits.len / 2];
}

bool hours_workload_differs(const struct hours_workload *workload)
{
    const struct hours_fate *without = &workload->sides[HOURS_WITHOUT];
    const struct hours_fate *with = &workload->sides[HOURS_WITH];

    return workload->sooner + workload->later > 0 || without->evicted != with->evicted ||
           without->is_there != with->is_there;
}

bool hours_queue_differs(const struct hours_queue *queue)
{
    const struct hours_figures *l = &queue->sides[HOURS_WITHOUT];
    const struct hours_figures *r = &queue->sides[HOURS_WITH];

    return l->workloads != r->workloads || l->starts != r->starts || l->evictions != r->evictions ||
           l->waited < r->waited || l->waited > r->waited || l->used < r->used || l->used > r->used;
}

static int compare_rows(const void *l_, const void *r_)
{
    const struct hours_workload *l = *(struct hours_workload *const *)l_;
    const struct hours_workload *r = *(struct hours_workload *const *)r_;
    int order = strcmp(l->name, r->name);

    return order != 0 ? order : strcmp(l->gang, r->gang);
}

static bool waits_at_first(const struct hours_fate *fate)
{
    return fate->is_there && !fate->is_running;
}

void hours_conclude(struct hours *hours)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < hours->workloads.len; i++) {
        struct hours_workload *row = hours->workloads.items[i];
        bool is_listed = hours_workload_differs(row);

        for (int side = 0; side < _HOURS_SIDES; side++) {
            find_median(&row->sides[side]);
            vec_done(&row->sides[side].waits);
            is_listed |= waits_at_first(&row->sides[side]);
        }
        if (is_listed)
            hours->workloads.items[kept++] = row;
    }
    hours->workloads.len = kept;
    if (kept > 0)
        qsort(hours->workloads.items, kept, sizeof *hours->workloads.items, compare_rows);
}
