/* SPDX-License-Identifier: Apache-2.0 */
#include "local/server/service.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "frame/service.h"
#include "local/server/files.h"
#include "local/server/server.h"
#include "net/loop_thread.h"

struct api {
    struct server *server;
    struct loop_thread *thread;  // that the server runs in
    char *folder;
    char host[256];
    uint16_t port;
};

static const struct flag flags[] = {
    {"state", FLAG_STRING, FLAG_AT(struct api_flags, state), "",
     "folder with all objects (default: ~/.local/state/muster; for root /var/lib/muster)", 0, 0},
    {"listen", FLAG_STRING, FLAG_AT(struct api_flags, listen), "127.0.0.1:0",
     "address for clients; port 0: any; 0: Unix socket only", 0, 0},
    {"shared-folders", FLAG_STRING, FLAG_AT(struct api_flags, shared_folders), "",
     "folders that pods of all users may mount, besides their homes: /data,/scratch", 0, 0},
    {"node-certificate-lifetime", FLAG_DURATION, FLAG_AT(struct api_flags, node_certificate_lifetime), "720h",
     "lifetime of the certificates of joined machines, which renew them", 0, 0},
    {"foreground", FLAG_BOOL, FLAG_AT(struct api_flags, foreground), "false",
     "stay in the foreground and log to the terminal", 0, 0},
    {"api-only", FLAG_BOOL, FLAG_AT(struct api_flags, api_only), "false",
     "run only the API server, without scheduler, controllers and nodes", 0, 0},
    {"metrics-bind-address", FLAG_STRING, FLAG_AT(struct api_flags, metrics_address), "0",
     "address of /metrics; 0: not served", 0, 0},
    {"health-probe-bind-address", FLAG_STRING, FLAG_AT(struct api_flags, health_address), "0",
     "address of /healthz and /readyz for probes without TLS; 0: not served", 0, 0},
};

static void api_free(struct api *api)
{
    free(api->folder);
    free(api);
}

char *state_folder(const char *flag)
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");

    if (flag && *flag)
        return xstrdup(flag);
    if (geteuid() == 0)
        return xstrdup("/var/lib/muster");
    if (state && *state)
        return file_path(state, "muster");
    return file_path(home && *home ? home : ".", ".local/state/muster");
}

static int configure(struct service *service, struct err *err)
{
    const struct api_flags *values = service->values;
    struct api *api = xcalloc(1, sizeof *api);
    int r = address_parse(values->listen, api->host, &api->port, err);

    if (r < 0) {
        free(api);
        return err_wrap(err, r, "--listen");
    }
    if (values->node_certificate_lifetime < NSEC_PER_MIN) {
        free(api);
        return err_set(err, -EINVAL, "--node-certificate-lifetime: at least one minute");
    }
    if (r > 0 && !api->host[0])
        memcpy(api->host, "0.0.0.0", sizeof "0.0.0.0");
    /* Nothing but the API is open to others unless somebody asks for it. */
    service->process->settings.metrics_address = values->metrics_address;
    service->process->settings.health_address = values->health_address;
    api->folder = state_folder(values->state);
    service->state = api;
    return 0;
}

/* Each watch holds a descriptor. */
static void raise_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* The server has a thread of its own: the services of the process are its clients like any others, and all of them together
 * are as busy as the server is. */
static int open_api(struct service *service, struct err *err)
{
    struct api *api = service->state;
    const struct api_flags *values = service->values;
    const struct server_settings settings = {.folder = api->folder,
                                             .address = api->host[0] ? api->host : NULL,
                                             .port = api->port,
                                             .has_own_kinds = !values->api_only,
                                             .node_certificate_lifetime = values->node_certificate_lifetime,
                                             .shared_folders = values->shared_folders};
    int r;

    raise_limit();
    api->thread = loop_thread_new(service->loop);
    r = server_open(loop_thread_loop(api->thread), service->log, &settings, &api->server, err);
    if (r < 0) {
        loop_thread_join(api->thread);
        api_free(api);
        return r;
    }
    log_info(service->log, "serving", log_str("state", api->folder), log_int("port", server_port(api->server)));
    loop_thread_start(api->thread);
    service_set_ready(service, true);
    return 0;
}

/* The other services of the process still write their last words: the server goes when it is closed. */
static void stop(struct service *service)
{
    service_stopped(service);
}

static void on_closed(void *arg)
{
    const struct api *api = arg;

    loop_stop(loop_thread_loop(api->thread));
}

static void close_server(void *arg)
{
    struct api *api = arg;

    server_close(api->server, on_closed, api);
}

static void close_api(struct service *service)
{
    struct api *api = service->state;

    loop_thread_call(api->thread, close_server, api);
    loop_thread_join(api->thread);
    api_free(api);
}

const struct service_kind api_service = {
    .name = "api",
    .flags = flags,
    .flag_count = ARRAY_LEN(flags),
    .values_size = sizeof(struct api_flags),
    .configure = configure,
    .open = open_api,
    .stop = stop,
    .close = close_api,
};
