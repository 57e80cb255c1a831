/* SPDX-License-Identifier: Apache-2.0 */

/*
 * volumebinding: gives the pod's claims volumes that can be reached from its node. One claim after the other: a volume
 * that is there is given to it, or the provisioner is told for which node to make one. Then all are waited for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "kube/client/meta.h"
#include "kube/client/modify.h"
#include "kube/client/resource.h"
#include "kube/follow/list.h"
#include "services/binder/binder_internal.h"
#include "services/binder/documents/volume.h"
#include "services/binder/documents/write.h"
#include "text/json.h"

#define POLL_FIRST (50 * NSEC_PER_MSEC)
#define POLL_MAX NSEC_PER_SEC

struct one_volume {
    char claim[CLAIM_NAME_MAX];
    char *claim_uid;
    char *volume;       // that we gave it; NULL: none
    bool is_ephemeral;  // its claim has to be the pod's own
    bool is_told;       // the provisioner was, by us
    bool is_waited_for;
};

struct volume_work {
    VEC(struct one_volume) volumes;
    uint32_t at;
    yyjson_doc *node;
    yyjson_doc *claim;  // at hand
    yyjson_doc *class;
    yyjson_mut_doc *best;  // volume for it so far
    nsec_t deadline;
    nsec_t poll;
    struct err err;
};

static bool has_volumes(const struct job *job)
{
    yyjson_val *volumes = yyjson_obj_get(yyjson_obj_get(job_pod(job), "spec"), "volumes");
    yyjson_val *volume;
    char name[CLAIM_NAME_MAX];
    bool is_ephemeral;
    size_t i, max;

    if (!job->pod)
        return false;
    yyjson_arr_foreach(volumes, i, max, volume)
    {
        if (volume_claim_name(job_pod(job), volume, name, &is_ephemeral))
            return true;
    }
    return false;
}

/* Forgets what belongs to one claim. */
static void clear_claim(struct volume_work *work)
{
    yyjson_doc_free(work->claim);
    yyjson_doc_free(work->class);
    yyjson_mut_doc_free(work->best);
    work->claim = work->class = NULL;
    work->best = NULL;
}

static void drop(struct job *job)
{
    struct volume_work *work = job->volumes;

    if (!work)
        return;
    clear_claim(work);
    yyjson_doc_free(work->node);
    vec_foreach (&work->volumes, one) {
        free(one->claim_uid);
        free(one->volume);
    }
    vec_done(&work->volumes);
    free(work);
    job->volumes = NULL;
}

static struct one_volume *volume_at(const struct job *job)
{
    return &job->volumes->volumes.items[job->volumes->at];
}

static yyjson_val *root(yyjson_doc *doc)
{
    return yyjson_doc_get_root(doc);
}

static void look_at_claim(struct job *job);

/* Ends the step when the answer is no good. */
static bool keep(struct job *job, const struct kube_answer *answer, yyjson_doc **ret_doc)
{
    struct err err = answer->err;

    if (err.code == 0 && json_parse(answer->body, answer->body_len, "answer", ret_doc, &err) == 0)
        return true;
    job_fail(job, &err);
    return false;
}

/* Waiting for all of them. */

static void wait_for_claim(void *arg);

static void on_waited(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;
    struct volume_work *work = job->volumes;
    struct err err = answer->err;
    yyjson_val *claim = NULL;

    job->call = NULL;
    if (err.code < 0 || kube_answer_object(answer, &claim, &err) < 0) {
        job_fail(job, &err);
        return;
    }
    const char *chosen = annotation_of(claim, KEY_SELECTED_NODE);

    if (volume_claim_is_bound(claim)) {
        work->at++;
        work->poll = POLL_FIRST;
        wait_for_claim(job);
    } else if (volume_at(job)->is_told && strcmp(chosen, job->request->node) != 0) {
        /* The provisioner has given up on this node. */
        (void)err_set(&err, -EXDEV, "persistentvolumeclaim \"%s\": no volume could be provisioned for node %s",
                      volume_at(job)->claim, job->request->node);
        job_fail(job, &err);
    } else if (nsec_now_monotonic() > work->deadline) {
        (void)err_set(&err, -ETIMEDOUT, "persistentvolumeclaim \"%s\" has no volume yet: timed out waiting",
                      volume_at(job)->claim);
        job_fail(job, &err);
    } else {
        job_wait(job, work->poll, wait_for_claim);
        work->poll = MIN(2 * work->poll, POLL_MAX);
    }
}

static void wait_for_claim(void *arg)
{
    struct job *job = arg;
    struct volume_work *work = job->volumes;

    while (work->at < work->volumes.len && !volume_at(job)->is_waited_for)
        work->at++;
    if (work->at == work->volumes.len) {
        job_set_stuck(job, false);
        job_next(job);
        return;
    }
    job_read(job, KUBE_PERSISTENT_VOLUME_CLAIMS, job->request->namespace, volume_at(job)->claim, on_waited);
}

static void next_claim(struct job *job)
{
    struct volume_work *work = job->volumes;

    clear_claim(work);
    if (++work->at < work->volumes.len) {
        look_at_claim(job);
        return;
    }
    work->at = 0;
    work->poll = POLL_FIRST;
    job_set_stuck(job, true);
    wait_for_claim(job);
}

/* A volume of its own for the claim. */

static void on_told(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;

    job->attempt = NULL;
    if (answer->err.code < 0)
        job_fail(job, &answer->err);
    else
        next_claim(job);
}

static void tell_provisioner(struct job *job)
{
    struct volume_work *work = job->volumes;
    struct err err = {0};

    if (volume_class_serves(root(work->class), root(work->node), &err) < 0) {
        (void)err_wrap(&err, err.code, "persistentvolumeclaim \"%s\"", volume_at(job)->claim);
        job_fail(job, &err);
        return;
    }
    volume_at(job)->is_told = volume_at(job)->is_waited_for = true;
    job_write(job, KUBE_PATCH_MERGE, KUBE_PERSISTENT_VOLUME_CLAIMS, job->request->namespace, volume_at(job)->claim,
              NULL, write_selected_node(volume_at(job)->claim_uid, job->request->node), on_told);
}

static int give(void *arg, yyjson_mut_doc *doc, yyjson_mut_val *object, struct err *err)
{
    struct job *job = arg;

    (void)object;
    return volume_give(doc, root(job->volumes->claim), err);
}

static void list_volumes(struct job *job);

static void on_given(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;

    job->modify = NULL;
    if (answer->err.code == -EBUSY) {
        /* Another claim was faster. */
        free(volume_at(job)->volume);
        volume_at(job)->volume = NULL;
        list_volumes(job);
    } else if (answer->err.code < 0) {
        struct err err = answer->err;

        /* KAI's role for the binder does not have it. */
        if (answer->status == 403)
            (void)err_wrap(&err, err.code,
                           "persistentvolumeclaim \"%s\": the binder's role needs update on persistentvolumes",
                           volume_at(job)->claim);
        job_fail(job, &err);
    } else {
        next_claim(job);
    }
}

static int on_volume(void *arg, yyjson_val *volume)
{
    struct job *job = arg;
    struct volume_work *work = job->volumes;
    yyjson_doc *best = work->best ? yyjson_mut_doc_imut_copy(work->best, NULL) : NULL;

    if (volume_fits(volume, root(work->claim), root(work->node)) &&
        volume_is_better(volume, root(best), root(work->claim))) {
        yyjson_mut_doc_free(work->best);
        work->best = kube_copy(volume);
    }
    yyjson_doc_free(best);
    return 0;
}

static void on_volumes(void *arg, const struct kube_answer *answer, const char *version)
{
    struct job *job = arg;
    struct volume_work *work = job->volumes;

    (void)version;
    job->list = NULL;
    if (answer->err.code < 0) {
        job_fail(job, &answer->err);
        return;
    }
    if (!work->best) {
        tell_provisioner(job);
        return;
    }
    yyjson_mut_val *meta = yyjson_mut_obj_get(yyjson_mut_doc_get_root(work->best), "metadata");
    const char *name = yyjson_mut_get_str(yyjson_mut_obj_get(meta, "name"));

    volume_at(job)->volume = xstrdup(name ? name : "");
    volume_at(job)->is_waited_for = true;
    job->modify = kube_modify_start(job->binder->client, &(struct kube_modify_request){
                                                             .resource = kube_known(KUBE_PERSISTENT_VOLUMES),
                                                             .name = volume_at(job)->volume,
                                                             .change = give,
                                                             .on_done = on_given,
                                                             .arg = job,
                                                         });
}

static void list_volumes(struct job *job)
{
    yyjson_mut_doc_free(job->volumes->best);
    job->volumes->best = NULL;
    job->list = kube_list_start(job->binder->client, &(struct kube_list_request){
                                                         .resource = kube_known(KUBE_PERSISTENT_VOLUMES),
                                                         .on_object = on_volume,
                                                         .on_done = on_volumes,
                                                         .arg = job,
                                                     });
}

/* What the claim has and needs. */

static void on_own_volume(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;
    struct err err = answer->err;
    yyjson_val *volume = NULL;

    job->call = NULL;
    if (err.code == 0 && kube_answer_object(answer, &volume, &err) == 0 &&
        !volume_is_reachable(volume, root(job->volumes->node)))
        (void)err_set(&err, -EXDEV, "persistentvolumeclaim \"%s\": its volume %s is not accessible from node %s",
                      volume_at(job)->claim, kube_text(volume, "metadata", "name"), job->request->node);
    if (err.code < 0)
        job_fail(job, &err);
    else
        next_claim(job);
}

static void decide(struct job *job)
{
    struct volume_work *work = job->volumes;
    enum volume_need need = VOLUME_BOUND;
    struct err err = {0};

    if (volume_decide(root(work->claim), root(work->class), job->request->node, &need, &err) < 0) {
        job_fail(job, &err);
        return;
    }
    switch (need) {
    case VOLUME_BOUND:
        job_read(job, KUBE_PERSISTENT_VOLUMES, NULL, kube_text(root(work->claim), "spec", "volumeName"), on_own_volume);
        break;
    case VOLUME_WAIT:
        volume_at(job)->is_waited_for = true;
        next_claim(job);
        break;
    case VOLUME_CHOOSE:
        list_volumes(job);
        break;
    }
}

static void on_class(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;

    job->call = NULL;
    if (answer->status != 404 && !keep(job, answer, &job->volumes->class))
        return;
    decide(job);
}

static bool is_owned_by(yyjson_val *claim, const char *uid)
{
    yyjson_val *owners = yyjson_obj_get(yyjson_obj_get(claim, "metadata"), "ownerReferences");
    yyjson_val *owner;
    size_t i, max;

    yyjson_arr_foreach(owners, i, max, owner)
    {
        if (strcmp(kube_text(owner, "uid"), uid) == 0)
            return true;
    }
    return false;
}

static void on_claim(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;
    struct volume_work *work = job->volumes;
    struct err err = {0};

    job->call = NULL;
    if (!keep(job, answer, &work->claim))
        return;
    yyjson_val *claim = root(work->claim);
    const char *class = volume_class(claim);

    if (volume_at(job)->is_ephemeral && !is_owned_by(claim, job->pod_uid)) {
        (void)err_set(&err, -EEXIST, "persistentvolumeclaim \"%s\" was not created for this pod",
                      volume_at(job)->claim);
        job_fail(job, &err);
        return;
    }
    free(volume_at(job)->claim_uid);
    volume_at(job)->claim_uid = xstrdup(kube_text(claim, "metadata", "uid"));
    if (volume_claim_is_bound(claim) || !class[0])
        decide(job);
    else
        job_read(job, KUBE_STORAGE_CLASSES, NULL, class, on_class);
}

static void look_at_claim(struct job *job)
{
    job_read(job, KUBE_PERSISTENT_VOLUME_CLAIMS, job->request->namespace, volume_at(job)->claim, on_claim);
}

static void on_node(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;

    job->call = NULL;
    if (keep(job, answer, &job->volumes->node))
        look_at_claim(job);
}

static void prepare(struct job *job)
{
    struct volume_work *work = xcalloc(1, sizeof *work);
    yyjson_val *volumes = yyjson_obj_get(yyjson_obj_get(job_pod(job), "spec"), "volumes");
    yyjson_val *volume;
    size_t i, max;

    job->volumes = work;
    work->deadline = nsec_now_monotonic() + job->binder->plugins.volume_timeout;
    yyjson_arr_foreach(volumes, i, max, volume)
    {
        struct one_volume one = {0};

        if (volume_claim_name(job_pod(job), volume, one.claim, &one.is_ephemeral))
            vec_push(&work->volumes, one);
    }
    job_read(job, KUBE_NODES, NULL, job->request->node, on_node);
}

/* Back to where it was: only what this attempt has done, and only where no volume has come of it. */

static void undo_volume(struct job *job);

static void undo_next(struct job *job, const struct kube_answer *answer)
{
    if (answer->err.code < 0 && answer->status != 404)
        job->volumes->err = answer->err;
    job->volumes->at++;
    undo_volume(job);
}

static void on_taken_back(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;

    job->modify = NULL;
    undo_next(job, answer);
}

static int take_back(void *arg, yyjson_mut_doc *doc, yyjson_mut_val *object, struct err *err)
{
    struct job *job = arg;

    (void)object;
    (void)err;
    return volume_take_back(doc, volume_at(job)->claim_uid);
}

static void on_untold(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;

    job->attempt = NULL;
    undo_next(job, answer);
}

static void on_told_claim(void *arg, const struct kube_answer *answer)
{
    struct job *job = arg;
    yyjson_val *claim = NULL;

    job->call = NULL;
    if (answer->err.code < 0 || kube_answer_object(answer, &claim, NULL) < 0 ||
        kube_text(claim, "spec", "volumeName")[0] ||
        strcmp(annotation_of(claim, KEY_SELECTED_NODE), job->request->node) != 0) {
        undo_next(job, answer);
        return;
    }
    job_write(job, KUBE_PATCH_MERGE, KUBE_PERSISTENT_VOLUME_CLAIMS, job->request->namespace, volume_at(job)->claim,
              NULL, write_selected_node(volume_at(job)->claim_uid, NULL), on_untold);
}

static void undo_volume(struct job *job)
{
    struct volume_work *work = job->volumes;

    while (work->at < work->volumes.len && !volume_at(job)->volume && !volume_at(job)->is_told)
        work->at++;
    if (work->at == work->volumes.len)
        job_undone(job, &work->err);
    else if (volume_at(job)->volume)
        job->modify = kube_modify_start(job->binder->client, &(struct kube_modify_request){
                                                                 .resource = kube_known(KUBE_PERSISTENT_VOLUMES),
                                                                 .name = volume_at(job)->volume,
                                                                 .change = take_back,
                                                                 .on_done = on_taken_back,
                                                                 .arg = job,
                                                             });
    else
        job_read(job, KUBE_PERSISTENT_VOLUME_CLAIMS, job->request->namespace, volume_at(job)->claim, on_told_claim);
}

static void undo(struct job *job)
{
    if (!job->volumes) {
        job_undone(job, NULL);
        return;
    }
    job->volumes->at = 0;
    undo_volume(job);
}

const struct plugin plugin_volumes = {.is_needed = has_volumes, .prepare = prepare, .undo = undo, .drop = drop};
