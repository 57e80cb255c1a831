/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/strmap.h"
#include "base/vec.h"

/*
 * The pods that the binder has to know of, and nothing of the others: those without a node, those that share a GPU,
 * those that keep one, and those that make the cluster grow. Of each only what decisions need.
 */
struct roster_pod {
    char *namespace;
    char *name;
    char *uid;
    char *node;        // "" without one
    char *gpu;         // that a reservation pod has got; "" while it has none
    uint64_t version;  // an older one never replaces a newer one
    uint64_t bound;    // condition_hash() of the PodBound condition; 0: none
    bool is_alive;     // Pending or Running
    bool is_running;
    bool is_deleting;
    bool is_ours;        // of the scheduler that we work for
    bool is_on_its_way;  // has no node yet, and may get one any moment
    bool is_reservation;
    bool is_scaling;  // makes the cluster grow, and has not been placed
    bool has_more;    // volumes or claims, for which the whole pod has to be looked at
    char *sharer;     // extract_sharer(), while it has no node; NULL: there is nothing to be kept
    uint32_t group_count;
    struct roster_group **groups;
};

/* A shared GPU: its reservation pods and the pods that use it. */
struct roster_group {
    char *id;
    VEC(struct roster_pod *) pods;
};

struct roster {
    const char *reservation_namespace;  // borrowed
    const char *scaling_namespace;
    const char *scheduler;
    struct strmap by_name;   // -> struct roster_pod *
    struct strmap by_group;  // -> struct roster_group *
    size_t pods;
    size_t groups;
    size_t scaling;      // pods with `is_scaling`
    uint64_t gone[256];  // hashes of the UIDs that were removed last
    uint32_t gone_next;
};

/* Keeps the texts, which are borrowed. `scheduler` is the name of the one whose pods may be ended. */
void roster_init(struct roster *roster, const char *reservation_namespace, const char *scaling_namespace,
                 const char *scheduler);
void roster_done(struct roster *roster);

/* NULL when it is not known. */
struct roster_pod *roster_find(const struct roster *roster, const char *namespace, const char *name);
struct roster_group *roster_find_group(const struct roster *roster, const char *id);

/* What a change touched: groups that the pod was in before or is in now, by id, and whether it is a reservation. */
struct roster_ids VEC_OF(char *);

struct roster_change {
    struct roster_ids groups;
    bool is_reservation;
};

void roster_change_done(struct roster_change *change);

/* The pod as it is now, from a watch or an answer; one that is over or of no interest is forgotten. What was known of
 * an older version stays. Returns the pod if it is kept. */
struct roster_pod *roster_put(struct roster *roster, yyjson_val *pod, struct roster_change *change);

/* It is gone, for good: whatever is still told about it is not believed. */
void roster_remove(struct roster *roster, const char *namespace, const char *name, const char *uid,
                   struct roster_change *change);

/* One of the pods that were removed last: an answer may come later than the news that a pod is gone. */
bool roster_is_gone(const struct roster *roster, const char *uid);

/* The reservation pod of a group; one that is not being deleted is preferred. NULL: none. */
struct roster_pod *roster_reservation(const struct roster_group *group);

/* All groups, in any order; `*cursor` starts as 0, and NULL comes past the last one. The roster must not change on the way. */
struct roster_group *roster_next_group(const struct roster *roster, size_t *cursor);

/* What is to be done about a group. */
enum group_action {
    GROUP_FINE,
    GROUP_RELEASE,  // nobody uses the GPU: the reservation pod goes
    GROUP_ORPHANS,  // nobody keeps the GPU for those who use it: they go
};

/* `is_wanted`: a request that is not done lists the group. Pure. */
enum group_action group_decide(const struct roster_group *group, bool is_wanted);

/* Whether a pod of the group is on the node. */
bool group_is_on(const struct roster_group *group, const char *node);

/* Of the PodBound condition; 0 without one. */
uint64_t condition_hash(yyjson_val *pod);
uint64_t condition_hash_of(const char *status, const char *reason, const char *message);
