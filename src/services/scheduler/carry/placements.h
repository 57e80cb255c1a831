/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/list.h"
#include "model/pod.h"
#include "services/scheduler/keys.h"

struct carrying;
struct log;
struct observers;
struct pace;
struct pod_notes;
struct setup;
struct state;

/*
 * Where pods go that the cluster does not show there yet: decisions that are being carried out, and BindRequests. A pod
 * with a placement is read as one that is being bound, whatever else its object says, so that no event that was on its
 * way already makes it wait again. A placement is known by its pod's name, and good for the pod of its UID alone.
 */
struct placements;

struct placement {
    struct list_link in_all;
    object_key key;
    name_id pod_uid;  // 0: any
    name_id node;
    name_id *groups;  // shared GPUs; owned
    uint32_t group_count;
    char *zones;                // predicted NUMA zones, a JSON array; NULL: none
    char *claims;               // devices of its request for claims, a JSON array; NULL: none
    char *extended;             // devices of its request for GPUs asked for as a resource, as JSON; NULL: none
    struct carrying *carrying;  // our decision under way; NULL: none
    bool is_unknown;            // the server may have done it: stays until that is certain
    bool is_direct;             // bound without a BindRequest: gone when the pod shows its node
    bool has_request;           // there is a BindRequest
    name_id request_uid;        // of it
    bool has_failed;            // it has, for good
    bool is_ours;               // its labels say that it is this node pool's
    bool is_being_deleted;      // we have asked for that
    /* What the watch has said of a request while our decision was under way: it may be ours, shown before its answer. */
    name_id early_uid;  // 0: nothing
    enum { EARLY_STANDS, EARLY_FAILED, EARLY_GONE } early;
};

/* What placements work with; all borrowed. */
struct placements_options {
    struct state *state;
    const struct setup *setup;
    struct pod_notes *notes;
    struct observers *observers;
    struct pace *pace;
    struct log *log;
};

struct placements *placements_new(const struct placements_options *options);
void placements_free(struct placements *placements);

/* NULL when there is none; placement_put() makes it then. */
struct placement *placement_find(const struct placements *placements, object_key key);
struct placement *placement_put(struct placements *placements, object_key key);
void placement_drop(struct placements *placements, struct placement *placement);

/* Does the pod go where the placement says? */
bool placement_is_live(const struct placements *placements, const struct placement *placement, name_id pod_uid);

/* Takes over what a BindRequest says. */
void placement_read(struct placements *placements, struct placement *placement, yyjson_val *request);

/* The decision is carried out: what the watch has said early of its BindRequest counts now. False: the request is gone. */
bool placement_catch_up(struct placements *placements, struct placement *placement);

/* Sets node, shared GPUs and zones from the state, where the engine has just put the pod. */
void placement_take(struct placements *placements, struct placement *placement, pod_id pod);

/* The pod was found on that node, bound by somebody else. */
void placement_move(struct placements *placements, struct placement *placement, const char *node);

/* The placement as the BindRequest that the pod's decoder looks for; to be freed by the caller. */
yyjson_doc *placement_encode(const struct placements *placements, const struct placement *placement);

/* Brings the pod's place in the state up to date with the placement, or with there being none. */
void placement_apply(struct placements *placements, object_key key);

/* The same for all. */
void placements_apply_all(struct placements *placements);

/* Nodes came or went: placements_look_at_nodes() applies all placements once more, if that is so, and finds BindRequests
 * whose node is gone. */
void placements_nodes_changed(struct placements *placements);
void placements_look_at_nodes(struct placements *placements);

/* Gives BindRequests of ours that failed for good, or whose node is gone, to `remove`: each once, to be deleted. */
void placements_take_stale(struct placements *placements, void (*remove)(void *arg, const struct placement *placement),
                           void *arg);

/* Some may be stale. */
bool placements_has_stale(const struct placements *placements);
