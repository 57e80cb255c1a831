/* SPDX-License-Identifier: Apache-2.0 */

/* The service: its flags, and what it follows. */
#include "local/node/node.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "kube/follow/follow.h"
#include "local/member/member.h"
#include "local/node/gpu_daemon.h"
#include "local/node/image/podman.h"
#include "local/node/node_internal.h"
#include "local/node/pod/images.h"
#include "local/server/files.h"
#include "local/server/service.h"
#include "net/loop.h"

enum { WORKERS = 32, TREE_NAME_MAX = 32, SELECTOR_MAX = 512 };

static const struct flag flags[] = {
    {"node", FLAG_BOOL, FLAG_AT(struct node_flags, node), "true",
     "run pods on this machine as processes, unless there are fake nodes", 0, 0},
    {"state", FLAG_STRING, FLAG_AT(struct node_flags, state), "", "folder with all objects", 0, 0},
    {"fake-nodes", FLAG_STRING, FLAG_AT(struct node_flags, fake_nodes), "", "fake nodes", 0, 0},
    {"gpud-folder", FLAG_STRING, FLAG_AT(struct node_flags, gpud_folder), "",
     "folder of the GPU daemon, started if none runs there (default: /run/muster/gpu for root)", 0, 0},
    {"image-map", FLAG_STRING, FLAG_AT(struct node_flags, image_map), "",
     "file with lines NAME = FOLDER, which maps images to root folders (needs root)", 0, 0},
    {"images", FLAG_STRING, FLAG_AT(struct node_flags, images), "none",
     "podman (needs root): pull images; none: images are only names", 0, 0},
    {"container-processes", FLAG_INT, FLAG_AT(struct node_flags, processes_max), "16384",
     "limit of processes and threads in a container, where limits are enforced", 1, 4194304},
};

static const struct flag joined_flags[] = {
    {"state", FLAG_STRING, FLAG_AT(struct node_flags, state), "", "folder of this machine's membership and pods", 0, 0},
    {"gpud-folder", FLAG_STRING, FLAG_AT(struct node_flags, gpud_folder), "",
     "folder of the GPU daemon (default: /run/muster/gpu for root)", 0, 0},
    {"token", FLAG_STRING, FLAG_AT(struct node_flags, token), "",
     "token of 'muster node token', to join for the first time", 0, 0},
    {"name", FLAG_STRING, FLAG_AT(struct node_flags, name), "", "name of the node (default: that of this machine)", 0,
     0},
    {"image-map", FLAG_STRING, FLAG_AT(struct node_flags, image_map), "",
     "file with lines NAME = FOLDER, which maps images to root folders (needs root)", 0, 0},
    {"images", FLAG_STRING, FLAG_AT(struct node_flags, images), "none",
     "podman (needs root): pull images; none: images are only names", 0, 0},
    {"container-processes", FLAG_INT, FLAG_AT(struct node_flags, processes_max), "16384",
     "limit of processes and threads in a container, where limits are enforced", 1, 4194304},
    {"allow-root", FLAG_BOOL, FLAG_AT(struct node_flags, allow_root), "false",
     "run pods of the control machine's root as root of this machine", 0, 0},
    {"lease-duration", FLAG_DURATION, FLAG_AT(struct node_flags, lease_duration), "40s",
     "time without contact after which pods are ended, and start elsewhere", 0, 0},
    {"metrics-bind-address", FLAG_STRING, FLAG_AT(struct node_flags, metrics_address), "0",
     "address of /metrics; 0: not served", 0, 0},
    {"health-probe-bind-address", FLAG_STRING, FLAG_AT(struct node_flags, health_address), "0",
     "address of /healthz and /readyz; 0: not served", 0, 0},
};

static bool is_joined(const struct service *service)
{
    return service->kind == &joined_node_service;
}

/* Whether this machine runs pods. */
static bool is_node(const struct service *service)
{
    const struct node_flags *values = service->values;

    return is_joined(service) || (values->node && !*values->fake_nodes);
}

/* Flags that cannot be met are wrong ones: the call says so, and leaves nothing behind. */
static int check_images(const char *images, struct err *err)
{
    if (strcmp(images, "none") == 0)
        return 0;
    if (strcmp(images, "podman") != 0)
        return err_set(err, -EINVAL, "--images %s: expected podman or none", images);
    if (geteuid() != 0)
        return err_set(err, -EINVAL,
                       "--images podman needs the rights of root; without it, containers run as processes");
    if (!podman_is_installed())
        return err_set(err, -EINVAL, "--images podman: the program podman is not in PATH: install it");
    return 0;
}

static int configure(struct service *service, struct err *err)
{
    const struct node_flags *values = service->values;

    service->settings.component = "muster-node";
    return is_node(service) ? check_images(values->images, err) : 0;
}

/* Nothing listens on a joined machine unless somebody asks for it. */
static int configure_joined(struct service *service, struct err *err)
{
    const struct node_flags *values = service->values;

    service->process->settings.metrics_address = values->metrics_address;
    service->process->settings.health_address = values->health_address;
    return configure(service, err);
}

static void on_pod(void *arg, const struct follow_event *event)
{
    if (event->change == FOLLOW_DELETED)
        node_drop_pod(arg, event->uid);
    else
        node_put_pod(arg, event->object);
}

static void on_synced(void *arg, bool is_first)
{
    struct node *node = arg;

    if (!is_first)
        return;
    node->is_synced = true;
    node_adopt(node);
    service_set_ready(node->service, true);
    work_pump(node->work);
}

static void on_problem(void *arg, const struct err *err, nsec_t wait)
{
    service_follow_problem(((const struct node *)arg)->service, "pods", err, wait);
}

/* The control machine may have cut the connection because it has removed the node: the lease tells. */
static void on_standing(void *arg, enum follow_standing standing)
{
    struct node *node = arg;

    if (standing == FOLLOW_CUT && node->joined.is_on && node->is_synced)
        node_renew_soon(node);
}

static bool may_start(void *arg)
{
    return ((const struct node *)arg)->is_synced;
}

static void on_child(void *arg, int number)
{
    (void)number;
    shims_reap(&((struct node *)arg)->shims);
}

static struct follower *follow(struct node *node)
{
    char selector[SELECTOR_MAX];

    (void)snprintf(selector, sizeof selector, "spec.nodeName=%s", node->machine.name);
    return follower_new(node->service->client, &(struct follow_options){
                                                   .resource = kube_known(KUBE_PODS),
                                                   .field_selector = selector,
                                                   .is_unshared = node->joined.is_on,
                                                   .on_event = on_pod,
                                                   .on_synced = on_synced,
                                                   .on_problem = on_problem,
                                                   .on_standing = on_standing,
                                                   .arg = node,
                                               });
}

static int open_images(struct node *node, const char *path, struct err *err)
{
    if (!*path)
        return 0;
    if (geteuid() != 0)
        return err_set(err, -EPERM, "--image-map needs the rights of root: a folder becomes the root of containers");
    return image_map_read(path, &node->images, err);
}

/* The folder stays in use while there are pods of an earlier start in its images. */
static int open_store(struct node *node, const char *folder, const char *images, struct err *err)
{
    _cleanup_(freep) char *path = file_path(folder, "images");

    node->has_podman = strcmp(images, "podman") == 0;
    if (!node->has_podman && (geteuid() != 0 || access(path, F_OK) < 0))
        return 0;
    return image_store_open(node->service->loop, path, &node->store, err);
}

static int open_machine(struct node *node, const char *folder, const struct node_flags *values, struct err *err)
{
    char name[TREE_NAME_MAX];

    node->pods_folder = file_path(folder, "pods");
    if (mkdir(node->pods_folder, 0700) < 0 && errno != EEXIST)
        return err_set(err, -errno, "%s: %s", node->pods_folder, strerror(errno));
    machine_read(&node->machine, folder);
    int r = is_joined(node->service) ? joined_open(node, folder, values, err) : 0;
    if (r < 0)
        return r;
    (void)snprintf(name, sizeof name, "%08x", (unsigned)hash_str(node->pods_folder, 0));
    r = open_store(node, folder, values->images, err);
    if (r < 0)
        return r;
    cgroup_tree_open(&node->tree, name);
    return loop_on_signal(node->service->loop, SIGCHLD, on_child, node, err);
}

/* All that opening makes before the work begins. */
static void node_free(struct node *node)
{
    machine_done(&node->machine);
    image_map_free(node->images);
    image_store_free(node->store);
    joined_done(node);
    free(node->gpud_folder);
    free(node->pods_folder);
    free(node);
}

static int open_node(struct service *service, struct err *err)
{
    const struct node_flags *values = service->values;
    _cleanup_(freep) char *folder = is_joined(service) ? member_folder(values->state) : state_folder(values->state);
    struct node *node = xcalloc(1, sizeof *node);

    service->state = node;
    node->service = service;
    shims_init(&node->shims);
    node->is_on = is_node(service);
    node->gpud_folder = gpu_daemon_folder(values->gpud_folder);
    node->processes_max = values->processes_max;
    int r = node->is_on ? open_images(node, values->image_map, err) : 0;
    if (r == 0 && node->is_on)
        r = open_machine(node, folder, values, err);
    if (r < 0) {
        node_free(node);
        return r;
    }
    node->work = work_new(&(struct work_options){
        .service = service,
        .controller = "node-pod",
        .workers = WORKERS,
        .may_start = may_start,
        .start = node_work_on_pod,
        .arg = node,
    });
    if (node->is_on)
        node->follower = follow(node);
    else
        service_set_ready(service, true);
    return 0;
}

static void lead(struct service *service)
{
    struct node *node = service->state;

    if (node->is_on)
        node_register(node);
    work_pump(node->work);
}

static void stop(struct service *service)
{
    struct node *node = service->state;

    /* Pods go on: the next start finds them. */
    loop_timer_done(&node->renew);
    node->renew = (struct loop_timer){0};
    work_stop(node->work);
}

static void close_node(struct service *service)
{
    struct node *node = service->state;
    struct node_pod *pod;

    if (node->follower)
        follower_free(node->follower);
    for (size_t cursor = 0; (pod = strmap_next(&node->pods, &cursor)); cursor = 0)
        node_pod_free(pod);
    if (node->node_call)
        kube_cancel(node->node_call);
    if (node->lease_call)
        kube_cancel(node->lease_call);
    loop_timer_done(&node->renew);
    work_free(node->work);
    cgroup_tree_close(&node->tree);
    strmap_done(&node->pods);
    shims_done(&node->shims);
    node_free(node);
}

const struct service_kind node_service = {
    .name = "node",
    .flags = flags,
    .flag_count = ARRAY_LEN(flags),
    .values_size = sizeof(struct node_flags),
    .has_api = true,
    .configure = configure,
    .open = open_node,
    .lead = lead,
    .stop = stop,
    .close = close_node,
};

const struct service_kind joined_node_service = {
    .name = "node",
    .flags = joined_flags,
    .flag_count = ARRAY_LEN(joined_flags),
    .values_size = sizeof(struct node_flags),
    .has_api = true,
    .configure = configure_joined,
    .open = open_node,
    .lead = lead,
    .stop = stop,
    .close = close_node,
};
