/* SPDX-License-Identifier: Apache-2.0 */

/* The service: its flags, and its parts put together. */
#include "services/fencer/fencer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frame/service.h"
#include "kube/follow/follow.h"
#include "objects/keys.h"
#include "services/fencer/fencer_internal.h"
#include "services/fencer/gpud_link.h"

#define AT(member) FLAG_AT(struct fencer_flags, member)

static const struct flag flags[] = {
    {"node-name", FLAG_STRING, AT(node), "", "the node that it runs on (empty: $NODE_NAME)", 0, 0},
    {"resource-reservation-namespace", FLAG_STRING, AT(reservation_namespace), KEY_RESERVATION_NAMESPACE,
     "namespace of reservation pods", 0, 0},
    {"gpud-folder", FLAG_STRING, AT(gpud_folder), "/run/muster/gpu", "folder of 'muster gpud'", 0, 0},
    {"cdi-dir", FLAG_STRING, AT(cdi_dir), "/var/run/cdi", "folder of CDI devices, which container runtimes read", 0, 0},
    {"library-dir", FLAG_STRING, AT(library_dir), "/usr/lib/muster",
     "folder on the host with the libraries for tenants and proxy/", 0, 0},
    {"driver-root", FLAG_STRING, AT(driver_root), "/",
     "root folder of the driver's files on the host, such as /run/nvidia/driver", 0, 0},
    {"host-root", FLAG_STRING, AT(host_root), "/", "folder where the root folder of the host is mounted", 0, 0},
};

#define AGAIN_FIRST (200 * NSEC_PER_MSEC)
#define AGAIN_MAX (5 * NSEC_PER_SEC)

static int configure(struct service *service, struct err *err)
{
    struct fencer_flags *values = service->values;
    const char *node = getenv("NODE_NAME");
    const struct {
        const char *flag;
        const char **path;
    } paths[] = {{"gpud-folder", &values->gpud_folder},
                 {"cdi-dir", &values->cdi_dir},
                 {"library-dir", &values->library_dir},
                 {"driver-root", &values->driver_root},
                 {"host-root", &values->host_root}};

    if (!values->node[0])
        values->node = node ? node : "";
    if (!values->node[0])
        return err_set(err, -EINVAL, "the name of this node is not set: use --node-name or NODE_NAME");
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        const char *path = *paths[i].path;

        if (path[0] != '/' || (path[1] && path[strlen(path) - 1] == '/') || strlen(path) > PATH_MAX / 4)
            return err_set(err, -EINVAL, "--%s: '%s' is not a path that begins with '/' and does not end with '/'",
                           paths[i].flag, path);
    }
    return 0;
}

/* What paths begin with. */
static const char *root_of(const char *path)
{
    return path[1] ? path : "";
}

static void collect(void *arg, struct metrics *metrics)
{
    const struct fencer *fencer = arg;
    size_t fenced = 0;

    vec_foreach (&fencer->posts, post)
        fenced += (*post)->done != NULL;
    meter_set(meter_series(metrics_gauge(metrics, "fencer_pods", "Pods of the node that share GPUs.", NULL), NULL),
              fencer->posts.len);
    meter_set(meter_series(
                  metrics_gauge(metrics, "fencer_fenced_pods", "Pods of the node whose GPU isolation is set up.", NULL),
                  NULL),
              (double)fenced);
}

static struct meter_series *counter(struct service *service, const char *name, const char *help)
{
    return meter_series(metrics_counter(service->metrics, name, help, NULL), NULL);
}

static int open_fencer(struct service *service, struct err *err)
{
    struct fencer *fencer = xcalloc(1, sizeof *fencer);
    const struct fencer_flags *values = service->values;

    (void)err;
    *fencer = (struct fencer){
        .service = service,
        .flags = values,
        .places = {.library_dir = values->library_dir,
                   .driver_root = root_of(values->driver_root),
                   .host_root = root_of(values->host_root)},
        .gpud = gpud_link_new(service->loop, values->gpud_folder),
        .backoff = {.first = AGAIN_FIRST, .max = AGAIN_MAX},
    };
    fencer->written = counter(service, "fencer_devices_written_total", "Files of devices that were written.");
    fencer->refusals =
        counter(service, "fencer_failures_total", "Failed attempts to set up the GPU isolation of a pod.");
    fencer->daemon_up = meter_series(
        metrics_gauge(service->metrics, "fencer_daemon_up", "1 while the GPU daemon of the node answers.", NULL), NULL);
    metrics_on_collect(service->metrics, collect, fencer);
    loop_task_init(&fencer->work, service->loop, fencer_work, fencer);
    loop_timer_init(&fencer->timer, service->loop, fencer_look, fencer);
    service->state = fencer;
    return 0;
}

static void lead(struct service *service)
{
    fencer_follow(service->state);
}

/* Fences stay: the pods do. A question under way is answered or not, the next start finds out. */
static void stop(struct service *service)
{
    struct fencer *fencer = service->state;

    fencer->is_stopping = true;
    service_stopped(service);
}

static void close_fencer(struct service *service)
{
    struct fencer *fencer = service->state;

    follower_free(fencer->pods);
    gpud_link_free(fencer->gpud);
    loop_task_cancel(&fencer->work);
    loop_timer_done(&fencer->timer);
    vec_foreach (&fencer->posts, post)
        post_free(*post);
    vec_done(&fencer->posts);
    vec_foreach (&fencer->keepers, keeper)
        keeper_done(keeper);
    vec_done(&fencer->keepers);
    vec_foreach (&fencer->groups, name)
        free(*name);
    vec_done(&fencer->groups);
    free(fencer->asked);
    free(fencer);
}

const struct service_kind fencer_service = {
    .name = "fencer",
    .flags = flags,
    .flag_count = ARRAY_LEN(flags),
    .values_size = sizeof(struct fencer_flags),
    .has_api = true,
    .configure = configure,
    .open = open_fencer,
    .lead = lead,
    .stop = stop,
    .close = close_fencer,
};
