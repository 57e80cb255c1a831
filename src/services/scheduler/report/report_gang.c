/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Scheduling conditions of PodGroups: one for each node pool, ours last, numbered. They are written by reading the status,
 * changing it and writing it back, since other pools' schedulers write theirs beside us.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/reasons/explain.h"
#include "services/scheduler/carry/writes.h"
#include "services/scheduler/report/gang_notes.h"
#include "services/scheduler/report/report.h"
#include "services/scheduler/report/report_internal.h"
#include "services/scheduler/setup.h"
#include "text/json.h"

#define CONDITION_TYPE "UnschedulableOnNodePool"

const char *report_reason_of(enum verdict_code code)
{
    switch (code) {
    case VERDICT_OVER_LIMIT:
        return "OverLimit";
    case VERDICT_OVER_QUOTA:
        return "NonPreemptibleOverQuota";
    case VERDICT_PREEMPTION_DELAY:
        return "PreemptionDelayNotElapsed";
    case VERDICT_NO_QUEUE:
    case VERDICT_QUEUE_NOT_LEAF:
        return "QueueDoesNotExist";
    case VERDICT_NO_TOPOLOGY:
    case VERDICT_TOPOLOGY_FULL:
    case VERDICT_TOPOLOGY_TOO_SMALL:
        return "Not enough resources for the workload";
    default:
        return "PodSchedulingErrors";
    }
}

static const struct {
    const char *name;
    int share;
    double unit;  // of the model in what a quantity counts
} listed[] = {{"cpu", SHARE_CPU, 1000}, {"memory", SHARE_MEMORY, 1}, {"nvidia.com/gpu", SHARE_GPU, 1}};

static void encode_amounts(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, const double amounts[SHARE_COUNT])
{
    yyjson_mut_val *list = yyjson_mut_obj_add_obj(doc, to, key);
    char text[48];

    for (size_t i = 0; i < ARRAY_LEN(listed); i++) {
        double amount = amounts[listed[i].share];

        if (amount == 0)
            continue;
        if (listed[i].share == SHARE_CPU && amount > 0)
            (void)snprintf(text, sizeof text, "%.0fm", amount);
        else if (listed[i].share == SHARE_GPU)
            (void)snprintf(text, sizeof text, "%.15g", amount);
        else
            (void)snprintf(text, sizeof text, "%.0f", amount);
        (void)yyjson_mut_obj_add_strcpy(doc, list, listed[i].name, text);
    }
}

/* The queue that stands in the way, in numbers. */
static void encode_details(const struct report *report, yyjson_mut_doc *doc, yyjson_mut_val *reason,
                           const struct explanation *explanation)
{
    const struct explained_queue *queue = NULL;

    for (uint32_t i = 0; i < explanation->queue_count; i++) {
        if (explanation->queues[i].queue == explanation->verdict.queue)
            queue = &explanation->queues[i];
    }
    if (!queue)
        return;
    bool is_fixed = explanation->verdict.code == VERDICT_OVER_QUOTA;
    double requested[SHARE_COUNT];
    for (int i = 0; i < SHARE_COUNT; i++)
        requested[i] = queue->allocated[i] + queue->asked[i];
    yyjson_mut_val *details = yyjson_mut_obj_add_obj(doc, reason, "details");
    yyjson_mut_val *in = yyjson_mut_obj_add_obj(doc, details, "queueDetails");
    (void)yyjson_mut_obj_add_str(doc, in, "name",
                                 state_name(report->state, report->state->queues.items[queue->queue].name));
    encode_amounts(doc, in, "queueRequestedResources", requested);
    encode_amounts(doc, in, "queueDeservedResources", queue->quota);
    encode_amounts(doc, in, "queueAllocatedResources", queue->allocated);
    encode_amounts(doc, in, "queueAllocatedNonPreemptibleResources", queue->fixed);
    encode_amounts(doc, in, "queueResourceLimits", queue->limit);
    encode_amounts(doc, in, "podGroupRequestedResources", queue->asked);
    if (is_fixed)
        encode_amounts(doc, in, "podGroupRequestedNonPreemptibleResources", queue->asked);
}

/* The highest number that a condition has; they only go up. */
static long long highest_id(yyjson_mut_val *conditions)
{
    long long highest = 0;
    size_t i, count;
    yyjson_mut_val *condition;

    yyjson_mut_arr_foreach(conditions, i, count, condition)
    {
        const char *id = yyjson_mut_get_str(yyjson_mut_obj_get(condition, "transitionID"));
        long long number = id ? strtoll(id, NULL, 10) : 0;

        highest = MAX(highest, number);
    }
    return highest;
}

static bool is_of_pool(yyjson_mut_val *condition, const char *pool)
{
    const char *found = yyjson_mut_get_str(yyjson_mut_obj_get(condition, "nodePool"));

    return found && strcmp(found, pool) == 0;
}

/* Puts the wanted condition behind the others, in place of what the pool has. */
static int change_condition(yyjson_val *wanted, yyjson_mut_doc *doc, yyjson_mut_val *object)
{
    const char *pool = yyjson_get_str(yyjson_obj_get(wanted, "nodePool"));
    yyjson_mut_val *status = yyjson_mut_obj_get(object, "status");
    char id[24];

    if (!status)
        status = yyjson_mut_obj_add_obj(doc, object, "status");
    yyjson_mut_val *old = yyjson_mut_obj_get(status, "schedulingConditions");
    (void)snprintf(id, sizeof id, "%lld", highest_id(old) + 1);
    yyjson_mut_val *conditions = yyjson_mut_arr(doc);
    size_t i, count;
    yyjson_mut_val *condition;
    yyjson_mut_arr_foreach(old, i, count, condition)
    {
        if (!is_of_pool(condition, pool))
            (void)yyjson_mut_arr_append(conditions, yyjson_mut_val_mut_copy(doc, condition));
    }
    yyjson_mut_val *ours = yyjson_val_mut_copy(doc, wanted);
    (void)yyjson_mut_obj_add_strcpy(doc, ours, "transitionID", id);
    (void)yyjson_mut_arr_append(conditions, ours);
    (void)yyjson_mut_obj_put(status, yyjson_mut_str(doc, "schedulingConditions"), conditions);
    return 1;
}

static int clear_conditions(yyjson_val *wanted, yyjson_mut_doc *doc, yyjson_mut_val *object)
{
    yyjson_mut_val *status = yyjson_mut_obj_get(object, "status");

    (void)wanted;
    (void)doc;
    return yyjson_mut_obj_remove_key(status, "schedulingConditions") != NULL;
}

static void put_status(struct report *report, object_key key, const yyjson_mut_doc *doc,
                       int (*change)(yyjson_val *, yyjson_mut_doc *, yyjson_mut_val *))
{
    writes_put(report->writes, &(struct write){
                                   .kind = WRITE_GANG_STATUS,
                                   .key = key,
                                   .resource = kube_known(KUBE_POD_GROUPS),
                                   .subresource = "status",
                                   .doc = doc,
                                   .change = change,
                               });
}

void report_gang_condition(struct report *report, gang_id id, const struct explanation *explanation,
                           const char *message)
{
    const struct gang *gang = &report->state->gangs.items[id];
    object_key key = key_of(gang->namespace, gang->name);
    struct gang_note *note = gang_note_find(report->gang_notes, key);
    uint64_t hash = scheduling_condition_hash("Unschedulable", message);
    nsec_t now = nsec_now_wall();
    char text[TIME_TEXT_MAX];

    if (!note || note->condition == hash)
        return;
    note->condition = hash;
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);

    (void)yyjson_mut_obj_add_str(doc, root, "type", CONDITION_TYPE);
    (void)yyjson_mut_obj_add_str(doc, root, "nodePool", report->setup->pool_name);
    (void)yyjson_mut_obj_add_str(doc, root, "reason", "Unschedulable");
    (void)yyjson_mut_obj_add_str(doc, root, "message", message);
    (void)yyjson_mut_obj_add_str(doc, root, "status", "True");
    (void)yyjson_mut_obj_add_strcpy(doc, root, "lastTransitionTime", time_format(now - now % NSEC_PER_SEC, text));
    yyjson_mut_val *reasons = yyjson_mut_obj_add_arr(doc, root, "reasons");
    yyjson_mut_val *reason = yyjson_mut_arr_add_obj(doc, reasons);
    (void)yyjson_mut_obj_add_str(doc, reason, "reason", report_reason_of(explanation->verdict.code));
    (void)yyjson_mut_obj_add_str(doc, reason, "message", message);
    if (explanation->verdict.code == VERDICT_OVER_LIMIT || explanation->verdict.code == VERDICT_OVER_QUOTA)
        encode_details(report, doc, reason, explanation);
    put_status(report, key, doc, change_condition);
    yyjson_mut_doc_free(doc);
}

static bool has_binding(const struct state *state, const struct gang *gang)
{
    for (uint32_t g = 0; g < gang->group_count; g++) {
        vec_foreach (&gang->groups[g].pods, id) {
            if (state->pods.items[*id].status == POD_BINDING)
                return true;
        }
    }
    return false;
}

void report_gangs(struct report *report)
{
    struct gang_note *note;

    for (size_t cursor = 0; (note = gang_notes_next_conditioned(report->gang_notes, &cursor));) {
        gang_id id = key_gang(report->state, note->key);
        const struct gang *gang = id == NO_ID ? NULL : &report->state->gangs.items[id];

        if (!gang || gang->pending > 0 || gang->gated > 0 || has_binding(report->state, gang) ||
            writes_has(report->writes, WRITE_GANG_STATUS, note->key))
            continue;
        yyjson_mut_doc *doc = json_new_object(NULL);
        note->condition = 0;
        put_status(report, note->key, doc, clear_conditions);
        yyjson_mut_doc_free(doc);
    }
}
