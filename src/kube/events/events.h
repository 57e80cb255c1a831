/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kube/client/client.h"

/*
 * Events about objects, as `kubectl describe` shows them. What repeats is counted in one event instead of written
 * again; what differs only in its message is put together when there is much of it; and an object about which there is
 * too much to say is kept quiet about. This is what client-go does, so that the same things are seen.
 *
 * Recording never fails: an event that cannot be written is dropped and counted.
 */
struct recorder;

struct recorder_options {
    const char *component;  // who says so: the scheduler's name
    const char *instance;   // the pod or host; NULL: ""
    uint32_t waiting_max;   // events to be written at most; 0: 1000
};

struct recorder *recorder_new(struct kube_client *client, const struct recorder_options *options);

/* What has not been written by now never will. */
void recorder_free(struct recorder *recorder);

struct event_note {
    const char *key;
    const char *value;
};

/* An event: about what, and what of it. */
struct event {
    const char *api_version;  // of the object
    const char *kind;
    const char *namespace;  // "" for kinds that have none
    const char *name;
    const char *uid;
    const char *resource_version;  // may be NULL
    const char *type;              // "Normal" or "Warning"
    const char *reason;            // one word
    const char *message;
    const struct event_note *notes;  // annotations
    size_t note_count;
};

void recorder_record(struct recorder *recorder, const struct event *event);

/* For metrics: events that were asked for, written (a count that goes up is a write too), and dropped. */
struct recorder_counts {
    uint64_t recorded;
    uint64_t written;
    uint64_t spared;   // went into the next write of the same event
    uint64_t quieted;  // too much about one object
    uint64_t failed;   // refused by the server, or too many waiting
};

struct recorder_counts recorder_counts(const struct recorder *recorder);

/* Events that wait to be written or are being written. */
size_t recorder_waiting(const struct recorder *recorder);
