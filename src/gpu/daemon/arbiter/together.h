/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "gpu/daemon/arbiter/arbiter.h"

/*
 * Fair groups side by side. A group whose kernels leave gaps does not fill the GPU under a lease of its own, and others could
 * run in the gaps; changing hands takes longer than most gaps last. So groups that have been measured alone are let in
 * together, the driver switches between them, and each is held against what it got done alone in the same time. When one gets
 * on slower than its share promises, turns begin again: it is furthest behind and comes first. After a pause, which is longer
 * after each failure, they are tried together once more.
 *
 * Work is counted in what each launch takes alone, as the tenant has learned it. A group that says too little of itself brings
 * back the turns, in which the clock here decides; one that says too much is charged for it.
 *
 * The time that groups have run side by side is divided among them by the work they got done, so that no more than that time
 * is ever charged. Nobody is owed more by it than a few leases, since nobody was kept from running.
 *
 * Groups take part when they have no cap and when all that compete for their GPUs have the same GPUs and no cap either; urgent
 * groups run alone.
 */

/* Whether this group's leases are of that kind now. */
bool together_is_on(const struct arbiter *a, const struct arbiter_group *g);

/* Whether it may be let in beside others: it is known how fast it is alone. */
bool together_is_ready(const struct arbiter *a, const struct arbiter_group *g);

/* Its lease begins, or is over. */
void together_join(struct arbiter *a, struct arbiter_group *g, nsec_t now);
void together_part(struct arbiter *a, struct arbiter_group *g, nsec_t now);

/* A lease that it had for itself has ended: that is what it does alone. */
void together_measure(struct arbiter_group *g, nsec_t held, nsec_t now);

/* Ends what does not go well, and begins what may. */
void together_look(struct arbiter *a, nsec_t now);
nsec_t together_deadline(const struct arbiter *a, nsec_t now);
