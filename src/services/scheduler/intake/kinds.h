/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "kube/client/resource.h"

struct follow_event;
struct intake;
struct object_kind;

/*
 * The kinds that the scheduler reads, as one table: how each is followed, what is kept of its objects, and what happens
 * when one comes, changes or goes. A new kind is a name here and a row in kinds.c; how its objects are decoded is a row
 * in objects/kinds.c.
 */
enum watch_kind {
    WATCH_PRIORITY_CLASSES,
    WATCH_NAMESPACES,
    WATCH_TOPOLOGIES,
    WATCH_DEVICE_CLASSES,
    WATCH_STORAGE_CLASSES,
    WATCH_VOLUMES,
    WATCH_CSI_DRIVERS,
    WATCH_CSI_NODES,
    WATCH_STORAGE,
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

enum { WATCH_STAGES = 4, KEPT_PATHS_MAX = 10 };

typedef void (*watch_handler_fn)(struct intake *intake, enum watch_kind kind, const struct follow_event *event);

struct watch_row {
    enum kube_known known;
    int stage;              // kinds that others look up come first
    bool is_of_pool;        // only our node pool's
    bool is_metadata_only;  // its name is all that counts
    bool holds_room;        // nothing is decided while its watch is cut
    const char *field_selector;
    watch_handler_fn handle;
    const char *kept[KEPT_PATHS_MAX];  // members kept beside the state, "outer.inner"; none: nothing is kept
};

/* The row of the kind. */
const struct watch_row *watch_row(enum watch_kind kind);

/* The kind's row in the table of objects. */
const struct object_kind *watch_object_kind(enum watch_kind kind);
const struct kube_resource *watch_resource(enum watch_kind kind, uint32_t device_version);
