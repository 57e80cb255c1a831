/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/vec.h"
#include "objects/resource_list.h"

/*
 * What a pod adds to the account of its group, as far as the pod itself says: what it asks for, and what it was given.
 * Two parts depend on other objects: GPU memory counts as a part of a GPU of the node, and claims have counts of devices.
 */
struct pod_facts {
    bool is_counted;                    // it waits or runs
    bool is_allocated;                  // of these: it has a node
    const struct resource_list *asked;  // without claims
    const struct resource_list *given;  // without claims, and without GPU memory
    int64_t memory_mib;                 // of GPUs, of all its devices, that it was given; 0: none
    const char *node;                   // where; borrowed from the pod
    const char *problem;                // what was left out, as it cannot be read; NULL: nothing. Borrowed
};

/* Reads the pod. The lists are to be given back. */
void pod_facts_read(struct pod_facts *facts, struct resource_lists *lists, yyjson_val *pod);

/* It waits for a node and may get one any moment, or has just got one and does not run yet. */
bool pod_is_on_its_way(yyjson_val *pod);

/* The names of the claims of the pod; borrowed from it. Claims that have not been made yet are left out. */
struct claim_names VEC_OF(const char *);
void pod_claim_names(yyjson_val *pod, struct claim_names *names);

/* The GPUs that a claim asks for, under their device class; to be given back. */
const struct resource_list *claim_devices(struct resource_lists *lists, yyjson_val *claim);

/* The memory of one GPU of the node in MiB, as its labels say; 0: they do not, or contradict each other. */
int64_t node_gpu_memory(yyjson_val *node);

/* Which part of all GPUs of that size so much memory is, rounded up to what quantities hold. */
struct quantity memory_share(int64_t memory_mib, int64_t gpu_mib);
