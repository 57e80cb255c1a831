/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "base/vec.h"
#include "kube/client/resource.h"

/* The objects that rows are made of, as the API has them. All are borrowed, and outlive the rows. */
enum view_kind {
    VIEW_JOBS,
    VIEW_POD_GROUPS,
    VIEW_PODS,
    VIEW_QUEUES,
    VIEW_NODES,
    VIEW_PRIORITY_CLASSES,
    _VIEW_KIND_MAX
};

struct view_list VEC_OF(yyjson_val *);

struct view_objects {
    struct view_list of[_VIEW_KIND_MAX];
};

/* The kind as the API serves it, for whoever lists or follows it. */
const struct kube_resource *view_resource(enum view_kind kind);

/* Frees the lists; the objects are the caller's. */
void view_objects_done(struct view_objects *objects);
