/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/vec.h"
#include "engine/engine.h"
#include "play.h"

/* Dimensions of nodes, as the tables name them. */
enum { ROOM_CPU, ROOM_MEMORY, ROOM_PODS, ROOM_GPU, ROOM_MIG_1, ROOM_MIG_3, ROOM_NIC, ROOM_COUNT };

enum { ROOM_ZONES = 4 };

/* A shared GPU with more on it than it has. */
struct crowded_gpu {
    uint8_t node;
    gpu_group group;
    int64_t over_mib;
};

/* How much more than it has each node has on it, counted from the objects alone. */
struct room {
    int64_t over[WORLD_NODES][ROOM_COUNT];
    struct crowded_gpu crowded[WORLD_PODS * WORLD_DEVICES];
    uint32_t crowded_count;
    int64_t zone_over[WORLD_NODES][ROOM_ZONES][2];  // CPU and GPU of NUMA zones
};

void room_count(const struct world *world, struct room *ret);

/* The cycle under way: how things were, and what was decided since. */
struct cycle {
    struct play *play;
    struct world before;
    struct room room;
    VEC(uint8_t) pod_of;  // by id: the index in the world, NOWHERE
    VEC(uint8_t) gang_of;
    struct amounts allocated[WORLD_QUEUES];
    struct amounts fixed[WORLD_QUEUES];
    bool is_bound[WORLD_PODS];     // in this cycle
    uint8_t promised[WORLD_PODS];  // the node that it was last promised in this cycle, NOWHERE
    bool is_leaving[WORLD_PODS];   // evicted, and not promised another place since
};

/* Nothing is taken that is not there. */
void check_room(const struct cycle *cycle);

/* Bound pods are where they may be, with the devices that they asked for. */
void check_places(const struct cycle *cycle);
void check_devices(const struct cycle *cycle);

/* Gangs that the decisions from `first` on bound run in whole, and within their topology constraints. */
void check_gangs(const struct cycle *cycle, const struct decision *decisions, size_t first, size_t count);

/* Books of queues are what their pods hold; limits and quotas hold where they did. */
void check_queue_books(const struct cycle *cycle);
void check_queues(const struct cycle *cycle);

/* Who was evicted could be, and for whom. */
void check_victims(const struct cycle *cycle, const struct decision *decisions, size_t first, size_t count);

/* The state is still what it was; `what` has been done and taken back meanwhile. */
struct image;
void check_image(const struct play *play, struct image *before, const char *what);

/* Simulations that are taken back leave no trace. */
void check_undo(struct play *play, struct chance *chance);
