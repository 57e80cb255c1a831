/* SPDX-License-Identifier: Apache-2.0 */
#include "picture/picture_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "kube/client/meta.h"
#include "objects/keys.h"
#include "picture/board.h"
#include "text/json.h"
#include "views/nodes.h"
#include "views/queues.h"
#include "views/workloads.h"

/* A workload as holders of GPUs name it. */
struct named {
    const struct workload_row *row;
    char *id;
};

/* A pod that holds GPUs of a node. */
struct holder {
    struct holder *next;
    yyjson_val *pod;
    const struct named *workload;  // NULL: it belongs to none
    int64_t milli_gpus;
};

struct making {
    struct board *board;
    struct arena arena;
    struct workload_rows workloads;
    struct node_rows nodes;
    struct strmap by_group;  // struct named by namespace and PodGroup
    struct strmap by_uid;    // and by the uid of its object
    struct strmap holders;   // the first struct holder of a node
};

void workload_id_add(struct strbuf *out, const char *namespace, const char *kind, const char *name)
{
    strbuf_addf(out, "%s/%s/%s", namespace, kind, name);
}

static char *workload_id(struct making *making, const struct workload_row *row)
{
    struct strbuf id;
    char *text;

    strbuf_init(&id, WORKLOAD_ID_MAX);
    workload_id_add(&id, row->namespace, row->kind, row->name);
    text = arena_strdup(&making->arena, id.text);
    strbuf_done(&id);
    return text;
}

static void put(struct making *making, enum board_part part, const char *id, yyjson_mut_doc *doc, yyjson_mut_val *row)
{
    size_t len = 0;

    (void)yyjson_mut_obj_add_strcpy(doc, row, "id", id);
    char *text = yyjson_mut_val_write(row, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);

    if (text)
        board_put(making->board, part, id, text, len);
    free(text);
}

static void name_workloads(struct making *making)
{
    vec_foreach (&making->workloads, row) {
        struct named *named = ARENA_NEW(&making->arena, struct named);

        *named = (struct named){row, workload_id(making, row)};
        if (*row->pod_group)
            (void)strmap_put(&making->by_group, row->namespace, row->pod_group, named);
        if (*row->uid)
            (void)strmap_put(&making->by_uid, "", row->uid, named);
    }
}

static const struct named *workload_of(const struct making *making, yyjson_val *pod)
{
    const char *group = kube_text(pod, "metadata", "annotations", KEY_POD_GROUP);
    const struct named *named =
        *group ? strmap_get(&making->by_group, kube_text(pod, "metadata", "namespace"), group) : NULL;
    yyjson_val *owner = yyjson_arr_get_first(yyjson_obj_get(yyjson_obj_get(pod, "metadata"), "ownerReferences"));

    if (!named && owner)
        named = strmap_get(&making->by_uid, "", kube_text(owner, "uid"));
    return named ? named : strmap_get(&making->by_uid, "", kube_text(pod, "metadata", "uid"));
}

/* Pods that reserve a GPU for others to share hold nothing themselves. */
static bool holds_gpus(yyjson_val *pod)
{
    const char *phase = kube_text(pod, "status", "phase");

    return *kube_text(pod, "spec", "nodeName") && strcmp(phase, "Succeeded") != 0 && strcmp(phase, "Failed") != 0 &&
           strcmp(kube_text(pod, "metadata", "namespace"), KEY_RESERVATION_NAMESPACE) != 0;
}

static int by_age(const void *a, const void *b)
{
    yyjson_val *one = *(yyjson_val *const *)a;
    yyjson_val *two = *(yyjson_val *const *)b;
    int order =
        strcmp(kube_text(one, "metadata", "creationTimestamp"), kube_text(two, "metadata", "creationTimestamp"));

    return order ? order : strcmp(kube_text(one, "metadata", "name"), kube_text(two, "metadata", "name"));
}

/* The holders of each node, the oldest first: lists are built from their end. */
static void find_holders(struct making *making, const struct view_list *pods)
{
    struct view_list sorted = {0};

    vec_foreach (pods, pod) {
        if (holds_gpus(*pod))
            vec_push(&sorted, *pod);
    }
    if (sorted.len > 0)
        qsort(sorted.items, sorted.len, sizeof *sorted.items, by_age);
    for (uint32_t i = sorted.len; i > 0; i--) {
        yyjson_val *pod = sorted.items[i - 1];
        const struct asked asked = asked_read(pod);
        const char *node = kube_text(pod, "spec", "nodeName");
        struct holder *holder;

        if (asked.milli_gpus <= 0 && asked.gpu_memory_mib <= 0)
            continue;
        holder = ARENA_NEW(&making->arena, struct holder);
        *holder =
            (struct holder){strmap_get(&making->holders, "", node), pod, workload_of(making, pod), asked.milli_gpus};
        (void)strmap_put(&making->holders, "", node, holder);
    }
    vec_done(&sorted);
}

/* The shared GPUs that a pod has parts of: their groups. */
static void add_groups(yyjson_mut_doc *doc, yyjson_mut_val *to, yyjson_val *pod)
{
    yyjson_val *labels = yyjson_obj_get(yyjson_obj_get(pod, "metadata"), "labels");
    yyjson_mut_val *groups = yyjson_mut_obj_add_arr(doc, to, "groups");
    yyjson_val *key, *value;
    size_t i, count;

    yyjson_obj_foreach(labels, i, count, key, value)
    {
        const char *name = yyjson_get_str(key);

        if (strcmp(name, KEY_GPU_GROUP) == 0 || strncmp(name, KEY_GPU_GROUP_PREFIX, strlen(KEY_GPU_GROUP_PREFIX)) == 0)
            (void)yyjson_mut_arr_add_strcpy(doc, groups, yyjson_get_str(value) ? yyjson_get_str(value) : "");
    }
}

static void add_holders(const struct making *making, yyjson_mut_doc *doc, yyjson_mut_val *row, const char *node)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, row, "holders");

    for (const struct holder *holder = strmap_get(&making->holders, "", node); holder; holder = holder->next) {
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        const struct named *workload = holder->workload;

        (void)yyjson_mut_obj_add_strcpy(doc, item, "pod", kube_text(holder->pod, "metadata", "name"));
        (void)yyjson_mut_obj_add_strcpy(doc, item, "namespace", kube_text(holder->pod, "metadata", "namespace"));
        (void)yyjson_mut_obj_add_strcpy(doc, item, "workload", workload ? workload->id : "");
        (void)yyjson_mut_obj_add_strcpy(doc, item, "queue", workload ? workload->row->queue : "");
        (void)yyjson_mut_obj_add_real(doc, item, "gpus", (double)holder->milli_gpus / 1000);
        add_groups(doc, item, holder->pod);
    }
}

static void put_nodes(struct making *making)
{
    vec_foreach (&making->nodes, node) {
        yyjson_mut_doc *doc = json_new_object(NULL);
        yyjson_mut_val *row = node_row_encode(node, doc);

        add_holders(making, doc, row, node->name);
        put(making, BOARD_NODES, node->name, doc, row);
        yyjson_mut_doc_free(doc);
    }
}

static void put_workloads(struct making *making)
{
    vec_foreach (&making->workloads, workload) {
        yyjson_mut_doc *doc = json_new_object(NULL);
        yyjson_mut_val *row = workload_row_encode(workload, doc);

        (void)yyjson_mut_obj_add_strcpy(doc, row, "reasonText", row_reason_words(workload->reason));
        put(making, BOARD_WORKLOADS, workload_id(making, workload), doc, row);
        yyjson_mut_doc_free(doc);
    }
}

/* Rows of queues whose figures cannot be computed stay as they were. */
static int put_queues(struct making *making, const struct view_objects *objects, nsec_t now, struct err *err)
{
    struct queue_rows queues = {0};
    int r = queue_rows_make(objects, now, &making->arena, &queues, err);

    if (r < 0)
        board_keep(making->board, BOARD_QUEUES);
    vec_foreach (&queues, queue) {
        yyjson_mut_doc *doc = json_new_object(NULL);

        put(making, BOARD_QUEUES, queue->name, doc, queue_row_encode(queue, doc));
        yyjson_mut_doc_free(doc);
    }
    vec_done(&queues);
    return r;
}

static void put_summary(struct making *making)
{
    yyjson_mut_val *row = NULL;
    yyjson_mut_doc *doc = json_new_object(&row);
    yyjson_mut_val *gpus = yyjson_mut_obj_add_obj(doc, row, "gpus");
    yyjson_mut_val *states = yyjson_mut_obj_add_obj(doc, row, "workloads");
    int64_t count[_ROW_STATE_MAX] = {0};
    int64_t total = 0, used = 0, largest = 0, pending = 0;

    vec_foreach (&making->nodes, node) {
        int64_t free_here = node->gpus * 1000 - node->gpus_milli_used;

        total += node->gpus;
        used += node->gpus_milli_used;
        if (node->is_ready && !node->is_cordoned)
            largest = MAX(largest, free_here);
    }
    vec_foreach (&making->workloads, workload) {
        count[workload->state]++;
        if (workload->state == ROW_PENDING)
            pending += workload->asked.milli_gpus;
    }
    (void)yyjson_mut_obj_add_int(doc, gpus, "total", total);
    (void)yyjson_mut_obj_add_real(doc, gpus, "allocated", (double)used / 1000);
    (void)yyjson_mut_obj_add_real(doc, gpus, "free", (double)(total * 1000 - used) / 1000);
    (void)yyjson_mut_obj_add_real(doc, gpus, "largestFree", (double)largest / 1000);
    (void)yyjson_mut_obj_add_real(doc, gpus, "pending", (double)pending / 1000);
    for (size_t i = 0; i < _ROW_STATE_MAX; i++)
        (void)yyjson_mut_obj_add_int(doc, states, row_state_name((enum row_state)i), count[i]);
    put(making, BOARD_SUMMARY, "summary", doc, row);
    yyjson_mut_doc_free(doc);
}

int picture_rows_make(struct board *board, const struct view_objects *objects, nsec_t now, struct err *err)
{
    struct making making = {.board = board};
    int r;

    arena_init(&making.arena);
    workload_rows_make(objects, &making.arena, &making.workloads);
    node_rows_make(objects, &making.arena, &making.nodes);
    name_workloads(&making);
    find_holders(&making, &objects->of[VIEW_PODS]);
    board_begin(board);
    put_nodes(&making);
    put_workloads(&making);
    r = put_queues(&making, objects, now, err);
    put_summary(&making);
    board_end(board, now);
    strmap_done(&making.by_group);
    strmap_done(&making.by_uid);
    strmap_done(&making.holders);
    vec_done(&making.workloads);
    vec_done(&making.nodes);
    arena_done(&making.arena);
    return r;
}
