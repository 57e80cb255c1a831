/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/snapshot.h"

#include <errno.h>

#include "base/err.h"
#include "objects/fields.h"
#include "objects/kinds.h"
#include "objects/object.h"
#include "objects/settings/settings.h"

/* The lists of a snapshot; their items do not say of what kind they are. */
static const struct list {
    const char *key;
    const char *group;
    const char *kind;
} lists[] = {
    {"priorityClasses", "scheduling.k8s.io", "PriorityClass"},
    {"topologies", "kai.scheduler", "Topology"},
    {"deviceClasses", "resource.k8s.io", "DeviceClass"},
    {"storageClasses", "storage.k8s.io", "StorageClass"},
    {"csiDrivers", "storage.k8s.io", "CSIDriver"},
    {"csiNodes", "storage.k8s.io", "CSINode"},
    {"csiStorageCapacities", "storage.k8s.io", "CSIStorageCapacity"},
    {"queues", "scheduling.run.ai", "Queue"},
    {"nodeResourceTopologies", "topology.node.k8s.io", "NodeResourceTopology"},
    {"nodes", "", "Node"},
    {"resourceSlices", "resource.k8s.io", "ResourceSlice"},
    {"resourceClaims", "resource.k8s.io", "ResourceClaim"},
    {"persistentVolumes", "", "PersistentVolume"},
    {"persistentVolumeClaims", "", "PersistentVolumeClaim"},
    {"configMaps", "", "ConfigMap"},
    {"podGroups", "scheduling.run.ai", "PodGroup"},
    {"bindRequests", "scheduling.run.ai", "BindRequest"},
    {"pods", "", "Pod"},
};

bool snapshot_is(yyjson_val *root)
{
    return yyjson_is_obj(root) && yyjson_obj_get(root, "rawObjects") && !yyjson_obj_get(root, "kind");
}

int snapshot_add(struct object_set *set, struct settings *settings, yyjson_val *root,
                 const struct object_source *source, struct err *err)
{
    struct json_at at = {.val = root};
    struct json_at config;
    struct json_at params;
    struct json_at past_use;
    struct json_at objects;

    int r = json_member_object(&at, "config", JSON_OPTIONAL, &config, err);
    if (r >= 0)
        r = json_member_object(&at, "schedulerParams", JSON_OPTIONAL, &params, err);
    if (r >= 0)
        r = json_member_object(&at, "rawObjects", JSON_REQUIRED, &objects, err);
    if (r >= 0)
        r = json_member_array(&at, "pastUse", JSON_OPTIONAL, &past_use, err);
    if (r >= 0)
        r = settings_decode_snapshot(settings, &config, &params, err);
    if (r >= 0)
        r = settings_decode_past_use(settings, &past_use, err);
    for (size_t i = 0; r >= 0 && i < ARRAY_LEN(lists); i++) {
        struct json_at list;

        r = json_member_array(&objects, lists[i].key, JSON_OPTIONAL, &list, err);
        if (r < 0)
            break;
        for (struct json_at item = {0}; json_next(&list, &item);)
            TRY(object_set_add_as(set, object_kind_of(lists[i].group, lists[i].kind), item.val, source, err));
        r = 0;
    }
    return r < 0 ? err_wrap(err, r, "%s", source->name) : 0;
}
