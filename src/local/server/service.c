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
#include "net/loop.h"

struct api {
    struct server *server;
    char *folder;
    char host[256];
    uint16_t port;
    bool is_closed;
};

static const struct flag flags[] = {
    {"state", FLAG_STRING, FLAG_AT(struct api_flags, state), "",
     "folder with all objects; default: ~/.local/state/muster, for root /var/lib/muster", 0, 0},
    {"listen", FLAG_STRING, FLAG_AT(struct api_flags, listen), "127.0.0.1:0",
     "address for clients; port 0: the last one, or any free one", 0, 0},
    {"foreground", FLAG_BOOL, FLAG_AT(struct api_flags, foreground), "false",
     "stay in the foreground and log to the terminal", 0, 0},
    {"api-only", FLAG_BOOL, FLAG_AT(struct api_flags, api_only), "false",
     "run the API server alone: without scheduler, controllers and nodes", 0, 0},
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

static int open_api(struct service *service, struct err *err)
{
    struct api *api = service->state;
    const struct server_settings settings = {
        .folder = api->folder, .address = api->host[0] ? api->host : NULL, .port = api->port};
    int r;

    raise_limit();
    r = server_open(service->loop, service->log, &settings, &api->server, err);
    if (r < 0) {
        api_free(api);
        return r;
    }
    log_info(service->log, "serving", log_str("state", api->folder), log_int("port", server_port(api->server)));
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
    struct service *service = arg;
    struct api *api = service->state;

    api->is_closed = true;
    loop_stop(service->loop);
}

static void close_api(struct service *service)
{
    struct api *api = service->state;

    server_close(api->server, on_closed, service);
    while (!api->is_closed)
        loop_run(service->loop);
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
