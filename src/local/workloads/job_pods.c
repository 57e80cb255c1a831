/* SPDX-License-Identifier: Apache-2.0 */
#include "local/workloads/job_pods.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/client/meta.h"
#include "local/controllers/actions.h"
#include "local/controllers/families.h"
#include "local/controllers/template.h"
#include "local/controllers/values.h"
#include "local/workloads/job_policy.h"
#include "text/json.h"

#define BACKOFF_FIRST (10 * NSEC_PER_SEC)
#define BACKOFF_MAX (600 * NSEC_PER_SEC)

enum { PREFIX_MAX = 300, INDEXES_MAX = 1 << 20 };

void job_pod_release(struct owner *job, const struct child *pod)
{
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);
    yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(doc, root, "metadata");

    (void)yyjson_mut_obj_add_strcpy(doc, metadata, "uid", pod->uid);
    (void)yyjson_mut_arr_add_str(doc, yyjson_mut_obj_add_arr(doc, metadata, "$deleteFromPrimitiveList/finalizers"),
                                 JOB_FINALIZER);
    owner_patch_child(job, pod, KUBE_PATCH_STRATEGIC, doc, NULL);
}

void job_pod_end(struct owner *job, struct child *pod)
{
    if (pod->pod.is_tracked)
        job_pod_release(job, pod);
    else if (!pod->is_ending)
        owner_delete(job, pod);
}

/* Those that are about to be deleted already, then those that have done the least. */
static int compare_worth(const void *left, const void *right)
{
    const struct child *a = *(struct child *const *)left, *b = *(struct child *const *)right;

    if (a->pod.is_tracked != b->pod.is_tracked)
        return a->pod.is_tracked ? 1 : -1;
    if (a->pod.is_pending != b->pod.is_pending)
        return a->pod.is_pending ? -1 : 1;
    if (a->pod.is_ready != b->pod.is_ready)
        return a->pod.is_ready ? 1 : -1;
    if (a->created != b->created)
        return a->created > b->created ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Creating. */

static void add_index_env(yyjson_mut_doc *doc, yyjson_mut_val *containers)
{
    size_t i, max;
    yyjson_mut_val *container;

    yyjson_mut_arr_foreach(containers, i, max, container)
    {
        yyjson_mut_val *env = yyjson_mut_obj_get(container, "env");

        if (!yyjson_mut_is_arr(env)) {
            (void)yyjson_mut_obj_remove_str(container, "env");
            env = yyjson_mut_obj_add_arr(doc, container, "env");
        }
        yyjson_mut_val *variable = yyjson_mut_arr_add_obj(doc, env);
        (void)yyjson_mut_obj_add_str(doc, variable, "name", "JOB_COMPLETION_INDEX");
        yyjson_mut_val *from = yyjson_mut_obj_add_obj(doc, variable, "valueFrom");
        (void)yyjson_mut_obj_add_str(doc, yyjson_mut_obj_add_obj(doc, from, "fieldRef"), "fieldPath",
                                     "metadata.labels['" JOB_INDEX "']");
    }
}

/* How often pods of the index have failed, by the pods that are there. */
static int64_t index_failures(struct owner *job, int64_t index)
{
    int64_t failures = -1;

    owner_foreach(job, pod)
    {
        if (pod->doc && job_index_of(pod) == index) {
            const char *text = kube_text(yyjson_doc_get_root(pod->doc), "metadata", "annotations", JOB_INDEX_FAILURES);

            failures = MAX(failures, strtol(text, NULL, 10));
        }
    }
    return failures + 1;
}

static void set_index(struct owner *job, const struct job_tally *tally, int64_t index, yyjson_mut_doc *doc,
                      yyjson_mut_val *pod)
{
    yyjson_mut_val *spec = yyjson_mut_obj_get(pod, "spec");
    char text[32], host[PREFIX_MAX];

    (void)snprintf(text, sizeof text, "%lld", (long long)index);
    template_mark(doc, pod, "labels", JOB_INDEX, text);
    template_mark(doc, pod, "annotations", JOB_INDEX, text);
    (void)snprintf(host, sizeof host, "%s-%s", job->name, text);
    (void)yyjson_mut_obj_put(spec, yyjson_mut_str(doc, "hostname"), yyjson_mut_strcpy(doc, host));
    add_index_env(doc, yyjson_mut_obj_get(spec, "containers"));
    add_index_env(doc, yyjson_mut_obj_get(spec, "initContainers"));
    if (tally->is_per_index) {
        (void)snprintf(text, sizeof text, "%lld", (long long)index_failures(job, index));
        template_mark(doc, pod, "annotations", JOB_INDEX_FAILURES, text);
    }
}

static void create_pod(struct owner *job, const struct job_tally *tally, int64_t index, struct child_names *names)
{
    yyjson_mut_val *pod = NULL;
    char name[CHILD_NAME_MAX], prefix[PREFIX_MAX];

    if (tally->is_indexed)
        (void)snprintf(prefix, sizeof prefix, "%s-%lld-", job->name, (long long)index);
    else
        (void)snprintf(prefix, sizeof prefix, "%s-", job->name);
    yyjson_mut_doc *doc = template_pod(job, value_at(job->object, "spec", "template"),
                                       child_names_next(names, prefix, name), prefix, &pod);
    yyjson_mut_val *metadata = yyjson_mut_obj_get(pod, "metadata");
    yyjson_mut_val *finalizers = yyjson_mut_obj_get(metadata, "finalizers");
    if (!finalizers)
        finalizers = yyjson_mut_obj_add_arr(doc, metadata, "finalizers");
    (void)yyjson_mut_arr_add_str(doc, finalizers, JOB_FINALIZER);
    if (tally->is_indexed)
        set_index(job, tally, index, doc, pod);
    owner_create(job, 0, doc);
}

static nsec_t end_of(const struct child *pod)
{
    return pod->pod.finished > 0 ? pod->pod.finished : pod->created;
}

/* Failures that a rule ignores make nobody wait. */
static bool is_failure(struct owner *job, const struct child *pod)
{
    char reason[8];

    return pod->pod.is_failed && (!pod->doc || job_policy_judge(job->object, yyjson_doc_get_root(pod->doc), reason,
                                                                sizeof reason) != JOB_IGNORE);
}

/* When the next pod may start: the more pods have failed since the last success, the later. Of one index, or all. */
static nsec_t backoff_until(struct owner *job, int64_t index)
{
    nsec_t success = 0, failure = 0, wait = BACKOFF_FIRST;
    uint32_t failures = 0;

    owner_foreach(job, pod)
    {
        if (pod->pod.is_succeeded)
            success = MAX(success, end_of(pod));
    }
    owner_foreach(job, pod)
    {
        nsec_t at = end_of(pod);

        if (!is_failure(job, pod) || at <= success || (index >= 0 && job_index_of(pod) != index))
            continue;
        failures++;
        failure = MAX(failure, at);
    }
    for (uint32_t i = 1; i < failures && wait < BACKOFF_MAX; i++)
        wait *= 2;
    return failures > 0 ? failure + MIN(wait, BACKOFF_MAX) : 0;
}

static bool may_create(struct owner *job, int64_t index)
{
    nsec_t due = backoff_until(job, index);

    if (due <= nsec_now_wall())
        return true;
    owner_look_again(job, due);
    return false;
}

static void create_indexed(struct owner *job, const struct job_tally *tally, int64_t count, struct child_names *names)
{
    int64_t limit = MIN(tally->completions, INDEXES_MAX);
    _cleanup_(freep) bool *is_taken = xcalloc((size_t)limit + 1, sizeof *is_taken);
    uint32_t made = 0;

    owner_foreach(job, pod)
    {
        int64_t index = job_index_of(pod);

        if (index >= 0 && index < limit && !pod_is_finished(&pod->pod) &&
            (!pod->is_ending || tally->only_failed_replaced))
            is_taken[index] = true;
    }
    for (int64_t index = 0; index < limit && made < count; index++) {
        if (is_taken[index] || job_indexes_has(&tally->completed, (uint32_t)index) ||
            job_indexes_has(&tally->failed_indexes, (uint32_t)index))
            continue;
        if (!tally->is_per_index || may_create(job, index)) {
            create_pod(job, tally, index, names);
            made++;
        }
    }
}

static int64_t wanted_pods(const struct job_tally *tally)
{
    if (tally->completions < 0)
        return tally->succeeded > 0 ? tally->active.len : tally->parallelism;
    return MAX(MIN(tally->parallelism,
                   tally->completions - tally->succeeded - (int64_t)job_indexes_len(&tally->failed_indexes)),
               0);
}

void job_pods_scale(struct owner *job, struct job_tally *tally)
{
    int64_t have = tally->active.len, wanted = wanted_pods(tally);
    int64_t missing = wanted - have - (tally->only_failed_replaced ? tally->ending : 0);

    if (have > wanted) {
        qsort(tally->active.items, tally->active.len, sizeof *tally->active.items, compare_worth);
        for (int64_t i = 0; i < have - wanted; i++)
            job_pod_end(job, tally->active.items[i]);
        return;
    }
    missing = MIN(missing, owner_create_max(job));
    if (missing <= 0 || (!tally->is_per_index && !may_create(job, -1)))
        return;
    struct child_names names;
    child_names_init(&names, job);
    if (tally->is_indexed)
        create_indexed(job, tally, missing, &names);
    for (int64_t i = 0; !tally->is_indexed && i < missing; i++)
        create_pod(job, tally, -1, &names);
    child_names_done(&names);
}

/* Pods without a Job. */

/* A pod whose Job may be gone: the Job is read to be certain, and then the pod is released. */
struct stray {
    struct list_link in_controller;
    struct controller *controller;
    struct kube_call *call;
    char *namespace, *name, *uid, *job_uid;
};

const char *job_pods_family(yyjson_val *pod)
{
    const char *uid = kube_text(pod, "metadata", "labels", JOB_UID_LABEL);

    return uid[0] && array_has(value_at(pod, "metadata", "finalizers"), JOB_FINALIZER) ? uid : NULL;
}

static void stray_free(struct controller *controller, struct stray *stray)
{
    list_remove(&controller->strays, &stray->in_controller);
    if (stray->call)
        kube_cancel(TAKE_PTR(stray->call));
    free(stray->namespace);
    free(stray->name);
    free(stray->uid);
    free(stray->job_uid);
    free(stray);
}

static void on_released(void *arg, const struct kube_answer *answer)
{
    struct stray *stray = arg;

    stray->call = NULL;
    if (answer->err.code < 0 && answer->status != 404)
        log_warn(stray->controller->service->log, "the finalizer of a pod whose Job was deleted could not be removed",
                 log_str("namespace", stray->namespace), log_str("pod", stray->name), log_error(&answer->err));
    stray_free(stray->controller, stray);
}

static void on_job_read(void *arg, const struct kube_answer *answer)
{
    static const char patch[] = "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"" JOB_FINALIZER "\"]}}";
    struct stray *stray = arg;
    yyjson_val *job = NULL;

    stray->call = NULL;
    bool is_there = answer->err.code == 0 && kube_answer_object(answer, &job, NULL) == 0 &&
                    strcmp(kube_text(job, "metadata", "uid"), stray->job_uid) == 0;
    if (is_there || (answer->err.code < 0 && answer->status != 404)) {
        stray_free(stray->controller, stray);
        return;
    }
    stray->call = kube_send(stray->controller->service->client, &(struct kube_request){
                                                                    .verb = KUBE_PATCH_STRATEGIC,
                                                                    .resource = kube_known(KUBE_PODS),
                                                                    .namespace = stray->namespace,
                                                                    .name = stray->name,
                                                                    .body = patch,
                                                                    .body_len = strlen(patch),
                                                                    .is_repeatable = true,
                                                                    .on_done = on_released,
                                                                    .arg = stray,
                                                                });
}

void job_pods_lost(struct controller *controller, struct child *pod)
{
    if (!pod->pod.is_tracked || !pod->family->name || !service_is_leading(controller->service))
        return;
    struct stray *stray = xcalloc(1, sizeof *stray);
    stray->controller = controller;
    stray->namespace = xstrdup(pod->namespace);
    stray->name = xstrdup(pod->name);
    stray->uid = xstrdup(pod->uid);
    stray->job_uid = xstrdup(pod->family->uid);
    list_push(&controller->strays, &stray->in_controller);
    stray->call = kube_send(controller->service->client, &(struct kube_request){
                                                             .verb = KUBE_GET,
                                                             .resource = kube_known(KUBE_JOBS),
                                                             .namespace = stray->namespace,
                                                             .name = pod->family->name,
                                                             .on_done = on_job_read,
                                                             .arg = stray,
                                                         });
}

void job_pods_close(struct controller *controller)
{
    for (struct stray *stray; (stray = list_first(&controller->strays, struct stray, in_controller));)
        stray_free(controller, stray);
}
