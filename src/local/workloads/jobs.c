/* SPDX-License-Identifier: Apache-2.0 */

/* Jobs: pods that end, until enough of them have succeeded or too many have failed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/client/meta.h"
#include "local/controllers/actions.h"
#include "local/controllers/adoption.h"
#include "local/controllers/diff.h"
#include "local/controllers/status.h"
#include "local/controllers/values.h"
#include "local/workloads/job_pods.h"
#include "local/workloads/job_policy.h"
#include "local/workloads/job_tally.h"
#include "local/workloads/workloads.h"
#include "text/json.h"

enum { INDEXES_TEXT_MAX = 1 << 20 };

/* The number of pods that are ready may be so late: those of short work come and go without a write of their own. */
#define READY_LATE (500 * NSEC_PER_MSEC)

/* What is remembered of a Job. */
struct job_memory {
    nsec_t unready_since;  // its status has had another number of ready pods; 0: it has the right one
};

/* How the Job ends: by which condition, and why. `target` comes first, and the condition when all pods have ended. */
struct outcome {
    const char *target;     // "SuccessCriteriaMet", "FailureTarget"; NULL: it goes on
    const char *condition;  // "Complete", "Failed"
    const char *reason, *message;
};

static const struct outcome success = {"SuccessCriteriaMet", "Complete", "CompletionsReached",
                                       "Reached expected number of succeeded pods"};

static struct outcome failure(const char *reason, const char *message)
{
    return (struct outcome){"FailureTarget", "Failed", reason, message};
}

/* An outcome that was decided before stays. */
static struct outcome decided_outcome(yyjson_val *job)
{
    yyjson_val *condition = condition_of(job, "FailureTarget");

    if (condition_is_true(job, "FailureTarget"))
        return failure(kube_text(condition, "reason"), kube_text(condition, "message"));
    if (!condition_is_true(job, "SuccessCriteriaMet"))
        return (struct outcome){0};
    condition = condition_of(job, "SuccessCriteriaMet");
    return (struct outcome){"SuccessCriteriaMet", "Complete", kube_text(condition, "reason"),
                            kube_text(condition, "message")};
}

static bool has_too_many_restarts(yyjson_val *job, const struct job_tally *tally)
{
    if (strcmp(kube_text(job, "spec", "template", "spec", "restartPolicy"), "OnFailure") != 0)
        return false;
    return tally->backoff_limit == 0 ? tally->restarts > 0 : tally->restarts >= tally->backoff_limit;
}

static bool is_past_deadline(struct owner *job)
{
    int64_t seconds = number_at(job->object, -1, "spec", "activeDeadlineSeconds");
    nsec_t start = time_at(job->object, "status", "startTime");

    if (seconds < 0 || start == 0)
        return false;
    owner_look_again(job, start + seconds * NSEC_PER_SEC);
    return start + seconds * NSEC_PER_SEC <= nsec_now_wall();
}

static struct outcome index_outcome(yyjson_val *job, const struct job_tally *tally)
{
    int64_t failed = job_indexes_len(&tally->failed_indexes);
    int64_t max = number_at(job, -1, "spec", "maxFailedIndexes");

    if (max >= 0 && failed > max)
        return failure("MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes");
    if (failed > 0 && failed + tally->succeeded >= tally->completions && tally->active.len == 0)
        return failure("FailedIndexes", "Job has failed indexes");
    return (struct outcome){0};
}

/* Enough indexes have succeeded, by the Job's own rules. */
static struct outcome policy_outcome(yyjson_val *job, const struct job_tally *tally)
{
    static const char *const messages[] = {"Matched rules at index 0", "Matched rules at index 1",
                                           "Matched rules at index 2", "Matched rules at index 3"};
    int rule = tally->is_indexed ? job_policy_succeeds(job, &tally->completed, (uint32_t)tally->completions) : -1;

    if (rule < 0)
        return (struct outcome){0};
    return (struct outcome){"SuccessCriteriaMet", "Complete", "SuccessPolicy",
                            (size_t)rule < ARRAY_LEN(messages) ? messages[rule] : "Matched a rule"};
}

static struct outcome outcome_of(struct owner *job, const struct job_tally *tally)
{
    struct outcome outcome = decided_outcome(job->object);

    if (outcome.target)
        return outcome;
    if (tally->is_failed_by_policy)
        return failure("PodFailurePolicy", tally->policy_message);
    if (tally->failed > tally->backoff_limit || has_too_many_restarts(job->object, tally))
        return failure("BackoffLimitExceeded", "Job has reached the specified backoff limit");
    if (!tally->is_suspended && is_past_deadline(job))
        return failure("DeadlineExceeded", "Job was active longer than specified deadline");
    if (tally->is_per_index) {
        outcome = index_outcome(job->object, tally);
        if (outcome.target)
            return outcome;
    }
    outcome = policy_outcome(job->object, tally);
    if (outcome.target)
        return outcome;
    if (tally->completions < 0 ? tally->succeeded > 0 && tally->active.len == 0
                               : tally->succeeded >= tally->completions)
        return success;
    return (struct outcome){0};
}

/* The status. */

static void add_uids(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, const struct job_uids *old,
                     const struct job_uids *more)
{
    if (old->len + more->len == 0)
        return;
    yyjson_mut_val *uids = yyjson_mut_obj_add_arr(doc, to, key);
    vec_foreach (old, uid)
        (void)yyjson_mut_arr_add_strcpy(doc, uids, *uid);
    vec_foreach (more, uid)
        (void)yyjson_mut_arr_add_strcpy(doc, uids, *uid);
}

static void add_indexes(yyjson_mut_doc *doc, yyjson_mut_val *status, const char *key, const struct job_indexes *set)
{
    struct strbuf text;

    strbuf_init(&text, INDEXES_TEXT_MAX);
    job_indexes_format(set, &text);
    (void)yyjson_mut_obj_add_strcpy(doc, status, key, text.text);
    strbuf_done(&text);
}

static void add_counts(yyjson_mut_doc *doc, yyjson_mut_val *status, const struct job_tally *tally)
{
    status_add_count(doc, status, "active", tally->active.len);
    (void)yyjson_mut_obj_add_int(doc, status, "ready", tally->ready);
    (void)yyjson_mut_obj_add_int(doc, status, "terminating", tally->ending);
    status_add_count(doc, status, "succeeded", tally->counted_succeeded);
    status_add_count(doc, status, "failed", tally->counted_failed);
    if (tally->is_indexed && job_indexes_len(&tally->completed) > 0)
        add_indexes(doc, status, "completedIndexes", &tally->completed);
    /* There from the start on, also when it is empty. */
    if (tally->is_per_index)
        add_indexes(doc, status, "failedIndexes", &tally->failed_indexes);
    yyjson_mut_val *uncounted = yyjson_mut_obj_add_obj(doc, status, "uncountedTerminatedPods");
    add_uids(doc, uncounted, "succeeded", &tally->uncounted_succeeded, &tally->new_succeeded);
    add_uids(doc, uncounted, "failed", &tally->uncounted_failed, &tally->new_failed);
}

static void set_condition(yyjson_mut_doc *doc, yyjson_mut_val *conditions, const char *type, const char *status,
                          const char *reason, const char *message)
{
    status_set_condition(doc, conditions,
                         &(struct status_condition){type, status, reason, message, .has_probe_time = true},
                         nsec_now_wall());
}

/* Whether every pod has ended and been counted. */
static bool is_quiet(const struct job_tally *tally)
{
    return tally->active.len == 0 && tally->ending == 0 && tally->new_succeeded.len == 0 &&
           tally->new_failed.len == 0 && tally->uncounted_succeeded.len == 0 && tally->uncounted_failed.len == 0;
}

static void add_suspension(struct owner *job, const struct job_tally *tally, yyjson_mut_doc *doc,
                           yyjson_mut_val *conditions)
{
    if (tally->is_suspended && !condition_is_true(job->object, "Suspended")) {
        set_condition(doc, conditions, "Suspended", "True", "JobSuspended", "Job suspended");
        owner_event(job, "Normal", "Suspended", "Job suspended");
    } else if (!tally->is_suspended && condition_is_true(job->object, "Suspended")) {
        set_condition(doc, conditions, "Suspended", "False", "JobResumed", "Job resumed");
        owner_event(job, "Normal", "Resumed", "Job resumed");
    }
}

static void tell_end(struct owner *job, const struct outcome *outcome)
{
    if (strcmp(outcome->condition, "Complete") == 0)
        owner_event(job, "Normal", "Completed", "Job completed");
    else
        owner_event(job, "Warning", outcome->reason, "%s", outcome->message);
}

static bool is_only_ready(yyjson_val *job, yyjson_mut_val *status)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *changes = yyjson_mut_obj(doc);

    (void)diff_objects(doc, changes, yyjson_obj_get(job, "status"), status);
    bool result = yyjson_mut_obj_size(changes) == 1 && yyjson_mut_obj_get(changes, "ready");
    yyjson_mut_doc_free(doc);
    return result;
}

/* Whether the status is left as it is for now, because only the number of ready pods is another. */
static bool may_wait(struct owner *job, const struct job_tally *tally, yyjson_mut_val *status)
{
    struct job_memory *memory = job->state;
    nsec_t now = nsec_now_wall();

    if (number_at(job->object, -1, "status", "ready") == tally->ready || !is_only_ready(job->object, status)) {
        if (memory)
            memory->unready_since = 0;
        return false;
    }
    if (!memory)
        job->state = memory = xcalloc(1, sizeof *memory);
    if (memory->unready_since == 0 || memory->unready_since > now)
        memory->unready_since = now;
    if (now - memory->unready_since >= READY_LATE)
        return false;
    owner_look_again(job, memory->unready_since + READY_LATE);
    return true;
}

static void forget(struct owner *job)
{
    free(TAKE_PTR(job->state));
}

static void set_status(struct owner *job, const struct job_tally *tally, const struct outcome *outcome)
{
    yyjson_mut_val *status = NULL;
    yyjson_mut_doc *doc = json_new_object(&status);
    yyjson_mut_val *conditions = status_conditions(doc, job->object);
    nsec_t now = nsec_now_wall();
    bool is_over = outcome->target && is_quiet(tally);

    add_counts(doc, status, tally);
    if (!outcome->target)
        add_suspension(job, tally, doc, conditions);
    if (outcome->target)
        set_condition(doc, conditions, outcome->target, "True", outcome->reason, outcome->message);
    if (is_over)
        set_condition(doc, conditions, outcome->condition, "True", outcome->reason, outcome->message);
    status_add_conditions(doc, status, conditions);
    if (value_at(job->object, "status", "startTime") && !(tally->is_suspended && !outcome->target))
        status_keep(doc, status, job->object, "startTime");
    else if (!tally->is_suspended)
        status_add_time(doc, status, "startTime", now);
    if (is_over && strcmp(outcome->condition, "Complete") == 0)
        status_add_time(doc, status, "completionTime", now);
    if (may_wait(job, tally, status))
        yyjson_mut_doc_free(doc);
    else if (owner_set_status(job, doc, status) && is_over)
        tell_end(job, outcome);
}

/* The end. */

static void release_all(struct owner *job)
{
    owner_foreach(job, pod)
    {
        if (pod->pod.is_tracked)
            job_pod_release(job, pod);
    }
}

static void delete_when_due(struct owner *job)
{
    int64_t seconds = number_at(job->object, -1, "spec", "ttlSecondsAfterFinished");
    yyjson_val *condition = condition_of(job->object, "Complete");

    if (seconds < 0)
        return;
    if (!condition)
        condition = condition_of(job->object, "Failed");
    nsec_t due = time_at(condition, "lastTransitionTime") + seconds * NSEC_PER_SEC;
    if (due <= nsec_now_wall())
        owner_delete_itself(job);
    else
        owner_look_again(job, due);
}

static bool is_finished(yyjson_val *job)
{
    return condition_is_true(job, "Complete") || condition_is_true(job, "Failed");
}

static bool is_ours(yyjson_val *job)
{
    const char *manager = kube_text(job, "spec", "managedBy");

    return !manager[0] || strcmp(manager, "kubernetes.io/job-controller") == 0;
}

static void work_on(struct owner *job, struct job_tally *tally)
{
    struct outcome outcome = outcome_of(job, tally);

    vec_foreach (&tally->release, uid)
        job_pod_release(job, owner_child(job, *uid));
    if (outcome.target || tally->is_suspended) {
        vec_foreach (&tally->active, pod)
            job_pod_end(job, *pod);
    } else {
        job_pods_scale(job, tally);
    }
    /* Sums come first. The rest waits until it is done, to be written once. */
    if (tally->has_new || !owner_has_acted(job) || (outcome.target && !decided_outcome(job->object).target))
        set_status(job, tally, &outcome);
}

static void sync_job(struct owner *job)
{
    struct job_tally tally;

    if (!is_ours(job->object))
        return;
    if (value_at(job->object, "metadata", "deletionTimestamp")) {
        release_all(job);
        return;
    }
    if (is_finished(job->object)) {
        release_all(job);
        delete_when_due(job);
        return;
    }
    if (adoption_start(job))
        return;
    job_tally_init(&tally, job);
    work_on(job, &tally);
    job_tally_done(&tally);
}

/* Rules about failures look into a pod, and the annotation of its index counts them. */
static bool keeps(yyjson_val *pod)
{
    return strcmp(kube_text(pod, "status", "phase"), "Failed") == 0;
}

const struct controller_kind jobs_controller = {
    .service = CONTROLLER_SERVICE("jobs"),
    .component = "job-controller",
    .owner = KUBE_JOBS,
    .children = {KUBE_PODS},
    .child_kinds = 1,
    .mark = JOB_INDEX,
    .uid_label = JOB_UID_LABEL,
    .name_label = "batch.kubernetes.io/job-name",
    .keeps = keeps,
    .family_of = job_pods_family,
    .sync = sync_job,
    .adoption = ADOPTION_LABELED,
    .finalizer = JOB_FINALIZER,
    .forget = forget,
    .lost = job_pods_lost,
    .close = job_pods_close,
};
