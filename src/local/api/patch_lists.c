/* SPDX-License-Identifier: Apache-2.0 */
#include "local/api/patch_lists.h"

#include <string.h>

#include "base/macros.h"

/* The first row that fits holds. */
static const struct patch_list lists[] = {
    {"ports", "containers", "containerPort"},
    {"ports", "initContainers", "containerPort"},
    {"ports", "ephemeralContainers", "containerPort"},
    {"ports", "spec", "port"},
    {"containers", NULL, "name"},
    {"initContainers", NULL, "name"},
    {"ephemeralContainers", NULL, "name"},
    {"env", NULL, "name"},
    {"volumes", NULL, "name"},
    {"volumeMounts", NULL, "mountPath"},
    {"volumeDevices", NULL, "devicePath"},
    {"imagePullSecrets", NULL, "name"},
    {"schedulingGates", NULL, "name"},
    {"resourceClaims", NULL, "name"},
    {"resourceClaimStatuses", NULL, "name"},
    {"secrets", NULL, "name"},
    {"hostAliases", NULL, "ip"},
    {"podIPs", NULL, "ip"},
    {"hostIPs", NULL, "ip"},
    {"topologySpreadConstraints", NULL, "topologyKey"},
    {"conditions", NULL, "type"},
    {"addresses", "status", "type"},
    {"ownerReferences", "metadata", "uid"},
    {"reservedFor", "status", "uid"},
    {"finalizers", "metadata", NULL},
    {"podCIDRs", "spec", NULL},
};

const struct patch_list *patch_list_find(const char *parent, const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        if (strcmp(lists[i].name, name) == 0 && (!lists[i].parent || strcmp(lists[i].parent, parent) == 0))
            return &lists[i];
    return NULL;
}
