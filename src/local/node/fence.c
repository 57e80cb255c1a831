/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A pod with parts of GPUs has a group at the GPU daemon, called as the fence of a pod in a cluster is (kube/sharing.h).
 * It is made before the containers start and removed after they have ended; the daemon keeps it when we are started again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "gpu/daemon/group_spec.h"
#include "kube/client/meta.h"
#include "local/controllers/values.h"
#include "local/node/node_internal.h"
#include "local/node/pod/users.h"
#include "objects/keys.h"
#include "services/fencer/gpud_link.h"
#include "services/fencer/sharer.h"

enum { GROUP_PATH_MAX = 128, SOCKET_MAX = 512 };

bool fence_is_wanted(yyjson_val *pod)
{
    yyjson_val *key, *value;
    size_t i, max;

    yyjson_obj_foreach(value_at(pod, "metadata", "labels"), i, max, key, value)
    {
        (void)value;
        if (sharing_is_group_label(yyjson_get_str(key)) &&
            strcmp(kube_text(pod, "metadata", "namespace"), KEY_RESERVATION_NAMESPACE) != 0)
            return true;
    }
    return *kube_text(pod, "metadata", "annotations", KEY_GPU_FRACTION) ||
           *kube_text(pod, "metadata", "annotations", KEY_GPU_MEMORY);
}

char *fence_socket(const struct node_pod *pod)
{
    char name[FENCE_NAME_MAX] = "";
    struct strbuf text;

    strbuf_init(&text, SOCKET_MAX);
    if (fence_name(pod->uid, name))
        strbuf_addf(&text, "%s/groups/%s/tenant.sock", pod->node->gpud_folder, name);
    char *path = strbuf_take(&text);
    strbuf_done(&text);
    return path;
}

/* "/v1/groups/NAME"; false when the pod cannot have one. */
static bool group_path(const struct node_pod *pod, const char *query, char path[static GROUP_PATH_MAX])
{
    char name[FENCE_NAME_MAX];

    if (!fence_name(pod->uid, name))
        return false;
    (void)snprintf(path, GROUP_PATH_MAX, "/v1/groups/%s%s", name, query);
    return true;
}

static struct gpud_link *gpud_of(struct node_pod *pod)
{
    if (!pod->fence.gpud)
        pod->fence.gpud = gpud_link_new(pod->node->service->loop, pod->node->gpud_folder);
    return pod->fence.gpud;
}

static void forget_gpus(struct fence *fence)
{
    vec_foreach (&fence->gpus, gpu)
        free(*gpu);
    vec_clear(&fence->gpus);
}

void fence_done(struct fence *fence)
{
    gpud_link_free(fence->gpud);
    free(fence->container);
    forget_gpus(fence);
    vec_done(&fence->gpus);
    *fence = (struct fence){0};
}

/* --- what is asked for --- */

static void find_keepers(const struct node *node, struct keepers *keepers)
{
    const struct node_pod *pod;

    for (size_t cursor = 0; (pod = strmap_next(&node->pods, &cursor));) {
        struct keeper keeper;

        if (pod->is_reservation && pod->object && keeper_read(yyjson_doc_get_root(pod->object), &keeper))
            vec_push(keepers, keeper);
    }
}

/* Only processes of the pod's user, and where there are control groups only those of the pod, belong to it. */
static int add_owner(const struct node_pod *pod, struct sharer *sharer, struct err *err)
{
    const struct cgroup_tree *tree = &pod->node->tree;
    yyjson_val *object = yyjson_doc_get_root(pod->object);
    struct sharing_container found;
    struct user user;
    struct strbuf path;
    int r = sharing_container(object, &found, err);

    if (r == 0)
        r = user_of(&user, object, found.container, NULL, joined_rules(pod->node), err);
    if (r < 0)
        return r;
    sharer->user = user.uid;
    strbuf_init(&path, sizeof tree->pods + GROUP_PATH_MAX);
    strbuf_addf(&path, "%s/%s", tree->pods + tree->mount_len, pod->uid);
    if (*tree->pods && path.len < GROUP_CGROUP_SIZE)
        sharer->cgroup = strbuf_take(&path);
    strbuf_done(&path);
    return 0;
}

static void note_gpus(struct fence *fence, const struct sharer *sharer, const struct keepers *keepers)
{
    free(fence->container);
    fence->container = xstrdup(sharer->container);
    forget_gpus(fence);
    vec_foreach (&sharer->groups, group) {
        vec_foreach (keepers, keeper) {
            if (strcmp(keeper->group, *group) == 0)
                vec_push(&fence->gpus, xstrdup(keeper->gpu));
        }
    }
}

/* The group as the daemon reads it, to be freed; NULL with the reason why it cannot be asked for. */
static char *make_ask(struct node_pod *pod, struct err *err)
{
    struct sharer sharer;
    struct keepers keepers = {0};
    char *ask = NULL;

    if (!sharer_read(yyjson_doc_get_root(pod->object), &sharer)) {
        (void)err_set(err, -EAGAIN, "the pod has no label that names the GPU of its part (" KEY_GPU_GROUP ")");
        return NULL;
    }
    find_keepers(pod->node, &keepers);
    if (sharer.problem) {
        (void)err_set(err, -EINVAL, "%s", sharer.problem);
    } else if (add_owner(pod, &sharer, err) == 0) {
        ask = sharer_ask(&sharer, &keepers);
        if (ask)
            note_gpus(&pod->fence, &sharer, &keepers);
        else
            (void)err_set(err, -EAGAIN, "the GPU of group %s is not known yet", sharer.groups.items[0]);
    }
    vec_foreach (&keepers, keeper)
        keeper_done(keeper);
    vec_done(&keepers);
    sharer_done(&sharer);
    return ask;
}

/* --- questions --- */

static void finish(struct node_pod *pod, const struct err *err)
{
    fence_fn on_done = pod->fence.on_done;

    pod->fence.on_done = NULL;
    on_done(pod, err);
}

static void on_made(void *arg, const struct gpud_answer *answer)
{
    finish(arg, &answer->err);
}

void fence_make(struct node_pod *pod, fence_fn on_done)
{
    struct err err = {0};
    char path[GROUP_PATH_MAX];
    _cleanup_(freep) char *ask = make_ask(pod, &err);

    if (ask && pod->fence.gpud && gpud_is_asked(pod->fence.gpud))
        (void)err_set(&err, -EAGAIN, "the GPU daemon has not answered yet");
    pod->fence.on_done = on_done;
    if (err.code < 0 || !group_path(pod, "", path)) {
        if (err.code == 0)
            (void)err_set(&err, -EINVAL, "the UID of the pod cannot be the name of a group");
        finish(pod, &err);
        return;
    }
    pod->fence.may_exist = true;
    gpud_ask(gpud_of(pod), "PUT", path, ask, on_made, pod);
}

static void on_removed(void *arg, const struct gpud_answer *answer)
{
    struct node_pod *pod = arg;
    struct err err = answer->err;

    if (answer->status == 404)
        err.code = 0;
    if (err.code == 0)
        pod->fence.may_exist = false;
    finish(pod, &err);
}

void fence_remove(struct node_pod *pod, fence_fn on_done)
{
    char path[GROUP_PATH_MAX];

    /* What is asked now is about a pod that runs, and this one does not. */
    gpud_link_free(TAKE_PTR(pod->fence.gpud));
    pod->fence.on_done = on_done;
    if (!group_path(pod, "?kill=true", path)) {
        pod->fence.may_exist = false;
        finish(pod, &(struct err){0});
        return;
    }
    gpud_ask(gpud_of(pod), "DELETE", path, NULL, on_removed, pod);
}

/* --- a daemon that has forgotten --- */

static void on_restored(void *arg, const struct gpud_answer *answer)
{
    const struct node_pod *pod = arg;

    if (answer->err.code < 0)
        log_warn(pod->node->service->log, "the GPU daemon does not restore a group; trying again later",
                 log_str("namespace", pod->namespace), log_str("pod", pod->name), log_error(&answer->err));
}

static void on_found(void *arg, const struct gpud_answer *answer)
{
    struct node_pod *pod = arg;
    struct err err = {0};
    char path[GROUP_PATH_MAX];

    if (answer->status != 404 || !pod->object)
        return;
    _cleanup_(freep) char *ask = make_ask(pod, &err);
    if (ask && group_path(pod, "", path))
        gpud_ask(pod->fence.gpud, "PUT", path, ask, on_restored, pod);
}

void fences_check(struct node *node)
{
    char path[GROUP_PATH_MAX];
    struct node_pod *pod;

    for (size_t cursor = 0; (pod = strmap_next(&node->pods, &cursor));) {
        bool is_running = pod->object && pod->is_linked && !pod->link.is_over && !pod->is_over;

        if (is_running && pod->fence.may_exist && !pod->fence.on_done && !gpud_is_asked(gpud_of(pod)) &&
            group_path(pod, "", path))
            gpud_ask(pod->fence.gpud, "GET", path, NULL, on_found, pod);
    }
}
