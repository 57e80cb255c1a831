/* SPDX-License-Identifier: Apache-2.0 */
#include "views/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/strmap.h"
#include "kube/client/meta.h"
#include "objects/fields.h"
#include "objects/keys.h"
#include "text/quantity.h"
#include "views/asked.h"
#include "views/workloads_internal.h"

static int64_t allocatable(yyjson_val *node, const char *name, enum quantity_unit unit)
{
    const char *text = kube_text(node, "status", "allocatable", name);
    int64_t value = 0;

    return *text && quantity_parse(text, unit, &value, NULL) == 0 ? value : 0;
}

static void read_state(struct node_row *row, yyjson_val *node, struct arena *arena)
{
    yyjson_val *conditions = yyjson_obj_get(yyjson_obj_get(node, "status"), "conditions");
    const char *state = "Unknown";
    yyjson_val *condition;
    size_t i, count;

    row->reason = "";
    yyjson_arr_foreach(conditions, i, count, condition)
    {
        const char *status = kube_text(condition, "status");

        if (strcmp(kube_text(condition, "type"), "Ready") != 0)
            continue;
        row->is_ready = strcmp(status, "True") == 0;
        state = row->is_ready ? "Ready" : strcmp(status, "False") == 0 ? "NotReady" : "Unknown";
        row->reason = row->is_ready ? "" : kube_text(condition, "message");
    }
    row->is_cordoned = yyjson_is_true(yyjson_obj_get(yyjson_obj_get(node, "spec"), "unschedulable"));
    row->state = row->is_cordoned ? arena_printf(arena, "%s,Cordoned", state) : state;
}

static void read_node(struct node_row *row, yyjson_val *node, struct arena *arena)
{
    row->name = kube_text(node, "metadata", "name");
    row->pool = kube_text(node, "metadata", "labels", KEY_NODE_POOL);
    row->model = kube_text(node, "metadata", "labels", "nvidia.com/gpu.product");
    row->gpus = allocatable(node, "nvidia.com/gpu", QUANTITY_ONE);
    row->milli_cpus = allocatable(node, "cpu", QUANTITY_MILLI);
    row->memory_bytes = allocatable(node, "memory", QUANTITY_ONE);
    row->created = view_time(kube_text(node, "metadata", "creationTimestamp"));
    if (!int_parse(kube_text(node, "metadata", "labels", KEY_NODE_GPU_MEMORY), 0, INT64_C(1) << 32,
                   &row->gpu_memory_mib))
        row->gpu_memory_mib = 0;
    read_state(row, node, arena);
}

/* A part of a GPU is on a device that a reservation pod holds as a whole. */
static void add_pod(struct node_row *row, yyjson_val *pod)
{
    struct asked asked = asked_read(pod);
    bool is_part = *kube_text(pod, "metadata", "annotations", KEY_GPU_FRACTION) != '\0' ||
                   *kube_text(pod, "metadata", "annotations", KEY_GPU_MEMORY) != '\0';

    row->pods++;
    row->gpus_milli_used += is_part ? 0 : asked.milli_gpus;
    row->milli_cpus_used += asked.milli_cpus;
    row->memory_bytes_used += asked.memory_bytes;
}

static int by_name(const void *a, const void *b)
{
    const struct node_row *one = a;
    const struct node_row *other = b;

    return strcmp(one->name, other->name);
}

void node_rows_make(const struct view_objects *objects, struct arena *arena, struct node_rows *ret)
{
    const struct view_list *nodes = &objects->of[VIEW_NODES];
    struct strmap by_node = {0};

    vec_resize(ret, nodes->len);
    for (uint32_t i = 0; i < nodes->len; i++)
        read_node(&ret->items[i], nodes->items[i], arena);
    if (ret->len > 0)
        qsort(ret->items, ret->len, sizeof *ret->items, by_name);
    vec_foreach (ret, row)
        (void)strmap_put(&by_node, "", row->name, row);
    vec_foreach (&objects->of[VIEW_PODS], pod) {
        const char *phase = kube_text(*pod, "status", "phase");
        struct node_row *row = strmap_get(&by_node, "", kube_text(*pod, "spec", "nodeName"));

        if (row && strcmp(phase, "Succeeded") != 0 && strcmp(phase, "Failed") != 0)
            add_pod(row, *pod);
    }
    strmap_done(&by_node);
}
