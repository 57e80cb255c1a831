/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

struct state;
struct strbuf;

/* Amounts as people write them: "4 GPUs", "0.5 GPU", "2 CPUs", "16 GiB", "unlimited". */

/* Of a resource that queues count (SHARE_*), in its unit. */
void amount_add_share(struct strbuf *out, int resource, double amount);

/* Of a dimension of the state's resources, in its unit. */
void amount_add(struct strbuf *out, const struct state *state, uint32_t dim, int64_t amount);

/* The resource itself: "GPUs", "CPU", "memory", "nvidia.com/mig-1g.5gb". */
const char *amount_resource(const struct state *state, uint32_t dim);
