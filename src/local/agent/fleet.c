/* SPDX-License-Identifier: Apache-2.0 */
#include "local/agent/fleet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/time.h"
#include "kube/client/meta.h"
#include "text/json.h"

#define PREFIX "fake-"

static const struct fleet_model models[] = {
    {"H100", "NVIDIA-H100-80GB-HBM3", 81559},
    {"H200", "NVIDIA-H200", 143771},
    {"B200", "NVIDIA-B200", 183359},
    {"A100", "NVIDIA-A100-SXM4-80GB", 81920},
    {"L40S", "NVIDIA-L40S", 46068},
    {"L4", "NVIDIA-L4", 23034},
    {"T4", "Tesla-T4", 15360},
    {"V100", "Tesla-V100-SXM2-32GB", 32768},
};

static const struct fleet_model *find_model(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(models); i++) {
        if (strcasecmp(models[i].name, name) == 0)
            return &models[i];
    }
    return NULL;
}

static int parse_group(struct fleet *fleet, char *text, struct err *err)
{
    char *rest = text;
    const char *count = strsep(&rest, "x"), *gpus = strsep(&rest, "x"), *model = rest ? rest : models[0].name;
    char *count_end = NULL, *gpus_end = NULL;
    unsigned long nodes = strtoul(count, &count_end, 10), devices = strtoul(gpus ? gpus : "", &gpus_end, 10);
    struct fleet_group group = {(uint32_t)nodes, (uint32_t)devices, find_model(model)};

    if (!gpus || count_end == count || *count_end || gpus_end == gpus || *gpus_end)
        return err_set(err, -EINVAL, "expected NODESxGPUS or NODESxGPUSxMODEL, such as 100x8xH100");
    if (nodes == 0 || nodes > FLEET_NODES_MAX || fleet->nodes + nodes > FLEET_NODES_MAX || devices > FLEET_GPUS_MAX)
        return err_set(err, -EINVAL, "expected 1 to %d nodes with at most %d GPUs each", FLEET_NODES_MAX,
                       FLEET_GPUS_MAX);
    if (!group.model)
        return err_set(err, -EINVAL, "unknown GPU model '%s'; known models: H100, H200, B200, A100, L40S, L4, T4, V100",
                       model);
    vec_push(&fleet->groups, group);
    fleet->nodes += group.count;
    return 0;
}

int fleet_parse(struct fleet *fleet, const char *text, struct err *err)
{
    _cleanup_(freep) char *copy = xstrdup(text);
    char *rest = copy;

    *fleet = (struct fleet){0};
    for (char *group = *text ? strsep(&rest, ",") : NULL; group; group = strsep(&rest, ",")) {
        int r = parse_group(fleet, group, err);

        if (r < 0) {
            fleet_done(fleet);
            return r;
        }
    }
    return 0;
}

void fleet_done(struct fleet *fleet)
{
    vec_done(&fleet->groups);
    fleet->nodes = 0;
}

const char *fleet_name(uint32_t index, char name[static FLEET_NAME_MAX])
{
    (void)snprintf(name, FLEET_NAME_MAX, PREFIX "%05u", index);
    return name;
}

int64_t fleet_find(const struct fleet *fleet, const char *name)
{
    char *end = NULL;
    char written[FLEET_NAME_MAX];

    if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
        return -1;
    unsigned long index = strtoul(name + strlen(PREFIX), &end, 10);
    if (*end || index >= fleet->nodes || strcmp(fleet_name((uint32_t)index, written), name) != 0)
        return -1;
    return (int64_t)index;
}

const char *fleet_address(uint32_t index, char text[static FLEET_ADDRESS_MAX])
{
    (void)snprintf(text, FLEET_ADDRESS_MAX, "10.%u.%u.%u", 64 + (index >> 16 & 63), index >> 8 & 255, index & 255);
    return text;
}

/* The object. */

static const struct fleet_group *group_of(const struct fleet *fleet, uint32_t index)
{
    vec_foreach (&fleet->groups, group) {
        if (index < group->count)
            return group;
        index -= group->count;
    }
    return &vec_last(&fleet->groups);
}

struct pair {
    const char *key, *value;
};

static void add_pairs(yyjson_mut_doc *doc, yyjson_mut_val *to, const struct pair *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        (void)yyjson_mut_obj_add_strcpy(doc, to, pairs[i].key, pairs[i].value);
}

static void add_amounts(yyjson_mut_doc *doc, yyjson_mut_val *status, const char *key, const char *gpus)
{
    const struct pair amounts[] = {{"cpu", "128"},
                                   {"memory", "1056Gi"},
                                   {"ephemeral-storage", "3500Gi"},
                                   {"pods", "250"},
                                   {"nvidia.com/gpu", gpus}};

    add_pairs(doc, yyjson_mut_obj_add_obj(doc, status, key), amounts, ARRAY_LEN(amounts));
}

static void add_condition(yyjson_mut_doc *doc, yyjson_mut_val *conditions, const char *type, const char *status,
                          const char *reason, const char *message)
{
    nsec_t now = nsec_now_wall();
    char when[TIME_TEXT_MAX];
    (void)time_format(now - now % NSEC_PER_SEC, when);
    const struct pair members[] = {{"type", type},       {"status", status},          {"reason", reason},
                                   {"message", message}, {"lastHeartbeatTime", when}, {"lastTransitionTime", when}};

    add_pairs(doc, yyjson_mut_arr_add_obj(doc, conditions), members, ARRAY_LEN(members));
}

static void add_status(yyjson_mut_doc *doc, yyjson_mut_val *status, const char *name, uint32_t index, const char *gpus)
{
    const struct pair info[] = {{"architecture", "amd64"},
                                {"bootID", name},
                                {"containerRuntimeVersion", "pretended://1.0"},
                                {"kernelVersion", "6.8.0"},
                                {"kubeProxyVersion", ""},
                                {"kubeletVersion", "v1.36.0"},
                                {"machineID", name},
                                {"operatingSystem", "linux"},
                                {"osImage", "Pretended"},
                                {"systemUUID", name}};
    yyjson_mut_val *conditions = yyjson_mut_obj_add_arr(doc, status, "conditions");
    yyjson_mut_val *addresses = yyjson_mut_obj_add_arr(doc, status, "addresses");
    char address[FLEET_ADDRESS_MAX];

    add_amounts(doc, status, "capacity", gpus);
    add_amounts(doc, status, "allocatable", gpus);
    add_condition(doc, conditions, "MemoryPressure", "False", "KubeletHasSufficientMemory",
                  "kubelet has sufficient memory available");
    add_condition(doc, conditions, "DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure");
    add_condition(doc, conditions, "PIDPressure", "False", "KubeletHasSufficientPID",
                  "kubelet has sufficient PID available");
    add_condition(doc, conditions, "Ready", "True", "KubeletReady", "the node is a fake node of muster up");
    const struct pair inner[] = {{"type", "InternalIP"}, {"address", fleet_address(index, address)}};
    const struct pair host[] = {{"type", "Hostname"}, {"address", name}};
    add_pairs(doc, yyjson_mut_arr_add_obj(doc, addresses), inner, ARRAY_LEN(inner));
    add_pairs(doc, yyjson_mut_arr_add_obj(doc, addresses), host, ARRAY_LEN(host));
    add_pairs(doc, yyjson_mut_obj_add_obj(doc, status, "nodeInfo"), info, ARRAY_LEN(info));
    (void)yyjson_mut_obj_add_int(
        doc, yyjson_mut_obj_add_obj(doc, yyjson_mut_obj_add_obj(doc, status, "daemonEndpoints"), "kubeletEndpoint"),
        "Port", 0);
}

bool fleet_has(const struct fleet *fleet, yyjson_val *node)
{
    int64_t index = fleet_find(fleet, kube_text(node, "metadata", "name"));
    const struct fleet_group *group;
    char gpus[16];

    if (index < 0)
        return false;
    group = group_of(fleet, (uint32_t)index);
    if (group->gpus == 0)
        return !*kube_text(node, "metadata", "labels", "nvidia.com/gpu.count");
    (void)snprintf(gpus, sizeof gpus, "%u", group->gpus);
    return strcmp(kube_text(node, "metadata", "labels", "nvidia.com/gpu.count"), gpus) == 0 &&
           strcmp(kube_text(node, "metadata", "labels", "nvidia.com/gpu.product"), group->model->product) == 0;
}

yyjson_mut_doc *fleet_node(const struct fleet *fleet, uint32_t index)
{
    const struct fleet_group *group = group_of(fleet, index);
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);
    char name[FLEET_NAME_MAX], gpus[16], memory[16];

    (void)fleet_name(index, name);
    (void)snprintf(gpus, sizeof gpus, "%u", group->gpus);
    (void)snprintf(memory, sizeof memory, "%d", group->model->memory_mib);
    const struct pair labels[] = {{"kubernetes.io/hostname", name},   {"kubernetes.io/arch", "amd64"},
                                  {"kubernetes.io/os", "linux"},      {FLEET_LABEL, FLEET_LABEL_VALUE},
                                  {"nvidia.com/gpu.present", "true"}, {"nvidia.com/gpu.product", group->model->product},
                                  {"nvidia.com/gpu.count", gpus},     {"nvidia.com/gpu.memory", memory}};
    (void)yyjson_mut_obj_add_str(doc, root, "apiVersion", "v1");
    (void)yyjson_mut_obj_add_str(doc, root, "kind", "Node");
    yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(doc, root, "metadata");
    (void)yyjson_mut_obj_add_strcpy(doc, metadata, "name", name);
    /* The labels of GPUs come last: nodes without GPUs have none of them. */
    add_pairs(doc, yyjson_mut_obj_add_obj(doc, metadata, "labels"), labels, group->gpus > 0 ? ARRAY_LEN(labels) : 4);
    (void)yyjson_mut_obj_add_obj(doc, root, "spec");
    add_status(doc, yyjson_mut_obj_add_obj(doc, root, "status"), name, index, gpus);
    return doc;
}
