/* SPDX-License-Identifier: Apache-2.0 */

/* All workloads: in columns, as a window into the sorted list, and counted. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console/live/live_internal.h"
#include "console/rest/handlers.h"
#include "text/json.h"
#include "views/workloads.h"

enum { WINDOW_LIMIT = 60, WINDOW_LIMIT_MAX = 500 };

/* --- which ones --- */

int live_choose(struct live_answer *answer, struct live_chosen *ret_chosen, struct err *err)
{
    const struct work_index *index = live_index(answer->live);
    const char *text = rest_query(answer->exchange, "filter");
    struct work_filter filter;
    int r = work_filter_parse(text ? text : "", answer->caller->name, &filter, err);

    *ret_chosen = (struct live_chosen){0};
    if (r < 0)
        return err_wrap(err, r, "filter");
    vec_reserve(&ret_chosen->rows, index->rows.len);
    vec_foreach (&index->rows, row) {
        if (!live_shows(answer->live, answer->caller, *row))
            continue;
        ret_chosen->visible++;
        if (!work_filter_fits(&filter, index, *row, answer->now))
            continue;
        ret_chosen->gpus += (*row)->gpus;
        vec_push(&ret_chosen->rows, *row);
    }
    ret_chosen->hidden = index->rows.len - ret_chosen->visible;
    work_filter_done(&filter);
    return 0;
}

/* --- the window --- */

static int read_number(const struct http_exchange *exchange, const char *name, uint64_t max, uint64_t *value,
                       struct err *err)
{
    const char *text = rest_query(exchange, name);
    char *end = NULL;

    if (!text)
        return 0;
    errno = 0;
    unsigned long long number = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    if (!end || *end || errno || number > max)
        return err_set(err, -EINVAL, "%s: expected a number up to %llu", name, (unsigned long long)max);
    *value = number;
    return 0;
}

static void write_window(struct live_answer *answer, const struct work_rows *rows, uint64_t offset, uint64_t limit)
{
    strbuf_addf(&answer->out, ",\"offset\":%llu,\"items\":[", (unsigned long long)offset);
    for (uint64_t i = offset; i < rows->len && i - offset < limit; i++) {
        const char *json = board_row(answer->board, BOARD_WORKLOADS, rows->items[i]->id);

        strbuf_addstr(&answer->out, i > offset ? "," : "");
        strbuf_addstr(&answer->out, json ? json : "{}");
    }
    strbuf_addch(&answer->out, ']');
}

static int answer_window(struct live_answer *answer, struct err *err)
{
    uint64_t offset = 0;
    uint64_t limit = WINDOW_LIMIT;
    struct live_chosen chosen;
    int r;

    if ((r = read_number(answer->exchange, "offset", UINT32_MAX, &offset, err)) < 0 ||
        (r = read_number(answer->exchange, "limit", WINDOW_LIMIT_MAX, &limit, err)) < 0 ||
        (r = live_choose(answer, &chosen, err)) < 0)
        return r;
    r = work_order(rest_query(answer->exchange, "sort"), &answer->live->index, answer->now, &chosen.rows, err);
    if (r == 0) {
        strbuf_addf(&answer->out, ",\"total\":%llu,\"matched\":%u,\"gpus\":%.10g", (unsigned long long)chosen.visible,
                    chosen.rows.len, chosen.gpus);
        write_window(answer, &chosen.rows, offset, limit);
        live_write_hidden(&answer->out, "workloads", chosen.hidden);
    }
    vec_done(&chosen.rows);
    return r;
}

/* --- counts --- */

struct tally {
    const char *value;
    uint64_t count;
    double gpus;
    nsec_t oldest;
};

static int by_count(const void *a, const void *b)
{
    const struct tally *one = a;
    const struct tally *two = b;

    return one->count != two->count ? (one->count < two->count ? 1 : -1) : strcmp(one->value, two->value);
}

int live_read_by(const struct http_exchange *exchange, enum work_text *by, struct err *err)
{
    const char *name = rest_query(exchange, "by");

    if (!name)
        return 0;
    for (int text = 0; text < _WORK_TEXT_MAX; text++) {
        if (strcmp(work_text_name((enum work_text)text), name) == 0) {
            *by = (enum work_text)text;
            return 0;
        }
    }
    return err_set(err, -EINVAL, "by: expected state, reason, queue, namespace, user or kind");
}

static void write_tally(const struct tally *tally, enum work_text by, struct strbuf *out)
{
    strbuf_addstr(out, "{\"value\":");
    json_add_string(out, tally->value);
    if (by == WORK_REASON && *tally->value) {
        strbuf_addstr(out, ",\"text\":");
        json_add_string(out, row_reason_words(tally->value));
    }
    strbuf_addf(out, ",\"count\":%llu,\"gpus\":%.10g", (unsigned long long)tally->count, tally->gpus);
    live_write_time(out, "oldest", tally->oldest);
    strbuf_addch(out, '}');
}

static void write_tallies(struct live_answer *answer, const struct live_chosen *chosen, enum work_text by)
{
    const struct intern *texts = &answer->live->index.texts;
    uint32_t count = intern_len(texts);
    struct tally *tallies = xcalloc(count, sizeof *tallies);

    for (uint32_t id = 0; id < count; id++)
        tallies[id].value = intern_str(texts, id);
    vec_foreach (&chosen->rows, row) {
        struct tally *tally = &tallies[(*row)->texts[by]];

        tally->count++;
        tally->gpus += (*row)->gpus;
        if ((*row)->created && (!tally->oldest || (*row)->created < tally->oldest))
            tally->oldest = (*row)->created;
    }
    qsort(tallies, count, sizeof *tallies, by_count);
    strbuf_addf(&answer->out, ",\"by\":\"%s\",\"items\":[", work_text_name(by));
    for (uint32_t i = 0; i < count && tallies[i].count > 0; i++) {
        strbuf_addstr(&answer->out, i > 0 ? "," : "");
        write_tally(&tallies[i], by, &answer->out);
    }
    strbuf_addch(&answer->out, ']');
    free(tallies);
}

static int answer_counts(struct live_answer *answer, struct err *err)
{
    enum work_text by = WORK_STATE;
    struct live_chosen chosen;
    int r = live_read_by(answer->exchange, &by, err);

    if (r < 0 || (r = live_choose(answer, &chosen, err)) < 0)
        return r;
    write_tallies(answer, &chosen, by);
    live_write_hidden(&answer->out, "workloads", chosen.hidden);
    vec_done(&chosen.rows);
    return 0;
}

/* --- all of them, in columns --- */

static int by_id(const void *a, const void *b)
{
    return strcmp((*(const struct work_row *const *)a)->id, (*(const struct work_row *const *)b)->id);
}

static void write_names(const struct work_rows *rows, struct strbuf *out)
{
    strbuf_addstr(out, "\"name\":[");
    vec_foreach (rows, row) {
        strbuf_addstr(out, row == rows->items ? "" : ",");
        json_add_string(out, (*row)->name);
    }
    strbuf_addch(out, ']');
}

/* The texts that there are, each once, and their places. */
static void write_texts(const struct work_index *index, const struct work_rows *rows, enum work_text text,
                        struct strbuf *out)
{
    uint32_t *places = xcalloc(intern_len(&index->texts), sizeof *places);
    uint32_t count = 0;

    strbuf_addf(out, ",\"%s\":{\"names\":[", work_text_name(text));
    vec_foreach (rows, row) {
        uint32_t *place = &places[(*row)->texts[text]];

        if (*place > 0)
            continue;
        strbuf_addstr(out, count > 0 ? "," : "");
        json_add_string(out, work_row_text(index, *row, text));
        *place = ++count;
    }
    strbuf_addstr(out, "],\"at\":[");
    vec_foreach (rows, row)
        strbuf_addf(out, "%s%u", row == rows->items ? "" : ",", places[(*row)->texts[text]] - 1);
    strbuf_addstr(out, "]}");
    free(places);
}

static void write_times(const struct work_rows *rows, const char *key, size_t offset, struct strbuf *out)
{
    strbuf_addf(out, ",\"%s\":[", key);
    vec_foreach (rows, row)
        strbuf_addf(out, "%s%lld", row == rows->items ? "" : ",",
                    (long long)(*(const nsec_t *)((const char *)*row + offset) / NSEC_PER_SEC));
    strbuf_addch(out, ']');
}

static void write_amounts(const struct work_rows *rows, struct strbuf *out)
{
    strbuf_addstr(out, ",\"gpus\":[");
    vec_foreach (rows, row)
        strbuf_addf(out, "%s%.10g", row == rows->items ? "" : ",", (*row)->gpus);
    strbuf_addstr(out, "],\"pods\":[");
    vec_foreach (rows, row)
        strbuf_addf(out, "%s%lld", row == rows->items ? "" : ",", (long long)(*row)->pods);
    strbuf_addch(out, ']');
}

static int answer_index(struct live_answer *answer, struct err *err)
{
    struct strbuf *out = &answer->out;
    struct live_chosen chosen;
    int r = live_choose(answer, &chosen, err);

    if (r < 0)
        return r;
    if (chosen.rows.len > 0)
        qsort(chosen.rows.items, chosen.rows.len, sizeof *chosen.rows.items, by_id);
    strbuf_addf(out, ",\"count\":%u,\"columns\":{", chosen.rows.len);
    write_names(&chosen.rows, out);
    for (int text = 0; text < _WORK_TEXT_MAX; text++)
        write_texts(&answer->live->index, &chosen.rows, (enum work_text)text, out);
    write_amounts(&chosen.rows, out);
    write_times(&chosen.rows, "created", offsetof(struct work_row, created), out);
    write_times(&chosen.rows, "started", offsetof(struct work_row, started), out);
    write_times(&chosen.rows, "finished", offsetof(struct work_row, finished), out);
    strbuf_addch(out, '}');
    live_write_hidden(out, "workloads", chosen.hidden);
    vec_done(&chosen.rows);
    return 0;
}

LIVE_READS(live_index, answer_index)
LIVE_READS(live_window, answer_window)
LIVE_READS(live_counts, answer_counts)
