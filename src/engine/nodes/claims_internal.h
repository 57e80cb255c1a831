/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/context.h"

/* Claims of pods: what claims.c and claims_filter.c share. */

/* The pod's claim at `i`; NULL when there is none of that name. */
struct claim *claim_of_pod(const struct engine *engine, const struct pod *pod, uint32_t i);

bool claim_is_reserved_for(const struct claim *claim, name_id uid);

/* What is asked for as a resource needs no devices where a plugin hands the resource out. */
bool claim_is_needed_on(const struct engine *engine, const struct pod *pod, uint32_t i, node_id node);

/* The pod's claims that have no devices yet and need some on the node. The list lies in the arena. */
const struct claim **claims_open(const struct engine *engine, const struct pod *pod, node_id node, struct arena *arena,
                                 uint32_t *ret_count);
