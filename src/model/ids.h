/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/*
 * Everything in the state is addressed by dense 32-bit ids, one space a kind. An id stays with its object until the
 * object is gone and may then be given to another one; nothing outside keeps an id longer than it keeps the state still.
 */
typedef uint32_t node_id;
typedef uint32_t pod_id;
typedef uint32_t gang_id;
typedef uint32_t queue_id;
typedef uint32_t topology_id;
typedef uint32_t request_id;      // what a pod asks for, shared by all pods that ask the same
typedef uint32_t constraints_id;  // where a pod may go, likewise
typedef uint32_t labels_id;       // a sorted set of key=value, likewise
typedef uint32_t name_id;         // an interned string; 0 is ""

#define NO_ID UINT32_MAX

/*
 * A shared GPU of one node. Ids that came from outside are interned names; a GPU that a decision opens for sharing has
 * no name yet and gets a number of its own.
 */
typedef uint64_t gpu_group;

#define GPU_GROUP_FRESH (UINT64_C(1) << 63)

static inline gpu_group gpu_group_named(name_id name)
{
    return name;
}

static inline gpu_group gpu_group_fresh(uint64_t number)
{
    return GPU_GROUP_FRESH | number;
}

static inline int gpu_group_is_fresh(gpu_group group)
{
    return (group & GPU_GROUP_FRESH) != 0;
}
