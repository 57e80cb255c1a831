/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/list.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "engine/config.h"
#include "engine/engine.h"
#include "frame/rush.h"
#include "frame/service.h"
#include "kube/client/client.h"
#include "kube/events/events.h"
#include "kube/follow/follow.h"
#include "net/loop.h"
#include "objects/notes.h"
#include "objects/object.h"
#include "objects/reader.h"
#include "objects/settings/settings.h"
#include "services/scheduler/beside.h"
#include "services/scheduler/carry/placements.h"
#include "services/scheduler/carry/setbacks.h"
#include "services/scheduler/flags.h"
#include "services/scheduler/keys.h"
#include "services/scheduler/observe/observer.h"

/*
 * The scheduler from the inside. One thread, one struct; each file below works on its part:
 *
 *   watching   followers of every kind, in the order in which kinds need each other
 *   intake     an event of a follower becomes a delta of the state
 *   beside     what is read for the sake of others
 *   placements decisions that the cluster does not show yet, and BindRequests
 *   setbacks   decisions that failed, and how long they are left alone
 *   usage      what queues have used in the past
 *   gang_notes what is known of PodGroups besides the state
 *   cycle      when the engine runs, and its run
 *   carry      decisions become requests to the API server
 *   report     verdicts become conditions and events
 *   writes     patches that may wait, the newest for each object
 */
struct usage;
struct watching;
struct writes;

/* A pod that was asked to leave. */
struct eviction {
    struct scheduler *s;
    object_key key;
    name_id uid;
    enum pod_status status;  // that it comes back to, should that fail
    struct decision decision;
    nsec_t began;
    struct kube_call *call;
    bool is_seen;  // the cluster shows it
};

struct scheduler {
    struct service *service;
    const struct scheduler_flags *flags;
    struct log *log;
    struct loop *loop;
    struct kube_client *client;
    struct recorder *recorder;

    /* Settings. */
    struct settings settings;
    struct config config;
    struct object_options options;
    const char *pool_name;  // in texts: "default" where the label is missing
    bool always_requests;

    /* The cluster. */
    struct state *state;
    struct engine *engine;
    struct watching *watching;
    uint32_t device_version;    // that the server has: kube_known_of()
    struct object_notes notes;  // what reading the last object had to say
    struct object_reader reader;
    struct beside beside;
    struct map64 placements;  // key -> struct placement *
    struct map64 evictions;   // key -> struct eviction *
    struct setbacks setbacks;
    struct map64 gang_notes;         // key -> struct gang_note *
    struct map64 lone_gangs;         // pod's key -> name of the gang that was made for it
    struct map64 pod_conditions;     // waiting pod's key -> hash of its PodScheduled condition
    struct map64 leaving;            // pods that are being deleted -> since when
    struct map64 namespace_pickers;  // pods whose affinity selects namespaces
    bool nodes_changed;              // some came or went since placements were last looked at
    bool has_stale_requests;

    /* Cycles. */
    struct loop_timer timer;
    struct loop_timer stop_timer;
    struct loop_task renewal;
    uint64_t cycles;
    size_t deltas;
    nsec_t last_end;       // of a cycle, monotonic
    nsec_t last_duration;  // of a cycle
    nsec_t held_for;       // until the first decision that was held back may be carried out; 0: none was
    bool is_woken;         // a cycle is due because of a change
    bool has_unreported;   // gangs are left to be explained
    bool is_synced;
    bool is_leading;
    bool is_stopping;
    nsec_t stop_began;
    struct {
        uint32_t which;
        nsec_t began;
    } searches[3];  // by enum search_stage

    struct usage *usage;  // NULL: the past does not count
    struct writes *writes;
    struct carrying *carrying;  // all under way
    size_t binds_under_way;
    struct rush rush;
    struct map64 told;         // gang's key -> struct told *
    struct map64 promised;     // pod's key -> name of the node that it was last told to be promised
    struct map64 conditioned;  // gangs whose PodGroup has scheduling conditions
    struct loop_timer events_timer;
    struct list events_of_trouble, events_of_course;  // that wait for their turn, the former first
    VEC(struct complaint *) complaints;               // that wait until we lead
    VEC(struct scheduler_observer) observers;
    struct scheduler_view view;
};

/* Something changed: a cycle follows soon. */
void cycle_wake(struct scheduler *s);
void cycle_init(struct scheduler *s);
void cycle_set_clock(struct scheduler *s);  // for a new engine
void cycle_done(struct scheduler *s);

/* Nothing is left to be known: cycles may begin, once we lead. */
void scheduler_synced(struct scheduler *s);

/* Calls the function `fn` of every observer that has it. */
#define OBSERVE(s, fn, ...)                                 \
    do {                                                    \
        vec_foreach (&(s)->observers, observer_)            \
            if (observer_->fn)                              \
                observer_->fn(observer_->arg, __VA_ARGS__); \
    } while (0)
