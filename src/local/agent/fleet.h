/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/macros.h"
#include "base/vec.h"

struct err;

/* The nodes that are pretended, as --fake-nodes writes them: "100x8xH100,20x4xA100", or "10x8" for the first GPU known. */
struct fleet_model {
    const char *name;     // in the flag
    const char *product;  // as the GPU operator labels it
    int32_t memory_mib;
};

struct fleet_group {
    uint32_t count;
    uint32_t gpus;
    const struct fleet_model *model;
};

struct fleet {
    VEC(struct fleet_group) groups;
    uint32_t nodes;  // of all groups
};

enum { FLEET_NODES_MAX = 100000, FLEET_GPUS_MAX = 64, FLEET_NAME_MAX = 32 };

/* "" is no nodes. Returns 0 or -EINVAL. */
MUST_CHECK int fleet_parse(struct fleet *fleet, const char *text, struct err *err);
void fleet_done(struct fleet *fleet);

/* The name of node number `index`: "fake-00001". Returns `name`. */
const char *fleet_name(uint32_t index, char name[static FLEET_NAME_MAX]);

/* The number of the node of that name; -1 when it is none of them. */
int64_t fleet_find(const struct fleet *fleet, const char *name);

/* The label that all of these nodes have. */
#define FLEET_LABEL "muster.scheduler/node"
#define FLEET_LABEL_VALUE "pretended"

/* Whether a Node object of that label is one of the fleet, with the same GPUs. */
bool fleet_has(const struct fleet *fleet, yyjson_val *node);

/* The Node object, Ready; to be freed with yyjson_mut_doc_free(). */
yyjson_mut_doc *fleet_node(const struct fleet *fleet, uint32_t index);

/* The address of a node. Returns `text`. */
enum { FLEET_ADDRESS_MAX = 16 };
const char *fleet_address(uint32_t index, char text[static FLEET_ADDRESS_MAX]);
