/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct numa_placement;
struct state;

/*
 * What a pod draws from the NUMA zones of its node, as BindRequests and annotations have it: a JSON array with, for each
 * zone, {"zone": "node-0", "amount": {"cpu": "4"}}. To be freed by the caller; NULL when it draws nothing.
 */
char *zones_encode(const struct state *state, const struct numa_placement *numa);
