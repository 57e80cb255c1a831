/* SPDX-License-Identifier: Apache-2.0 */

/* Nodes of a scenario, with the format's defaults: a node without GPUs, with 20,000 cores, 20 GB and 110 pods. */
#include <errno.h>
#include <string.h>

#include "model/state.h"
#include "sim/scenario/scenario_internal.h"

enum { DEFAULT_CPU_MILLI = 20000000, DEFAULT_PODS = 110, DEFAULT_GPU_MEMORY_MIB = 100 };
enum { GPUS_MAX = 4096, PODS_MAX = 1000000 };
#define DEFAULT_MEMORY INT64_C(20000000000)
#define AMOUNT_MAX (INT64_C(1) << 53)

/* The label holds bytes on some clusters: what is too large for MiB is taken for them. */
#define BYTES_FROM (INT64_C(1) << 20)

/* Tests place pods by it, so every node has it. */
#define TYPE_LABEL "kai.scheduler/type"

static int read_policy(const struct json_at *numa, enum numa_policy *ret, struct err *err)
{
    static const char *const names[] = {
        [NUMA_NONE] = "none",
        [NUMA_BEST_EFFORT] = "best-effort",
        [NUMA_RESTRICTED] = "restricted",
        [NUMA_SINGLE_NODE] = "single-numa-node",
    };
    const char *name = names[NUMA_NONE];
    int rc = json_member_str(numa, "policy", JSON_OPTIONAL, &name, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(name, names[i]) == 0) {
            *ret = (enum numa_policy)i;
            return 0;
        }
    }
    return scenario_fail(numa, "policy", err, "expected none, best-effort, restricted or single-numa-node, found '%s'",
                         name);
}

static int read_scope(const struct json_at *numa, bool *ret_is_pod, struct err *err)
{
    const char *scope = "container";
    int rc = json_member_str(numa, "scope", JSON_OPTIONAL, &scope, err);

    if (rc < 0)
        return rc;
    *ret_is_pod = strcmp(scope, "pod") == 0;
    if (!*ret_is_pod && strcmp(scope, "container") != 0)
        return scenario_fail(numa, "scope", err, "expected pod or container, found '%s'", scope);
    return 0;
}

static int read_zone(struct scenario_reader *r, const struct json_at *item, struct numa_zone_spec *zone,
                     struct err *err)
{
    struct amount_spec *allocatable;
    struct amount_spec *available;
    int rc;

    if ((rc = json_object(item, err)) < 0 || (rc = scenario_name(item, "id", &zone->name, err)) < 0 ||
        (rc = scenario_amounts(r, item, "allocatable", 0, &allocatable, &zone->allocatable_count, err)) < 0 ||
        (rc = scenario_amounts(r, item, "available", 0, &available, &zone->available_count, err)) < 0)
        return rc;
    zone->allocatable = allocatable;
    zone->available = available;
    return 0;
}

/* What is free in a zone follows from the pods on the node, as it does in the rounds after the first. */
static int read_numa(struct scenario_reader *r, const struct json_at *node, const struct numa_spec **ret,
                     struct err *err)
{
    struct json_at numa;
    struct json_at array;
    struct numa_spec *spec;
    struct numa_zone_spec *zones;
    int rc = json_member_object(node, "numa", JSON_OPTIONAL, &numa, err);

    if (rc <= 0)
        return rc;
    spec = ARENA_NEW(&r->scratch, struct numa_spec);
    spec->reconstructs_available = true;
    if ((rc = read_policy(&numa, &spec->policy, err)) < 0 || (rc = read_scope(&numa, &spec->is_pod_scope, err)) < 0 ||
        (rc = json_member_array(&numa, "zones", JSON_REQUIRED, &array, err)) < 0)
        return rc;
    if (yyjson_arr_size(array.val) > NUMA_ZONES_MAX)
        return json_fail(&array, err, -EINVAL, "expected at most %d zones", NUMA_ZONES_MAX);
    zones = arena_calloc(&r->scratch, yyjson_arr_size(array.val), sizeof *zones);
    for (struct json_at item = {0}; json_next(&array, &item);) {
        rc = read_zone(r, &item, &zones[spec->zone_count++], err);
        for (size_t i = 0; rc >= 0 && i < item.index; i++) {
            if (strcmp(zones[i].name, zones[item.index].name) == 0)
                rc = scenario_fail(&item, "id", err, "zone '%s' is defined twice", zones[i].name);
        }
        if (rc < 0)
            return rc;
    }
    spec->zones = zones;
    *ret = spec;
    r->has_numa = true;
    return 0;
}

static int read_labels(struct scenario_reader *r, const struct json_at *item, struct node_spec *node, struct err *err)
{
    struct str_pair *labels;
    int rc = scenario_pairs(r, item, "labels", 1, &labels, &node->label_count, err);

    if (rc < 0)
        return rc;
    node->labels = labels;
    for (size_t i = 0; i < node->label_count; i++) {
        if (strcmp(labels[i].key, TYPE_LABEL) == 0)
            return 0;
    }
    labels[node->label_count++] = (struct str_pair){TYPE_LABEL, node->name};
    return 0;
}

static int read_mig(const struct json_at *item, struct node_spec *node, struct err *err)
{
    const char *strategy = "";
    int rc = json_member_str(item, "mig_strategy", JSON_OPTIONAL, &strategy, err);

    if (rc < 0)
        return rc;
    node->is_mig_enabled = *strategy != '\0';
    if (strcmp(strategy, "single") == 0)
        node->mig_strategy = MIG_SINGLE;
    else if (strcmp(strategy, "mixed") == 0)
        node->mig_strategy = MIG_MIXED;
    else if (*strategy != '\0' && strcmp(strategy, "none") != 0)
        return scenario_fail(item, "mig_strategy", err, "expected none, single or mixed, found '%s'", strategy);
    return 0;
}

static int read_gpu_memory(const struct json_at *item, struct node_spec *node, struct err *err)
{
    int64_t memory = DEFAULT_GPU_MEMORY_MIB;
    int rc;

    node->is_gpu_memory_known = true;
    if ((rc = json_member_int64(item, "gpu_memory_mib", JSON_OPTIONAL, 0, AMOUNT_MAX, &memory, err)) < 0 ||
        (rc = json_member_bool(item, "gpu_memory_synced", JSON_OPTIONAL, &node->is_gpu_memory_known, err)) < 0)
        return rc;
    if (memory == 0)
        memory = DEFAULT_GPU_MEMORY_MIB;
    if (memory >= BYTES_FROM)
        memory /= BYTES_FROM;
    if (memory < DEFAULT_GPU_MEMORY_MIB || memory >= BYTES_FROM)
        return scenario_fail(item, "gpu_memory_mib", err, "expected at least %d MiB and less than 1 TiB",
                             DEFAULT_GPU_MEMORY_MIB);
    node->gpu_memory_mib = memory;
    return 0;
}

static int read_capacity(struct scenario_reader *r, const struct json_at *item, struct node_spec *node, struct err *err)
{
    int64_t cpu = DEFAULT_CPU_MILLI;
    int64_t memory = DEFAULT_MEMORY;
    int64_t pods = DEFAULT_PODS;
    int64_t max_pods = 0;
    struct amount_spec *amounts;
    int rc;

    node->device_count = 0;
    if ((rc = json_member_int64(item, "gpus", JSON_OPTIONAL, 0, GPUS_MAX, &node->device_count, err)) < 0 ||
        (rc = json_member_int64(item, "cpu_milli", JSON_OPTIONAL, 0, AMOUNT_MAX, &cpu, err)) < 0 ||
        (rc = json_member_int64(item, "memory_bytes", JSON_OPTIONAL, 0, AMOUNT_MAX, &memory, err)) < 0 ||
        (rc = json_member_int64(item, "max_pods", JSON_OPTIONAL, 0, PODS_MAX, &max_pods, err)) < 0 ||
        (rc = json_member_int64(item, "pods", JSON_OPTIONAL, 0, PODS_MAX, &pods, err)) < 0)
        return rc;
    node->clamps_idle_pods = rc > 0;
    if ((rc = scenario_amounts(r, item, "mig_instances", RES_FIXED, &amounts, &node->allocatable_count, err)) < 0)
        return rc;
    amounts[RES_CPU] = (struct amount_spec){"cpu", cpu};
    amounts[RES_MEMORY] = (struct amount_spec){"memory", memory};
    /* Devices that are cut into slices of several sizes are not offered whole. */
    amounts[RES_GPU] =
        (struct amount_spec){"nvidia.com/gpu", node->mig_strategy == MIG_MIXED ? 0 : node->device_count * GPU_ONE};
    amounts[RES_PODS] = (struct amount_spec){"pods", pods};
    node->allocatable = amounts;
    return scenario_count(r, item, amounts, node->allocatable_count, err);
}

static int read_node(struct scenario_reader *r, const struct json_at *item, struct err *err)
{
    struct node_spec node = {0};
    int rc;

    if ((rc = json_object(item, err)) < 0 || (rc = scenario_name(item, "name", &node.name, err)) < 0)
        return rc;
    if (state_find_node(r->state, node.name) != NO_ID)
        return scenario_fail(item, "name", err, "node '%s' is defined twice", node.name);
    if ((rc = read_labels(r, item, &node, err)) < 0 || (rc = read_mig(item, &node, err)) < 0 ||
        (rc = read_gpu_memory(item, &node, err)) < 0 || (rc = read_capacity(r, item, &node, err)) < 0 ||
        (rc = read_numa(r, item, &node.numa, err)) < 0)
        return rc;
    if ((rc = state_put_node(r->state, &node, err)) < 0)
        return scenario_wrap(item, rc, err);
    vec_push(&r->s->nodes, state_find_node(r->state, node.name));
    return 0;
}

int scenario_read_nodes(struct scenario_reader *r, const struct json_at *topology, struct err *err)
{
    struct json_at array;
    int rc = json_member_array(topology, "nodes", JSON_REQUIRED, &array, err);

    for (struct json_at item = {0}; rc >= 0 && json_next(&array, &item);) {
        rc = read_node(r, &item, err);
        arena_clear(&r->scratch);
    }
    return rc < 0 ? rc : 0;
}
