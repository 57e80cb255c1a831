/* SPDX-License-Identifier: Apache-2.0 */

/* Queues as the log sees them: what each uses, is due and waits for, with all queues below it. */
#include "engine/engine.h"
#include "sim/play/play_internal.h"

void play_load_queues(struct play *play)
{
    struct state *state = play->state;
    struct play_inner *inner = play->inner;

    vec_foreach (&state->queues, unused) {
        (void)unused;
        vec_push(&inner->queue_of, NO_ID);
    }
    for (queue_id id = 0; id < state->queues.len; id++) {
        const struct queue *queue = &state->queues.items[id];

        if (!queue->is_present)
            continue;
        inner->queue_of.items[id] = play->queues.len;
        vec_push(&play->queues, (struct play_queue){
                                    .id = id,
                                    .name = queue->name,
                                    .is_leaf = queue->children.len == 0,
                                    .used = timeline_add(&play->timeline),
                                    .share = timeline_add(&play->timeline),
                                    .pending = timeline_add(&play->timeline),
                                    .evictions = timeline_add(&play->timeline),
                                    .lost = timeline_add(&play->timeline),
                                });
    }
    vec_foreach (&play->queues, queue) {
        queue_id parent = state->queues.items[queue->id].parent;

        queue->parent = parent == NO_ID ? NO_ID : inner->queue_of.items[parent];
    }
}

void play_queue_used(struct play *play, uint32_t queue, const struct amounts *held, int sign)
{
    for (; queue != NO_ID; queue = play->queues.items[queue].parent) {
        struct play_queue *at = &play->queues.items[queue];

        for (int r = 0; r < SHARE_COUNT; r++)
            at->used_now.v[r] += sign * held->v[r];
        series_set(&play->timeline, at->used, gpu_to_double(at->used_now.v[SHARE_GPU]));
    }
    play->inner->used += sign * held->v[SHARE_GPU];
    series_set(&play->timeline, play->used, gpu_to_double(play->inner->used));
}

void play_queue_pending(struct play *play, uint32_t queue, int64_t change)
{
    for (; queue != NO_ID; queue = play->queues.items[queue].parent) {
        struct play_queue *at = &play->queues.items[queue];

        at->pending_now += change;
        series_set(&play->timeline, at->pending, gpu_to_double(at->pending_now));
    }
}

/* As the engine divided them when the cycle began; no bound is the whole cluster. */
void play_read_shares(struct play *play)
{
    double total = gpu_to_double(play->state->total.v[SHARE_GPU]);

    series_set(&play->timeline, play->capacity, total);
    vec_foreach (&play->queues, queue) {
        double fair = engine_share(play->engine, queue->id).fair[SHARE_GPU];

        series_set(&play->timeline, queue->share, fair < 0 ? total : fair);
    }
}
