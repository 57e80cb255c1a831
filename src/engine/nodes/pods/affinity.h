/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "engine/devices/allocate.h"
#include "engine/devices/charges.h"
#include "model/ids.h"
#include "model/shapes/labels.h"

struct engine;
struct pod;
struct pod_term;
struct state;

/*
 * What filters that look at more than one node remember. It is worked out for one pod when the first node is asked
 * about and serves all nodes, until some node's books change.
 */

/* Numbers by pair of a node label's key and value: one for each domain of a topology key. */
struct pair_sums {
    VEC(name_id) keys;  // each once
    struct map64 sums;  // key << 32 | value
};

void pair_sums_clear(struct pair_sums *pairs);
void pair_sums_done(struct pair_sums *pairs);
size_t pair_sums_bytes(const struct pair_sums *pairs);

/* Adds to the pair of `key` and its value in `labels`. False when the label is not there. */
bool pair_sums_add(struct pair_sums *pairs, struct labels labels, name_id key, int64_t amount);

/* The sum at `key` and its value in `labels`, 0 when there is none. */
int64_t pair_sums_get(const struct pair_sums *pairs, struct labels labels, name_id key);

/* The sum over all keys. */
int64_t pair_sums_all(const struct pair_sums *pairs, struct labels labels);

static inline bool pair_sums_is_empty(const struct pair_sums *pairs)
{
    return map64_len(&pairs->sums) == 0;
}

/* For whom something was worked out, and when. */
struct worked_out {
    bool is_valid;
    pod_id pod;
    uint64_t touches;
};

/*
 * Whether it is for another pod or older than the last change of the books; it then counts as worked out for this one.
 */
bool worked_out_is_old(struct worked_out *what, const struct engine *engine, pod_id pod);

/* Domains of one term of spread, with the pods that match it. */
struct spread_counts {
    struct pair_sums pods;
    int64_t least;
};

/* Devices that a claim has. */
struct held_list {
    const struct device *devices;
    const struct device_amount *amounts;
    uint32_t count;
};

/* Who uses claims of a pod that one pod alone may use (volume_use.c). */
struct volume_users {
    struct worked_out found_for;
    name_id claim;
    pod_id pod;    // that uses it, NO_ID when none does
    bool is_left;  // a pod that uses one of them is leaving
};

struct affinity_memory {
    uint64_t cycle;
    VEC(uint64_t) skipped;  // by pod: the cycle in which it was found to have nothing to do with affinity

    struct worked_out required_for;
    struct pair_sums repelled;   // where pods are whose required anti-affinity is against this one
    struct pair_sums attracted;  // where pods are that match all of its required affinity
    struct pair_sums avoided;    // where pods are that match some of its required anti-affinity

    struct worked_out preferred_for;
    struct pair_sums preferred;  // weights

    struct worked_out spread_for;
    VEC(struct spread_counts) spread;  // by term

    /* Devices (claims.c). */
    struct inventory inventory;  // of slices
    struct allocator allocator;
    struct bitset held;             // by device: some claim has it
    struct share_book shares;       // what claims have of devices that they share
    VEC(uint32_t) holders;          // by device: claims that have it
    VEC(struct held_list) counted;  // by claim: what the three above count of it
    bool are_devices_known;
    bool is_in_cycle;
    uint64_t devices_touches;
    /* Claims that were given devices or lost them in this cycle, one entry for each time; see devices.c. */
    VEC(uint32_t) claim_log;
    uint32_t claim_log_len;  // goes back with the undo log, and leaves the entries behind it as they are
    struct charge_book charges;
    uint32_t claim_log_read;  // so many are counted as they were before they were taken back, if they were

    struct volume_users users;

    /* NUMA (numa.c). */
    bool is_most_zones_known;
    uint32_t most_zones;
};

/* Does the term, of a pod in namespace `owner`, select the pod? */
bool pod_term_matches(const struct state *state, const struct pod_term *term, name_id owner, const struct pod *pod);
