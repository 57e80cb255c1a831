/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "model/delta.h"
#include "model/state.h"

/*
 * What the files of this folder share. Deltas change objects and note what that made stale; state_settle makes it
 * anew.
 */

/* Amounts are whole numbers that a double holds as well, and small enough that sums over a cluster do not overflow. */
#define AMOUNT_MAX (INT64_C(1) << 53)

/* What a pod counts for in its gang's and its queue's sums. */
enum charge { CHARGE_NONE, CHARGE_REQUESTED, CHARGE_ALLOCATED };

/* A slot for a new object: one that was given back, or a new one at the end; all zeros. */
#define slot_take(items_, unused_)                                   \
    ({                                                               \
        uint32_t slot_;                                              \
        if ((unused_)->len > 0) {                                    \
            slot_ = vec_pop(unused_);                                \
        } else {                                                     \
            slot_ = (items_)->len;                                   \
            vec_resize((items_), (uint64_t)slot_ + 1);               \
        }                                                            \
        memset(&(items_)->items[slot_], 0, sizeof *(items_)->items); \
        slot_;                                                       \
    })

/* Names. NULL is the empty string. */
name_id name_add(struct state *state, const char *text);
bool name_find(const struct state *state, const char *text, name_id *ret_name);

static inline uint64_t name_pair(name_id namespace, name_id name)
{
    return (uint64_t)namespace << 32 | name;
}

static inline bool is_empty(const char *text)
{
    return !text || !*text;
}

/* The name of `namespace`/`name` when no UID is given: the same, or the name alone without a namespace. */
name_id uid_add(struct state *state, const char *uid, const char *namespace, const char *name);

uint32_t map_find(const struct map64 *map, uint64_t key);  // NO_ID when there is none

/* Heap memory that goes away with the next state_settle; NULL is fine. */
void state_discard(struct state *state, void *memory);

/* Lays out what is kept by dimension for the dimensions there are now. */
void state_fit_dimensions(struct state *state);

/*
 * Adds the amounts to `v` (RES_MAX long), new dimensions to the state. Fails with -EINVAL for an amount out of range
 * and -ENOSPC for too many dimensions. amounts_replace stores rather than adds.
 */
MUST_CHECK int amounts_read(struct state *state, const struct amount_spec *specs, size_t count, int64_t *v,
                            struct err *err);
MUST_CHECK int amounts_replace(struct state *state, const struct amount_spec *specs, size_t count, int64_t *v,
                               struct err *err);

static inline void amounts_add(struct amounts *to, const struct amounts *what, int sign)
{
    for (int r = 0; r < SHARE_COUNT; r++)
        to->v[r] += sign * what->v[r];
}

/* Interning (shape.c, request.c, constraints.c, labels.c). */
uint64_t words_hash(const struct words *words);
void words_add64(struct words *words, uint64_t value);
uint32_t shape_find(const struct map64 *by_hash, const uint32_t *next, const struct shape_key *keys,
                    const struct words *words, uint64_t hash);
struct shape_key shape_key_new(struct state *state, const struct words *words);
uint32_t shape_chain(struct map64 *by_hash, uint64_t hash, uint32_t id);

labels_id labels_add(struct state *state, const struct str_pair *pairs, size_t count);
MUST_CHECK int request_add(struct state *state, const struct request_spec *spec, request_id *ret_request,
                           struct err *err);
request_id request_with_dra(struct state *state, request_id request, int64_t dra_gpus, int64_t dra_parts);
constraints_id constraints_add(struct state *state, const struct constraints_spec *spec);

/* Nodes (node.c, node_books.c, numa.c). */
node_id node_slot(struct state *state, name_id name);  // made as a mere name when there is none
void node_reference(struct state *state, node_id node);
void node_unreference(struct state *state, node_id node);
void node_mark_stale(struct state *state, node_id node);
void node_touch(struct state *state, node_id node);
void node_refresh_capacity(struct state *state, node_id node);
void node_rebuild_books(struct state *state, node_id node);
void node_drop_books(struct state *state, node_id node);
void nodes_rank(struct state *state);
void nodes_total(struct state *state);
MUST_CHECK int numa_new(struct state *state, const struct numa_spec *spec, struct numa **ret_numa, struct err *err);
bool numa_equal(const struct numa *a, const struct numa *b);
void numa_fit_dimensions(struct numa **numa, uint32_t dims);
void numa_reset(struct state *state, node_id node);

/* Books of shared GPUs (shared_gpu.c). */
void shared_gpu_add(struct state *state, node_id node, gpu_group group, int64_t memory_mib, uint32_t status);
void shared_gpu_remove(struct state *state, node_id node, gpu_group group, int64_t memory_mib, uint32_t status);

/* Pods (pod.c, pod_settle.c) and what gangs count of them (status.c). */
uint32_t pod_counters(uint32_t status, bool is_virtual);
void pod_count(struct state *state, pod_id pod, uint32_t before, uint32_t after);
void pod_touch(struct state *state, pod_id pod);
void pod_own_lists(struct state *state, pod_id pod);
void pod_link_node(struct state *state, pod_id pod);
void pod_recharge(struct state *state, pod_id pod);
void pod_uncharge(struct state *state, pod_id pod);

void pod_free_lists(struct state *state, pod_id pod);
void pod_refresh_request(struct state *state, pod_id pod);

/* Gangs (gang.c, gang_pods.c). */
gang_id gang_slot(struct state *state, name_id namespace, name_id name);
void gang_free_if_unused(struct state *state, gang_id gang);
void gang_touch(struct state *state, gang_id gang);
void gang_add_pod(struct state *state, pod_id pod);
void gang_remove_pod(struct state *state, pod_id pod);
void gang_take_pods(struct state *state, gang_id gang, struct words *ret_pods);
void gang_give_pods(struct state *state, gang_id gang, struct words *pods);
void gang_settle(struct state *state, gang_id gang);

/* Queues (queue.c, queue_books.c). */
void queues_link(struct state *state);
void queues_sum(struct state *state);
void queue_count_gang(struct state *state, gang_id gang, int sign);

/* Claims (claim.c). */
bool name_says_gpu(const char *name);
uint32_t claim_slot(struct state *state, name_id namespace, name_id name);
void claim_add_user(struct state *state, uint32_t claim, pod_id pod);
void claim_remove_user(struct state *state, uint32_t claim, pod_id pod);
void claim_own_lists(struct state *state, uint32_t claim);
void claim_leave(struct state *state, uint32_t claim, name_id uid);  // of a pod that uses it no more
void claims_leave(struct state *state, pod_id pod);

/*
 * The slot of the claim for what the pod asks for as resources: of the one that was made, else of the plan for it;
 * NO_ID when it needs none (device_class.c).
 */
uint32_t extended_slot(struct state *state, pod_id pod, const char *made);

/*
 * GPU devices that the pod's claims hold: their number, and the devices themselves in `ret_devices` unless it is NULL.
 */
uint32_t pod_gpu_devices(const struct state *state, pod_id pod, struct device *ret_devices);

/* Telling whoever listens (tap.c). */
void tap_tell(struct state *state, enum delta_kind kind, const void *spec);
void tap_name(struct state *state, enum delta_kind kind, const char *namespace, const char *name);
void tap_move(struct state *state, pod_id pod, enum pod_status status, node_id node, struct group_list groups);
void tap_times(struct state *state, gang_id gang, nsec_t last_start, nsec_t last_eviction, nsec_t stale_since);
