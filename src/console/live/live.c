/* SPDX-License-Identifier: Apache-2.0 */
#include "console/live/live.h"

#include <errno.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "console/live/live_internal.h"
#include "console/rest/streams.h"
#include "frame/service.h"

static void on_change(void *arg)
{
    struct live *live = arg;

    asks_wake(live->asks);
    change_streams_wake(live->console);
}

struct live *live_new(struct console *console)
{
    struct live *live = xcalloc(1, sizeof *live);
    uint32_t epoch = 0;

    BUG_ON(RAND_bytes((unsigned char *)&epoch, sizeof epoch) != 1);
    live->console = console;
    live->picture = picture_new(console->service, on_change, live);
    live->asks = asks_new(console->service, live->picture);
    live->units = units_new(console);
    work_index_init(&live->index);
    (void)snprintf(live->epoch, sizeof live->epoch, "%08x", epoch);
    return live;
}

void live_end(struct live *live)
{
    asks_end(live->asks);
}

void live_free(struct live *live)
{
    if (!live)
        return;
    asks_free(live->asks);
    picture_free(live->picture);
    units_free(live->units);
    work_index_done(&live->index);
    free(live);
}

/* --- one request --- */

void live_ask(struct console *console, struct http_exchange *exchange, asks_ready_fn fn)
{
    asks_when_ready(console->live->asks, exchange, fn, console);
}

void live_answer(struct console *console, struct http_exchange *exchange, live_fn fn)
{
    struct live *live = console->live;
    struct live_answer answer = {
        .live = live,
        .exchange = exchange,
        .caller = rest_attached(exchange),
        .board = picture_board(live->picture),
        .now = nsec_now_wall(),
    };
    char time[TIME_TEXT_MAX];
    struct err err = {0};
    int r = units_refresh(live->units, &err);

    strbuf_init(&answer.out, LIVE_ANSWER_MAX);
    strbuf_addf(&answer.out, "{\"version\":\"%s-%llu\",\"time\":\"%s\"", live->epoch,
                (unsigned long long)answer.board->sequence, time_format(answer.now, time));
    if (r == 0)
        r = fn(&answer, &err);
    strbuf_addch(&answer.out, '}');
    if (r == 0 && answer.out.is_cut)
        r = err_set(&err, -EFBIG, "the answer is larger than %d MiB", LIVE_ANSWER_MAX >> 20);
    if (r < 0)
        rest_fail_err(exchange, &err);
    else
        http_reply(exchange, 200, "application/json", answer.out.text, answer.out.len);
    strbuf_done(&answer.out);
}

void live_reply(struct http_exchange *exchange, yyjson_mut_doc *doc)
{
    size_t len = 0;
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);

    BUG_ON(!text);
    http_reply(exchange, 200, "application/json", text, len);
    free(text);
    yyjson_mut_doc_free(doc);
}

const struct work_index *live_index(struct live *live)
{
    work_index_update(&live->index, picture_board(live->picture));
    return &live->index;
}

bool live_shows(const struct live *live, const struct caller *caller, const struct work_row *row)
{
    return units_show_all_work(&caller->access) ||
           units_show_work(live->units, &caller->access, work_row_text(&live->index, row, WORK_NAMESPACE),
                           work_row_text(&live->index, row, WORK_QUEUE));
}

void live_write_hidden(struct strbuf *out, const char *what, uint64_t count)
{
    if (count > 0)
        strbuf_addf(out, ",\"hidden\":{\"%s\":%llu}", what, (unsigned long long)count);
}

void live_write_time(struct strbuf *out, const char *key, nsec_t time)
{
    char text[TIME_TEXT_MAX];

    if (time)
        strbuf_addf(out, ",\"%s\":\"%s\"", key, time_format(time, text));
}
