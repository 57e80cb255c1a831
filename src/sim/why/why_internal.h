/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "sim/why/why.h"

/* Trying: what the files that look for remedies share. */

enum { WHY_TRIES_MAX = 600 };  // in all; a search that comes to it ends with what it has

/* A change that is to be tried: what all of them include at present. */
struct retell_change why_change_new(const struct why *why);

/* Does the workload run on a copy with the change, at this time? */
bool why_works(struct why *why, const struct retell_change *change, nsec_t now);

/* Puts the number into the change. */
typedef void (*why_set_fn)(struct retell_change *change, int64_t number, void *context);

/*
 * The last whole number from `good` towards `bad` at which it works, by halving: it works there and not one further. It
 * is known to work at `good` and not at `bad`.
 */
int64_t why_edge(struct why *why, struct retell_change *change, int64_t good, int64_t bad, why_set_fn set,
                 void *context);

/* Adds a remedy that was found, unless the number of tries ran out while it was looked for: its edge is then not known. */
void why_keep(struct why *why, struct why_remedy remedy);

/* The searches, each adding what it finds to why->remedies. */
void why_try_requests(struct why *why);
void why_try_claims(struct why *why);
void why_try_pods(struct why *why);
void why_try_queues(struct why *why);
void why_try_quota(struct why *why);
void why_try_choices(struct why *why);  // preemptible, nodes, taints, topology levels
void why_try_without(struct why *why);
void why_try_waiting(struct why *why);

/* All of these; without those that make room or raise quotas where neither is what is missing. */
void why_try_all(struct why *why, bool is_never);

/* Two at once, each of which does not help alone: a change that lets more nodes be used, or ends a workload, and what
 * has to come to it. */
void why_try_pairs(struct why *why);

/* Who comes first, into why->line, when no remedy was found. */
void why_find_line(struct why *why);

/* Puts first what people would rather do. */
void why_rank(struct why *why);

/* All that keeps it waiting, into why->causes. */
void why_find_causes(struct why *why);

/* How many of all nodes lack the label of the topology level that it requires. */
uint32_t why_nodes_without_level(const struct why *why, uint32_t *ret_nodes);

/* The state's gang called like that of the settled copy, NO_ID when there is none. */
gang_id why_source_gang(const struct why *why, gang_id settled);

/* Does another workload stand in the way that belongs to the same queue? */
bool why_is_own_queue(const struct why *why, gang_id gang);

/* What the workload's first pod says about nodes; NULL when it has no pods. */
const struct constraints *why_constraints(const struct why *why);

/*
 * The taints that keep that pod away from nodes, each once. Returns how many there are, of which at most WHY_TAINTS_MAX
 * are written.
 */
enum { WHY_TAINTS_MAX = 4 };
struct why_taint {
    const char *key;
    const char *value;  // "" when it has none
    const char *effect;
};
uint32_t why_taints(const struct why *why, struct why_taint taints[static WHY_TAINTS_MAX]);
