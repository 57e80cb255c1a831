/* SPDX-License-Identifier: Apache-2.0 */

/* The subresources and verbs that discovery tells of. */
#include <string.h>

#include "base/macros.h"
#include "local/api/kinds.h"
#include "local/custom/definitions.h"
#include "local/discovery/discovery_internal.h"
#include "local/subresources/reviews.h"

/* In the order of their names; /status follows. */
static const struct {
    const char *owner_group;
    const char *plural;
    struct discovery_part part;
} parts[] = {
    {"", "namespaces", {"finalize", "", "v1", "Namespace", "update"}},
    {"", "pods", {"attach", "", "v1", "PodAttachOptions", "create get"}},
    {"", "pods", {"binding", "", "v1", "Binding", "create"}},
    {"", "pods", {"eviction", "policy", "v1", "Eviction", "create"}},
    {"", "pods", {"exec", "", "v1", "PodExecOptions", "create get"}},
    {"", "pods", {"log", "", "v1", "Pod", "get"}},
    {"", "pods", {"portforward", "", "v1", "PodPortForwardOptions", "create get"}},
    {"", "replicationcontrollers", {"scale", "autoscaling", "v1", "Scale", "get patch update"}},
    {"", "serviceaccounts", {"token", "authentication.k8s.io", "v1", "TokenRequest", "create"}},
    {"apps", "deployments", {"scale", "autoscaling", "v1", "Scale", "get patch update"}},
    {"apps", "replicasets", {"scale", "autoscaling", "v1", "Scale", "get patch update"}},
    {"apps", "statefulsets", {"scale", "autoscaling", "v1", "Scale", "get patch update"}},
};

const char *discovery_verbs(const struct api_kind *kind)
{
    bool is_namespace = strcmp(kind->plural, "namespaces") == 0 && !*kind->group;

    if (review_is_kind(kind))
        return "create";
    return is_namespace ? "create delete get list patch update watch"
                        : "create delete deletecollection get list patch update watch";
}

/* Of a custom kind. */
static bool scale_part(const struct api_kind *kind, struct discovery_part *ret_part)
{
    const struct custom_kind *custom = custom_kind_of(kind);

    *ret_part = (struct discovery_part){"scale", "autoscaling", "v1", "Scale", "get patch update"};
    return custom && custom->has_scale;
}

static bool status_part(const struct api_kind *kind, struct discovery_part *ret_part)
{
    *ret_part = (struct discovery_part){"status", kind->group, kind->version, kind->kind, "get patch update"};
    return kind->flags & KIND_STATUS;
}

bool discovery_part_at(const struct api_kind *kind, size_t index, struct discovery_part *ret_part)
{
    size_t found = 0;

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (strcmp(parts[i].plural, kind->plural) != 0 || strcmp(parts[i].owner_group, kind->group) != 0)
            continue;
        if (found++ == index) {
            *ret_part = parts[i].part;
            return true;
        }
    }
    if (scale_part(kind, ret_part) && found++ == index)
        return true;
    return found == index && status_part(kind, ret_part);
}
