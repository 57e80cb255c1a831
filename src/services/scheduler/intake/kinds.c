/* SPDX-License-Identifier: Apache-2.0 */
#include "services/scheduler/intake/kinds.h"

#include "objects/kinds.h"
#include "services/scheduler/intake/intake_internal.h"

static const struct watch_row rows[] = {
    [WATCH_PRIORITY_CLASSES] = {.known = KUBE_PRIORITY_CLASSES, .handle = intake_priority_class},
    [WATCH_NAMESPACES] = {.known = KUBE_NAMESPACES,
                          .is_metadata_only = true,
                          .handle = intake_beside,
                          .kept = {"metadata.name", "metadata.labels"}},
    [WATCH_TOPOLOGIES] = {.known = KUBE_TOPOLOGIES, .handle = intake_plain},
    [WATCH_DEVICE_CLASSES] = {.known = KUBE_DEVICE_CLASSES, .handle = intake_plain},
    [WATCH_STORAGE_CLASSES] = {.known = KUBE_STORAGE_CLASSES,
                               .handle = intake_beside,
                               .kept = {"metadata.name", "metadata.annotations", "volumeBindingMode", "provisioner",
                                        "allowedTopologies"}},
    [WATCH_VOLUMES] = {.known = KUBE_PERSISTENT_VOLUMES,
                       .handle = intake_beside,
                       .kept = {"metadata.name", "spec.nodeAffinity", "spec.storageClassName", "spec.capacity",
                                "spec.claimRef", "spec.csi"}},
    [WATCH_CSI_DRIVERS] = {.known = KUBE_CSI_DRIVERS,
                           .handle = intake_beside,
                           .kept = {"metadata.name", "spec.storageCapacity"}},
    [WATCH_CSI_NODES] = {.known = KUBE_CSI_NODES, .handle = intake_beside, .kept = {"metadata.name", "spec.drivers"}},
    [WATCH_STORAGE] = {.known = KUBE_CSI_STORAGE_CAPACITIES, .handle = intake_plain},
    [WATCH_NUMA] = {.known = KUBE_NODE_RESOURCE_TOPOLOGIES,
                    .handle = intake_beside,
                    .kept = {"metadata.name", "topologyPolicies", "attributes", "zones"}},
    [WATCH_QUEUES] = {.known = KUBE_QUEUES, .stage = 1, .is_of_pool = true, .handle = intake_queue},
    [WATCH_NODES] = {.known = KUBE_NODES, .stage = 1, .is_of_pool = true, .holds_room = true, .handle = intake_node},
    [WATCH_SLICES] = {.known = KUBE_RESOURCE_SLICES, .stage = 2, .holds_room = true, .handle = intake_plain},
    [WATCH_CLAIMS] = {.known = KUBE_RESOURCE_CLAIMS, .stage = 2, .holds_room = true, .handle = intake_claim},
    [WATCH_VOLUME_CLAIMS] = {.known = KUBE_PERSISTENT_VOLUME_CLAIMS,
                             .stage = 2,
                             .handle = intake_volume_claim,
                             .kept = {"metadata.name", "metadata.namespace", "metadata.deletionTimestamp",
                                      "metadata.annotations", "spec.volumeName", "spec.storageClassName",
                                      "spec.resources", "spec.accessModes", "status.phase"}},
    [WATCH_CONFIG_MAPS] = {.known = KUBE_CONFIG_MAPS, .stage = 2, .is_metadata_only = true, .handle = intake_plain},
    [WATCH_BIND_REQUESTS] = {.known = KUBE_BIND_REQUESTS,
                             .stage = 2,
                             .holds_room = true,
                             .handle = intake_bind_request},
    [WATCH_POD_GROUPS] = {.known = KUBE_POD_GROUPS, .stage = 2, .is_of_pool = true, .handle = intake_pod_group},
    [WATCH_PODS] = {.known = KUBE_PODS,
                    .stage = 3,
                    .holds_room = true,
                    .field_selector = "status.phase!=Failed",
                    .handle = intake_pod},
};
_Static_assert(ARRAY_LEN(rows) == _WATCH_MAX, "every kind has a row");

const struct watch_row *watch_row(enum watch_kind kind)
{
    return &rows[kind];
}

const struct object_kind *watch_object_kind(enum watch_kind kind)
{
    const struct kube_resource *resource = kube_known(rows[kind].known);

    return object_kind_of(resource->group, resource->kind);
}

const struct kube_resource *watch_resource(enum watch_kind kind, uint32_t device_version)
{
    return kube_known_of(rows[kind].known, device_version);
}
