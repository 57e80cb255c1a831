/* SPDX-License-Identifier: Apache-2.0 */
#include "local/node/pod/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "gpu/protocol/message.h"
#include "kube/client/meta.h"
#include "local/cgroup/cgroup.h"
#include "local/controllers/values.h"
#include "local/node/machine.h"
#include "local/node/pod/env.h"
#include "local/node/pod/plan_internal.h"
#include "local/node/pod/volumes.h"
#include "local/server/files.h"
#include "local/shim/shim.h"
#include "text/json.h"

enum { NAME_BYTES = 512, LIST_BYTES = 1 << 16 };

void planning_tell(struct planning *planning, const char *name, const char *value)
{
    vec_push(&planning->extra, xstrdup(name));
    vec_push(&planning->extra, xstrdup(value));
}

static bool wants_gpus(yyjson_val *container)
{
    const char *text = kube_text(container, "resources", "limits", "nvidia.com/gpu");

    return *text && strcmp(text, "0") != 0;
}

/* The container's parts of GPUs; NULL: it has none. */
static const struct plan_part *part_of(const struct plan_request *request, yyjson_val *container)
{
    return request->part && strcmp(request->part->container, kube_text(container, "name")) == 0 ? request->part : NULL;
}

/* UUIDs of the container's GPUs, whole or in part, up to a NULL. */
static const char *const *gpus_of(const struct plan_request *request, yyjson_val *container)
{
    static const char *const none = NULL;
    const struct plan_part *part = part_of(request, container);

    return part ? part->gpus : wants_gpus(container) ? request->gpus : &none;
}

static int32_t minor_of(const struct machine *machine, const char *uuid)
{
    vec_foreach (&machine->gpus, gpu) {
        if (strcmp(gpu->uuid, uuid) == 0)
            return gpu->minor;
    }
    return -1;
}

/* The GPUs whose device files the container may open. Where the number of one is not known, none is kept from it. */
static void add_minors(const struct planning *planning)
{
    const struct plan_request *request = planning->request;
    yyjson_mut_val *minors = yyjson_mut_arr(planning->doc);

    if (!request->tree->has_devices)
        return;
    for (const char *const *gpu = gpus_of(request, planning->container); *gpu; gpu++) {
        int32_t minor = minor_of(request->machine, *gpu);

        if (minor < 0)
            return;
        (void)yyjson_mut_arr_add_int(planning->doc, minors, minor);
    }
    (void)yyjson_mut_obj_add_val(planning->doc, planning->plan, "gpuMinors", minors);
}

/* GPUs by their UUID; a container without any sees none. */
static void add_gpus(const struct plan_request *request, yyjson_val *container, struct texts *extra)
{
    const char *const *gpu = gpus_of(request, container);
    struct strbuf list;

    strbuf_init(&list, LIST_BYTES);
    for (; *gpu; gpu++)
        strbuf_addf(&list, "%s%s", list.len > 0 ? "," : "", *gpu);
    bool has_any = list.len > 0;
    vec_push(extra, xstrdup("CUDA_DEVICE_ORDER"));
    vec_push(extra, xstrdup("PCI_BUS_ID"));
    vec_push(extra, xstrdup("NVIDIA_VISIBLE_DEVICES"));
    vec_push(extra, xstrdup(has_any ? list.text : "void"));
    vec_push(extra, xstrdup("CUDA_VISIBLE_DEVICES"));
    vec_push(extra, strbuf_take(&list));
}

static int add_env(struct planning *planning, struct err *err)
{
    const struct plan_request *request = planning->request;
    const struct plan_part *part = part_of(request, planning->container);
    const char *const last[] = {GPU_SOCKET_VARIABLE, part ? part->socket : NULL, NULL};

    add_gpus(request, planning->container, &planning->extra);
    vec_push(&planning->extra, NULL);
    return env_add(planning->doc, planning->plan,
                   &(struct env_request){.pod = request->pod,
                                         .container = planning->container,
                                         .sources = request->sources,
                                         .user = &planning->user,
                                         .machine = request->machine,
                                         .image = planning->image.folder ? &planning->image : NULL,
                                         .extra = (const char *const *)planning->extra.items,
                                         .last = part ? last : NULL,
                                         .preload = part ? part->library : NULL},
                   err);
}

static void add_user(struct planning *planning)
{
    const struct user *user = &planning->user;
    const char *folder = kube_text(planning->container, "workingDir");
    yyjson_mut_val *groups = yyjson_mut_obj_add_arr(planning->doc, planning->plan, "groups");
    /* A home that is missing is no reason not to run. */
    const char *home = access(user->home, F_OK) == 0 ? user->home : "/";

    if (planning->image.folder) {
        const char *own = kube_text(planning->image.config, "WorkingDir");

        home = *own ? own : "/";
    }
    (void)yyjson_mut_obj_add_uint(planning->doc, planning->plan, "uid", user->uid);
    (void)yyjson_mut_obj_add_uint(planning->doc, planning->plan, "gid", user->gid);
    for (size_t i = 0; i < user->group_count; i++)
        (void)yyjson_mut_arr_add_uint(planning->doc, groups, user->groups[i]);
    (void)yyjson_mut_obj_add_strcpy(planning->doc, planning->plan, "folder", *folder ? folder : home);
}

/* The root folder of the container; NULL: it has the file system of the machine. */
static const char *folder_of(const struct planning *planning)
{
    const struct plan_request *request = planning->request;

    for (size_t i = 0; i < request->stored_count; i++) {
        if (strcmp(request->stored[i].container, kube_text(planning->container, "name")) == 0)
            return request->stored[i].folder;
    }
    return image_map_folder(request->images, kube_text(planning->container, "image"));
}

static int open_image(struct planning *planning, struct err *err)
{
    const char *folder = folder_of(planning);

    if (!folder)
        return 0;
    int r = image_open(&planning->image, folder, err);
    if (r < 0)
        return r;
    (void)yyjson_mut_obj_add_strcpy(planning->doc, planning->plan, "root", folder);
    (void)yyjson_mut_obj_add_strcpy(planning->doc, planning->plan, "imageID", planning->image.id);
    /* The library that enforces a part is not in the image: such a pod waits rather than run without limits. */
    if (part_of(planning->request, planning->container))
        return err_set(err, -ENOTSUP, "parts of GPUs cannot be enforced in image %s: run a command without an image",
                       kube_text(planning->container, "image"));
    return 0;
}

static bool has_command(const struct planning *planning)
{
    return planning->image.folder || yyjson_arr_size(value_at(planning->container, "command")) > 0 ||
           yyjson_arr_size(value_at(planning->container, "args")) > 0;
}

static int add_container(yyjson_mut_doc *doc, yyjson_mut_val *plans, const struct plan_request *request,
                         yyjson_val *container, struct err *err)
{
    struct planning planning = {.request = request, .doc = doc, .container = container};

    planning.plan = yyjson_mut_obj_add_obj(doc, plans, kube_text(container, "name"));
    planning.mounts = yyjson_mut_obj_add_arr(doc, planning.plan, "mounts");
    int r = open_image(&planning, err);
    if (r == 0)
        r = user_of(&planning.user, request->pod, container, &planning.image, request->rules, err);
    if (r == 0 && !has_command(&planning))
        r = err_set(err, -EINVAL,
                    "no command specified: image %s is only a name here, so that the container needs 'command'",
                    kube_text(container, "image"));
    if (r == 0) {
        add_user(&planning);
        add_minors(&planning);
        r = planning_mounts(&planning, err);
    }
    if (r == 0)
        r = add_env(&planning, err);
    image_done(&planning.image);
    vec_foreach (&planning.extra, text)
        free(*text);
    vec_done(&planning.extra);
    return r;
}

static int add_containers(yyjson_mut_doc *doc, yyjson_mut_val *root, const struct plan_request *request,
                          struct err *err)
{
    static const char *const lists[] = {"initContainers", "containers"};
    yyjson_mut_val *plans = yyjson_mut_obj_add_obj(doc, root, "containers");
    int r = 0;

    for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
        size_t i, max;
        yyjson_val *container;

        yyjson_arr_foreach(value_at(request->pod, "spec", lists[k]), i, max, container)
        {
            if (r == 0)
                r = add_container(doc, plans, request, container, err);
        }
    }
    return r;
}

static int make_volumes(const struct plan_request *request, enum plan_problem *ret_problem, struct err *err)
{
    _cleanup_(freep) char *volumes = file_path(request->folder, POD_VOLUMES);
    struct user user;
    int r = user_of(&user, request->pod, NULL, NULL, request->rules, err);

    *ret_problem = r < 0 ? PLAN_CONFIG : PLAN_VOLUMES;
    return r < 0 ? r : volumes_make(volumes, request->pod, request->sources, &user, request->machine, err);
}

static int write_plan(const struct plan_request *request, yyjson_mut_doc *doc, struct err *err)
{
    _cleanup_(freep) char *path = file_path(request->folder, POD_PLAN);
    size_t len = 0;
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);
    /* The process beside the pod syncs it, which takes longer than the loop of the node agent may stand still. */
    int r = text ? file_put(path, text, len, err) : err_set(err, -EINVAL, "%s cannot be written", path);

    free(text);
    return r;
}

int plan_write(const struct plan_request *request, enum plan_problem *ret_problem, struct err *err)
{
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);
    const char *uid = kube_text(request->pod, "metadata", "uid");
    struct strbuf group;

    strbuf_init(&group, sizeof request->tree->pods + NAME_BYTES);
    if (*request->tree->pods)
        strbuf_addf(&group, "%s/%s", request->tree->pods, uid);
    (void)yyjson_mut_obj_add_strcpy(doc, root, "group", group.text);
    strbuf_done(&group);
    if (request->lease_path)
        (void)yyjson_mut_obj_add_strcpy(doc, root, "lease", request->lease_path);
    (void)yyjson_mut_obj_add_bool(doc, root, "hasLimits", request->tree->has_limits);
    (void)yyjson_mut_obj_add_int(doc, root, "processesMax", request->processes_max);
    yyjson_mut_val *gpus = yyjson_mut_obj_add_arr(doc, root, "gpus");
    for (const char *const *gpu = request->gpus; *gpu; gpu++)
        (void)yyjson_mut_arr_add_strcpy(doc, gpus, *gpu);
    (void)yyjson_mut_obj_add_val(doc, root, "pod", yyjson_val_mut_copy(doc, request->pod));
    _cleanup_(freep) char *volumes = file_path(request->folder, POD_VOLUMES);
    volumes_unmount(volumes);
    (void)folder_remove(request->folder);
    *ret_problem = PLAN_VOLUMES;
    int r = mkdir(request->folder, 0700) < 0 ? err_set(err, -errno, "%s: %s", request->folder, strerror(errno)) : 0;
    if (r == 0)
        r = make_volumes(request, ret_problem, err);
    if (r == 0) {
        *ret_problem = PLAN_CONFIG;
        r = add_containers(doc, root, request, err);
    }
    if (r == 0)
        r = write_plan(request, doc, err);
    yyjson_mut_doc_free(doc);
    if (r == 0)
        *ret_problem = PLAN_FINE;
    return r;
}
