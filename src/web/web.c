/* SPDX-License-Identifier: Apache-2.0 */

/* The service: its flags, its sockets, and what ends with it. */
#include "web/web.h"

#include <errno.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "frame/service.h"
#include "net/http_server.h"
#include "picture/asks.h"
#include "picture/picture.h"
#include "web/web_internal.h"

#define BEAT_INTERVAL (15 * NSEC_PER_SEC)

#define AT(member) FLAG_AT(struct web_flags, member)

static const struct flag flags[] = {
    {"ui-listen", FLAG_STRING, AT(listen), "127.0.0.1:0",
     "loopback address of the page; port 0: any free one; 0: no page", 0, 0},
    {"ui-socket", FLAG_STRING, AT(socket), "",
     "Unix socket with the REST API of the page; default: page.sock in the state folder", 0, 0},
};

static void on_change(void *arg)
{
    struct web *web = arg;

    asks_wake(web->asks);
    streams_wake(web);
}

static void on_beat(void *arg)
{
    struct web *web = arg;

    streams_beat(web);
    loop_timer_start(&web->beat, BEAT_INTERVAL);
}

static int start(struct web *web, const struct http_server_options *http, const struct rest_set *set,
                 struct http_server **ret_server, struct err *err)
{
    const struct rest_options options = {
        .http = *http, .sets = set, .set_count = 1, .allow = gate_allows, .allow_arg = web};

    return rest_server_start(web->service->loop, &options, ret_server, err);
}

/* Without TLS, others on the way could read everything: there must be no way. */
static bool is_loopback(const char *host)
{
    return strcmp(host, "127.0.0.1") == 0 || strcmp(host, "::1") == 0 || strcmp(host, "localhost") == 0;
}

/* The address is looked at before anything is opened. */
static int configure(struct service *service, struct err *err)
{
    const struct web_flags *values = service->values;
    char host[256];
    uint16_t port = 0;
    int r = address_parse(values->listen, host, &port, err);

    if (r < 0)
        return err_wrap(err, r, "--ui-listen");
    if (r > 0 && !is_loopback(host))
        return err_set(err, -EINVAL,
                       "--ui-listen: the page is served without TLS, on 127.0.0.1 or ::1 alone; from another machine, "
                       "use a tunnel such as ssh -L");
    return 0;
}

static int listen_for_browsers(struct web *web, struct err *err)
{
    const struct rest_set set = {web_page_routes, web_page_route_count, web};
    struct http_server_options options = {0};
    char host[256];
    int r = address_parse(web->flags->listen, host, &options.port, err);

    if (r <= 0)
        return r;
    options.address = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
    r = start(web, &options, &set, &web->page, err);
    return r < 0 ? err_wrap(err, r, "cannot listen on %s", web->flags->listen) : 0;
}

static int listen_for_programs(struct web *web, struct err *err)
{
    const struct rest_set set = {web_socket_routes, web_socket_route_count, web};
    int r;

    if (!*web->flags->socket)
        return 0;
    r = start(web, &(struct http_server_options){.unix_path = web->flags->socket}, &set, &web->socket, err);
    return r < 0 ? err_wrap(err, r, "cannot listen on %s", web->flags->socket) : 0;
}

static void web_free(struct web *web)
{
    http_server_free(web->page);
    http_server_free(web->socket);
    loop_timer_done(&web->beat);
    asks_free(web->asks);
    picture_free(web->picture);
    logins_done(&web->logins);
    free(web);
}

static int open_web(struct service *service, struct err *err)
{
    struct web *web = xcalloc(1, sizeof *web);
    uint32_t epoch = 0;
    int r;

    BUG_ON(RAND_bytes((unsigned char *)&epoch, sizeof epoch) != 1);
    web->service = service;
    web->flags = service->values;
    (void)snprintf(web->epoch, sizeof web->epoch, "%08x", epoch);
    web->picture = picture_new(service, on_change, web);
    web->asks = asks_new(service, web->picture);
    loop_timer_init(&web->beat, service->loop, on_beat, web);
    r = listen_for_browsers(web, err);
    if (r == 0)
        r = listen_for_programs(web, err);
    if (r < 0) {
        web_free(web);
        return r;
    }
    service->state = web;
    loop_timer_start(&web->beat, BEAT_INTERVAL);
    service_set_ready(service, true);
    return 0;
}

/* Everything that lasts is answered, so that nothing of it is left when the servers are freed. */
static void stop(struct service *service)
{
    struct web *web = service->state;

    streams_end(web);
    asks_end(web->asks);
    service_stopped(service);
}

static void close_web(struct service *service)
{
    struct web *web = service->state;

    /* Requests may have come since. */
    streams_end(web);
    asks_end(web->asks);
    web_free(web);
}

const struct service_kind web_service = {
    .name = "page",
    .flags = flags,
    .flag_count = ARRAY_LEN(flags),
    .values_size = sizeof(struct web_flags),
    .has_api = true,
    .configure = configure,
    .open = open_web,
    .stop = stop,
    .close = close_web,
};
