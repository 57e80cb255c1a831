/* SPDX-License-Identifier: Apache-2.0 */

/*
 * gpusharing: tells a container which GPUs it has a part of, through two ConfigMaps that its variables are taken from.
 * hamicore: adds the memory that HAMi-core holds it to.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/client/modify.h"
#include "kube/client/resource.h"
#include "objects/keys.h"
#include "services/binder/binder_internal.h"
#include "services/binder/documents/document.h"
#include "services/binder/documents/write.h"

enum { TRIES = 8 };

struct sharing_work {
    struct sharing_names names;
    struct sharing_data data;
    char *devices;
    int at;     // which of the two ConfigMaps
    int count;  // of those that are needed
    uint32_t tries;
    char limit[32];  // hamicore's
    struct err err;
};

static bool is_fraction(const struct job *job)
{
    return request_is_fraction(job->request);
}

static void drop(struct job *job)
{
    if (!job->sharing)
        return;
    free(job->sharing->devices);
    free(job->sharing);
    job->sharing = NULL;
}

static const char *name_at(const struct sharing_work *work)
{
    return work->at == 0 ? work->names.capabilities : work->names.direct;
}

static void write_map(struct job *job);

static void next_map(struct job *job)
{
    if (++job->sharing->at < job->sharing->count)
        write_map(job);
    else
        job_next(job);
}

static int merge(void *arg, yyjson_mut_doc *doc, yyjson_mut_val *object, struct err *err)
{
    struct job *job = arg;

    (void)object;
    (void)err;
    return sharing_merge(&job->sharing->data, job->sharing->at == 1, job->request->pod, job->pod_uid, doc);
}

static void on_merged(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;

    job->modify = NULL;
    if (answer->status == 404 && ++job->sharing->tries < TRIES)
        write_map(job);
    else if (answer->err.code < 0)
        job_fail(job, &answer->err);
    else
        next_map(job);
}

static void on_created(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;

    job->attempt = NULL;
    if (answer->status == 409)
        job->modify = kube_modify_start(job->binder->client, &(struct kube_modify_request){
                                                                 .resource = kube_known(KUBE_CONFIG_MAPS),
                                                                 .namespace = job->request->namespace,
                                                                 .name = name_at(job->sharing),
                                                                 .change = merge,
                                                                 .on_done = on_merged,
                                                                 .arg = job,
                                                             });
    else if (answer->err.code < 0)
        job_fail(job, &answer->err);
    else
        next_map(job);
}

static void write_map(struct job *job)
{
    const struct request *request = job->request;
    struct sharing_work *work = job->sharing;

    job_write(job, KUBE_CREATE, KUBE_CONFIG_MAPS, request->namespace, NULL, NULL,
              write_sharing(&work->data, work->at == 1, request->namespace, name_at(work), request->pod, job->pod_uid),
              on_created);
}

/* The names, which undoing needs too. */
static int find_names(struct job *job, struct sharing_container *container, struct err *err)
{
    if (!job->sharing)
        job->sharing = xcalloc(1, sizeof *job->sharing);
    int r = sharing_container(job_pod(job), container, err);
    return r < 0 ? r : sharing_names(job_pod(job), container, &job->sharing->names, err);
}

static void prepare(struct job *job)
{
    struct sharing_container container;
    struct err err = {0};

    if (find_names(job, &container, &err) < 0) {
        job_fail(job, &err);
        return;
    }
    struct sharing_work *work = job->sharing;
    bool has_fence = job->binder->flags->has_fences;
    char fence[FENCE_NAME_MAX];

    if (has_fence && !fence_name(job->pod_uid, fence)) {
        (void)err_set(&err, -EINVAL, "the pod's UID cannot be used in the name of a CDI device: %s", job->pod_uid);
        job_fail(job, &err);
        return;
    }
    work->devices = sharing_devices((const char *const *)job->gpus, job->request->groups.len,
                                    job->binder->plugins.is_cdi, has_fence ? fence : NULL);
    work->data = (struct sharing_data){
        .devices = work->devices,
        .portion = job->request->portion,
        .is_direct = sharing_is_direct(container.container),
    };
    /* The second would be empty, and the container does not wait for it. */
    work->count = !work->data.is_direct && sharing_is_optional(container.container, work->names.direct) ? 1 : 2;
    write_map(job);
}

const char *job_shared_devices(const struct job *job)
{
    return job->sharing ? job->sharing->devices : NULL;
}

static void undo_map(struct job *job);

static void on_deleted(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;

    job->attempt = NULL;
    if (answer->err.code < 0 && answer->status != 404)
        job->sharing->err = answer->err;
    if (++job->sharing->at < 2)
        undo_map(job);
    else
        job_undone(job, &job->sharing->err);
}

static void undo_map(struct job *job)
{
    job->attempt = attempt_delete(&job->binder->attempts, kube_known(KUBE_CONFIG_MAPS), job->request->namespace,
                                  name_at(job->sharing), NULL, true, on_deleted, job);
}

static void undo(struct job *job)
{
    struct sharing_container container;

    if (find_names(job, &container, NULL) < 0) {
        job_undone(job, NULL);
        return;
    }
    job->sharing->at = 0;
    undo_map(job);
}

const struct plugin plugin_sharing = {.is_needed = is_fraction, .prepare = prepare, .undo = undo, .drop = drop};

static int set_limit(void *arg, yyjson_mut_doc *doc, yyjson_mut_val *object, struct err *err)
{
    static const char key[] = "CUDA_DEVICE_MEMORY_LIMIT";
    const struct job *job = arg;
    yyjson_mut_val *values = document_member(doc, object, "data");

    (void)err;
    if (strcmp(document_text(values, key), job->sharing->limit) == 0)
        return 0;
    document_set(doc, values, key, job->sharing->limit);
    return 1;
}

static void on_limited(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;

    job->modify = NULL;
    if (answer->err.code < 0)
        job_fail(job, &answer->err);
    else
        job_next(job);
}

static void prepare_hami(struct job *job)
{
    struct sharing_work *work = job->sharing;
    const struct node_entry *node = binder_node(job->binder, job->request->node);

    /* Without a figure there is nothing to hold it to. */
    if (!node || !memory_limit(node->gpu_mib, job->request->portion, work->limit, sizeof work->limit)) {
        job_next(job);
        return;
    }
    job->modify = kube_modify_start(job->binder->client, &(struct kube_modify_request){
                                                             .resource = kube_known(KUBE_CONFIG_MAPS),
                                                             .namespace = job->request->namespace,
                                                             .name = work->names.capabilities,
                                                             .change = set_limit,
                                                             .on_done = on_limited,
                                                             .arg = job,
                                                         });
}

/* What it wrote goes with the ConfigMap. */
const struct plugin plugin_hami = {.is_needed = is_fraction, .prepare = prepare_hami};
