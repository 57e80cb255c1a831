/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "engine/nodes/place.h"
#include "engine/reasons/explain.h"
#include "model/ids.h"

struct engine;
struct gang;
struct gang_view;
struct state;

/* The parts of an explanation, one file each. All allocate from its arena. */

/* The nodes, with those pods of the gang placed that find a place before the one that does not. */
void explain_nodes(struct engine *engine, struct node_set nodes, struct explanation *e);

/* All causes, with the same pods placed. */
void explain_causes(struct engine *engine, struct explanation *e);

/* Who holds what on allowed nodes, and why they stay. */
void explain_holders(struct engine *engine, const struct gang_view *view, struct explanation *e);

/* The domains of the required level that stands in the way of `group` or of one above it, if one does. */
void explain_domains(struct engine *engine, const struct gang_view *view, uint32_t group, struct explanation *e);

/* Those pods of the view's chunk that lie below the group. */
pod_id *explain_pods_below(const struct state *state, struct arena *arena, const struct gang *gang, uint32_t group,
                           const struct gang_view *view, uint32_t *ret_count);
