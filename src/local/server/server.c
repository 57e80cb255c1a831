/* SPDX-License-Identifier: Apache-2.0 */
#include "local/server/server.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "local/custom/definitions.h"
#include "local/machines/machines.h"
#include "local/rights/rights.h"
#include "local/server/resources.h"
#include "local/server/server_parts.h"
#include "net/http_server.h"

/* What the disk holds is known only when it is read again, by another process. */
static void on_broken(void *arg, const struct err *err)
{
    struct server *server = arg;

    log_fail(server->log, "the store can no longer be written", log_error(err));
    _exit(1);
}

static void server_free(struct server *server)
{
    rights_free(server->rights);
    tokens_done(&server->tokens);
    machines_free(server->machines);
    openapi_pages_done(&server->openapi);
    definitions_free(server->definitions);
    pages_done(&server->pages);
    loop_timer_done(&server->sweep);
    free(server->folder);
    free(server->shared_folders);
    free(server->address);
    free(server);
}

static void stop_listening(struct server *server)
{
    while (server->listener_count > 0)
        http_server_free(server->listeners[--server->listener_count]);
}

static void on_store_closed(void *arg)
{
    struct server *server = arg;
    void (*closed)(void *arg) = server->closed;
    void *closed_arg = server->closed_arg;

    server_free(server);
    if (closed)
        closed(closed_arg);
}

int server_open(struct loop *loop, struct log *log, const struct server_settings *settings, struct server **ret_server,
                struct err *err)
{
    struct server *server = xcalloc(1, sizeof *server);
    const struct store_settings store = {
        .folder = settings->folder, .tag = resource_tag, .broken = on_broken, .arg = server};
    int r;

    server->loop = loop;
    server->definitions = definitions_new();
    server->log = log;
    server->folder = xstrdup(settings->folder);
    server->shared_folders = xstrdup(settings->shared_folders ? settings->shared_folders : "");
    server->address = settings->address ? xstrdup(settings->address) : NULL;
    server->port = settings->port;
    server->node_certificate_lifetime = settings->node_certificate_lifetime;
    r = store_open(loop, &store, &server->store, err);
    if (r < 0) {
        server_free(server);
        return r;
    }
    r = rights_open(server, &server->rights, err);
    if (r == 0)
        r = server_listen(server, err);
    if (r < 0) {
        server_close(server, NULL, NULL);
        return r;
    }
    custom_kinds_start(server);
    if (settings->has_own_kinds)
        custom_kinds_make(server);
    server_make_namespaces(server);
    expiry_start(server);
    *ret_server = server;
    return 0;
}

void server_close(struct server *server, void (*done)(void *arg), void *arg)
{
    server->closed = done;
    server->closed_arg = arg;
    machines_stop(server->machines);
    stop_listening(server);
    custom_kinds_stop(server);
    rights_stop(server->rights);
    loop_timer_stop(&server->sweep);
    pages_done(&server->pages);
    store_close(server->store, on_store_closed, server);
}

uint16_t server_port(const struct server *server)
{
    return server->address ? server->port : 0;
}
