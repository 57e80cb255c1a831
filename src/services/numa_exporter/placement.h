/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "base/macros.h"
#include "base/vec.h"

struct cpu_zones;
struct err;

/* A pod of the node and where its resources are, as the annotation says it:
 *
 *     [{"zone":"node-0","amount":{"cpu":"8","nvidia.com/gpu":"2"}}]
 *
 * Zones and resources are in the order of their names, so that the same placement is the same text. */
struct placed_pod {
    char *namespace;
    char *name;
    char *placement;
};
struct placed_pods VEC_OF(struct placed_pod);

/*
 * Reads an answer of the kubelet. A device or block of memory counts for the one zone that it has; CPUs count for the zones in
 * `zones`. What is in several zones or in none is left out, and so are pods without anything in a zone. Fails with -EBADMSG
 * when the bytes are no such answer, or one that takes too much memory.
 */
MUST_CHECK int placed_pods_decode(const char *bytes, size_t len, const struct cpu_zones *zones,
                                  struct placed_pods *ret_pods, struct err *err);
void placed_pods_done(struct placed_pods *pods);
