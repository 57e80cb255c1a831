/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "base/vec.h"
#include "frame/rush.h"
#include "frame/service.h"
#include "frame/work_meters.h"
#include "kube/client/backoff.h"
#include "kube/follow/pause.h"
#include "net/loop.h"
#include "objects/reader.h"
#include "services/grouper/known.h"
#include "services/grouper/pod_text.h"

struct discovery;
struct follower;
struct object_getter;
struct reconcile;
struct values;

struct grouper_flags {
    const char *scheduler_name;
    const char *queue_label_key;
    const char *nodepool_label_key;
    struct flag_pairs pod_selector;
    struct flag_pairs namespace_selector;
    int64_t workers;
    const char *bind_requests;  // as the scheduler has it
    bool searches_legacy;
    bool gangs_knative;
    bool uses_kartas;
    const char *defaults_name;  // of the ConfigMap
    const char *defaults_namespace;
};

enum pod_state { POD_IDLE, POD_QUEUED, POD_RUNNING, POD_WAITING };

/*
 * Where a pod queues. A pod without owners needs no group to be bound, unless binds are always left to the binder: it is
 * given one when it is bound, when the scheduler has no place for it, or when neither happens for a while.
 */
enum pod_lane {
    LANE_GANGS,    // pods with owners go first: others wait for them
    LANE_SINGLES,  // without
    LANE_YOUNG,    // without, that may be bound any moment
    LANE_BOUND,    // without, that are bound: what is on its way to a node goes before them
    _LANE_MAX
};

/* A pod of ours. While there is nothing to do for it, it is a digest. */
struct pod_record {
    uint64_t key;          // hash of its UID
    uint64_t done_digest;  // of what was last dealt with; 0: nothing was
    uint64_t digest;       // of `text`
    char *text;            // what is known of it, when something is to be done
    uint32_t text_len;
    struct pod_stand stand;
    enum pod_state state;
    enum pod_lane lane;  // that it is in, or has come from
    struct backoff backoff;
    nsec_t since;    // when it was first heard of
    nsec_t entered;  // when it got into the queue, or was taken out of it
    nsec_t due;      // when it is tried again
    struct list_link in_lane;
    struct reconcile *work;  // that deals with it
};

struct grouper {
    struct service *service;
    const struct grouper_flags *flags;
    struct object_options options;
    struct known known;
    struct discovery *discovery;
    struct object_getter *getter;
    struct values *values;
    uint64_t last_warning;  // hash of what was last said of a Karta
    struct follower *pods, *pod_groups, *priority_classes, *namespaces, *defaults;
    struct follow_pause pause;  // while a watch of them is cut
    struct loop_timer renewal;  // everything is to be listed anew
    struct map64 by_uid;        // hash of the UID -> struct pod_record *
    bool binds_alone;           // the scheduler does, pods without a group
    struct list lanes[_LANE_MAX];
    struct rush rush;
    uint32_t bound_running;  // of the pods that are bound
    struct loop_timer lane_timer;
    VEC(struct pod_record *) waiting;
    VEC(struct reconcile *) running;
    VEC(struct reconcile *) parked;  // wait for another's write of the same group
    struct loop_timer retry_timer;
    struct loop_task pump;
    bool is_stopping;
    struct meter_series *grouped, *created, *updated, *patched, *failed;
    struct work_meters meters;
};

/* Deals with one pod; calls grouper_done() when it is over. */
void reconcile_start(struct grouper *grouper, struct pod_record *pod);
void reconcile_cancel(struct reconcile *work);

const struct pod_record *reconcile_pod(const struct reconcile *work);

/* The pod as far as its text was good; NULL otherwise. */
const struct object *reconcile_object(const struct reconcile *work);

/* The text that it was started with, to be freed by the caller; the pod is not to be looked at after. */
char *reconcile_take_text(struct reconcile *work);

/* The pod has been dealt with as of `digest`, or `err` says why not. */
void grouper_done(struct grouper *grouper, struct reconcile *work, struct pod_record *pod, uint64_t digest,
                  const struct err *err);

/* Somebody has finished writing a group: those who waited for it go on. */
void grouper_unpark(struct grouper *grouper);

/* Whether another one is writing the group just now; whoever waits for it is parked, and resumed. */
bool grouper_is_writing(const struct grouper *grouper, const struct reconcile *except, uint64_t group_key);
uint64_t reconcile_writes(const struct reconcile *work);
void reconcile_resume(struct reconcile *work);

/*
 * The pod says that it is in the group that we have made for it alone, and there is none: a server that was restored from a
 * backup has lost it, or somebody has deleted it.
 */
bool grouper_has_lost_group(const struct grouper *grouper, yyjson_val *pod);

/* Pods to deal with. */
void queue_init(struct grouper *grouper);
void queue_done(struct grouper *grouper);
void queue_add(struct grouper *grouper, const char *uid, yyjson_val *pod);
void queue_drop(struct grouper *grouper, const char *uid);

/* What is followed. */
void follow_init(struct grouper *grouper);
void follow_done(struct grouper *grouper);
void follow_all(struct grouper *grouper);

/* Everything has been told, and no watch is cut: what is known is not old. */
bool follow_is_current(const struct grouper *grouper);
