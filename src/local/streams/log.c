/* SPDX-License-Identifier: Apache-2.0 */

/* pods/log: of a container of this machine, or by way of the machine that runs it. */
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "local/machines/relay.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"
#include "local/streams/log_reader.h"
#include "local/streams/streams.h"
#include "local/streams/target.h"
#include "net/http_server.h"
#include "net/rest/errors.h"
#include "text/json.h"

enum { ORDER_MAX = 4096 };

struct log_answer {
    struct http_exchange *exchange;
    struct log_reader *reader;
};

static void write_answer(void *arg, const char *bytes, size_t len)
{
    http_reply_write(((struct log_answer *)arg)->exchange, bytes, len);
}

static size_t unsent(void *arg)
{
    return http_reply_unsent(((struct log_answer *)arg)->exchange);
}

static void end(void *arg)
{
    struct log_answer *answer = arg;

    http_on_cancel(answer->exchange, NULL, NULL);
    http_reply_end(answer->exchange);
    free(answer);
}

static void on_drain(void *arg)
{
    log_reader_pump(((struct log_answer *)arg)->reader);
}

static void on_cancel(void *arg)
{
    struct log_answer *answer = arg;

    log_reader_free(answer->reader);
    end(answer);
}

static void read_here(struct request *request, const struct target *target, const struct log_options *options)
{
    const struct log_place place = {.folder = target->folder, .container = target->container, .pod = request->name};
    struct http_exchange *exchange = request->exchange;
    struct loop *loop = request->server->loop;
    struct err err = {0};
    unsigned run = 0;

    if (log_run_find(&place, options, &run, &err) < 0) {
        fail_bad(request, "%s", err.text);
        return;
    }
    struct log_answer *answer = xcalloc(1, sizeof *answer);
    const struct log_sink sink = {.write = write_answer, .unsent = unsent, .end = end, .arg = answer};

    answer->exchange = exchange;
    answer->reader = log_reader_new(loop, &place, options, run, &sink);
    request_end(request);
    http_reply_begin(exchange, 200, "text/plain");
    http_on_cancel(exchange, on_cancel, answer);
    http_on_drain(exchange, on_drain, answer);
    log_reader_pump(answer->reader);
}

/* What the machine of the pod is asked for. */
static void read_there(struct request *request, const struct target *target, const struct log_options *options)
{
    struct strbuf order;

    strbuf_init(&order, ORDER_MAX);
    strbuf_addstr(&order, "{\"op\":\"log\",\"container\":");
    json_add_string(&order, target->container);
    strbuf_addch(&order, ',');
    log_options_write(options, &order);
    strbuf_addch(&order, '}');
    relay_start(request, target->pod, order.text, RELAY_LOG);
    strbuf_done(&order);
}

static const char *query(void *arg, const char *name)
{
    return request_query(arg, name);
}

static void fail_options(struct request *request, const struct err *err)
{
    char message[1024];

    (void)snprintf(message, sizeof message, "PodLogOptions \"%s\" is invalid: %s", request->name, err->text);
    fail_problem(request, &(struct rest_problem){.status = 422, .reason = "Invalid", .message = message});
}

void serve_log(struct request *request)
{
    struct log_options options;
    struct target target;
    struct err err = {0};

    if (request->verb != VERB_GET) {
        fail_method(request);
        return;
    }
    if (log_options_read(&options, query, request, nsec_now_wall(), &err) < 0) {
        fail_options(request, &err);
        return;
    }
    if (!target_find(request, &target))
        return;
    if (relay_is_needed(request->server, target.pod))
        read_there(request, &target, &options);
    else
        read_here(request, &target, &options);
    target_done(&target);
}
