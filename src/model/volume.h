/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"
#include "model/shapes/labels.h"

/* Of so many nodes it is known that a volume could not be made for them. */
enum { VOLUME_FAILED_MAX = 4 };

/* A PersistentVolumeClaim, as far as placement needs it. */
struct volume {
    name_id name;
    name_id namespace;
    bool is_present;
    bool is_bound;
    bool is_lost;
    bool waits_for_consumer;
    bool is_for_one_pod;
    bool needs_storage;
    const struct selector *node_terms;  // of the volume, or those it may get, in state->kept; none: every node
    uint32_t node_term_count;
    const struct selector *made_terms;  // nodes that its class makes volumes for, likewise
    uint32_t made_term_count;
    name_id driver;                         // 0: none whose volumes are counted
    name_id handle;                         // 0: there is no volume yet
    name_id class;                          // that makes it, 0: none
    name_id made_for;                       // the node, 0: none
    name_id failed_for[VOLUME_FAILED_MAX];  // nodes for which it could not be made, the latest last; 0: none
    int64_t bytes;                          // to be made
};

/* Room for volumes that a CSI driver tells of. */
struct storage {
    name_id name;
    name_id namespace;
    bool is_present;
    name_id class;
    const struct selector *nodes;  // in state->kept
    int64_t bytes;
};
