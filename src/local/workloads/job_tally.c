/* SPDX-License-Identifier: Apache-2.0 */
#include "local/workloads/job_tally.h"

#include <stdlib.h>
#include <string.h>

#include "kube/client/meta.h"
#include "local/controllers/values.h"
#include "local/workloads/job_policy.h"

enum { UNCOUNTED_MAX = 500 };

int64_t job_index_of(const struct child *pod)
{
    char *end = NULL;
    long index = strtol(pod->mark, &end, 10);

    return pod->mark[0] && *end == '\0' && index >= 0 ? index : -1;
}

static void read_spec(struct job_tally *tally, yyjson_val *job)
{
    yyjson_val *spec = yyjson_obj_get(job, "spec");
    uint32_t limit;

    tally->is_indexed = strcmp(kube_text(spec, "completionMode"), "Indexed") == 0;
    tally->is_suspended = bool_at(spec, "suspend");
    tally->parallelism = number_at(spec, 1, "parallelism");
    tally->completions = number_at(spec, -1, "completions");
    tally->backoff_limit = number_at(spec, 6, "backoffLimit");
    tally->backoff_per_index = number_at(spec, -1, "backoffLimitPerIndex");
    tally->is_per_index = tally->backoff_per_index >= 0;
    tally->only_failed_replaced = strcmp(kube_text(spec, "podReplacementPolicy"), "Failed") == 0;
    limit = tally->completions >= 0 ? (uint32_t)tally->completions : 0;
    if (!tally->is_indexed)
        return;
    job_indexes_parse(&tally->completed, kube_text(job, "status", "completedIndexes"), limit);
    job_indexes_parse(&tally->failed_indexes, kube_text(job, "status", "failedIndexes"), limit);
}

/* A pod whose uid is written down as uncounted: its finalizer can go, and when it is gone the pod counts. */
static void look_at_uncounted(struct job_tally *tally, struct owner *job, yyjson_val *uids, bool is_success)
{
    size_t i, max;
    yyjson_val *uid;

    yyjson_arr_foreach(uids, i, max, uid)
    {
        const char *text = yyjson_get_str(uid);
        struct child *pod = owner_child(job, text);

        if (pod && pod->pod.is_tracked) {
            vec_push(&tally->release, pod->uid);
            if (is_success)
                vec_push(&tally->uncounted_succeeded, pod->uid);
            else
                vec_push(&tally->uncounted_failed, pod->uid);
            continue;
        }
        tally->has_new = true;
        *(is_success ? &tally->counted_succeeded : &tally->counted_failed) += 1;
    }
}

static bool is_uncounted(const struct job_uids *uids, const char *uid)
{
    vec_foreach (uids, at) {
        if (strcmp(*at, uid) == 0)
            return true;
    }
    return false;
}

static void take_success(struct job_tally *tally, struct child *pod)
{
    int64_t index = job_index_of(pod);

    if (!tally->is_indexed) {
        if (!is_uncounted(&tally->uncounted_succeeded, pod->uid) && tally->new_succeeded.len < UNCOUNTED_MAX)
            vec_push(&tally->new_succeeded, pod->uid);
        return;
    }
    if (index < 0 || index >= tally->completions || job_indexes_has(&tally->completed, (uint32_t)index)) {
        /* Written down already, or none of ours: there is nothing to count. */
        vec_push(&tally->release, pod->uid);
        return;
    }
    vec_push(&tally->new_succeeded, pod->uid);
}

/* A pod of an index that failed too often, or by a rule, fails the index. */
static void fail_index(struct job_tally *tally, const struct child *pod, enum job_verdict verdict)
{
    int64_t index = job_index_of(pod);
    yyjson_val *object = yyjson_doc_get_root(pod->doc);
    int64_t failures = strtol(kube_text(object, "metadata", "annotations", JOB_INDEX_FAILURES), NULL, 10);

    if (tally->is_per_index && index >= 0 && index < tally->completions &&
        (verdict == JOB_FAIL_INDEX || failures >= tally->backoff_per_index))
        job_indexes_add(&tally->failed_indexes, (uint32_t)index);
}

static void take_failure(struct job_tally *tally, struct owner *job, struct child *pod)
{
    enum job_verdict verdict = JOB_COUNT;

    if (is_uncounted(&tally->uncounted_failed, pod->uid) || tally->new_failed.len >= UNCOUNTED_MAX)
        return;
    if (pod->doc && pod->pod.is_failed)
        verdict = job_policy_judge(job->object, yyjson_doc_get_root(pod->doc), tally->policy_message,
                                   sizeof tally->policy_message);
    if (verdict == JOB_IGNORE) {
        vec_push(&tally->release, pod->uid);
        return;
    }
    if (verdict == JOB_FAIL)
        tally->is_failed_by_policy = true;
    fail_index(tally, pod, verdict);
    vec_push(&tally->new_failed, pod->uid);
}

static void look_at_pod(struct job_tally *tally, struct owner *job, struct child *pod)
{
    if (pod->pod.is_succeeded) {
        if (pod->pod.is_tracked)
            take_success(tally, pod);
        return;
    }
    if (pod->pod.is_failed || (pod->is_ending && pod->pod.is_tracked && !tally->only_failed_replaced)) {
        if (pod->pod.is_tracked)
            take_failure(tally, job, pod);
        if (pod->pod.is_failed)
            return;
    }
    if (pod->is_ending) {
        tally->ending++;
        return;
    }
    vec_push(&tally->active, pod);
    tally->ready += pod->pod.is_ready;
    tally->restarts += pod->pod.restarts;
}

static void add_up(struct job_tally *tally, yyjson_val *job, struct owner *owner)
{
    tally->counted_failed += number_at(job, 0, "status", "failed");
    tally->failed = tally->counted_failed + tally->uncounted_failed.len + tally->new_failed.len;
    if (tally->is_indexed) {
        vec_foreach (&tally->new_succeeded, uid)
            job_indexes_add(&tally->completed, (uint32_t)job_index_of(owner_child(owner, *uid)));
        tally->has_new |= tally->new_succeeded.len > 0;
        vec_clear(&tally->new_succeeded);
        tally->counted_succeeded = tally->succeeded = job_indexes_len(&tally->completed);
    } else {
        tally->counted_succeeded += number_at(job, 0, "status", "succeeded");
        tally->succeeded = tally->counted_succeeded + tally->uncounted_succeeded.len + tally->new_succeeded.len;
    }
    tally->has_new |= tally->new_succeeded.len > 0 || tally->new_failed.len > 0;
}

void job_tally_init(struct job_tally *tally, struct owner *job)
{
    yyjson_val *uncounted = value_at(job->object, "status", "uncountedTerminatedPods");

    *tally = (struct job_tally){0};
    read_spec(tally, job->object);
    look_at_uncounted(tally, job, yyjson_obj_get(uncounted, "succeeded"), true);
    look_at_uncounted(tally, job, yyjson_obj_get(uncounted, "failed"), false);
    owner_foreach(job, pod) look_at_pod(tally, job, pod);
    add_up(tally, job->object, job);
}

void job_tally_done(struct job_tally *tally)
{
    vec_done(&tally->active);
    vec_done(&tally->release);
    vec_done(&tally->new_succeeded);
    vec_done(&tally->new_failed);
    vec_done(&tally->uncounted_succeeded);
    vec_done(&tally->uncounted_failed);
    job_indexes_done(&tally->completed);
    job_indexes_done(&tally->failed_indexes);
}
