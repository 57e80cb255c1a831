/* SPDX-License-Identifier: Apache-2.0 */

/* STATE and REASON of a workload, from the conditions of its Job, its PodGroup and its pods. */
#include <string.h>

#include "kube/client/meta.h"
#include "objects/fields.h"
#include "objects/keys.h"
#include "views/workloads_internal.h"

static const char *const state_names[] = {
    [ROW_PENDING] = "Pending",     [ROW_RUNNING] = "Running",         [ROW_PREEMPTING] = "Preempting",
    [ROW_SUSPENDED] = "Suspended", [ROW_TERMINATING] = "Terminating", [ROW_COMPLETED] = "Completed",
    [ROW_FAILED] = "Failed",       [ROW_CANCELLED] = "Cancelled",
};
_Static_assert(ARRAY_LEN(state_names) == _ROW_STATE_MAX, "a name for each state");

const char *row_state_name(enum row_state state)
{
    return state_names[state];
}

const char *row_reason_words(const char *reason)
{
    static const struct {
        const char *code, *words;
    } table[] = {
        {"PodSchedulingErrors", "insufficient resources"},
        {"Unschedulable", "insufficient resources"},
        {"OverLimit", "over queue limit"},
        {"NonPreemptibleOverQuota", "over quota"},
        {"PreemptionDelayNotElapsed", "preemption delay"},
        {"QueueDoesNotExist", "no such queue"},
        {"Not enough resources for the workload", "topology constraint"},
        {"NotScheduledYet", "waiting for the scheduler"},
        {"PodsNotCreated", "waiting for its pods"},
        {"Starting", "starting"},
        {"ContainerCreating", "starting"},
        {"ErrImagePull", "image pull failed"},
        {"ImagePullBackOff", "image pull failed"},
        {"CrashLoopBackOff", "keeps failing"},
        {"Dependency", "waiting for a dependency"},
        {"DependencyNeverSatisfied", "dependency never satisfied"},
        {"ArrayLimit", "array limit"},
        {"BeginTime", "begin time not reached"},
        {"Held", "held by user"},
        {"Suspended", "suspended by user"},
        {"DeadlineExceeded", "time limit reached"},
        {"BackoffLimitExceeded", "pods failed"},
        {"OOMKilled", "out of memory"},
    };

    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (strcmp(table[i].code, reason) == 0)
            return table[i].words;
    }
    return reason;
}

nsec_t row_run_time(const struct workload_row *row, nsec_t now)
{
    nsec_t end = row->finished ? row->finished : now;

    return row->started && end > row->started ? end - row->started : 0;
}

/* The item of a list of conditions whose `type` is that one; NULL: there is none. */
static yyjson_val *condition_of(yyjson_val *object, const char *type)
{
    yyjson_val *conditions = yyjson_obj_get(yyjson_obj_get(object, "status"), "conditions");
    yyjson_val *condition;
    size_t i, count;

    yyjson_arr_foreach(conditions, i, count, condition)
    {
        if (strcmp(kube_text(condition, "type"), type) == 0)
            return condition;
    }
    return NULL;
}

static bool is_true(yyjson_val *condition)
{
    return strcmp(kube_text(condition, "status"), "True") == 0;
}

static void add_node(struct joined *joined, const char *node)
{
    if (!*node)
        return;
    vec_foreach (&joined->nodes, at) {
        if (strcmp(*at, node) == 0)
            return;
    }
    vec_push(&joined->nodes, node);
}

static void add_times(struct workload_row *row, nsec_t started, nsec_t finished)
{
    if (started && (!row->started || started < row->started))
        row->started = started;
    row->finished = MAX(row->finished, finished);
}

static void read_containers(struct joined *joined, yyjson_val *pod)
{
    yyjson_val *statuses = yyjson_obj_get(yyjson_obj_get(pod, "status"), "containerStatuses");
    struct workload_row *row = &joined->row;
    yyjson_val *status;
    size_t i, count;

    yyjson_arr_foreach(statuses, i, count, status)
    {
        yyjson_val *ended = yyjson_obj_get(yyjson_obj_get(status, "state"), "terminated");
        int code = yyjson_get_int(yyjson_obj_get(ended, "exitCode"));

        add_times(row, view_time(kube_text(status, "state", "running", "startedAt")), 0);
        if (!ended)
            continue;
        add_times(row, view_time(kube_text(ended, "startedAt")), view_time(kube_text(ended, "finishedAt")));
        if (code != 0 && row->exit_code == 0) {
            row->exit_code = code;
            row->exit_signal = yyjson_get_int(yyjson_obj_get(ended, "signal"));
            if (row->exit_signal == 0 && code > 128 && code <= 192)
                row->exit_signal = code - 128;
            if (strcmp(kube_text(ended, "reason"), "OOMKilled") == 0)
                row->reason = "OOMKilled";
        }
    }
}

void joined_add_pod(struct joined *joined, yyjson_val *pod)
{
    struct workload_row *row = &joined->row;
    const char *phase = kube_text(pod, "status", "phase");
    const char *node = kube_text(pod, "spec", "nodeName");
    bool is_ending = *kube_text(pod, "metadata", "deletionTimestamp") != '\0';

    joined->pod_count++;
    read_containers(joined, pod);
    if (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0) {
        *(*phase == 'S' ? &row->pods_succeeded : &row->pods_failed) += 1;
        add_node(joined, node);
        return;
    }
    struct asked asked = asked_read(pod);
    asked_add(&joined->of_pods, &asked, 1);
    joined->pods_ending += is_ending;
    if (strcmp(phase, "Running") == 0) {
        row->pods_running++;
        add_node(joined, node);
        return;
    }
    joined->pods_pending++;
    if (!joined->waiting)
        joined->waiting = pod;
    joined->pods_nominated += *kube_text(pod, "status", "nominatedNodeName") != '\0' && !*node;
}

static void judge(struct workload_row *row, enum row_state state, const char *reason, const char *message)
{
    row->state = state;
    row->reason = reason;
    row->message = message;
}

/* A Job that has ended, or is kept from starting. */
static bool judge_job(struct joined *joined)
{
    struct workload_row *row = &joined->row;
    yyjson_val *complete = condition_of(row->job, "Complete");
    yyjson_val *failed = condition_of(row->job, "Failed");
    const char *start = kube_text(row->job, "metadata", "annotations", KEY_START);
    const char *cancelled = kube_text(row->job, "metadata", "annotations", KEY_CANCELLED);
    const char *why = kube_text(row->job, "metadata", "annotations", KEY_WAIT_REASON);

    if (*kube_text(row->job, "metadata", "deletionTimestamp")) {
        judge(row, ROW_TERMINATING, "", "");
    } else if (is_true(complete)) {
        judge(row, ROW_COMPLETED, "", "");
        add_times(row, view_time(kube_text(row->job, "status", "startTime")) * !row->started,
                  view_time(kube_text(row->job, "status", "completionTime")));
    } else if (is_true(failed)) {
        const char *reason = row->reason ? row->reason : kube_text(failed, "reason");

        add_times(row, view_time(kube_text(row->job, "status", "startTime")) * !row->started,
                  view_time(kube_text(failed, "lastTransitionTime")));
        judge(row, ROW_FAILED, reason, kube_text(failed, "message"));
    } else if (!yyjson_is_true(yyjson_obj_get(yyjson_obj_get(row->job, "spec"), "suspend"))) {
        return false;
    } else if (*cancelled) {
        judge(row, ROW_CANCELLED, "", "");
        add_times(row, view_time(kube_text(row->job, "metadata", "annotations", KEY_STARTED)), view_time(cancelled));
    } else if (strcmp(start, KEY_START_WHEN_READY) == 0) {
        judge(row, ROW_PENDING, *why ? why : "NotScheduledYet", "");
    } else {
        judge(row, ROW_SUSPENDED, strcmp(start, KEY_START_HELD) == 0 ? "Held" : "Suspended", "");
    }
    return true;
}

/* What the scheduler says of the gang; the condition that was written last counts. */
static bool judge_group(struct joined *joined)
{
    yyjson_val *conditions = yyjson_obj_get(yyjson_obj_get(joined->group, "status"), "schedulingConditions");
    yyjson_val *last = yyjson_arr_get_last(conditions);
    yyjson_val *reasons = yyjson_obj_get(last, "reasons");
    yyjson_val *first = yyjson_arr_get_first(reasons);

    if (!last)
        return false;
    const char *reason = first ? kube_text(first, "reason") : kube_text(last, "reason");
    const char *message = first ? kube_text(first, "message") : kube_text(last, "message");

    judge(&joined->row, ROW_PENDING, *reason ? reason : "PodSchedulingErrors", message);
    return true;
}

static const char *container_waits(yyjson_val *pod)
{
    yyjson_val *statuses = yyjson_obj_get(yyjson_obj_get(pod, "status"), "containerStatuses");
    yyjson_val *status;
    size_t i, count;

    yyjson_arr_foreach(statuses, i, count, status)
    {
        const char *reason = kube_text(status, "state", "waiting", "reason");

        if (*reason)
            return reason;
    }
    return "Starting";
}

static void judge_waiting(struct joined *joined)
{
    yyjson_val *scheduled = condition_of(joined->waiting, "PodScheduled");
    struct workload_row *row = &joined->row;

    if (!joined->waiting)
        judge(row, ROW_PENDING, "PodsNotCreated", "");
    else if (joined->pods_nominated > 0)
        judge(row, ROW_PREEMPTING, "", "");
    else if (*kube_text(joined->waiting, "spec", "nodeName"))
        judge(row, ROW_PENDING, container_waits(joined->waiting), "");
    else if (judge_group(joined))
        return;
    else if (scheduled && !is_true(scheduled))
        judge(row, ROW_PENDING, kube_text(scheduled, "reason"), kube_text(scheduled, "message"));
    else
        judge(row, ROW_PENDING, "NotScheduledYet", "");
}

void joined_judge(struct joined *joined, struct arena *arena)
{
    struct workload_row *row = &joined->row;
    int64_t live = row->pods_running + joined->pods_pending;

    if (row->job && judge_job(joined))
        return;
    if (live > 0 || row->job)
        row->finished = 0;
    if (joined->pods_ending > 0 && joined->pods_ending == live)
        judge(row, ROW_TERMINATING, "", "");
    else if (row->pods_running > 0)
        judge(row, ROW_RUNNING, "",
              joined->pods_pending == 0
                  ? ""
                  : arena_printf(arena, "%lld of %lld pods run", (long long)row->pods_running, (long long)row->pods));
    else if (live == 0 && row->pods_failed > 0 && !row->job)
        judge(row, ROW_FAILED, row->reason ? row->reason : "", "");
    else if (live == 0 && row->pods_succeeded > 0 && !row->job)
        judge(row, ROW_COMPLETED, "", "");
    else
        judge_waiting(joined);
}
