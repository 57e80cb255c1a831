/* SPDX-License-Identifier: Apache-2.0 */

/* From the plan of a container to a program that starts. */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "kube/client/meta.h"
#include "local/cgroup/cgroup.h"
#include "local/cgroup/devices.h"
#include "local/controllers/values.h"
#include "local/server/files.h"
#include "local/shim/capabilities.h"
#include "local/shim/shim_internal.h"
#include "text/quantity.h"

#define add_texts(vec, array)                           \
    do {                                                \
        size_t i_, max_;                                \
        yyjson_val *item_;                              \
        yyjson_arr_foreach((array), i_, max_, item_)    \
        {                                               \
            if (yyjson_is_str(item_))                   \
                vec_push((vec), yyjson_get_str(item_)); \
        }                                               \
        vec_push((vec), NULL);                          \
    } while (0)

static void add_mounts(struct launching *launching, yyjson_val *mounts)
{
    size_t i, max;
    yyjson_val *mount;

    yyjson_arr_foreach(mounts, i, max, mount)
    {
        vec_push(&launching->mounts, (struct mount_plan){.from = kube_text(mount, "from"),
                                                         .sub = kube_text(mount, "sub"),
                                                         .to = kube_text(mount, "to"),
                                                         .is_read_only = bool_at(mount, "readOnly"),
                                                         .is_users = bool_at(mount, "isUsers")});
    }
}

/* What an image changes: its root, the name of its host, and what root may do in it. */
static void set_image(struct launching *launching, const struct container *container)
{
    yyjson_val *pod = container->shim->pod, *context = value_at(container->spec, "securityContext");
    const char *root = kube_text(container->plan, "root"), *host = kube_text(pod, "spec", "hostname");
    _cleanup_(freep) char *roots = file_path(container->shim->folder, "roots");

    if (!*root)
        return;
    launching->changes = file_path(roots, container->name);
    launching->host = xstrndup(*host ? host : kube_text(pod, "metadata", "name"), HOST_NAME_MAX - 1);
    launching->launch.root = root;
    launching->launch.changes = launching->changes;
    launching->launch.hostname = launching->host;
    launching->launch.is_root_read_only = bool_at(context, "readOnlyRootFilesystem");
    launching->launch.capabilities =
        bool_at(context, "privileged")
            ? UINT64_MAX
            : capabilities_of(value_at(context, "capabilities", "add"), value_at(context, "capabilities", "drop"));
}

void launching_init(struct launching *launching, const struct container *container)
{
    yyjson_val *plan = container->plan;
    size_t i, max;
    yyjson_val *group;

    *launching = (struct launching){0};
    add_texts(&launching->argv, value_at(plan, "argv"));
    add_texts(&launching->env, value_at(plan, "env"));
    add_mounts(launching, value_at(plan, "mounts"));
    yyjson_arr_foreach(value_at(plan, "groups"), i, max, group)
    {
        vec_push(&launching->groups, (gid_t)yyjson_get_uint(group));
    }
    launching->staging = file_path(container->shim->folder, "staging");
    launching->launch = (struct launch){
        .argv = launching->argv.items,
        .env = launching->env.items,
        .folder = kube_text(plan, "folder"),
        .uid = (uid_t)number_at(plan, 0, "uid"),
        .gid = (gid_t)number_at(plan, 0, "gid"),
        .groups = launching->groups.items,
        .group_count = launching->groups.len,
        .mounts = launching->mounts.items,
        .mount_count = launching->mounts.len,
        .staging = launching->staging,
        .group = -1,
    };
    set_image(launching, container);
}

void launching_done(struct launching *launching)
{
    vec_done(&launching->argv);
    vec_done(&launching->env);
    vec_done(&launching->mounts);
    vec_done(&launching->groups);
    free(launching->staging);
    free(launching->changes);
    free(launching->host);
}

static int64_t amount(yyjson_val *resources, const char *kind, const char *name, enum quantity_unit unit)
{
    int64_t value = 0;

    return quantity_parse(kube_text(resources, kind, name), unit, &value, NULL) < 0 ? 0 : value;
}

/* The plan lists GPUs where access to others can be denied. */
static int restrict_devices(const struct container *container, struct err *err)
{
    yyjson_val *listed = value_at(container->plan, "gpuMinors");
    uint32_t minors[DEVICES_MAX];
    size_t i, max;
    yyjson_val *minor;

    if (!listed)
        return 0;
    if (yyjson_arr_size(listed) > DEVICES_MAX)
        return err_set(err, -E2BIG, "more than %d GPUs", DEVICES_MAX);
    yyjson_arr_foreach(listed, i, max, minor)
    {
        minors[i] = (uint32_t)yyjson_get_uint(minor);
    }
    return devices_restrict(container->group, minors, yyjson_arr_size(listed), err);
}

/* The group of the container; programs beside the first one enter the one that is there. */
static int make_group(struct container *container, struct err *err)
{
    yyjson_val *resources = value_at(container->spec, "resources");
    const struct cgroup_limits limits = {
        .cpu_milli = amount(resources, "limits", "cpu", QUANTITY_MILLI),
        .cpu_request_milli = amount(resources, "requests", "cpu", QUANTITY_MILLI),
        .memory_bytes = amount(resources, "limits", "memory", QUANTITY_ONE),
        .processes = number_at(container->shim->plan, 0, "processesMax"),
    };

    int r = cgroup_make(container->group, container->shim->has_limits, &limits, err);
    return r < 0 ? r : restrict_devices(container, err);
}

/* Each run begins with the image as it is; what the run before has changed goes. */
static int make_changes(const struct container *container, const char *changes, struct err *err)
{
    _cleanup_(freep) char *roots = file_path(container->shim->folder, "roots");
    _cleanup_(freep) char *upper = file_path(changes, "upper");
    _cleanup_(freep) char *work = file_path(changes, "work");

    (void)folder_remove(changes);
    if ((mkdir(roots, 0700) < 0 && errno != EEXIST) || mkdir(changes, 0700) < 0 || mkdir(upper, 0755) < 0 ||
        mkdir(work, 0700) < 0)
        return err_set(err, -errno, "%s: %s", changes, strerror(errno));
    return 0;
}

int launching_start(struct launching *launching, struct container *container, pid_t *ret_pid, struct err *err)
{
    struct launch *start = &launching->launch;
    int r = 0;

    if (!start->argv[0])
        return err_set(err, -EINVAL, "there is no command");
    if (*container->group && start->beside == 0)
        r = make_group(container, err);
    if (r == 0 && start->root && start->beside == 0)
        r = make_changes(container, launching->changes, err);
    if (r == 0 && *container->group) {
        start->group = cgroup_entrance(container->group);
        if (start->group < 0)
            r = err_set(err, start->group, "control group %s: %s", container->group, strerror(-start->group));
    }
    if (r == 0)
        r = launch(start, ret_pid, err);
    if (start->group >= 0)
        (void)close(start->group);
    return r;
}
