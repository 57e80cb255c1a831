/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What changes, as Server-Sent Events. An event's id is "EPOCH-SEQUENCE"; a client that comes back with the id of the last
 * event that it has seen gets all rows that changed since, as they are now, and one that was away for too long, or has seen
 * another process, gets everything.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "net/rest/event_stream.h"
#include "picture/board.h"
#include "picture/picture.h"
#include "web/web_internal.h"

enum { FRAME_MAX = 256 << 20 };

struct stream {
    struct list_link in_web;
    struct web *web;
    struct http_exchange *exchange;
    uint64_t sequence;  // that the client has seen; 0: nothing
    bool is_new;        // it has been sent nothing yet
};

static void stream_end(struct stream *stream)
{
    list_remove(&stream->web->streams, &stream->in_web);
    picture_release(stream->web->picture);
    http_reply_end(stream->exchange);
    free(stream);
}

static void on_cancel(void *arg)
{
    stream_end(arg);
}

/* "change" holds rows that are new or have changed, "reset" all there are. */
static void send_rows(struct stream *stream)
{
    const struct board *board = picture_board(stream->web->picture);
    bool is_reset = stream->sequence == 0 || !board_knows(board, stream->sequence);
    char time[TIME_TEXT_MAX];
    struct strbuf frame;

    if (!stream->is_new && !is_reset && stream->sequence == board->sequence)
        return;
    strbuf_init(&frame, FRAME_MAX);
    strbuf_addf(&frame, "event: %s\nid: %s-%llu\ndata: {\"time\":\"%s\"", is_reset ? "reset" : "change",
                stream->web->epoch, (unsigned long long)board->sequence, time_format(nsec_now_wall(), time));
    if (is_reset || stream->sequence != board->sequence) {
        strbuf_addch(&frame, ',');
        board_write_since(board, is_reset ? 0 : stream->sequence, &frame);
    }
    strbuf_addstr(&frame, "}\n\n");
    stream->is_new = false;
    stream->sequence = board->sequence;
    http_reply_write(stream->exchange, frame.text, frame.len);
    strbuf_done(&frame);
}

/* Whoever has not taken the last frame gets the next one later, with all that changed until then. */
static void stream_wake(struct stream *stream)
{
    if (picture_is_ready(stream->web->picture) && http_reply_unsent(stream->exchange) == 0)
        send_rows(stream);
}

static void on_drain(void *arg)
{
    stream_wake(arg);
}

void serve_stream(void *arg, struct http_exchange *exchange)
{
    struct web *web = arg;
    struct stream *stream = xcalloc(1, sizeof *stream);

    *stream = (struct stream){
        .web = web,
        .exchange = exchange,
        .sequence = event_stream_seen(exchange, web->epoch),
        .is_new = true,
    };
    list_push(&web->streams, &stream->in_web);
    picture_hold(web->picture);
    event_stream_begin(exchange);
    http_on_cancel(exchange, on_cancel, stream);
    http_on_drain(exchange, on_drain, stream);
    if (picture_is_ready(web->picture))
        send_rows(stream);
}

void streams_wake(struct web *web)
{
    for (struct list_link *link = web->streams.first, *next; link; link = next) {
        next = link->next;
        stream_wake(list_item(link, struct stream, in_web));
    }
}

void streams_beat(struct web *web)
{
    for (struct list_link *link = web->streams.first, *next; link; link = next) {
        next = link->next;
        event_stream_beat(list_item(link, struct stream, in_web)->exchange);
    }
}

void streams_end(struct web *web)
{
    for (struct list_link *link = web->streams.first, *next; link; link = next) {
        next = link->next;
        stream_end(list_item(link, struct stream, in_web));
    }
}
