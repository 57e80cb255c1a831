/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "sim/why/why.h"

/* Trying: what the files that look for remedies share. */

enum { WHY_TRIES_MAX = 600 };  // in all; a search that comes to it ends with what it has

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
void why_try_pods(struct why *why);
void why_try_queues(struct why *why);
void why_try_quota(struct why *why);
void why_try_choices(struct why *why);  // preemptible, nodes, taints, topology levels
void why_try_without(struct why *why);
void why_try_waiting(struct why *why);

/* Words that the tree and the JSON share. */
const char *why_resource_name(const struct state *state, uint32_t dim);
void why_amount(struct strbuf *out, const struct state *state, uint32_t dim, int64_t amount);
void why_share(struct strbuf *out, int resource, double amount);
