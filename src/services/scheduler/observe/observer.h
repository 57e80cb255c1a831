/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/time.h"
#include "base/vec.h"
#include "engine/action.h"
#include "model/ids.h"

struct config;
struct decision;
struct engine;
struct err;
struct gang_notes;
struct kube_client;
struct loop;
struct object;
struct object_kind;
struct object_options;
struct scheduler_flags;
struct service;
struct settings;
struct state;

/*
 * Whoever looks on while the scheduler works: metrics, the journal, what is served over HTTP. An observer sees everything
 * that goes into the state, every cycle and every decision, in the order in which they happen, and changes none of it.
 */

/* What the scheduler works with; good until the observer is freed. */
struct scheduler_view {
    struct loop *loop;
    struct service *service;               // for the log, metrics and further servers
    struct kube_client *client;            // for what is not kept: whole objects, the server's version
    const struct scheduler_flags *flags;   // services/scheduler/flags.h
    const struct settings *settings;       // configuration and flags in KAI's words
    const struct config *config;           // the same in the engine's
    const struct object_options *options;  // how objects are read
    struct state *state;                   // settled from on_cycle_begin to on_cycle_end; read, and tapped by one
    struct engine *engine;                 // open likewise, for verdicts, shares and explanations
    const struct gang_notes *gang_notes;   // what is known of PodGroups besides the state
    const uint32_t *device_version;        // of resource.k8s.io, for kube_known_of()
};

enum { CYCLE_ID_MAX = 8 };

/* One cycle. Times of its parts are on the monotonic clock; those that are not over yet are 0. */
struct scheduler_cycle {
    uint64_t number;        // from 1 on
    char id[CYCLE_ID_MAX];  // six random letters, as in the log
    nsec_t now;             // the cycle's time: what the engine was told
    nsec_t begun;
    nsec_t took_in;           // deltas were settled
    nsec_t opened;            // shares were divided
    nsec_t ran[_ACTION_MAX];  // how long each action took; 0: not configured
    nsec_t ended;             // set in on_cycle_end
    size_t deltas;            // that came since the last cycle
};

/*
 * Functions that are NULL are not called. `object` and all that it points to are borrowed for the call.
 */
struct scheduler_observer {
    void *arg;

    /* An object was put into the state. A pod's `gang` and `pod_set` are set where the scheduler grouped it itself, and
     * then its made PodGroup came before it. */
    void (*on_object)(void *arg, const struct object *object);

    /* An object is gone, or is not ours any more. */
    void (*on_dropped)(void *arg, const struct object_kind *kind, const char *namespace, const char *name);

    /* The scheduler itself moved the pod: a bind or an eviction under way or undone, a BindRequest that came before its
     * pod's next version. What it is now stands in the state. */
    void (*on_moved)(void *arg, pod_id pod);

    /* Times of the gang that the cluster does not show yet (start, eviction, staleness), or shows now. */
    void (*on_gang_times)(void *arg, gang_id gang);

    void (*on_cycle_begin)(void *arg, const struct scheduler_cycle *cycle);

    /* After the last action and before it is carried out, in order. */
    void (*on_decision)(void *arg, const struct scheduler_cycle *cycle, const struct decision *decision);

    void (*on_cycle_end)(void *arg, const struct scheduler_cycle *cycle);

    /* Carried out, or not: `err` is NULL when the server has done it. `took` from the decision on. */
    void (*on_carried_out)(void *arg, const struct decision *decision, nsec_t took, const struct err *err);

    /* Past use was asked for and answered; it is in the state. */
    void (*on_usage)(void *arg, nsec_t took);

    /* Everything is listed anew: the view has an empty state and a new engine, and the old ones are freed after this. A
     * failure ends the scheduler. */
    int (*on_renewed)(void *arg, struct err *err);

    void (*free)(void *arg);
};

/*
 * Makes an observer: returns 1 with `*ret` filled, 0 when the flags want none, or a negative errno that ends the start.
 * What an observer serves over HTTP it serves by process_serve().
 */
typedef int (*scheduler_observer_fn)(const struct scheduler_view *view, struct scheduler_observer *ret,
                                     struct err *err);

/* All that look on. Empty at first. */
struct observers {
    struct scheduler_view view;
    VEC(struct scheduler_observer) list;
};

/* Makes those that the flags of the view want, in the order of the table in observers.c. */
MUST_CHECK int observers_open(struct observers *observers, const struct scheduler_view *view, struct err *err);

/* Everything is listed anew, into this state, by this engine. */
MUST_CHECK int observers_renew(struct observers *observers, struct state *state, struct engine *engine,
                               const struct gang_notes *gang_notes, struct err *err);
void observers_done(struct observers *observers);

/* Calls the function `fn` of every observer that has it. */
#define OBSERVE(observers, fn, ...)                         \
    do {                                                    \
        vec_foreach (&(observers)->list, observer_)         \
            if (observer_->fn)                              \
                observer_->fn(observer_->arg, __VA_ARGS__); \
    } while (0)
