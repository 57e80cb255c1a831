/* SPDX-License-Identifier: Apache-2.0 */

/* Rows as JSON: names in camelCase, quantities as Kubernetes writes them, times in RFC 3339. */
#include "kube/client/meta.h"
#include "text/quantity.h"
#include "views/nodes.h"
#include "views/queues.h"
#include "views/workloads.h"

static void put_text(yyjson_mut_doc *doc, yyjson_mut_val *in, const char *key, const char *text)
{
    if (text && *text)
        (void)yyjson_mut_obj_add_strcpy(doc, in, key, text);
}

static void put_time(yyjson_mut_doc *doc, yyjson_mut_val *in, const char *key, nsec_t time)
{
    char text[TIME_TEXT_MAX];

    if (time)
        (void)yyjson_mut_obj_add_strcpy(doc, in, key, time_format(time, text));
}

static void put_amount(yyjson_mut_doc *doc, yyjson_mut_val *in, const char *key, int64_t amount,
                       enum quantity_unit unit)
{
    char text[QUANTITY_TEXT_MAX];

    if (amount > 0)
        (void)yyjson_mut_obj_add_strcpy(doc, in, key, quantity_format(amount, unit, text));
}

/* Whole numbers are written as such. */
static void put_number(yyjson_mut_doc *doc, yyjson_mut_val *in, const char *key, double number)
{
    if (number >= -1 && number < 1e15 && number == (double)(int64_t)number)
        (void)yyjson_mut_obj_add_sint(doc, in, key, (int64_t)number);
    else
        (void)yyjson_mut_obj_add_real(doc, in, key, number);
}

static void put_pods(const struct workload_row *row, yyjson_mut_doc *doc, yyjson_mut_val *in)
{
    yyjson_mut_val *pods = yyjson_mut_obj_add_obj(doc, in, "pods");

    (void)yyjson_mut_obj_add_sint(doc, pods, "total", row->pods);
    (void)yyjson_mut_obj_add_sint(doc, pods, "running", row->pods_running);
    (void)yyjson_mut_obj_add_sint(doc, pods, "succeeded", row->pods_succeeded);
    (void)yyjson_mut_obj_add_sint(doc, pods, "failed", row->pods_failed);
}

yyjson_mut_val *workload_row_encode(const struct workload_row *row, yyjson_mut_doc *doc)
{
    yyjson_mut_val *to = yyjson_mut_obj(doc);
    yyjson_mut_val *nodes;

    put_text(doc, to, "kind", row->kind);
    put_text(doc, to, "apiVersion", row->api_version);
    put_text(doc, to, "namespace", row->namespace);
    put_text(doc, to, "name", row->name);
    put_text(doc, to, "uid", row->uid);
    put_text(doc, to, "jobId", row->job_id);
    put_text(doc, to, "jobName", row->job_name);
    put_text(doc, to, "arrayJobId", row->array_id);
    put_text(doc, to, "arrayIndex", row->array_index);
    put_text(doc, to, "user", row->user);
    put_text(doc, to, "queue", row->queue);
    put_text(doc, to, "priorityClassName", row->priority_class);
    put_text(doc, to, "podGroup", row->pod_group);
    put_text(doc, to, "state", row_state_name(row->state));
    put_text(doc, to, "reason", row->reason);
    put_text(doc, to, "message", row->message);
    put_number(doc, to, "gpus", (double)row->asked.milli_gpus / 1000);
    put_amount(doc, to, "gpuMemory", row->asked.gpu_memory_mib << 20, QUANTITY_ONE);
    put_amount(doc, to, "cpus", row->asked.milli_cpus, QUANTITY_MILLI);
    put_amount(doc, to, "memory", row->asked.memory_bytes, QUANTITY_ONE);
    put_pods(row, doc, to);
    nodes = yyjson_mut_obj_add_arr(doc, to, "nodes");
    for (size_t i = 0; i < row->node_count; i++)
        (void)yyjson_mut_arr_add_strcpy(doc, nodes, row->nodes[i]);
    put_time(doc, to, "created", row->created);
    put_time(doc, to, "started", row->started);
    put_time(doc, to, "finished", row->finished);
    if (row_is_finished(row))
        (void)yyjson_mut_obj_add_int(doc, to, "exitCode", row->exit_code);
    return to;
}

yyjson_mut_val *queue_row_encode(const struct queue_row *row, yyjson_mut_doc *doc)
{
    yyjson_mut_val *to = yyjson_mut_obj(doc);

    put_text(doc, to, "name", row->name);
    put_text(doc, to, "displayName", row->display_name);
    put_text(doc, to, "parent", row->parent);
    (void)yyjson_mut_obj_add_uint(doc, to, "depth", row->depth);
    (void)yyjson_mut_obj_add_bool(doc, to, "isLeaf", row->is_leaf);
    (void)yyjson_mut_obj_add_sint(doc, to, "priority", row->priority);
    put_number(doc, to, "quota", row->quota);
    put_number(doc, to, "limit", row->limit);
    put_number(doc, to, "overQuotaWeight", row->weight);
    put_number(doc, to, "fairShare", row->fair_share);
    put_number(doc, to, "allocated", row->allocated);
    put_number(doc, to, "borrowed", row->borrowed);
    put_number(doc, to, "lent", row->lent);
    put_number(doc, to, "pending", row->pending);
    return to;
}

yyjson_mut_val *node_row_encode(const struct node_row *row, yyjson_mut_doc *doc)
{
    yyjson_mut_val *to = yyjson_mut_obj(doc);

    put_text(doc, to, "name", row->name);
    put_text(doc, to, "state", row->state);
    put_text(doc, to, "reason", row->reason);
    put_text(doc, to, "nodePool", row->pool);
    put_text(doc, to, "gpuModel", row->model);
    put_amount(doc, to, "gpuMemory", row->gpu_memory_mib << 20, QUANTITY_ONE);
    (void)yyjson_mut_obj_add_bool(doc, to, "isReady", row->is_ready);
    (void)yyjson_mut_obj_add_bool(doc, to, "isCordoned", row->is_cordoned);
    (void)yyjson_mut_obj_add_sint(doc, to, "gpus", row->gpus);
    put_number(doc, to, "gpusAllocated", (double)row->gpus_milli_used / 1000);
    put_amount(doc, to, "cpus", row->milli_cpus, QUANTITY_MILLI);
    put_amount(doc, to, "cpusAllocated", row->milli_cpus_used, QUANTITY_MILLI);
    put_amount(doc, to, "memory", row->memory_bytes, QUANTITY_ONE);
    put_amount(doc, to, "memoryAllocated", row->memory_bytes_used, QUANTITY_ONE);
    (void)yyjson_mut_obj_add_sint(doc, to, "pods", row->pods);
    put_time(doc, to, "created", row->created);
    return to;
}
