/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/strbuf.h"
#include "console/live/live.h"
#include "console/live/units.h"
#include "console/live/work_filter.h"
#include "console/live/work_index.h"
#include "console/live/work_order.h"
#include "console/rest/context.h"
#include "picture/asks.h"
#include "picture/board.h"
#include "picture/picture.h"

struct live {
    struct console *console;
    struct picture *picture;
    struct asks *asks;
    struct units *units;
    struct work_index index;
    char epoch[16];  // of this process
};

/* Answers are texts, written row by row. */
enum { LIVE_ANSWER_MAX = 256 << 20 };

/* What a handler answers with when the picture is ready: the members of an object, behind `version` and `time`. */
struct live_answer {
    struct live *live;
    struct http_exchange *exchange;
    const struct caller *caller;
    const struct board *board;
    nsec_t now;
    struct strbuf out;
};
typedef int (*live_fn)(struct live_answer *answer, struct err *err);

/* Waits for the picture, calls `fn` and sends what it has written, or the error. */
#define LIVE_READS(name, the_fn)                                             \
    static void name##_when_ready(void *arg, struct http_exchange *exchange) \
    {                                                                        \
        live_answer(arg, exchange, the_fn);                                  \
    }                                                                        \
    void handle_##name(void *arg, struct http_exchange *exchange)            \
    {                                                                        \
        live_ask(arg, exchange, name##_when_ready);                          \
    }
void live_answer(struct console *console, struct http_exchange *exchange, live_fn fn);
void live_ask(struct console *console, struct http_exchange *exchange, asks_ready_fn fn);

/* Answers with a document, and frees it. */
void live_reply(struct http_exchange *exchange, yyjson_mut_doc *doc);

/* The index, up to date. */
const struct work_index *live_index(struct live *live);

/* Whether the caller may see a workload of the index. */
bool live_shows(const struct live *live, const struct caller *caller, const struct work_row *row);

/* What the caller may see of the workloads, and the filter of the query keeps. */
struct live_chosen {
    struct work_rows rows;
    uint64_t visible, hidden;
    double gpus;
};
MUST_CHECK int live_choose(struct live_answer *answer, struct live_chosen *ret_chosen, struct err *err);

/* The column of the query's `by`; `*by` stays when there is none. */
MUST_CHECK int live_read_by(const struct http_exchange *exchange, enum work_text *by, struct err *err);

/* The part's rows as an array of which the caller sees what it may; `*ret_hidden` counts those that were left out. */
void live_write_part(struct live_answer *answer, enum board_part part, uint32_t *ret_hidden);

/* Those parts of the rows, as bits, that the caller may read at all. */
uint32_t live_allowed_parts(const struct caller *caller, uint32_t parts);

/* Writes the rows of these parts that changed after `version` as the members of an object, each behind a comma, as far as the caller
 * may see them. Returns whether there are any. */
bool live_write_since(struct live *live, const struct caller *caller, uint32_t parts, uint64_t version,
                      struct strbuf *out);

/* A row as the caller may see it, behind a comma unless it is the first. Returns whether it may be seen. */
bool live_write_row(struct live *live, const struct caller *caller, const struct board_item *item, bool is_first,
                    struct strbuf *out);

/* ,"hidden":{"workloads":3}; nothing for none. */
void live_write_hidden(struct strbuf *out, const char *what, uint64_t count);

/* ,"key":TIME; nothing for 0. */
void live_write_time(struct strbuf *out, const char *key, nsec_t time);
