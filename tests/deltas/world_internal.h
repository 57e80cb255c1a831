/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "world.h"

struct err;

/* What the files that say objects to a state share. */
void told(int r, const struct err *err);
const char *class_text(uint32_t class);

void tell_node(const struct world *world, struct state *state, uint32_t i);
void tell_queue(const struct world *world, struct state *state, uint32_t i);
void tell_gang(const struct world *world, struct state *state, uint32_t i);
void tell_pod(const struct world *world, struct state *state, uint32_t i);
void tell_claim(const struct world *world, struct state *state, uint32_t i);
void tell_slice(const struct world *world, struct state *state, uint32_t i);
void tell_volume(const struct world *world, struct state *state, uint32_t i);
void tell_map(const struct world *world, struct state *state, uint32_t i);
void tell_topology(const struct world *world, struct state *state, uint32_t i);
void tell_class(const struct world *world, struct state *state, uint32_t i);
