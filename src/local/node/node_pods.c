/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The life of a pod on this machine. What runs is up to the process beside it; here it is prepared and started, its status
 * is written, and it is ended and removed. Each is one request at a time, decided by what is known then.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "kube/client/meta.h"
#include "local/controllers/pod_write.h"
#include "local/controllers/values.h"
#include "local/node/node_internal.h"
#include "local/node/pod/volumes.h"
#include "local/server/files.h"
#include "local/shim/shim.h"
#include "net/loop.h"
#include "objects/keys.h"
#include "text/json.h"

/* Of a pod that somebody removed from the API without waiting for its end. */
#define GRACE_OF_LOST (2 * NSEC_PER_SEC)

static void work_on(struct node_pod *pod)
{
    work_add(pod->node->work, &pod->work);
}

void node_pod_look(struct node_pod *pod)
{
    work_on(pod);
}

void node_pod_record(struct node_pod *pod, const char *type, const char *reason, const char *message)
{
    if (pod->object)
        recorder_record(pod->node->service->recorder, &(struct event){
                                                          .api_version = "v1",
                                                          .kind = "Pod",
                                                          .namespace = pod->namespace,
                                                          .name = pod->name,
                                                          .uid = pod->uid,
                                                          .type = type,
                                                          .reason = reason,
                                                          .message = message,
                                                      });
}

static void on_change(void *arg)
{
    work_on(arg);
}

static void on_event(void *arg, const char *type, const char *reason, const char *message)
{
    node_pod_record(arg, type, reason, message);
}

void node_pod_follow(struct node_pod *pod)
{
    pod->is_linked = true;
    pod->link.on_change = on_change;
    pod->link.on_event = on_event;
    pod->link.arg = pod;
    pod_link_open(&pod->link, pod->node->service->loop, &pod->node->shims, pod->folder);
}

static struct node_pod *pod_new(struct node *node, const char *namespace, const char *name, const char *uid)
{
    struct node_pod *pod = xcalloc(1, sizeof *pod);

    *pod = (struct node_pod){.node = node, .namespace = xstrdup(namespace), .name = xstrdup(name), .uid = xstrdup(uid)};
    pod->folder = file_path(node->pods_folder, uid);
    pod->is_reservation = strcmp(namespace, KEY_RESERVATION_NAMESPACE) == 0;
    (void)strmap_put(&node->pods, "", pod->uid, pod);
    return pod;
}

/* A plan that a loss of power left in parts belongs to a pod that has not begun. */
static bool has_plan(const struct node_pod *pod)
{
    _cleanup_(freep) char *path = file_path(pod->folder, POD_PLAN);
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;

    return access(path, F_OK) == 0 && json_read_file(path, POD_PLAN_BYTES_MAX, &doc, NULL) == 0;
}

static bool has_other_words(yyjson_val *old, yyjson_val *new)
{
    static const char *const maps[] = {"labels", "annotations"};

    for (size_t i = 0; i < ARRAY_LEN(maps); i++) {
        yyjson_val *one = value_at(old, "metadata", maps[i]), *other = value_at(new, "metadata", maps[i]);

        if (one != other && (!one || !other || !yyjson_equals(one, other)))
            return true;
    }
    return false;
}

void node_put_pod(struct node *node, yyjson_val *object)
{
    struct kube_meta meta;

    if (!kube_meta_read(object, &meta) || strchr(meta.uid, '/') || !*meta.uid)
        return;
    struct node_pod *pod = strmap_get(&node->pods, "", meta.uid);
    bool is_new = !pod;
    if (!pod)
        pod = pod_new(node, meta.namespace, meta.name, meta.uid);
    yyjson_mut_doc *copy = kube_copy(object);
    /* Volumes can have them as files. */
    if (!is_new && has_other_words(yyjson_doc_get_root(pod->object), object))
        pod->refresh_at = 0;
    pod->can_change = volumes_can_change(object);
    yyjson_doc_free(pod->object);
    pod->object = yyjson_mut_doc_imut_copy(copy, NULL);
    yyjson_mut_doc_free(copy);
    const char *phase = kube_text(object, "status", "phase");
    pod->is_ending = value_at(object, "metadata", "deletionTimestamp") != NULL;
    pod->is_over |= strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
    if (is_new) {
        pod->fence.may_exist = node->machine.gpus.len > 0 && fence_is_wanted(object);
        if (!pod->is_over)
            gpus_restore(pod);
        if (!pod->is_over && has_plan(pod)) {
            pod->is_condemned = node->joined.is_lapsed;
            node_pod_restore_images(pod);
            if (!pod->images.is_awaited)
                node_pod_follow(pod);
        }
    }
    work_on(pod);
}

void node_pod_free(struct node_pod *pod)
{
    struct node *node = pod->node;

    (void)strmap_remove(&node->pods, "", pod->uid);
    if (pod->call)
        kube_cancel(TAKE_PTR(pod->call));
    if (pod->fetching)
        fetching_cancel(TAKE_PTR(pod->fetching));
    sources_done(&pod->sources);
    work_drop(node->work, &pod->work);
    if (pod->is_linked)
        pod_link_close(&pod->link);
    gpus_release(pod);
    fence_done(&pod->fence);
    pod_images_done(&pod->images);
    yyjson_doc_free(pod->object);
    free(pod->namespace);
    free(pod->name);
    free(pod->uid);
    free(pod->folder);
    free(pod->written);
    free(pod);
}

/* The pod is not in the API any more; its processes may still be there. */
void node_drop_pod(struct node *node, const char *uid)
{
    struct node_pod *pod = strmap_get(&node->pods, "", uid);

    if (!pod)
        return;
    yyjson_doc_free(TAKE_PTR(pod->object));
    work_on(pod);
}

void node_adopt(struct node *node)
{
    DIR *dir = opendir(node->pods_folder);

    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        if (entry->d_name[0] == '.' || strmap_get(&node->pods, "", entry->d_name))
            continue;
        struct node_pod *pod = pod_new(node, "", "", entry->d_name);
        pod->fence.may_exist = node->machine.gpus.len > 0;
        if (has_plan(pod)) {
            node_pod_restore_images(pod);
            node_pod_follow(pod);
        }
        work_on(pod);
    }
    if (dir)
        (void)closedir(dir);
    if (node->store)
        image_store_sweep(node->store);
}

/* --- requests --- */

static void on_done(void *arg, const struct kube_answer *answer)
{
    struct node_pod *pod = arg;
    struct node *node = pod->node;
    struct err err = answer->err;

    pod->call = NULL;
    /* Gone, or another one of that name: the watch says so. */
    if (answer->status == 404 || answer->status == 409)
        err.code = 0;
    if (err.code < 0) {
        log_warn(node->service->log, "a pod could not be written; trying again later",
                 log_str("namespace", pod->namespace), log_str("pod", pod->name), log_error(&err));
        free(TAKE_PTR(pod->written));
        pod->is_removed = false;
    } else if (pod->is_condemned && pod->is_removed) {
        /* It was given back, or had been taken: the watch may not say so any more. */
        node_drop_pod(node, pod->uid);
    } else if (answer->err.code == 0) {
        work_on(pod);
    }
    work_done(node->work, &pod->work, &err);
}

static struct pod_write write_of(struct node_pod *pod)
{
    return (struct pod_write){
        .client = pod->node->service->client,
        .namespace = pod->namespace,
        .name = pod->name,
        .uid = pod->uid,
        .on_done = on_done,
        .arg = pod,
    };
}

static void remove_pod(struct node_pod *pod)
{
    pod->is_removed = true;
    pod->call = pod_delete(write_of(pod));
}

/* Writes the status of the process beside the pod, if it is news. Returns whether a request is under way. */
static bool write_status(struct node_pod *pod)
{
    yyjson_doc *doc = pod_link_status(&pod->link);
    yyjson_val *root = yyjson_doc_get_root(doc), *status = value_at(root, "status");
    yyjson_mut_doc *notice = status ? notice_status(pod, status) : NULL;
    char *text = notice ? yyjson_mut_write(notice, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL) : NULL;
    bool is_news = text && (!pod->written || strcmp(text, pod->written) != 0);

    if (is_news) {
        free(pod->written);
        pod->written = TAKE_PTR(text);
        pod->is_over |= bool_at(root, "isOver");
        pod->call = pod_patch_status(write_of(pod), TAKE_PTR(notice));
    }
    free(text);
    yyjson_mut_doc_free(notice);
    yyjson_doc_free(doc);
    return is_news;
}

/* --- reservations --- */

/* It holds a GPU for pods that share it, and is no process: it says which GPU it got, and runs. */
static bool act_on_reservation(struct node_pod *pod)
{
    yyjson_val *object = yyjson_doc_get_root(pod->object);
    struct err err = {0};

    if (pod->is_ending || pod->is_over) {
        if (pod->is_ending && !pod->is_removed)
            remove_pod(pod);
        return pod->call;
    }
    if (!*kube_text(object, "metadata", "annotations", KEY_RESERVED_GPU)) {
        if (gpus_take(pod, 1, &err) < 0) {
            node_pod_wait(pod, "ContainerCreating", "WaitingForGPUs", &err);
            return true;
        }
        yyjson_mut_val *root = NULL;
        yyjson_mut_doc *doc = json_new_object(&root);
        yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(doc, root, "metadata");
        (void)yyjson_mut_obj_add_strcpy(doc, metadata, "uid", pod->uid);
        (void)yyjson_mut_obj_add_strcpy(doc, yyjson_mut_obj_add_obj(doc, metadata, "annotations"), KEY_RESERVED_GPU,
                                        pod->gpus.items[0]);
        pod->call = pod_patch(write_of(pod), doc);
        return true;
    }
    if (strcmp(kube_text(object, "status", "phase"), "Running") == 0)
        return false;
    pod->call = pod_patch_status(write_of(pod), notice_reservation(pod));
    return true;
}

/* --- */

static bool is_running(const struct node_pod *pod)
{
    return pod->is_linked && !pod->link.is_over;
}

struct removal {
    char *folder;
};

static void remove_folder(void *arg)
{
    const struct removal *removal = arg;
    _cleanup_(freep) char *volumes = file_path(removal->folder, POD_VOLUMES);

    volumes_unmount(volumes);
    (void)folder_remove(removal->folder);
}

static void on_removed(void *arg)
{
    struct removal *removal = arg;

    free(removal->folder);
    free(removal);
}

/* Nobody knows the pod any more: what is left of it goes. */
static void forget(struct node_pod *pod)
{
    struct node *node = pod->node;
    struct removal *removal = xcalloc(1, sizeof *removal);

    removal->folder = xstrdup(pod->folder);
    node_pod_release_images(pod);
    loop_work(node->service->loop, remove_folder, on_removed, removal);
    node_pod_free(pod);
}

/* It has ended, and what was kept for it at the GPU daemon is free again; otherwise that is tried later. */
static void on_unfenced(struct node_pod *pod, const struct err *err)
{
    struct node *node = pod->node;

    if (err->code < 0)
        log_warn(node->service->log, "the GPU memory of a pod that has ended could not be released; trying again later",
                 log_str("namespace", pod->namespace), log_str("pod", pod->name), log_str("uid", pod->uid),
                 log_error(err));
    else
        work_on(pod);
    work_done(node->work, &pod->work, err);
}

/* The object of the pod does not stay because of it. */
static void on_end_unfenced(struct node_pod *pod, const struct err *err)
{
    pod->fence.is_given_up = true;
    if (err->code < 0)
        work_on(pod);
    on_unfenced(pod, &(struct err){0});
}

/* Removes the object of a pod that has ended, and what is kept for it at the GPU daemon before that. */
static bool release_pod(struct node_pod *pod)
{
    if (pod->is_removed)
        return false;
    if (pod->fence.may_exist && !pod->fence.is_given_up)
        fence_remove(pod, on_end_unfenced);
    else
        remove_pod(pod);
    return true;
}

static bool act_on_end(struct node_pod *pod)
{
    yyjson_val *object = yyjson_doc_get_root(pod->object);

    if (is_running(pod))
        pod_link_stop(&pod->link, number_at(object, 30, "metadata", "deletionGracePeriodSeconds") * NSEC_PER_SEC);
    if (pod->is_linked && write_status(pod))
        return true;
    return !is_running(pod) && release_pod(pod);
}

/* The lease of the node was over while it ran: it has to end, and others may run it. */
static bool act_on_condemned(struct node_pod *pod)
{
    if (is_running(pod)) {
        pod_link_stop(&pod->link, GRACE_OF_LOST);
        return false;
    }
    return release_pod(pod);
}

/* Returns whether the item is still worked on. */
static bool act(struct node_pod *pod)
{
    if (pod->is_condemned && !pod->is_over)
        return act_on_condemned(pod);
    if (pod->is_reservation)
        return act_on_reservation(pod);
    if (pod->is_ending)
        return act_on_end(pod);
    if (pod->is_linked) {
        bool is_busy = write_status(pod);

        pod_link_deadline(&pod->link, number_at(yyjson_doc_get_root(pod->object), 0, "spec", "activeDeadlineSeconds"));
        if (pod->is_over) {
            gpus_release(pod);
            node_pod_release_images(pod);
        }
        if (is_busy)
            return true;
    }
    if (pod->is_over && pod->fence.may_exist && !is_running(pod)) {
        fence_remove(pod, on_unfenced);
        return true;
    }
    if (node_pod_is_stale(pod)) {
        node_pod_refresh(pod);
        return true;
    }
    if (pod->is_over || pod->is_linked || !joined_may_begin(pod->node))
        return false;
    if (pod->images.is_awaited)
        node_pod_resume(pod);
    else
        node_pod_begin(pod);
    return true;
}

/* The process beside a pod that was begun may run, also where its images are not mounted any more: it is told to end. */
static void follow_to_the_end(struct node_pod *pod)
{
    bool is_to_end = !pod->object || pod->is_ending || pod->is_condemned;

    if (pod->images.is_awaited && !pod->is_linked && is_to_end) {
        pod->images.is_awaited = false;
        node_pod_follow(pod);
    }
}

void node_work_on_pod(void *arg, struct work_item *item)
{
    struct node *node = arg;
    struct node_pod *pod = list_item(&item->in_work, struct node_pod, work.in_work);

    follow_to_the_end(pod);
    if (!pod->object) {
        bool is_busy = is_running(pod);

        if (is_busy)
            pod_link_stop(&pod->link, GRACE_OF_LOST);
        if (!is_busy && pod->fence.may_exist) {
            fence_remove(pod, on_unfenced);
            return;
        }
        work_done(node->work, item, NULL);
        if (!is_busy)
            forget(pod);
        return;
    }
    if (!act(pod))
        work_done(node->work, item, NULL);
}
