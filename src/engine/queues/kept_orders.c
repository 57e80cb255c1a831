/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The gangs of each queue in order, kept from cycle to cycle: those that wait, and those that could be evicted. Sorting
 * tens of thousands of gangs for every attempt would cost more than the attempts.
 *
 * A gang is filed under the key that it had when it was filed, so that it is found again after it has changed. Changes
 * are only noted when they happen; lists are put in order before an order is built from them. They always describe the
 * state as committed: what a simulation does is not noted.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/context.h"
#include "engine/queues/kept_orders.h"
#include "engine/queues/kept_sort_internal.h"
#include "engine/queues/order.h"
#include "engine/queues/order_rows.h"
#include "model/gang.h"
#include "model/queue.h"
#include "model/state.h"

struct gang_key gang_key_of(const struct engine *engine, const struct gang *gang, enum elastic_state elastic)
{
    return (struct gang_key){
        .rank = gang_order_rank(engine, gang, elastic), .created = gang->created, .uid = gang->uid};
}

bool gang_key_precedes(const struct state *state, const struct gang_key *l, const struct gang_key *r)
{
    if (l->rank != r->rank)
        return l->rank < r->rank;
    if (l->created != r->created)
        return l->created < r->created;
    return l->uid != r->uid && strcmp(state_name(state, l->uid), state_name(state, r->uid)) < 0;
}

struct kept_orders *kept_orders_new(void)
{
    return xcalloc(1, sizeof(struct kept_orders));
}

void kept_orders_free(struct kept_orders *kept)
{
    if (!kept)
        return;
    vec_foreach (&kept->queues, queue) {
        kept_list_done(&queue->victims);
        kept_list_done(&queue->waiting);
    }
    kept_list_done(&kept->homeless);
    vec_done(&kept->queues);
    vec_done(&kept->gangs);
    vec_done(&kept->deepest_first);
    id_set_done(&kept->dirty);
    free(kept);
}

size_t kept_orders_bytes(const struct kept_orders *kept)
{
    size_t bytes = sizeof *kept + vec_bytes(&kept->gangs) + vec_bytes(&kept->queues) + vec_bytes(&kept->deepest_first) +
                   vec_bytes(&kept->dirty.ids) + vec_bytes(&kept->dirty.place) + kept_list_bytes(&kept->homeless);

    for (uint32_t i = 0; i < kept->queues.len; i++)
        bytes += kept_list_bytes(&kept->queues.items[i].victims) + kept_list_bytes(&kept->queues.items[i].waiting);
    return bytes;
}

static struct kept_list *waiting_list(struct kept_orders *kept, queue_id queue)
{
    return queue == KEPT_HOMELESS ? &kept->homeless : &kept->queues.items[queue].waiting;
}

/* Where the gang belongs now. */
static struct kept_gang place_of(const struct engine *engine, const struct gang *gang)
{
    struct kept_gang filed = {
        .key = gang_key_of(engine, gang, gang_elastic_state(gang)),
        .victim_in = NO_ID,
        .waiting_in = NO_ID,
        .class = CLASS_UNKNOWN,
    };
    if (!gang->is_present)
        return filed;
    if (gang->is_preemptible && gang->active_allocated > 0)
        filed.victim_in = gang->queue;
    if (gang->pending > 0)
        filed.waiting_in = gang->queue == NO_ID ? KEPT_HOMELESS : gang->queue;
    return filed;
}

static bool same_key(const struct gang_key *l, const struct gang_key *r)
{
    return l->rank == r->rank && l->created == r->created && l->uid == r->uid;
}

/* Where the gang is in a list that has it. Others of the same key may be in front when two gangs share a uid. */
static struct kept_place locate(const struct engine *engine, const struct kept_list *list, gang_id gang)
{
    const struct kept_orders *kept = engine->orders;
    struct kept_place place = kept_list_find(list, kept, engine->state, &kept->gangs.items[gang].key);

    while (!kept_list_is_end(list, place) && kept_list_at(list, place) != gang)
        place = kept_list_next(list, place);
    BUG_ON(kept_list_is_end(list, place));
    return place;
}

static void take_out(struct engine *engine, struct kept_list *list, gang_id gang)
{
    kept_list_remove(list, locate(engine, list, gang));
}

static void put_in(struct engine *engine, struct kept_list *list, gang_id gang)
{
    struct kept_orders *kept = engine->orders;

    kept_list_insert(list, kept_list_find(list, kept, engine->state, &kept->gangs.items[gang].key), gang);
}

/* What it asks for may have changed, though its place has not. */
static void forget_class(struct engine *engine, gang_id gang)
{
    struct kept_orders *kept = engine->orders;
    struct kept_gang *filed = &kept->gangs.items[gang];

    if (filed->class == CLASS_UNKNOWN || filed->waiting_in == NO_ID)
        return;
    struct kept_list *list = waiting_list(kept, filed->waiting_in);
    list->blocks.items[locate(engine, list, gang).block]->classes = 0;
    filed->class = CLASS_UNKNOWN;
}

static void file(struct engine *engine, gang_id gang)
{
    struct kept_orders *kept = engine->orders;
    struct kept_gang *filed = &kept->gangs.items[gang];
    struct kept_gang now = place_of(engine, &engine->state->gangs.items[gang]);
    bool is_moved = !same_key(&now.key, &filed->key);
    bool victim_moves = now.victim_in != filed->victim_in || (is_moved && now.victim_in != NO_ID);
    bool waiting_moves = now.waiting_in != filed->waiting_in || (is_moved && now.waiting_in != NO_ID);

    forget_class(engine, gang);
    if (victim_moves && filed->victim_in != NO_ID)
        take_out(engine, &kept->queues.items[filed->victim_in].victims, gang);
    if (waiting_moves && filed->waiting_in != NO_ID)
        take_out(engine, waiting_list(kept, filed->waiting_in), gang);
    now.mark = filed->mark;
    *filed = now;
    if (victim_moves && now.victim_in != NO_ID)
        put_in(engine, &kept->queues.items[now.victim_in].victims, gang);
    if (waiting_moves && now.waiting_in != NO_ID)
        put_in(engine, waiting_list(kept, now.waiting_in), gang);
}

/* Files every gang anew: cheaper than one by one when most have changed. */
static void file_all(struct engine *engine)
{
    struct kept_orders *kept = engine->orders;
    const struct state *state = engine->state;
    struct kept_sort victims = {0};
    struct kept_sort waiting = {0};

    for (gang_id gang = 0; gang < kept->gangs.len; gang++) {
        struct kept_gang *filed = &kept->gangs.items[gang];
        struct kept_gang now = place_of(engine, &state->gangs.items[gang]);

        now.mark = filed->mark;
        *filed = now;
        if (now.victim_in != NO_ID)
            kept_sort_add(&victims, now.victim_in, gang, &now.key);
        if (now.waiting_in != NO_ID)
            kept_sort_add(&waiting, now.waiting_in, gang, &now.key);
    }
    for (queue_id queue = 0; queue < kept->queues.len; queue++) {
        kept_list_done(&kept->queues.items[queue].victims);
        kept_list_done(&kept->queues.items[queue].waiting);
    }
    kept_list_done(&kept->homeless);
    kept_sort_run(&victims, state);
    kept_sort_run(&waiting, state);
    queue_id queue;
    uint32_t count;
    for (const gang_id *gangs; (gangs = kept_sort_take(&victims, &queue, &count));)
        kept_list_fill(&kept->queues.items[queue].victims, gangs, count);
    for (const gang_id *gangs; (gangs = kept_sort_take(&waiting, &queue, &count));)
        kept_list_fill(waiting_list(kept, queue), gangs, count);
    kept_sort_done(&victims);
    kept_sort_done(&waiting);
}

/* New gangs are in no list yet. */
static void make_room(struct kept_orders *kept, const struct state *state)
{
    uint32_t old = kept->gangs.len;

    if (kept->queues.len < state->queues.len)
        vec_resize(&kept->queues, state->queues.len);
    if (old >= state->gangs.len)
        return;
    vec_resize(&kept->gangs, state->gangs.len);
    for (uint32_t i = old; i < kept->gangs.len; i++)
        kept->gangs.items[i] = (struct kept_gang){.victim_in = NO_ID, .waiting_in = NO_ID, .class = CLASS_UNKNOWN};
}

void kept_orders_settle(struct engine *engine)
{
    enum { MANY = 256 };
    struct kept_orders *kept = engine->orders;
    uint32_t count = kept->dirty.ids.len;

    if (count == 0)
        return;
    if (count >= MANY && count >= kept->gangs.len / 4)
        file_all(engine);
    else {
        for (uint32_t i = 0; i < count; i++)
            file(engine, kept->dirty.ids.items[i]);
    }
    id_set_clear(&kept->dirty);
}

static int by_depth(const void *a, const void *b, void *context)
{
    const struct state *state = context;
    const struct queue *l = &state->queues.items[*(const queue_id *)a];
    const struct queue *r = &state->queues.items[*(const queue_id *)b];

    if (l->depth != r->depth)
        return l->depth > r->depth ? -1 : 1;
    if (l->created != r->created)
        return l->created < r->created ? -1 : 1;
    int uid = strcmp(state_name(state, l->uid), state_name(state, r->uid));
    return uid != 0 ? uid : (l > r) - (l < r);
}

static void list_queues(struct kept_orders *kept, struct state *state)
{
    vec_clear(&kept->deepest_first);
    kept->root_count = 0;
    for (queue_id id = 0; id < state->queues.len; id++) {
        const struct queue *queue = &state->queues.items[id];
        if (!queue->is_present || queue->is_orphan)
            continue;
        vec_push(&kept->deepest_first, id);
        kept->root_count += queue->parent == NO_ID;
    }
    if (kept->deepest_first.len > 0)
        qsort_r(kept->deepest_first.items, kept->deepest_first.len, sizeof(queue_id), by_depth, state);
}

/* Queues that come and go take their gangs along, of which the state does not say that they changed. */
static void note_moved(struct engine *engine)
{
    struct kept_orders *kept = engine->orders;

    for (gang_id gang = 0; gang < kept->gangs.len; gang++) {
        const struct kept_gang *filed = &kept->gangs.items[gang];
        struct kept_gang now = place_of(engine, &engine->state->gangs.items[gang]);
        if (now.victim_in != filed->victim_in || now.waiting_in != filed->waiting_in)
            id_set_add(&kept->dirty, gang);
    }
}

static bool asks_the_same(const double *a, const double *b)
{
    for (int r = 0; r < SHARE_COUNT; r++) {
        if (a[r] != b[r])
            return false;
    }
    return true;
}

static void forget_classes(struct kept_orders *kept)
{
    kept->class_count = 0;
    vec_foreach (&kept->gangs, gang)
        gang->class = CLASS_UNKNOWN;
    vec_foreach (&kept->queues, queue) {
        vec_foreach (&queue->waiting.blocks, block)
            (*block)->classes = 0;
    }
}

void kept_orders_update(struct engine *engine)
{
    struct kept_orders *kept = engine->orders;
    const struct state *state = engine->state;
    const struct changes *changes = &state->changes;

    make_room(kept, state);
    if (changes->requests)
        view_cache_forget(engine->views);
    if (changes->requests || kept->class_count == KEPT_CLASSES || kept->min_gpu_memory_mib != state->min_gpu_memory_mib)
        forget_classes(kept);
    kept->min_gpu_memory_mib = state->min_gpu_memory_mib;
    if (changes->queues || kept->deepest_first.len == 0) {
        list_queues(kept, engine->state);
        note_moved(engine);
    }
    for (uint32_t i = 0; i < changes->gangs.ids.len; i++)
        id_set_add(&kept->dirty, changes->gangs.ids.items[i]);
    kept_orders_settle(engine);
}

void kept_orders_gang_changed(struct engine *engine, gang_id gang)
{
    struct kept_orders *kept = engine->orders;
    const struct gang *g = &engine->state->gangs.items[gang];

    make_room(kept, engine->state);
    id_set_add(&kept->dirty, gang);
    const struct kept_gang *filed = &kept->gangs.items[gang];
    if (filed->waiting_in >= kept->queues.len || g->pending == 0)
        return;
    if (gang_key_of(engine, g, gang_elastic_state(g)).rank != filed->key.rank) {
        kept->queues.items[filed->waiting_in].rekeyed++;
        kept->queues.items[filed->waiting_in].last_rekeyed = gang;
    }
}

uint8_t kept_class(struct engine *engine, gang_id gang)
{
    struct kept_orders *kept = engine->orders;
    struct kept_gang *filed = &kept->gangs.items[gang];

    if (filed->class != CLASS_UNKNOWN)
        return filed->class;
    /* Without shares, what a gang asks for does not weigh. */
    static const double nothing[SHARE_COUNT];
    const double *asked = engine_has(engine, PLUGIN_PROPORTION) ? view_of(engine, gang)->asked : nothing;
    uint32_t class = 0;
    while (class < kept->class_count && !asks_the_same(kept->class_asked[class], asked))
        class ++;
    if (class == kept->class_count && class < KEPT_CLASSES)
        memcpy(kept->class_asked[kept->class_count++], asked, sizeof kept->class_asked[class]);
    filed->class = (uint8_t)class;
    return filed->class;
}

uint64_t kept_block_classes(struct engine *engine, struct kept_block *block)
{
    const struct kept_orders *kept = engine->orders;
    uint64_t classes = 0;

    if (block->classes != 0)
        return block->classes;
    for (uint32_t i = 0; i < block->len; i++) {
        /* What a victim asks for is the simulation's, and not to be kept. */
        if (kept->gangs.items[block->ids[i]].mark == kept->simulations)
            return UINT64_C(1) << CLASS_OTHER;
        classes |= UINT64_C(1) << kept_class(engine, block->ids[i]);
    }
    block->classes = classes;
    return classes;
}
