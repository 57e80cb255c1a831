/* SPDX-License-Identifier: Apache-2.0 */
#include "console/workloads/make/volumes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console/rest/context.h"

/* Members of an item of `storage`, and where they go in the volume. */
struct renamed {
    const char *from;
    const char *to;
};

struct volume_row {
    const char *list;    // of `storage`
    const char *source;  // of the volume
    struct renamed members[4];
    const char *mount_path;
    struct renamed of_mount[3];
};

static const struct volume_row rows[] = {
    {"pvc", "persistentVolumeClaim", {{"claimName", "claimName"}}, "path", {{"readOnly", "readOnly"}}},
    {"nfs", "nfs", {{"server", "server"}, {"path", "path"}}, "mountPath", {{"readOnly", "readOnly"}}},
    {"hostPath",
     "hostPath",
     {{"path", "path"}},
     "mountPath",
     {{"readOnly", "readOnly"}, {"mountPropagation", "mountPropagation"}}},
    {"configMapVolume",
     "configMap",
     {{"configMap", "name"}, {"defaultMode", "defaultMode"}},
     "mountPath",
     {{"subPath", "subPath"}}},
    {"secretVolume", "secret", {{"secret", "secretName"}, {"defaultMode", "defaultMode"}}, "mountPath", {{NULL, NULL}}},
    {"emptyDirVolume", "emptyDir", {{"medium", "medium"}, {"sizeLimit", "sizeLimit"}}, "path", {{NULL, NULL}}},
};

struct volumes {
    yyjson_mut_doc *doc;
    yyjson_mut_val *of_pod;
    yyjson_mut_val *of_container;
};

/* Gives the volume and its mount a name of their own; returns the source. */
static yyjson_mut_val *add_volume(struct volumes *volumes, const char *source, const char *path,
                                  yyjson_mut_val **ret_mount)
{
    yyjson_mut_val *volume = yyjson_mut_arr_add_obj(volumes->doc, volumes->of_pod);
    yyjson_mut_val *mount = yyjson_mut_arr_add_obj(volumes->doc, volumes->of_container);
    char name[32];

    (void)snprintf(name, sizeof name, "volume-%zu", yyjson_mut_arr_size(volumes->of_pod));
    put_text(volumes->doc, volume, "name", name);
    put_text(volumes->doc, mount, "name", name);
    put_text(volumes->doc, mount, "mountPath", path ? path : "");
    *ret_mount = mount;
    return yyjson_mut_obj_add_obj(volumes->doc, volume, source);
}

/* Modes are texts in octal there and numbers here. */
static void copy_members(yyjson_mut_doc *doc, yyjson_val *item, const struct renamed *members, size_t count,
                         yyjson_mut_val *to)
{
    for (size_t i = 0; i < count && members[i].from; i++) {
        yyjson_val *value = yyjson_obj_get(item, members[i].from);

        if (value && strcmp(members[i].from, "defaultMode") == 0)
            (void)yyjson_mut_obj_add_sint(doc, to, members[i].to, strtol(yyjson_get_str(value), NULL, 8));
        else if (value)
            (void)yyjson_mut_obj_add_val(doc, to, members[i].to, yyjson_val_mut_copy(doc, value));
    }
}

void volumes_encode(yyjson_mut_doc *doc, yyjson_val *spec, yyjson_mut_val *pod, yyjson_mut_val *container)
{
    yyjson_val *storage = yyjson_obj_get(spec, "storage");
    struct volumes volumes = {doc, yyjson_mut_obj_add_arr(doc, pod, "volumes"),
                              yyjson_mut_obj_add_arr(doc, container, "volumeMounts")};
    yyjson_mut_val *mount;
    yyjson_val *item;
    yyjson_arr_iter iter;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        yyjson_arr_iter_init(yyjson_obj_get(storage, rows[i].list), &iter);
        while ((item = yyjson_arr_iter_next(&iter))) {
            yyjson_mut_val *source =
                add_volume(&volumes, rows[i].source, yyjson_get_str(yyjson_obj_get(item, rows[i].mount_path)), &mount);

            copy_members(doc, item, rows[i].members, ARRAY_LEN(rows[i].members), source);
            copy_members(doc, item, rows[i].of_mount, ARRAY_LEN(rows[i].of_mount), mount);
        }
    }
    if (yyjson_get_bool(yyjson_ptr_get(spec, "/compute/largeShmRequest")))
        put_text(doc, add_volume(&volumes, "emptyDir", "/dev/shm", &mount), "medium", "Memory");
}
