/* SPDX-License-Identifier: Apache-2.0 */

/* Queues as the log sees them: what each uses, is due and waits for, with all queues below it. */
#include "engine/engine.h"
#include "sim/run/run_internal.h"

void sim_run_load_queues(struct sim_run *run)
{
    struct state *state = run->state;
    struct sim_run_inner *inner = run->inner;

    vec_foreach (&state->queues, unused) {
        (void)unused;
        vec_push(&inner->queue_of, NO_ID);
    }
    for (queue_id id = 0; id < state->queues.len; id++) {
        const struct queue *queue = &state->queues.items[id];

        if (!queue->is_present)
            continue;
        inner->queue_of.items[id] = run->queues.len;
        vec_push(&run->queues, (struct sim_run_queue){
                                   .id = id,
                                   .name = queue->name,
                                   .is_leaf = queue->children.len == 0,
                                   .used = timeline_add(&run->timeline),
                                   .share = timeline_add(&run->timeline),
                                   .pending = timeline_add(&run->timeline),
                                   .evictions = timeline_add(&run->timeline),
                                   .lost = timeline_add(&run->timeline),
                               });
    }
    vec_foreach (&run->queues, queue) {
        queue_id parent = state->queues.items[queue->id].parent;

        queue->parent = parent == NO_ID ? NO_ID : inner->queue_of.items[parent];
    }
}

void sim_run_queue_used(struct sim_run *run, uint32_t queue, const struct amounts *held, int sign)
{
    for (; queue != NO_ID; queue = run->queues.items[queue].parent) {
        struct sim_run_queue *at = &run->queues.items[queue];

        for (int r = 0; r < SHARE_COUNT; r++)
            at->used_now.v[r] += sign * held->v[r];
        series_set(&run->timeline, at->used, gpu_to_double(at->used_now.v[SHARE_GPU]));
    }
    run->inner->used += sign * held->v[SHARE_GPU];
    series_set(&run->timeline, run->used, gpu_to_double(run->inner->used));
}

void sim_run_queue_pending(struct sim_run *run, uint32_t queue, int64_t change)
{
    for (; queue != NO_ID; queue = run->queues.items[queue].parent) {
        struct sim_run_queue *at = &run->queues.items[queue];

        at->pending_now += change;
        series_set(&run->timeline, at->pending, gpu_to_double(at->pending_now));
    }
}

/* As the engine divided them when the cycle began; no bound is the whole cluster. */
void sim_run_read_shares(struct sim_run *run)
{
    double total = gpu_to_double(run->state->total.v[SHARE_GPU]);

    series_set(&run->timeline, run->capacity, total);
    vec_foreach (&run->queues, queue) {
        double fair = engine_share(run->engine, queue->id).fair[SHARE_GPU];

        series_set(&run->timeline, queue->share, fair < 0 ? total : fair);
    }
}
