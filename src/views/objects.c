/* SPDX-License-Identifier: Apache-2.0 */
#include "views/objects.h"

const struct kube_resource *view_resource(enum view_kind kind)
{
    static const enum kube_known known[_VIEW_KIND_MAX] = {
        [VIEW_JOBS] = KUBE_JOBS,   [VIEW_POD_GROUPS] = KUBE_POD_GROUPS,
        [VIEW_PODS] = KUBE_PODS,   [VIEW_QUEUES] = KUBE_QUEUES,
        [VIEW_NODES] = KUBE_NODES, [VIEW_PRIORITY_CLASSES] = KUBE_PRIORITY_CLASSES,
    };

    return kube_known(known[kind]);
}

void view_objects_done(struct view_objects *objects)
{
    for (int kind = 0; kind < _VIEW_KIND_MAX; kind++)
        vec_done(&objects->of[kind]);
}
