/* SPDX-License-Identifier: Apache-2.0 */

/*
 * dynamicresources: writes into the pod's claims which devices they have got and that the pod uses them, and makes a
 * claim for extended resources that are made of devices.
 *
 * Devices that have to be attached first are waited for: their drivers say by conditions how that goes.
 *
 * A claim with devices is protected from being deleted, as Kubernetes' own scheduler does; its controller takes devices
 * and protection away again when nobody uses the claim.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "kube/client/meta.h"
#include "kube/client/modify.h"
#include "kube/client/resource.h"
#include "services/binder/binder_internal.h"
#include "services/binder/documents/claim.h"
#include "services/binder/documents/document.h"

/* Between two looks at devices that are being attached. */
#define POLL (500 * NSEC_PER_MSEC)

struct one_claim {
    char *name;
    yyjson_mut_val *allocation;  // of the request's plan; NULL: none
    bool is_extended;            // made by us, for extended resources
    bool is_ours;                // the devices are
};

struct claim_work {
    VEC(struct one_claim) claims;
    uint32_t at;
    uint32_t version;               // of the API, that the server is asked about
    void (*then)(struct job *job);  // when it is known
    nsec_t deadline;
    struct err err;
};

static yyjson_mut_val *extended_plan(const struct job *job)
{
    return request_plan(job->request, "extendedResourceClaimAllocation");
}

static bool has_claims(const struct job *job)
{
    return job->pod && (yyjson_arr_size(yyjson_obj_get(yyjson_obj_get(job_pod(job), "spec"), "resourceClaims")) > 0 ||
                        extended_plan(job));
}

static void drop(struct job *job)
{
    if (!job->claims)
        return;
    vec_foreach (&job->claims->claims, claim)
        free(claim->name);
    vec_done(&job->claims->claims);
    free(job->claims);
    job->claims = NULL;
}

static struct one_claim *claim_at(const struct job *job)
{
    return &job->claims->claims.items[job->claims->at];
}

/* All claims of the pod. */
static int find_claims(struct job *job, struct err *err)
{
    yyjson_val *entries = yyjson_obj_get(yyjson_obj_get(job_pod(job), "spec"), "resourceClaims");
    yyjson_mut_val *allocations = request_plan(job->request, "resourceClaimAllocations");
    yyjson_val *entry;
    size_t i, max;

    if (job->claims)
        return 0;
    job->claims = xcalloc(1, sizeof *job->claims);
    yyjson_arr_foreach(entries, i, max, entry)
    {
        const char *name = NULL;
        int r = claim_name(job_pod(job), entry, &name, err);

        if (r < 0)
            return r;
        if (name)
            vec_push(&job->claims->claims,
                     (struct one_claim){.name = xstrdup(name),
                                        .allocation = claim_allocation(allocations, kube_text(entry, "name"))});
    }
    if (extended_plan(job)) {
        char name[EXTENDED_NAME_MAX];

        (void)extended_claim_name(job->request->pod, job->pod_uid, name);
        vec_push(&job->claims->claims,
                 (struct one_claim){.name = xstrdup(name),
                                    .allocation = yyjson_mut_obj_get(extended_plan(job), "allocation"),
                                    .is_extended = true});
    }
    return 0;
}

static const struct kube_resource *claims_of(const struct job *job)
{
    return kube_known_of(KUBE_RESOURCE_CLAIMS, job->binder->device_version);
}

/*
 * Which version of devices the server has, the newest first. It is asked once, and again after a claim was not found:
 * the server may be another one since.
 */
static void ask_version(struct job *job);

static void on_version(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;
    struct binder *binder = job->binder;

    job->call = NULL;
    if (answer->err.code == 0) {
        binder->device_version = job->claims->version;
        binder->knows_devices = true;
        job->claims->then(job);
    } else if (answer->status == 404 && ++job->claims->version < KUBE_DEVICE_VERSIONS) {
        ask_version(job);
    } else {
        /* One that has none of them does not have the claim either: what is written next says so. */
        job->claims->then(job);
    }
}

static void ask_version(struct job *job)
{
    const struct kube_resource *resource = kube_known_of(KUBE_RESOURCE_CLAIMS, job->claims->version);
    struct strbuf path;

    strbuf_init(&path, 256);
    strbuf_addf(&path, "/apis/%s/%s", resource->group, resource->version);
    job->call = kube_send(job->binder->client, &(struct kube_request){
                                                   .verb = KUBE_GET,
                                                   .path = path.text,
                                                   .on_done = on_version,
                                                   .arg = job,
                                               });
    strbuf_done(&path);
}

static void with_version(struct job *job, void (*then)(struct job *job))
{
    job->claims->then = then;
    job->claims->version = 0;
    if (job->binder->knows_devices)
        then(job);
    else
        ask_version(job);
}

static void modify(struct job *job, const char *subresource, yyjson_val *object, kube_modify_fn change,
                   kube_done_fn on_done)
{
    job->modify = kube_modify_start(job->binder->client, &(struct kube_modify_request){
                                                             .resource = claims_of(job),
                                                             .namespace = job->request->namespace,
                                                             .name = claim_at(job)->name,
                                                             .subresource = subresource,
                                                             .object = object,
                                                             .change = change,
                                                             .on_done = on_done,
                                                             .arg = job,
                                                         });
}

static void prepare_claim(struct job *job);

static void next_claim(struct job *job)
{
    job->claims->at++;
    prepare_claim(job);
}

static void on_named(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;

    job->attempt = NULL;
    if (answer->err.code < 0)
        job_fail(job, &answer->err);
    else
        next_claim(job);
}

static int reserve(void *arg, yyjson_mut_doc *doc, yyjson_mut_val *object, struct err *err)
{
    struct job *job = arg;
    struct one_claim *claim = claim_at(job);

    (void)object;
    return claim_reserve(doc, job->request->pod, job->pod_uid, claim->allocation, &claim->is_ours, err);
}

static void after_claim(struct job *job)
{
    const struct request *request = job->request;

    job_set_stuck(job, false);
    if (claim_at(job)->is_extended)
        job_write(job, KUBE_PATCH_MERGE, KUBE_PODS, request->namespace, request->pod, "status",
                  claim_pod_status(job->pod_uid, claim_at(job)->name,
                                   yyjson_mut_obj_get(extended_plan(job), "containerMappings")),
                  on_named);
    else
        next_claim(job);
}

static void on_polled(void *arg, const struct kube_answer *answer);

static void poll_claim(void *arg)
{
    struct job *job = arg;

    job_read(job, KUBE_RESOURCE_CLAIMS, job->request->namespace, claim_at(job)->name, on_polled);
}

static void check_devices(struct job *job, const struct kube_answer *answer)
{
    struct err err = answer->err;
    yyjson_val *claim = NULL;

    if (err.code < 0 || kube_answer_object(answer, &claim, &err) < 0) {
        job_fail(job, &err);
        return;
    }
    switch (claim_state_of(claim)) {
    case CLAIM_READY:
        after_claim(job);
        return;
    case CLAIM_BROKEN:
        (void)err_set(&err, -EIO, "resource claim %s: a device cannot be attached", claim_at(job)->name);
        break;
    case CLAIM_WAITS:
        if (nsec_now_monotonic() < job->claims->deadline) {
            job_set_stuck(job, true);
            job_wait(job, POLL, poll_claim);
            return;
        }
        (void)err_set(&err, -ETIMEDOUT, "resource claim %s: timed out waiting for its devices", claim_at(job)->name);
        break;
    }
    job_fail(job, &err);
}

static void on_polled(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;

    job->call = NULL;
    check_devices(job, answer);
}

static void on_reserved(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;

    job->modify = NULL;
    check_devices(job, answer);
}

static int protect(void *arg, yyjson_mut_doc *doc, yyjson_mut_val *object, struct err *err)
{
    (void)arg;
    (void)object;
    (void)err;
    return claim_protect(doc);
}

static void on_protected(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;
    struct err err = answer->err;
    yyjson_val *object = NULL;

    job->modify = NULL;
    if (answer->status == 404)
        job->binder->knows_devices = false;
    if (err.code < 0 || kube_answer_object(answer, &object, &err) < 0) {
        job_fail(job, &err);
        return;
    }
    modify(job, "status", object, reserve, on_reserved);
}

static void on_created(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;

    job->attempt = NULL;
    if (answer->err.code < 0 && answer->status != 409)
        job_fail(job, &answer->err);
    else
        modify(job, NULL, NULL, protect, on_protected);
}

static void prepare_claim(struct job *job)
{
    const struct request *request = job->request;

    if (job->claims->at == job->claims->claims.len) {
        job_next(job);
    } else if (claim_at(job)->is_extended) {
        job_write(job, KUBE_CREATE, KUBE_RESOURCE_CLAIMS, request->namespace, NULL, NULL,
                  claim_new_extended(claims_of(job)->version, request->namespace, request->pod, job->pod_uid,
                                     yyjson_mut_obj_get(extended_plan(job), "deviceRequests")),
                  on_created);
    } else {
        modify(job, NULL, NULL, protect, on_protected);
    }
}

static void prepare(struct job *job)
{
    struct err err = {0};

    if (find_claims(job, &err) < 0) {
        job_fail(job, &err);
        return;
    }
    job->claims->at = 0;
    job->claims->deadline = nsec_now_monotonic() + job->binder->plugins.claim_timeout;
    with_version(job, prepare_claim);
}

/* Back to where it was. Of extended resources nothing is left. */

static void undo_claim(struct job *job);

static void undo_next(struct job *job, const struct kube_answer *answer)
{
    if (answer->err.code < 0 && answer->status != 404)
        job->claims->err = answer->err;
    job->claims->at++;
    undo_claim(job);
}

static void on_unnamed(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;

    job->attempt = NULL;
    undo_next(job, answer);
}

static void on_deleted(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;
    const struct request *request = job->request;

    job->attempt = NULL;
    if (answer->err.code < 0 && answer->status != 404)
        job->claims->err = answer->err;
    job_write(job, KUBE_PATCH_MERGE, KUBE_PODS, request->namespace, request->pod, "status",
              claim_pod_status(job->pod_uid, NULL, NULL), on_unnamed);
}

static int unprotect(void *arg, yyjson_mut_doc *doc, yyjson_mut_val *object, struct err *err)
{
    (void)arg;
    (void)object;
    (void)err;
    return claim_unprotect(doc);
}

static void on_unprotected(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;

    job->modify = NULL;
    if (answer->status == 404) {
        undo_next(job, answer);
        return;
    }
    job->attempt = attempt_delete(&job->binder->attempts, claims_of(job), job->request->namespace, claim_at(job)->name,
                                  NULL, true, on_deleted, job);
}

static int release(void *arg, yyjson_mut_doc *doc, yyjson_mut_val *object, struct err *err)
{
    struct job *job = arg;
    struct one_claim *claim = claim_at(job);

    (void)object;
    (void)err;
    return claim_release(doc, job->pod_uid, claim->is_ours || claim->is_extended);
}

static void on_undone(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;

    job->modify = NULL;
    if (answer->err.code == 0 && claim_at(job)->is_extended)
        modify(job, NULL, NULL, unprotect, on_unprotected);
    else
        undo_next(job, answer);
}

static void undo_claim(struct job *job)
{
    if (job->claims->at == job->claims->claims.len)
        job_undone(job, &job->claims->err);
    else
        modify(job, "status", NULL, release, on_undone);
}

static void undo(struct job *job)
{
    if (find_claims(job, NULL) < 0 && job->claims->claims.len == 0) {
        job_undone(job, NULL);
        return;
    }
    job->claims->at = 0;
    with_version(job, undo_claim);
}

const struct plugin plugin_claims = {.is_needed = has_claims, .prepare = prepare, .undo = undo, .drop = drop};
