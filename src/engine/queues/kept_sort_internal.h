/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/vec.h"
#include "engine/queues/kept_orders.h"
#include "model/ids.h"

struct state;

/* Sorts gangs of many queues at once: by queue, then in the order of their keys. */
struct sort_entry {
    struct gang_key key;
    queue_id queue;
    gang_id gang;
};

struct kept_sort {
    VEC(struct sort_entry) entries;
    VEC(gang_id) gangs;  // of one queue, for kept_sort_take
    uint32_t taken;
};

void kept_sort_add(struct kept_sort *sort, queue_id queue, gang_id gang, const struct gang_key *key);
void kept_sort_run(struct kept_sort *sort, const struct state *state);

/* The gangs of the next queue, good until the next call; NULL when all were given. */
const gang_id *kept_sort_take(struct kept_sort *sort, queue_id *ret_queue, uint32_t *ret_count);
void kept_sort_done(struct kept_sort *sort);
