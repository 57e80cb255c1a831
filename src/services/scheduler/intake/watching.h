/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kube/client/resource.h"
#include "kube/follow/follow.h"
#include "services/scheduler/keys.h"

struct object_kind;
struct scheduler;

/*
 * Followers of all kinds that the scheduler reads. Kinds that others look up come first: the next stage starts when
 * everything of the one before has been told. Kinds that the server does not have count as empty, and are looked for
 * again.
 */
struct watching;

enum watch_kind {
    WATCH_PRIORITY_CLASSES,
    WATCH_NAMESPACES,
    WATCH_TOPOLOGIES,
    WATCH_DEVICE_CLASSES,
    WATCH_STORAGE_CLASSES,
    WATCH_VOLUMES,
    WATCH_NUMA,
    WATCH_QUEUES,
    WATCH_NODES,
    WATCH_SLICES,
    WATCH_CLAIMS,
    WATCH_VOLUME_CLAIMS,
    WATCH_CONFIG_MAPS,
    WATCH_BIND_REQUESTS,
    WATCH_POD_GROUPS,
    WATCH_PODS,
    _WATCH_MAX
};

struct watching *watching_new(struct scheduler *s);
void watching_free(struct watching *watching);

/* The kind's row in the table of objects. */
const struct object_kind *watch_object_kind(enum watch_kind kind);
const struct kube_resource *watch_resource(const struct scheduler *s, enum watch_kind kind);

/* Reads one object anew, for something that it depends on has changed, and takes it in as if it had. */
void watching_refetch(struct watching *watching, enum watch_kind kind, object_key key);
