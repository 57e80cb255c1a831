/* SPDX-License-Identifier: Apache-2.0 */

/* The rows as whole documents, and what is asked about a workload. */
#include <errno.h>

#include "base/strbuf.h"
#include "picture/asks.h"
#include "picture/board.h"
#include "picture/picture.h"
#include "web/web_internal.h"

enum { DOCUMENT_MAX = 256 << 20 };

/* Answers with a text that may have come to its limit. */
static void reply(struct http_exchange *exchange, struct strbuf *out)
{
    if (out->is_cut)
        rest_fail(exchange, -EFBIG, "the answer is larger than %d MiB", DOCUMENT_MAX >> 20);
    else
        http_reply(exchange, 200, "application/json", out->text, out->len);
    strbuf_done(out);
}

static void reply_state(void *arg, struct http_exchange *exchange)
{
    struct web *web = arg;
    const struct board *board = picture_board(web->picture);
    struct strbuf out;

    strbuf_init(&out, DOCUMENT_MAX);
    strbuf_addf(&out, "{\"version\":\"%s-%llu\"", web->epoch, (unsigned long long)board->sequence);
    for (size_t part = 0; part < _BOARD_PARTS; part++) {
        strbuf_addf(&out, ",\"%s\":", board_part_name((enum board_part)part));
        board_write_part(board, (enum board_part)part, &out);
    }
    strbuf_addch(&out, '}');
    reply(exchange, &out);
}

static void reply_part(struct web *web, struct http_exchange *exchange, enum board_part part)
{
    struct strbuf out;

    strbuf_init(&out, DOCUMENT_MAX);
    strbuf_addstr(&out, "{\"items\":");
    board_write_part(picture_board(web->picture), part, &out);
    strbuf_addch(&out, '}');
    reply(exchange, &out);
}

static void reply_nodes(void *arg, struct http_exchange *exchange)
{
    reply_part(arg, exchange, BOARD_NODES);
}

static void reply_queues(void *arg, struct http_exchange *exchange)
{
    reply_part(arg, exchange, BOARD_QUEUES);
}

static void reply_workloads(void *arg, struct http_exchange *exchange)
{
    reply_part(arg, exchange, BOARD_WORKLOADS);
}

static void serve(struct web *web, struct http_exchange *exchange, asks_ready_fn fn)
{
    asks_when_ready(web->asks, exchange, fn, web);
}

void serve_state(void *arg, struct http_exchange *exchange)
{
    serve(arg, exchange, reply_state);
}

void serve_nodes(void *arg, struct http_exchange *exchange)
{
    serve(arg, exchange, reply_nodes);
}

void serve_queues(void *arg, struct http_exchange *exchange)
{
    serve(arg, exchange, reply_queues);
}

void serve_workloads(void *arg, struct http_exchange *exchange)
{
    serve(arg, exchange, reply_workloads);
}

void serve_why(void *arg, struct http_exchange *exchange)
{
    struct web *web = arg;

    asks_why(web->asks, exchange, NULL, NULL);
}

void serve_events(void *arg, struct http_exchange *exchange)
{
    struct web *web = arg;

    asks_events(web->asks, exchange);
}
