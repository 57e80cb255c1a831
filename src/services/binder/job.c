/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One attempt at a request: a row of steps, each of which waits for the server. Every step may have been done before, by
 * an attempt that did not live to see its end, and then finds that it has nothing to do.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "kube/autoscalers.h"
#include "kube/client/meta.h"
#include "kube/client/modify.h"
#include "kube/client/resource.h"
#include "kube/client/verbs.h"
#include "kube/follow/list.h"
#include "objects/keys.h"
#include "services/binder/binder_internal.h"
#include "services/binder/documents/document.h"
#include "services/binder/documents/write.h"
#include "text/json.h"

enum { BIND_TRIES = 8 };

const struct plugin *plugin_find(enum binder_plugin plugin)
{
    static const struct plugin *const plugins[] = {
        [BINDER_PLUGIN_VOLUMES] = &plugin_volumes,
        [BINDER_PLUGIN_CLAIMS] = &plugin_claims,
        [BINDER_PLUGIN_SHARING] = &plugin_sharing,
        [BINDER_PLUGIN_HAMI] = &plugin_hami,
    };
    _Static_assert(ARRAY_LEN(plugins) == _BINDER_PLUGIN_MAX, "every plugin has its functions");

    return plugins[plugin];
}

yyjson_val *job_pod(const struct job *job)
{
    return yyjson_doc_get_root(job->pod);
}

void job_set_stuck(struct job *job, bool is_stuck)
{
    if (job->is_stuck == is_stuck)
        return;
    job->is_stuck = is_stuck;
    job->binder->items.stuck += is_stuck ? 1 : -1ULL;
}

void job_wait(struct job *job, nsec_t time, loop_fn fn)
{
    if (!job->timer.handle)
        loop_timer_init(&job->timer, job->binder->loop, fn, job);
    job->timer.fn = fn;
    loop_timer_start(&job->timer, time);
}

void job_write(struct job *job, enum kube_verb verb, enum kube_known resource, const char *namespace, const char *name,
               const char *subresource, yyjson_mut_doc *body, kube_done_fn on_done)
{
    job->attempt =
        attempt_start(&job->binder->attempts, &(struct attempt_request){
                                                  .verb = verb,
                                                  .resource = kube_known_of(resource, job->binder->device_version),
                                                  .namespace = namespace,
                                                  .name = name,
                                                  .subresource = subresource,
                                                  .body = body,
                                                  .on_done = on_done,
                                                  .arg = job,
                                              });
    yyjson_mut_doc_free(body);
}

void job_read(struct job *job, enum kube_known resource, const char *namespace, const char *name, kube_done_fn on_done)
{
    job->call = kube_send(job->binder->client, &(struct kube_request){
                                                   .verb = KUBE_GET,
                                                   .resource = kube_known_of(resource, job->binder->device_version),
                                                   .namespace = namespace,
                                                   .name = name,
                                                   .on_done = on_done,
                                                   .arg = job,
                                               });
}

/* The pod: what is known of it is enough for most. */

static bool needs_whole_pod(const struct job *job, const struct roster_pod *pod)
{
    const struct request *request = job->request;

    return !pod || pod->node[0] || pod->has_more || (request_is_fraction(request) && !pod->sharer) ||
           request_plan(request, "extendedResourceClaimAllocation") ||
           (request->pod_uid[0] && strcmp(request->pod_uid, pod->uid) != 0);
}

static void on_pod(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;
    const struct request *request = job->request;
    struct err err = answer->err;

    job->call = NULL;
    job->is_stale = answer->status == 404;
    if (err.code < 0 || json_parse(answer->body, answer->body_len, "pod", &job->pod, &err) < 0) {
        job_fail(job, &err);
        return;
    }
    const char *uid = kube_text(job_pod(job), "metadata", "uid");

    if (request->pod_uid[0] && strcmp(uid, request->pod_uid) != 0) {
        job->is_stale = true;
        (void)err_set(&err, -ESTALE, "pod %s/%s was replaced by another pod of the same name", request->namespace,
                      request->pod);
        job_fail(job, &err);
        return;
    }
    /* The watch may be behind: until it shows the pod, what follows the bind goes by this. */
    binder_pod_seen(job->binder, job_pod(job));
    free(job->pod_uid);
    job->pod_uid = xstrdup(uid);
    job->pod_bound = condition_hash(job_pod(job));
    if (kube_text(job_pod(job), "spec", "nodeName")[0]) {
        job->pod_node = xstrdup(kube_text(job_pod(job), "spec", "nodeName"));
        job_finish(job);
        return;
    }
    job_next(job);
}

static void step_pod(struct job *job)
{
    const struct request *request = job->request;
    const struct roster_pod *pod = roster_find(&job->binder->roster, request->namespace, request->pod);

    if (needs_whole_pod(job, pod)) {
        job_read(job, KUBE_PODS, request->namespace, request->pod, on_pod);
        return;
    }
    if (request_is_fraction(request))
        BUG_ON(json_parse(pod->sharer, strlen(pod->sharer), "pod", &job->pod, NULL) < 0);
    free(job->pod_uid);
    job->pod_uid = xstrdup(pod->uid);
    job->pod_bound = pod->bound;
    job_next(job);
}

/* The node: one that we have not heard of may be new. */

static void on_node(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;

    job->call = NULL;
    if (answer->err.code < 0)
        job_fail(job, &answer->err);
    else
        job_next(job);
}

static void step_node(struct job *job)
{
    struct err err = {0};

    if (binder_node(job->binder, job->request->node)) {
        job_next(job);
    } else if (!job->request->node[0]) {
        (void)err_set(&err, -EINVAL, "the request names no node");
        job_fail(job, &err);
    } else {
        job_read(job, KUBE_NODES, NULL, job->request->node, on_node);
    }
}

/* Shared GPUs. */

static void step_sync(struct job *job)
{
    binder_sync_node(job->binder, job->request->node);
    job_next(job);
}

static void on_seated(void *arg)
{
    struct job *job = arg;

    if (job->err.code < 0) {
        struct err err = job->err;

        job->err.code = 0;
        job_fail(job, &err);
        return;
    }
    job_next(job);
}

static void on_seat(void *arg, size_t index, const char *gpu, const struct err *err)
{
    struct job *job = arg;

    if (gpu)
        job->gpus[index] = xstrdup(gpu);
    else if (job->err.code == 0)
        job->err = *err;
    if (--job->seats_open > 0)
        return;
    job_set_stuck(job, false);
    job_wait(job, 0, on_seated);
}

static void step_reserve(struct job *job)
{
    const struct request *request = job->request;

    if (!request_is_fraction(request)) {
        job_next(job);
        return;
    }
    job_set_stuck(job, true);
    job->gpus = xcalloc(request->groups.len, sizeof(char *));
    job->seats_open = request->groups.len;
    for (uint32_t i = 0; i < request->groups.len; i++)
        binder_reserve(job->binder, request->node, request->groups.items[i],
                       yyjson_obj_get(yyjson_obj_get(job_pod(job), "spec"), "tolerations"), on_seat, job, i);
}

static void on_labelled(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;
    struct err err = answer->err;
    yyjson_val *pod = NULL;

    job->attempt = NULL;
    if (err.code < 0 || kube_answer_object(answer, &pod, &err) < 0) {
        job_fail(job, &err);
        return;
    }
    binder_pod_seen(job->binder, pod);
    job_next(job);
}

bool job_has_labels(const struct job *job)
{
    const struct roster_pod *pod = roster_find(&job->binder->roster, job->request->namespace, job->request->pod);

    if (!pod || strcmp(pod->uid, job->pod_uid) != 0 || pod->group_count != job->request->groups.len)
        return false;
    for (uint32_t i = 0; i < pod->group_count; i++)
        if (!request_has_group(job->request, pod->groups[i]->id))
            return false;
    return true;
}

/*
 * The label of a single group comes with the bind, where the server takes labels with it: none of them does before 1.33,
 * and some do not after. Whether the pod has got it is looked at before the request is said to be done (finish.c); as long
 * as it is not done, the GPU stays reserved. When some in a row have come without, labels are written before the bind.
 */
static bool comes_with_bind(const struct job *job)
{
    return job->request->groups.len == 1 && job->binder->unlabelled_binds < UNLABELLED_BINDS_MAX;
}

static void step_label(struct job *job)
{
    const struct request *request = job->request;

    if (!request_is_fraction(request) || comes_with_bind(job)) {
        job_next(job);
        return;
    }
    job->is_labelled = true;
    if (job_has_labels(job)) {
        job_next(job);
        return;
    }
    job_write(job, KUBE_PATCH_MERGE, KUBE_PODS, request->namespace, request->pod, NULL,
              write_labels(job->pod_uid, &request->groups, true), on_labelled);
}

/* The bind itself. */

/* No watch was cut since the job began. */
static bool is_current(const struct job *job)
{
    return job->pauses == job->binder->pauses && !binder_is_held(job->binder);
}

/* It begins anew when nothing is held back any more, which may be now; then the job is gone. */
static void job_hold(struct job *job)
{
    job->is_held = true;
    if (!binder_is_held(job->binder))
        binder_resume_jobs(job->binder);
}

static void look_and_bind(void *job);

static void on_bound(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;

    job->bind = NULL;
    /* It begins anew, unless everything is listed anew, and the job goes with what was known. */
    if (answer->err.code == -ESTALE) {
        job_hold(job);
        return;
    }
    /* Somebody changed the pod at that moment; it has no node yet. */
    if (answer->err.code == -EAGAIN && ++job->tries < BIND_TRIES) {
        job_wait(job, (20 << job->tries) * NSEC_PER_MSEC, look_and_bind);
        return;
    }
    if (answer->err.code < 0) {
        job_fail(job, &answer->err);
        return;
    }
    job->pod_node = xstrdup(job->request->node);
    job_next(job);
}

/* After a pause none of the steps before can be relied on: a restored server may have lost what they have written. */
static enum kube_repeat may_repeat(void *arg)
{
    const struct job *job = arg;
    const struct binder *binder = job->binder;

    if (binder_is_held(binder))
        return binder->is_renewing ? KUBE_REPEAT_NEVER : KUBE_REPEAT_LATER;
    return binder->pauses == job->pauses && !binder->is_renewing ? KUBE_REPEAT_NOW : KUBE_REPEAT_NEVER;
}

static void step_bind(struct job *job)
{
    const struct request *request = job->request;
    yyjson_mut_val *zones = request_plan(request, "predictedNUMAZones");
    _cleanup_(freep) char *text = zones ? yyjson_mut_val_write(zones, 0, NULL) : NULL;
    const char *devices = job->binder->flags->has_fences ? job_shared_devices(job) : NULL;
    /* They come with the bind, so that neither is there without the other. */
    const char *annotations[11] = {KEY_RECEIVED_TYPE, request->type};
    size_t count = 2;

    if (text) {
        annotations[count++] = KEY_NUMA_PREDICTED;
        annotations[count++] = text;
    }
    if (devices) {
        annotations[count++] = FENCE_ANNOTATION;
        annotations[count++] = devices;
    }
    if (request->is_lasting) {
        annotations[count++] = KEY_DO_NOT_DISRUPT;
        annotations[count++] = "true";
        annotations[count++] = KEY_SAFE_TO_EVICT;
        annotations[count++] = "false";
    }

    bool has_label = request_is_fraction(request) && comes_with_bind(job);
    const char *const labels[] = {KEY_GPU_GROUP, has_label ? request->groups.items[0] : NULL, NULL};

    job->is_asked = true;
    job->bind = kube_bind_start(job->binder->client, &(struct kube_bind_request){
                                                         .namespace = request->namespace,
                                                         .pod = request->pod,
                                                         .uid = job->pod_uid,
                                                         .node = request->node,
                                                         .annotations = annotations,
                                                         .labels = has_label ? labels : NULL,
                                                         .may_repeat = may_repeat,
                                                         .on_done = on_bound,
                                                         .arg = job,
                                                     });
}

/*
 * What the steps before have written counts only while no watch was cut since: a server that was restored may have lost it.
 * Its watches end before it answers anybody again. So all sockets have their turn between the last answer and the bind: a
 * task that is queued by a task runs after them.
 */
static void on_look(void *arg)
{
    struct job *job = arg;

    if (!job->has_looked) {
        job->has_looked = true;
        loop_task_queue(&job->look);
    } else if (is_current(job) && !job->item->is_gone) {
        step_bind(job);
    } else {
        job_hold(job);
    }
}

static void look_and_bind(void *arg)
{
    struct job *job = arg;

    job->has_looked = false;
    loop_task_init(&job->look, job->binder->loop, on_look, job);
    loop_task_queue(&job->look);
}

static void (*const first_steps[])(struct job *) = {step_pod, step_node, step_sync, step_reserve, step_label};
enum { FIRST_STEPS = ARRAY_LEN(first_steps) };

void job_next(struct job *job)
{
    const struct plugin_options *plugins = &job->binder->plugins;
    struct err err = {0};

    /* A pod that is bound has nothing to wait for. */
    if (!job->pod_node && (binder_is_held(job->binder) || (!is_current(job) && !job->item->is_gone))) {
        job_hold(job);
        return;
    }
    size_t step = job->step++;

    if (job->item->is_gone && !job->pod_node) {
        (void)err_set(&err, -ECANCELED, "the request has been withdrawn");
        job_fail(job, &err);
    } else if (step < FIRST_STEPS) {
        first_steps[step](job);
    } else if (step < FIRST_STEPS + plugins->count) {
        const struct plugin *plugin = plugin_find(plugins->order[step - FIRST_STEPS]);

        if (plugin->is_needed(job))
            plugin->prepare(job);
        else
            job_next(job);
    } else if (step == FIRST_STEPS + plugins->count) {
        look_and_bind(job);
    } else {
        job_finish(job);
    }
}

void job_fail(struct job *job, const struct err *err)
{
    size_t at = job->step - 1;

    job->err = *err;
    if (job->err.code >= 0)
        job->err.code = -EIO;
    if (at >= FIRST_STEPS && at - FIRST_STEPS < job->binder->plugins.count)
        (void)err_wrap(&job->err, job->err.code, "plugin %s failed in PreBind",
                       binder_plugin_name(job->binder->plugins.order[at - FIRST_STEPS]));
    job_set_stuck(job, false);
    job_roll_back(job);
}

static void on_corrupt_deleted(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;
    struct item *item = job->item;

    job->attempt = NULL;
    if (answer->err.code < 0 && answer->status != 404)
        log_warn(job->binder->log, "BindRequest could not be deleted", log_str("namespace", job->request->namespace),
                 log_str("request", job->request->name), log_error(&answer->err));
    job_free(job);
    item_ended(item, 0);
}

struct job *job_new(struct item *item)
{
    struct job *job = xcalloc(1, sizeof *job);

    *job = (struct job){
        .binder = item->binder,
        .item = item,
        .request = item->request,
        .pod_uid = xstrdup(""),
        .pauses = item->binder->pauses,
        .started = nsec_now_monotonic(),
    };
    item->job = job;
    return job;
}

void job_start(struct item *item)
{
    struct job *job = job_new(item);
    const struct request *request = item->request;

    /* Its GPUs are wanted while it runs, also when it has failed before. */
    item_set_phase(item, REQUEST_ACTIVE, request->failed_attempts, request->version);
    if (request_is_corrupt(request)) {
        log_warn(job->binder->log, "deleting BindRequest: it asks for a part of a GPU but names no GPU group",
                 log_str("namespace", request->namespace), log_str("request", request->name));
        job->attempt = attempt_delete(&job->binder->attempts, kube_known(KUBE_BIND_REQUESTS), request->namespace,
                                      request->name, request->uid, true, on_corrupt_deleted, job);
        return;
    }
    job_next(job);
}

void job_free(struct job *job)
{
    if (!job)
        return;
    job_set_stuck(job, false);
    job->binder->items.telling -= job->is_telling;
    for (enum binder_plugin plugin = 0; plugin < _BINDER_PLUGIN_MAX; plugin++)
        if (plugin_find(plugin)->drop)
            plugin_find(plugin)->drop(job);
    kube_cancel(job->call);
    kube_bind_cancel(job->bind);
    kube_modify_cancel(job->modify);
    if (job->list)
        kube_list_cancel(job->list);
    attempt_cancel(job->attempt);
    loop_task_cancel(&job->look);
    loop_timer_done(&job->timer);
    for (uint32_t i = 0; job->gpus && i < job->request->groups.len; i++)
        free(job->gpus[i]);
    free(job->gpus);
    free(job->pod_uid);
    free(job->pod_node);
    yyjson_doc_free(job->pod);
    free(job);
}
