/* SPDX-License-Identifier: Apache-2.0 */

/* What a pod needs before its containers start: images, objects that it refers to, GPUs or parts of them, and its plan. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpu/place/place.h"
#include "kube/client/meta.h"
#include "local/controllers/values.h"
#include "local/node/node_internal.h"

static void ignore(void *arg, const struct kube_answer *answer)
{
    (void)arg;
    (void)answer;
}

void node_pod_wait_for(struct node_pod *pod, const struct pod_waiting *waiting)
{
    yyjson_mut_doc *doc =
        notice_waiting(yyjson_doc_get_root(pod->object), waiting->container, waiting->reason, waiting->message);
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);
    struct err again = {0};

    if (text && (!pod->written || strcmp(text, pod->written) != 0)) {
        free(pod->written);
        pod->written = TAKE_PTR(text);
        node_pod_record(pod, "Warning", waiting->event, waiting->event_message);
        /* The answer is not waited for: another try writes it again. */
        (void)notice_send(pod, doc, ignore);
    }
    free(text);
    yyjson_mut_doc_free(doc);
    (void)err_set(&again, -EAGAIN, "%s", waiting->message);
    work_done(pod->node->work, &pod->work, waiting->is_timed ? NULL : &again);
}

void node_pod_wait(struct node_pod *pod, const char *reason, const char *event, const struct err *err)
{
    node_pod_wait_for(
        pod, &(struct pod_waiting){.reason = reason, .message = err->text, .event = event, .event_message = err->text});
}

static bool has_limits(yyjson_val *pod)
{
    size_t i, max;
    yyjson_val *container;

    yyjson_arr_foreach(value_at(pod, "spec", "containers"), i, max, container)
    {
        if (*kube_text(container, "resources", "limits", "cpu") ||
            *kube_text(container, "resources", "limits", "memory"))
            return true;
    }
    return false;
}

static void tell_limits(struct node_pod *pod)
{
    const struct cgroup_tree *tree = &pod->node->tree;
    struct err why = {0};

    if (tree->has_limits || pod->is_told || !has_limits(yyjson_doc_get_root(pod->object)))
        return;
    pod->is_told = true;
    (void)err_set(&why, -ENOTSUP, "limits of CPU and memory are not enforced on this machine: %s", tree->why);
    node_pod_record(pod, "Warning", "LimitsNotEnforced", why.text);
}

static int write_plan(struct node_pod *pod, enum plan_problem *ret_problem, struct err *err)
{
    struct node *node = pod->node;
    VEC(const char *) gpus = {0}, shared = {0};
    VEC(struct plan_image) stored = {0};
    _cleanup_(freep) char *socket = fence_socket(pod);
    char library[PATH_MAX];
    int r = 0;

    vec_foreach (&pod->gpus, gpu)
        vec_push(&gpus, *gpu);
    vec_push(&gpus, NULL);
    vec_foreach (&pod->fence.gpus, gpu)
        vec_push(&shared, *gpu);
    vec_push(&shared, NULL);
    vec_foreach (&pod->images.rows, row)
        vec_push(&stored, (struct plan_image){row->container, image_store_folder(node->store, row->id)});
    const struct plan_part part = {
        .container = pod->fence.container, .gpus = shared.items, .socket = socket, .library = library};
    *ret_problem = PLAN_PART;
    if (part.container && !gpu_library(library, sizeof library))
        r = err_set(err, -ENOENT,
                    "libmuster-gpu.so is not installed beside the program, so that parts of GPUs cannot be enforced");
    if (r == 0)
        r = plan_write(&(struct plan_request){.folder = pod->folder,
                                              .pod = yyjson_doc_get_root(pod->object),
                                              .sources = &pod->sources,
                                              .machine = &node->machine,
                                              .tree = &node->tree,
                                              .gpus = gpus.items,
                                              .rules = joined_rules(node),
                                              .lease_path = node->joined.lease_path,
                                              .part = part.container ? &part : NULL,
                                              .images = node->images,
                                              .stored = stored.items,
                                              .stored_count = stored.len,
                                              .processes_max = node->processes_max},
                       ret_problem, err);
    vec_done(&gpus);
    vec_done(&shared);
    vec_foreach (&stored, image)
        free(image->folder);
    vec_done(&stored);
    return r;
}

static void start(struct node_pod *pod)
{
    static const char *const problems[][2] = {
        [PLAN_CONFIG] = {"CreateContainerConfigError", "Failed"},
        [PLAN_VOLUMES] = {"ContainerCreating", "FailedMount"},
        [PLAN_PART] = {"NotFenced", "NotFenced"},
    };
    enum plan_problem problem = PLAN_FINE;
    struct err err = {0};

    if (gpus_take(pod, gpus_wanted(yyjson_doc_get_root(pod->object)), &err) < 0) {
        node_pod_wait(pod, "ContainerCreating", "WaitingForGPUs", &err);
        return;
    }
    if (write_plan(pod, &problem, &err) < 0) {
        gpus_release(pod);
        node_pod_wait(pod, problems[problem][0], problems[problem][1], &err);
        return;
    }
    tell_limits(pod);
    free(TAKE_PTR(pod->written));
    node_pod_follow(pod);
    work_done(pod->node->work, &pod->work, NULL);
}

/* A part of a GPU that nobody enforces is no part: the pod waits rather than run without limits. */
static void on_fenced(struct node_pod *pod, const struct err *err)
{
    if (!pod->object || pod->is_ending || pod->is_condemned)
        work_done(pod->node->work, &pod->work, NULL);
    else if (err->code < 0)
        node_pod_wait(pod, "NotFenced", "NotFenced", err);
    else
        start(pod);
}

static void prepare(struct node_pod *pod)
{
    if (fence_is_wanted(yyjson_doc_get_root(pod->object)))
        fence_make(pod, on_fenced);
    else
        start(pod);
}

static void on_fetched(void *arg, const struct err *err)
{
    struct node_pod *pod = arg;

    pod->fetching = NULL;
    if (err->code < 0)
        work_done(pod->node->work, &pod->work, err);
    else if (!pod->object || pod->is_ending || pod->is_condemned)
        work_done(pod->node->work, &pod->work, NULL);
    else
        prepare(pod);
}

static void collect(struct node_pod *pod)
{
    if (!node_pod_has_images(pod))
        return;
    sources_done(&pod->sources);
    yyjson_val *object = yyjson_doc_get_root(pod->object);
    sources_collect(&pod->sources, object, true);
    if (pod->sources.items.len > 0)
        pod->fetching = sources_fetch(&pod->sources, pod->node->service->client, object, on_fetched, pod);
    else
        prepare(pod);
}

/* --- the claim --- */

static void on_claimed(void *arg, const struct kube_answer *answer)
{
    struct node_pod *pod = arg;
    struct err err = answer->err;

    pod->call = NULL;
    if (answer->status == 404 || answer->status == 409)
        err.code = 0;
    pod->is_claimed = answer->err.code == 0;
    if (pod->is_claimed && pod->object && !pod->is_ending && joined_may_begin(pod->node))
        collect(pod);
    else
        work_done(pod->node->work, &pod->work, &err);
}

/* A pod of a node that was unreachable is deleted only as the control machine has seen it last: this write comes before the
 * pod begins, so that one of both fails. */
static void claim(struct node_pod *pod)
{
    yyjson_mut_doc *doc = notice_waiting(yyjson_doc_get_root(pod->object), NULL, "ContainerCreating", "");

    pod->call = notice_send(pod, doc, on_claimed);
    yyjson_mut_doc_free(doc);
}

void node_pod_begin(struct node_pod *pod)
{
    if (pod->node->joined.is_on && !pod->is_claimed)
        claim(pod);
    else
        collect(pod);
}
