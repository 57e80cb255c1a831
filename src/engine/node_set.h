/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"

struct engine;

/* Nodes that an attempt may use, by rank (that is, by name). */
struct node_set {
    bool is_all;  // every present node; `ids` is then state->nodes_by_rank
    const node_id *ids;
    uint32_t count;
};

struct node_set node_set_all(const struct engine *engine);
