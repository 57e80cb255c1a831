/* SPDX-License-Identifier: Apache-2.0 */

/* What became of an attempt: the status of the request, a condition of the pod, an event. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/client/meta.h"
#include "kube/client/resource.h"
#include "kube/events/events.h"
#include "services/binder/binder_internal.h"
#include "services/binder/documents/write.h"
#include "services/binder/meters.h"

enum { MESSAGE_MAX = 1024 };

/* How long a pod that is bound has to be seen so, before it is written once more which GPU group it is in. */
enum { SEEN_LOOKS = 300 };
#define SEEN_WAIT (100 * NSEC_PER_MSEC)

static nsec_t retry_wait(const struct item *item)
{
    const struct binder_flags *flags = item->binder->flags;
    nsec_t first = flags->retry_first_s * NSEC_PER_SEC;
    nsec_t max = flags->retry_max_s * NSEC_PER_SEC;

    for (uint32_t i = 1; i < item->failures && first < max; i++)
        first *= 2;
    return MIN(first, max);
}

static void log_outcome(const struct job *job, bool is_bound)
{
    const struct request *request = job->request;

    if (is_bound)
        log_debug(job->binder->log, "pod is bound", log_str("namespace", request->namespace),
                  log_str("pod", request->pod), log_str("node", job->pod_node));
    else
        log_warn(job->binder->log, "pod cannot be bound", log_str("namespace", request->namespace),
                 log_str("pod", request->pod), log_str("node", request->node), log_error(&job->err));
}

static void end(struct job *job, nsec_t rest)
{
    struct item *item = job->item;
    struct binder *binder = job->binder;
    struct request_groups groups = item->request->groups;

    meters_observe(binder->meters, job->err.code == 0, job->ended - job->started);
    job_free(job);
    /* Whoever failed or was withdrawn leaves GPUs behind that nobody may want. */
    vec_foreach (&groups, group)
        binder_sync_group(binder, *group);
    item_ended(item, rest);
}

static void on_status(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;
    struct item *item = job->item;
    struct request_outcome outcome =
        request_outcome_of(job->err.code < 0, item->request->backoff_limit, item->request->failed_attempts);
    yyjson_val *object = NULL;

    job->attempt = NULL;
    if (answer->err.code < 0 && answer->status != 404) {
        item->failures++;
        log_warn(job->binder->log, "the result could not be written; trying again",
                 log_str("namespace", job->request->namespace), log_str("request", job->request->name),
                 log_error(&answer->err));
        end(job, retry_wait(item));
        return;
    }
    uint64_t version = 0;

    if (answer->err.code == 0 && kube_answer_object(answer, &object, NULL) == 0)
        version = strtoull(kube_text(object, "metadata", "resourceVersion"), NULL, 10);
    item->failures = 0;
    item_set_phase(item, outcome.phase, outcome.failed_attempts, version);
    end(job, outcome.retry_after);
}

static void write_outcome(struct job *job)
{
    const struct request *request = job->request;
    bool has_failed = job->err.code < 0;
    struct request_outcome outcome = request_outcome_of(has_failed, request->backoff_limit, request->failed_attempts);

    if (job->item->is_gone) {
        end(job, 0);
        return;
    }
    job_write(job, KUBE_PATCH_MERGE, KUBE_BIND_REQUESTS, request->namespace, request->name, "status",
              write_status(request->uid, &outcome, has_failed ? job->err.text : NULL), on_status);
}

static void on_told(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;

    job->attempt = NULL;
    if (answer->err.code < 0 && answer->status != 404)
        log_warn(job->binder->log, "the pod's condition could not be written",
                 log_str("namespace", job->request->namespace), log_str("pod", job->request->pod),
                 log_error(&answer->err));
    write_outcome(job);
}

/* Tells the pod and whoever looks at it. The request comes last: once it is done, nobody looks at it again. */
static void tell(struct job *job)
{
    const struct request *request = job->request;
    bool is_bound = job->err.code == 0;
    struct strbuf message;

    strbuf_init(&message, MESSAGE_MAX);
    if (is_bound)
        strbuf_addf(&message, "Pod bound successfully to node %s", job->pod_node);
    else
        strbuf_addf(&message, "Failed to bind pod %s/%s to node %s: %s", request->namespace, request->pod,
                    request->node, job->err.text);
    if (condition_hash_of(is_bound ? "True" : "False", bound_reason(is_bound), message.text) == job->pod_bound) {
        write_outcome(job);
    } else {
        recorder_record(job->binder->recorder, &(struct event){
                                                   .api_version = "v1",
                                                   .kind = "Pod",
                                                   .namespace = request->namespace,
                                                   .name = request->pod,
                                                   .uid = job->pod_uid,
                                                   .type = is_bound ? "Normal" : "Warning",
                                                   .reason = bound_reason(is_bound),
                                                   .message = message.text,
                                               });
        job_write(job, KUBE_PATCH_STRATEGIC, KUBE_PODS, request->namespace, request->pod, "status",
                  write_condition(job->pod_uid, is_bound, message.text, nsec_now_wall()), on_told);
    }
    strbuf_done(&message);
}

static void on_labelled(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;
    yyjson_val *pod = NULL;

    job->attempt = NULL;
    if (answer->err.code < 0 && answer->status != 404) {
        job->item->failures++;
        log_warn(job->binder->log, "the GPU group of the pod could not be written; trying again",
                 log_str("namespace", job->request->namespace), log_str("pod", job->request->pod),
                 log_error(&answer->err));
        end(job, retry_wait(job->item));
        return;
    }
    /* One that is over is not kept either, which says nothing of its bind. */
    if (answer->err.code == 0)
        job->binder->unlabelled_binds += job->is_bare;
    if (answer->err.code == 0 && kube_answer_object(answer, &pod, NULL) == 0)
        binder_pod_seen(job->binder, pod);
    tell(job);
}

/* The bind brought no label: the server takes none with a bind, or the watch does not show the pod as it is now. */
static void label(struct job *job)
{
    const struct request *request = job->request;
    const struct roster_pod *pod = roster_find(&job->binder->roster, request->namespace, request->pod);

    /* A pod that was seen bound and is in no group is not kept. */
    job->is_bare = !pod;
    job_write(job, KUBE_PATCH_MERGE, KUBE_PODS, request->namespace, request->pod, NULL,
              write_labels(job->pod_uid, &request->groups, true), on_labelled);
}

/* What is known of the pod is from before its bind, which the watch is about to show. */
static bool is_behind(const struct job *job)
{
    const struct request *request = job->request;
    const struct roster_pod *pod = roster_find(&job->binder->roster, request->namespace, request->pod);

    return pod && strcmp(pod->uid, job->pod_uid) == 0 && !pod->node[0] && !binder_is_held(job->binder) &&
           !job->binder->is_stopping;
}

static void tell_again(void *job)
{
    job_tell(job);
}

void job_tell(struct job *job)
{
    bool is_gone = job->item->is_gone || roster_is_gone(&job->binder->roster, job->pod_uid);
    bool is_shared = job->err.code == 0 && request_is_fraction(job->request) && !is_gone;

    if (is_shared && !job_has_labels(job)) {
        if (is_behind(job) && job->tries++ < SEEN_LOOKS)
            job_wait(job, SEEN_WAIT, tell_again);
        else
            label(job);
        return;
    }
    if (is_shared && job->binder->unlabelled_binds < UNLABELLED_BINDS_MAX)
        job->binder->unlabelled_binds = 0;
    tell(job);
}

void job_finish(struct job *job)
{
    bool is_bound = job->err.code == 0;

    job->ended = nsec_now_monotonic();
    log_outcome(job, is_bound);
    if (job->is_unknown) {
        job->item->failures++;
        end(job, retry_wait(job->item));
    } else if (job->is_stale || !job->pod_uid[0]) {
        write_outcome(job);
    } else if (is_bound) {
        binder_tell_later(job);
    } else {
        job_tell(job);
    }
}
