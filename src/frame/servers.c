/* SPDX-License-Identifier: Apache-2.0 */

/* The HTTP servers of a service: /metrics with what the kind adds, /healthz and /readyz. */
#include <errno.h>

#include "base/strbuf.h"
#include "frame/service_internal.h"

/* 10000 series of a kilobyte, and then some. */
enum { METRICS_BYTES_MAX = 64 << 20 };

static void serve_metrics(void *arg, struct http_exchange *exchange)
{
    struct service *service = arg;
    struct strbuf text;

    strbuf_init(&text, METRICS_BYTES_MAX);
    metrics_render(service->metrics, &text);
    http_reply(exchange, 200, METRICS_CONTENT_TYPE, text.text, text.len);
    strbuf_done(&text);
}

/* The process answers, so its loop runs. */
static void serve_healthz(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    http_reply_text(exchange, 200, "ok");
}

static void serve_readyz(void *arg, struct http_exchange *exchange)
{
    const struct service *service = arg;

    if (service->run->is_ready && !service->run->is_stopping)
        http_reply_text(exchange, 200, "ok");
    else
        http_reply_text(exchange, 503, "not ready yet");
}

static const struct rest_route health_routes[] = {
    REST_ROUTE("GET", "/healthz", serve_healthz),
    REST_ROUTE("GET", "/readyz", serve_readyz),
};

static const struct rest_route metrics_route = REST_ROUTE("GET", "/metrics", serve_metrics);

static int serve(struct service *service, const char *address, const struct rest_set *sets, size_t set_count,
                 struct err *err)
{
    struct rest_options options = {.sets = sets, .set_count = set_count};
    struct http_server *server = NULL;
    char host[256];
    int code = service_address_parse(address, host, &options.http.port, err);

    if (code <= 0)
        return code;
    /* All interfaces: of both families where there are both. */
    options.http.address = *host ? host : "::";
    code = rest_server_start(service->loop, &options, &server, err);
    if (code < 0 && code != -EADDRINUSE && !*host) {
        options.http.address = "0.0.0.0";
        code = rest_server_start(service->loop, &options, &server, err);
    }
    if (code < 0)
        return err_wrap(err, code, "cannot listen at %s", address);
    vec_push(&service->run->servers, server);
    log_info(service->log, "listening", log_str("address", address), log_int("port", http_server_port(server)));
    return 0;
}

int service_serve(struct service *service, const char *address, const struct rest_route *routes, size_t route_count,
                  void *arg, struct err *err)
{
    return serve(service, address, &(struct rest_set){routes, route_count, arg}, 1, err);
}

int probes_start(struct service *service, struct err *err)
{
    const struct service_kind *kind = service->kind;
    const struct rest_set metrics_sets[] = {{&metrics_route, 1, service}, {kind->routes, kind->route_count, service}};
    int code = serve(service, service->settings.metrics_address, metrics_sets, ARRAY_LEN(metrics_sets), err);

    if (code < 0)
        return err_wrap(err, code, "metrics");
    code =
        service_serve(service, service->settings.health_address, health_routes, ARRAY_LEN(health_routes), service, err);
    return code < 0 ? err_wrap(err, code, "probes") : 0;
}

void servers_stop(struct service *service)
{
    vec_foreach (&service->run->servers, server)
        http_server_free(*server);
    vec_done(&service->run->servers);
}
