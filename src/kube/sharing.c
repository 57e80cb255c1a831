/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/sharing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "kube/client/meta.h"
#include "objects/keys.h"

#define FENCE_PREFIX "pod-"
enum { UID_LEN = 36 };
_Static_assert(FENCE_NAME_MAX == sizeof FENCE_PREFIX + UID_LEN, "a name holds a UID");

/* The container called `name`, the first one without a name. */
static bool find_container(yyjson_val *pod, const char *list, const char *name, struct sharing_container *ret_container)
{
    yyjson_val *containers = yyjson_obj_get(yyjson_obj_get(pod, "spec"), list);
    yyjson_val *container;
    size_t i, max;

    yyjson_arr_foreach(containers, i, max, container)
    {
        if (name[0] && strcmp(kube_text(container, "name"), name) != 0)
            continue;
        *ret_container = (struct sharing_container){.container = container, .index = i};
        return true;
    }
    return false;
}

int sharing_container(yyjson_val *pod, struct sharing_container *ret_container, struct err *err)
{
    const char *name = kube_text(pod, "metadata", "annotations", KEY_GPU_CONTAINER);

    if (name[0] && find_container(pod, "initContainers", name, ret_container)) {
        ret_container->is_init = true;
        return 0;
    }
    if (find_container(pod, "containers", name, ret_container))
        return 0;
    return err_set(err, -ENOENT, "the pod has no container '%s', which its annotation %s names", name,
                   KEY_GPU_CONTAINER);
}

bool sharing_is_group_label(const char *key)
{
    return strcmp(key, KEY_GPU_GROUP) == 0 || strncmp(key, KEY_GPU_GROUP_PREFIX, strlen(KEY_GPU_GROUP_PREFIX)) == 0;
}

static bool is_uid(const char *text)
{
    return strlen(text) == UID_LEN && strspn(text, "0123456789abcdef-") == UID_LEN;
}

bool fence_name(const char *uid, char name[static FENCE_NAME_MAX])
{
    if (!is_uid(uid))
        return false;
    (void)snprintf(name, FENCE_NAME_MAX, FENCE_PREFIX "%s", uid);
    return true;
}

bool fence_name_is_good(const char *name)
{
    return strncmp(name, FENCE_PREFIX, strlen(FENCE_PREFIX)) == 0 && is_uid(name + strlen(FENCE_PREFIX));
}
