/* SPDX-License-Identifier: Apache-2.0 */

/* What KAI's plugins serve on the loopback address: a snapshot of the cluster, and the order of jobs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frame/service.h"
#include "objects/settings/settings.h"
#include "services/scheduler/flags.h"
#include "services/scheduler/observe/job_order.h"
#include "services/scheduler/observe/observers.h"
#include "services/scheduler/observe/snapshot.h"

struct plugin_server {
    const struct scheduler_view *view;
    struct http_server *http;
    struct snapshots *snapshots;
    bool has_run;  // a cycle has
};

static void serve_nothing(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    http_reply_text(exchange, 404, "plugin not found");
}

static bool has_plugin(const struct plugin_server *server, const char *name)
{
    vec_foreach (&server->view->settings->plugins, plugin) {
        if (plugin->is_enabled && strcmp(plugin->name, name) == 0)
            return true;
    }
    return false;
}

/* A page is its plugin's, and there is none without it. */
static void serve_snapshot(void *arg, struct http_exchange *exchange)
{
    const struct plugin_server *server = arg;

    if (has_plugin(server, "snapshot"))
        snapshots_serve(server->snapshots, exchange);
    else
        serve_nothing(arg, exchange);
}

static void serve_job_order(void *arg, struct http_exchange *exchange)
{
    const struct plugin_server *server = arg;

    if (!has_plugin(server, "reflectjoborder"))
        serve_nothing(arg, exchange);
    else if (server->has_run)
        job_order_serve(server->view, exchange);
    else
        http_reply_text(exchange, 503, "Job order data not ready");
}

static const struct rest_route routes[] = {
    REST_ROUTE("GET", "/get-snapshot", serve_snapshot),
    REST_ROUTE("GET", "/get-job-order", serve_job_order),
    REST_ROUTE("GET", "/{path...}", serve_nothing),
};

static void on_cycle_end(void *arg, const struct scheduler_cycle *cycle)
{
    struct plugin_server *server = arg;

    (void)cycle;
    server->has_run = true;
}

static void free_server(void *arg)
{
    struct plugin_server *server = arg;

    process_unserve(server->view->service->process, server->http);
    snapshots_free(server->snapshots);
    free(server);
}

int observe_for_plugin_server(const struct scheduler_view *view, struct scheduler_observer *ret, struct err *err)
{
    char address[64];

    if (view->flags->plugin_server_port == 0)
        return 0;
    struct plugin_server *server = xcalloc(1, sizeof *server);

    server->view = view;
    server->snapshots = snapshots_new(view);
    (void)snprintf(address, sizeof address, "127.0.0.1:%" PRId64, view->flags->plugin_server_port);
    int r = process_serve(view->service->process, view->service->log, address,
                          &(struct rest_set){routes, ARRAY_LEN(routes), server}, &server->http, err);
    if (r < 0) {
        free_server(server);
        return r;
    }
    *ret = (struct scheduler_observer){.arg = server, .on_cycle_end = on_cycle_end, .free = free_server};
    return 1;
}
