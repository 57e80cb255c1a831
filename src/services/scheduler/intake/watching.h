/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kube/client/resource.h"
#include "kube/follow/follow.h"
#include "services/scheduler/intake/kinds.h"
#include "services/scheduler/keys.h"

struct intake;
struct log;
struct loop;
struct pace;
struct service;
struct setup;
struct state;

/*
 * Followers of all kinds that the scheduler reads. Kinds that others look up come first: the next stage starts when
 * everything of the one before has been told. Kinds that the server does not have count as empty, and are looked for
 * again.
 *
 * While the watch of a kind that places pods or holds room is cut, the pace is held by HOLD_BEHIND. Decisions would be made
 * on a state that is known to be old.
 */
struct watching;

/* What is followed with, and for whom; all borrowed. */
struct watching_options {
    struct service *service;
    struct loop *loop;
    struct log *log;
    struct kube_client *client;
    const struct setup *setup;
    const struct state *state;
    struct pace *pace;
    struct intake *intake;         // gets the events
    uint32_t *device_version;      // of resource.k8s.io: set to the newest that the server has, for kube_known_of()
    void (*on_listed)(void *arg);  // everything that was there has been told, once
    /* A watch was cut of a kind that holds room: what was decided and has not been sent is to be decided again. */
    void (*on_cut)(void *arg);
    /* The server shows an older state than it did: all is to be listed anew. */
    void (*on_older)(void *arg, const char *plural, const char *seen, const char *now);
    void *arg;
};

/* Starts the first stage. */
struct watching *watching_new(const struct watching_options *options);
void watching_free(struct watching *watching);

/* Reads one object anew, for something that it depends on has changed, and takes it in as if it had. */
void watching_refetch(struct watching *watching, enum watch_kind kind, object_key key);
