/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Doubts: objects that can be read, and whose effect shows only in work that waits. They are looked for when the whole
 * input is known, since most are about something that is not there.
 */
#include <string.h>

#include "model/state.h"
#include "objects/decode/decode.h"
#include "objects/keys.h"
#include "objects/kinds.h"
#include "objects/notes.h"
#include "objects/queue_doubts.h"

/* Pods of other schedulers that are named one by one; a running cluster may have very many. */
enum { LEFT_OUT_NAMED = 20 };

typedef void (*doubt_fn)(const struct object_set *set, const struct object_reader *reader, const struct object *object);

static void doubt_parent(const struct object_set *set, const struct object_reader *reader, const struct object *queue)
{
    struct json_at spec = json_member(&queue->root, "spec");
    const char *parent = json_peek_str(&spec, "parentQueue");

    if (parent && *parent && !reader->options->flattens_queues && !object_set_find(set, queue->kind, "", parent))
        object_notes_warn(reader->notes,
                          "Queue %s: its parent %s does not exist, so its workloads wait; create that queue, or remove "
                          "parentQueue",
                          queue->name, parent);
}

static void doubt_queue(const struct object_set *set, const struct object_reader *reader, const struct object *queue)
{
    char text[QUEUE_DOUBT_MAX];

    doubt_parent(set, reader, queue);
    if (queue_doubt(queue->root.val, text))
        object_notes_warn(reader->notes, "Queue %s: %s", queue->name, text);
}

static bool is_finished(const struct object *pod)
{
    struct json_at status = json_member(&pod->root, "status");
    const char *phase = json_peek_str(&status, "phase");

    return phase && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0);
}

static void doubt_scheduler(const struct object_set *set, const struct object_reader *reader, const struct object *pod)
{
    struct json_at spec = json_member(&pod->root, "spec");
    const char *scheduler = json_peek_str(&spec, "schedulerName");
    const char *node = json_peek_str(&spec, "nodeName");
    const char *ours = reader->options->scheduler_name;

    (void)set;
    if ((scheduler && strcmp(scheduler, ours) == 0) || (node && *node) || is_finished(pod) || !reader->notes)
        return;
    object_notes_leave_out(reader->notes, &(struct left_out){pod->kind->kind, pod->namespace, pod->name,
                                                             scheduler ? scheduler : KEY_KUBERNETES_SCHEDULER, ours});
    if (reader->notes->left_out.len > LEFT_OUT_NAMED)
        object_notes_warn(reader->notes,
                          "further pods are left to other schedulers; 'muster why POD' names the scheduler of a pod");
    else
        object_notes_warn(reader->notes, "Pod %s/%s: it is left to %s; to schedule it here, set schedulerName: %s",
                          pod->namespace, pod->name, scheduler ? scheduler : KEY_KUBERNETES_SCHEDULER, ours);
}

static bool has_class(const struct state *state, const char *name)
{
    vec_foreach (&state->priority_classes, class) {
        if (strcmp(state_name(state, class->name), name) == 0)
            return true;
    }
    return false;
}

static const struct gang *gang_of(const struct object_reader *reader, const struct object *pod_group)
{
    gang_id id = state_find_gang(reader->state, pod_group->namespace, pod_group->name);

    return id == NO_ID || !reader->state->gangs.items[id].is_present ? NULL : &reader->state->gangs.items[id];
}

static bool has_pods(const struct gang *gang)
{
    for (uint32_t g = 0; g < gang->group_count; g++) {
        if (gang->groups[g].pods.len > 0)
            return true;
    }
    return gang->stray_pods.len > 0 || gang->succeeded > 0;
}

static bool is_made_for_workload(const struct object *pod_group)
{
    struct json_at metadata = json_member(&pod_group->root, "metadata");
    struct json_at owners = json_member(&metadata, "ownerReferences");

    return yyjson_arr_size(owners.val) > 0;
}

static void doubt_pod_group(const struct object_set *set, const struct object_reader *reader,
                            const struct object *pod_group)
{
    struct json_at spec = json_member(&pod_group->root, "spec");
    const char *class = json_peek_str(&spec, "priorityClassName");
    const struct gang *gang = gang_of(reader, pod_group);

    (void)set;
    if (!gang)
        return;
    if (class && *class && !has_class(reader->state, class))
        object_notes_warn(reader->notes, "PodGroup %s/%s: PriorityClass %s does not exist; the priority is %d",
                          pod_group->namespace, pod_group->name, class, gang->priority);
    /* One that was made for a workload stays until the workload is removed, also after its pods have ended. */
    if (!has_pods(gang) && !is_made_for_workload(pod_group))
        object_notes_warn(reader->notes, "PodGroup %s/%s: no pod belongs to it; pods join by the annotation %s: %s",
                          pod_group->namespace, pod_group->name, KEY_POD_GROUP, pod_group->name);
}

/* A level whose label no node has makes every workload wait that requires it. */
static void doubt_topology(const struct object_set *set, const struct object_reader *reader,
                           const struct object *topology)
{
    struct json_at spec = json_member(&topology->root, "spec");
    struct json_at levels = json_member(&spec, "levels");
    const struct state *state = reader->state;
    uint32_t nodes = 0;

    (void)set;
    for (struct json_at level = {0}; json_next(&levels, &level);) {
        const char *label = json_peek_str(&level, "nodeLabel");
        name_id key = 0;
        uint32_t lacking = 0;

        if (!label)
            continue;
        bool is_known = intern_find(&state->names, label, strlen(label), &key);
        nodes = 0;
        for (node_id i = 0; i < state->nodes.len; i++) {
            const struct node *node = &state->nodes.items[i];

            if (!node->is_present)
                continue;
            nodes++;
            lacking += !is_known || labels_get(state_labels(state, node->labels), key) == NO_ID;
        }
        if (lacking > 0)
            object_notes_warn(reader->notes, "Topology %s: %u of %u nodes lack label %s, which the topology needs",
                              topology->name, lacking, nodes, label);
    }
}

void reader_note_doubts(const struct object_set *set, const struct object_reader *reader)
{
    static const struct {
        const char *group;
        const char *kind;
        doubt_fn doubt;
    } rows[] = {
        {"scheduling.run.ai", "Queue", doubt_queue},
        {"kai.scheduler", "Topology", doubt_topology},
        {"kueue.x-k8s.io", "Topology", doubt_topology},
        {"scheduling.run.ai", "PodGroup", doubt_pod_group},
        {"", "Pod", doubt_scheduler},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct object_kind *kind = object_kind_of(rows[i].group, rows[i].kind);
        BUG_ON(!kind);
        for (const struct object *object = object_set_first(set, kind); object; object = object->next) {
            if (!object->is_replaced && object_in_partition(reader->options, object))
                rows[i].doubt(set, reader, object);
        }
    }
}
