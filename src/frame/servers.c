/* SPDX-License-Identifier: Apache-2.0 */

/* The HTTP servers of a process: /metrics, and /healthz and /readyz, which the server of metrics has as well. */
#include <errno.h>

#include "base/strbuf.h"
#include "frame/process_internal.h"

/* 10000 series of a kilobyte, and then some. */
enum { METRICS_BYTES_MAX = 64 << 20 };

/* How long clients may take for the answers that are under way when the process stops. */
static const nsec_t drain_timeout = NSEC_PER_SEC;

static void serve_metrics(void *arg, struct http_exchange *exchange)
{
    struct strbuf text;

    strbuf_init(&text, METRICS_BYTES_MAX);
    process_metrics_render(arg, &text);
    http_reply(exchange, 200, METRICS_CONTENT_TYPE, text.text, text.len);
    strbuf_done(&text);
}

/* The process answers, so its loop runs. */
static void serve_healthz(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    http_reply_text(exchange, 200, "ok");
}

/* Ready when all services are but hosted ones, which their host answers for. */
static void serve_readyz(void *arg, struct http_exchange *exchange)
{
    const struct process_run *run = ((const struct process *)arg)->run;
    bool is_ready = !run->is_stopping;

    vec_foreach (&run->services, service)
        is_ready = is_ready && ((*service)->run->is_ready || (*service)->run->hosted);
    http_reply_text(exchange, is_ready ? 200 : 503, is_ready ? "ok" : "not ready yet");
}

static const struct rest_route health_routes[] = {
    REST_ROUTE("GET", "/healthz", serve_healthz),
    REST_ROUTE("GET", "/readyz", serve_readyz),
};

static const struct rest_route metrics_route = REST_ROUTE("GET", "/metrics", serve_metrics);

static int serve(struct process *process, struct log *log, const char *address, const struct rest_set *sets,
                 size_t set_count, struct http_server **ret_server, struct err *err)
{
    struct rest_options options = {.sets = sets, .set_count = set_count};
    struct http_server *server = NULL;
    char host[256];
    int code = address_parse(address, host, &options.http.port, err);

    if (ret_server)
        *ret_server = NULL;
    if (code <= 0)
        return code;
    /* All interfaces: of both families where there are both. */
    options.http.address = *host ? host : "::";
    code = rest_server_start(process->loop, &options, &server, err);
    if (code < 0 && code != -EADDRINUSE && !*host) {
        options.http.address = "0.0.0.0";
        code = rest_server_start(process->loop, &options, &server, err);
    }
    if (code < 0)
        return err_wrap(err, code, "cannot listen on %s", address);
    vec_push(&process->run->servers, server);
    log_info(log, "listening", log_str("address", address), log_int("port", http_server_port(server)));
    if (ret_server)
        *ret_server = server;
    return 0;
}

int process_serve(struct process *process, struct log *log, const char *address, const struct rest_set *set,
                  struct http_server **ret_server, struct err *err)
{
    return serve(process, log, address, set, 1, ret_server, err);
}

void process_unserve(struct process *process, struct http_server *server)
{
    struct process_servers *servers = &process->run->servers;

    for (uint32_t i = 0; i < servers->len; i++) {
        if (servers->items[i] != server)
            continue;
        vec_remove_at(servers, i);
        http_server_free(server);
        return;
    }
}

int probes_start(struct process *process, struct log *log, struct err *err)
{
    const struct process_settings *settings = &process->settings;
    const struct rest_set sets[] = {{health_routes, ARRAY_LEN(health_routes), process}, {&metrics_route, 1, process}};
    int code = serve(process, log, settings->metrics_address, sets, ARRAY_LEN(sets), NULL, err);

    if (code < 0)
        return err_wrap(err, code, "metrics");
    code = serve(process, log, settings->health_address, sets, 1, NULL, err);
    return code < 0 ? err_wrap(err, code, "probes") : 0;
}

static void on_drained(void *arg)
{
    struct process *process = arg;

    if (--process->run->servers_open == 0)
        loop_stop(process->loop);
}

void servers_drain(struct process *process)
{
    struct process_run *run = process->run;

    if (run->is_draining)
        return;
    run->is_draining = true;
    run->servers_open = run->servers.len;
    vec_foreach (&run->servers, server)
        http_server_drain(*server, drain_timeout, on_drained, process);
    if (run->servers_open == 0)
        loop_stop(process->loop);
}

void servers_stop(struct process *process)
{
    vec_foreach (&process->run->servers, server)
        http_server_free(*server);
    vec_done(&process->run->servers);
}
