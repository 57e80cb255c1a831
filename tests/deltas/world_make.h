/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "world.h"

struct config;

/* A whole world that chance decides. */
void world_make(struct world *world, struct chance *chance);

/* Single objects, in a slot that is free or is used again. Those that are banned do not come to be. */
void make_node(struct world *world, struct chance *chance, uint32_t i);
void make_queue(struct world *world, struct chance *chance, uint32_t i);
void make_queue_amounts(struct world *world, struct chance *chance, uint32_t i);
void make_gang_fields(struct world *world, struct chance *chance, uint32_t i);
void make_slice(struct world *world, struct chance *chance, uint32_t i);
void make_volume(struct world *world, struct chance *chance, uint32_t i);

/* A gang with its pods and their claims; what came to be is marked in `changed`, bits by kind. */
struct world_changes {
    uint64_t bits[_WORLD_KIND_MAX][2];
};

void changes_mark(struct world_changes *changes, enum world_kind kind, uint32_t i);
bool changes_have(const struct world_changes *changes, enum world_kind kind, uint32_t i);

void make_gang(struct world *world, struct chance *chance, uint32_t i, struct world_changes *changes);

/* One more pod for the gang, in its set-th set; like `like` unless that is NOWHERE. Its index, or NOWHERE. */
uint32_t make_pod(struct world *world, struct chance *chance, uint32_t gang, uint32_t set, uint32_t like,
                  struct world_changes *changes);

/* A pod of no gang on the node. */
uint32_t make_bare_pod(struct world *world, struct chance *chance, uint32_t node, struct world_changes *changes);

/* A free slot, NOWHERE when there is none. Namespaced kinds: in the namespace of slots like `parity`. */
uint32_t world_free_slot(const struct world *world, enum world_kind kind, uint32_t parity);

/* An object that is there, NOWHERE when there is none. */
uint32_t world_pick(const struct world *world, struct chance *chance, enum world_kind kind);

bool world_is_present(const struct world *world, enum world_kind kind, uint32_t i);
bool world_is_banned(const struct world *world, enum world_kind kind, uint32_t i);

uint8_t draw_request(const struct world *world, struct chance *chance);

/* Settings of the engine that go with the world. */
void make_config(const struct world *world, struct chance *chance, struct config *config);
