/* SPDX-License-Identifier: Apache-2.0 */

/* The rows as whole documents. A request that comes before all objects are known waits for them. */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "web/board.h"
#include "web/picture.h"
#include "web/web_internal.h"

enum { DOCUMENT_MAX = 256 << 20 };

struct wait {
    struct list_link in_web;
    struct web *web;
    struct http_exchange *exchange;
    web_ready_fn fn;
};

static void wait_end(struct wait *wait)
{
    list_remove(&wait->web->waits, &wait->in_web);
    picture_release(wait->web->picture);
    free(wait);
}

void web_when_ready(struct web *web, struct http_exchange *exchange, web_ready_fn fn)
{
    picture_hold(web->picture);
    if (picture_is_ready(web->picture)) {
        fn(web, exchange);
        picture_release(web->picture);
        return;
    }
    struct wait *wait = xcalloc(1, sizeof *wait);

    *wait = (struct wait){.web = web, .exchange = exchange, .fn = fn};
    list_push(&web->waits, &wait->in_web);
}

void waits_wake(struct web *web)
{
    if (!picture_is_ready(web->picture))
        return;
    for (struct list_link *link = web->waits.first, *next; link; link = next) {
        struct wait *wait = list_item(link, struct wait, in_web);

        next = link->next;
        wait->fn(web, wait->exchange);
        wait_end(wait);
    }
}

void waits_end(struct web *web)
{
    for (struct list_link *link = web->waits.first, *next; link; link = next) {
        struct wait *wait = list_item(link, struct wait, in_web);

        next = link->next;
        rest_fail(wait->exchange, -ESHUTDOWN, "Muster is stopping");
        wait_end(wait);
    }
}

/* Answers with a text that may have come to its limit. */
static void reply(struct http_exchange *exchange, struct strbuf *out)
{
    if (out->is_cut)
        rest_fail(exchange, -EFBIG, "the answer is larger than %d MiB", DOCUMENT_MAX >> 20);
    else
        http_reply(exchange, 200, "application/json", out->text, out->len);
    strbuf_done(out);
}

static void reply_state(struct web *web, struct http_exchange *exchange)
{
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

static void reply_nodes(struct web *web, struct http_exchange *exchange)
{
    reply_part(web, exchange, BOARD_NODES);
}

static void reply_queues(struct web *web, struct http_exchange *exchange)
{
    reply_part(web, exchange, BOARD_QUEUES);
}

static void reply_workloads(struct web *web, struct http_exchange *exchange)
{
    reply_part(web, exchange, BOARD_WORKLOADS);
}

void serve_state(void *arg, struct http_exchange *exchange)
{
    web_when_ready(arg, exchange, reply_state);
}

void serve_nodes(void *arg, struct http_exchange *exchange)
{
    web_when_ready(arg, exchange, reply_nodes);
}

void serve_queues(void *arg, struct http_exchange *exchange)
{
    web_when_ready(arg, exchange, reply_queues);
}

void serve_workloads(void *arg, struct http_exchange *exchange)
{
    web_when_ready(arg, exchange, reply_workloads);
}
