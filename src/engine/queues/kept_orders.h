/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "base/vec.h"
#include "engine/gangs/view.h"
#include "model/ids.h"
#include "model/state.h"

struct engine;
struct gang;

/*
 * What gangs of one queue are ordered by. A smaller rank is a higher priority and a less complete gang; equal ranks go
 * by age, and then by uid.
 */
struct gang_key {
    uint64_t rank;
    nsec_t created;
    name_id uid;
};

struct gang_key gang_key_of(const struct engine *engine, const struct gang *gang, enum elastic_state elastic);
bool gang_key_precedes(const struct state *state, const struct gang_key *l, const struct gang_key *r);

/*
 * A sorted list of gangs in blocks, so that adding one to a long list moves few. The order of its gangs is that of the
 * keys that kept_orders notes for them.
 */
enum { KEPT_BLOCK = 128 };

struct kept_block {
    uint32_t len;
    uint32_t cap;
    uint64_t classes;  // bits of the classes (see kept_class) that its gangs are of; 0: not known
    gang_id ids[];
};

struct kept_list {
    VEC(struct kept_block *) blocks;  // none is empty
    uint32_t len;                     // gangs
};

/* A gang in a list; the end is {blocks.len, 0}. */
struct kept_place {
    uint32_t block;
    uint32_t index;
};

enum { KEPT_CLASSES = 63, CLASS_OTHER = 63, CLASS_UNKNOWN = 255 };

/* A gang as it is filed. */
struct kept_gang {
    struct gang_key key;
    queue_id victim_in;   // the queue in whose lists it is, NO_ID in none
    queue_id waiting_in;  // likewise, or KEPT_HOMELESS
    uint32_t mark;        // the simulation that last named it
    uint8_t class;
};

#define KEPT_HOMELESS (NO_ID - 1)

struct kept_queue {
    struct kept_list victims;  // preemptible, with active pods; first the one that is evicted last
    struct kept_list waiting;  // with pending pods
    uint32_t rekeyed;          // grows when one that waits changes its rank
    gang_id last_rekeyed;
};

struct kept_orders {
    VEC(struct kept_gang) gangs;    // by gang id
    VEC(struct kept_queue) queues;  // by queue id
    struct kept_list homeless;      // that wait, and name no queue
    struct id_set dirty;            // gangs to be filed anew
    VEC(queue_id) deepest_first;    // queues that take part: by depth, deepest first, and then by age
    uint32_t root_count;
    uint32_t simulations;  // source of marks
    uint32_t class_count;
    double class_asked[KEPT_CLASSES][SHARE_COUNT];
    int64_t min_gpu_memory_mib;  // that classes were made with
};

/* Files the dirty gangs. A gang that a simulation has changed has to be filed again when that is over. */
void kept_orders_settle(struct engine *engine);

/*
 * Gangs that ask for the same are of one class: in the order of queues they weigh the same. There are few in most
 * clusters; those beyond KEPT_CLASSES are CLASS_OTHER, of which nothing is known.
 */
uint8_t kept_class(struct engine *engine, gang_id gang);  // not of one that the simulation at hand changes
uint64_t kept_block_classes(struct engine *engine, struct kept_block *block);

/* Lists (kept_list.c). */
void kept_list_done(struct kept_list *list);
size_t kept_list_bytes(const struct kept_list *list);

/* The first place whose gang does not precede `key`. */
struct kept_place kept_list_find(const struct kept_list *list, const struct kept_orders *kept,
                                 const struct state *state, const struct gang_key *key);
void kept_list_insert(struct kept_list *list, struct kept_place place, gang_id gang);
void kept_list_remove(struct kept_list *list, struct kept_place place);

/* Replaces what is in the list; the gangs are in order. */
void kept_list_fill(struct kept_list *list, const gang_id *gangs, uint32_t count);

static inline bool kept_place_is_before(struct kept_place l, struct kept_place r)
{
    return l.block != r.block ? l.block < r.block : l.index < r.index;
}

static inline bool kept_list_is_end(const struct kept_list *list, struct kept_place place)
{
    return place.block >= list->blocks.len;
}

static inline gang_id kept_list_at(const struct kept_list *list, struct kept_place place)
{
    return list->blocks.items[place.block]->ids[place.index];
}

static inline struct kept_place kept_list_next(const struct kept_list *list, struct kept_place place)
{
    if (place.index + 1 < list->blocks.items[place.block]->len)
        return (struct kept_place){place.block, place.index + 1};
    return (struct kept_place){place.block + 1, 0};
}
