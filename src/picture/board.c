/* SPDX-License-Identifier: Apache-2.0 */
#include "picture/board.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "text/json.h"

struct row {
    struct list_link in_changes;
    struct list_link in_gone;
    enum board_part part;
    char *name;
    char *json;  // NULL: it has gone
    size_t len;
    uint64_t sequence;  // of its last change
    uint64_t round;     // in which it was put last
    nsec_t gone_at;
};

struct rows VEC_OF(const struct row *);

static const char *const part_names[_BOARD_PARTS] = {
    [BOARD_SUMMARY] = "summary",
    [BOARD_NODES] = "nodes",
    [BOARD_QUEUES] = "queues",
    [BOARD_WORKLOADS] = "workloads",
};

const char *board_part_name(enum board_part part)
{
    return part_names[part];
}

void board_init(struct board *board)
{
    *board = (struct board){0};
}

static void row_free(struct row *row)
{
    free(row->name);
    free(row->json);
    free(row);
}

void board_done(struct board *board)
{
    for (size_t part = 0; part < _BOARD_PARTS; part++) {
        struct row *row;

        for (size_t cursor = 0; (row = strmap_next(&board->rows[part], &cursor));)
            row_free(row);
        strmap_done(&board->rows[part]);
    }
    *board = (struct board){0};
}

void board_begin(struct board *board)
{
    board->round++;
}

static void touch(struct board *board, struct row *row)
{
    if (row->sequence > 0)
        list_remove(&board->by_change, &row->in_changes);
    row->sequence = ++board->sequence;
    list_push(&board->by_change, &row->in_changes);
}

static struct row *find_or_add(struct board *board, enum board_part part, const char *name)
{
    struct row *row = strmap_get(&board->rows[part], "", name);

    if (!row) {
        row = xcalloc(1, sizeof *row);
        row->part = part;
        row->name = xstrdup(name);
        (void)strmap_put(&board->rows[part], "", row->name, row);
    }
    return row;
}

void board_put(struct board *board, enum board_part part, const char *name, const char *json, size_t len)
{
    struct row *row = find_or_add(board, part, name);

    row->round = board->round;
    if (row->json && row->len == len && memcmp(row->json, json, len) == 0)
        return;
    if (!row->json && row->sequence > 0)
        list_remove(&board->gone, &row->in_gone);
    free(row->json);
    row->json = xstrndup(json, len);
    row->len = len;
    touch(board, row);
}

void board_keep(struct board *board, enum board_part part)
{
    struct row *row;

    for (size_t cursor = 0; (row = strmap_next(&board->rows[part], &cursor));)
        row->round = board->round;
}

static void forget(struct board *board, struct row *row)
{
    board->forgotten = MAX(board->forgotten, row->sequence);
    list_remove(&board->gone, &row->in_gone);
    list_remove(&board->by_change, &row->in_changes);
    (void)strmap_remove(&board->rows[row->part], "", row->name);
    row_free(row);
}

void board_end(struct board *board, nsec_t now)
{
    struct row *row;

    for (size_t part = 0; part < _BOARD_PARTS; part++) {
        for (size_t cursor = 0; (row = strmap_next(&board->rows[part], &cursor));) {
            if (row->round == board->round || !row->json)
                continue;
            free(row->json);
            row->json = NULL;
            row->gone_at = now;
            touch(board, row);
            list_push(&board->gone, &row->in_gone);
        }
    }
    while ((row = list_first(&board->gone, struct row, in_gone)) &&
           (board->gone.len > BOARD_GONE_MAX || row->gone_at + BOARD_GONE_LIFETIME <= now))
        forget(board, row);
}

bool board_knows(const struct board *board, uint64_t sequence)
{
    return sequence >= board->forgotten && sequence <= board->sequence;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct row *const *)a)->name, (*(const struct row *const *)b)->name);
}

static void write_rows(const struct rows *rows, const char *title, struct strbuf *out)
{
    strbuf_addf(out, "\"%s\":[", title);
    vec_foreach (rows, at) {
        strbuf_addstr(out, at == rows->items ? "" : ",");
        strbuf_add(out, (*at)->json, (*at)->len);
    }
    strbuf_addch(out, ']');
}

static void write_names(const struct rows *rows, const char *title, struct strbuf *out)
{
    strbuf_addf(out, "\"%s\":[", title);
    vec_foreach (rows, at) {
        strbuf_addstr(out, at == rows->items ? "" : ",");
        json_add_string(out, (*at)->name);
    }
    strbuf_addch(out, ']');
}

/* Adds the lists that are not empty, sorted, and frees all. Returns whether there were any. */
static bool write_parts(struct rows parts[static _BOARD_PARTS],
                        void (*write)(const struct rows *rows, const char *title, struct strbuf *out),
                        struct strbuf *out)
{
    bool is_first = true;

    for (size_t part = 0; part < _BOARD_PARTS; part++) {
        struct rows *rows = &parts[part];

        if (rows->len > 0) {
            qsort(rows->items, rows->len, sizeof *rows->items, by_name);
            strbuf_addstr(out, is_first ? "" : ",");
            write(rows, part_names[part], out);
            is_first = false;
        }
        vec_done(rows);
    }
    return !is_first;
}

void board_write_since(const struct board *board, uint64_t sequence, struct strbuf *out)
{
    struct rows there[_BOARD_PARTS] = {0};
    struct rows gone[_BOARD_PARTS] = {0};
    bool has_gone = false;

    for (struct list_link *link = board->by_change.last; link; link = link->prev) {
        const struct row *row = list_item(link, struct row, in_changes);

        if (row->sequence <= sequence)
            break;
        if (row->json) {
            vec_push(&there[row->part], row);
        } else if (sequence > 0) {
            vec_push(&gone[row->part], row);
            has_gone = true;
        }
    }
    bool has_rows = write_parts(there, write_rows, out);

    if (has_gone) {
        strbuf_addstr(out, has_rows ? ",\"gone\":{" : "\"gone\":{");
        (void)write_parts(gone, write_names, out);
        strbuf_addch(out, '}');
    }
}

static struct board_item item_of(const struct row *row)
{
    return (struct board_item){row->part, row->name, row->json, row->len};
}

static int by_item_name(const void *a, const void *b)
{
    return strcmp(((const struct board_item *)a)->name, ((const struct board_item *)b)->name);
}

void board_list(const struct board *board, enum board_part part, struct board_items *items)
{
    uint32_t first = items->len;
    const struct row *row;

    for (size_t cursor = 0; (row = strmap_next(&board->rows[part], &cursor));) {
        if (row->json)
            vec_push(items, item_of(row));
    }
    if (items->len > first)
        qsort(items->items + first, items->len - first, sizeof *items->items, by_item_name);
}

void board_list_since(const struct board *board, uint64_t sequence, struct board_items *items)
{
    for (struct list_link *link = board->by_change.last; link; link = link->prev) {
        const struct row *row = list_item(link, struct row, in_changes);

        if (row->sequence <= sequence)
            return;
        if (row->json || sequence > 0)
            vec_push(items, item_of(row));
    }
}

void board_write_part(const struct board *board, enum board_part part, struct strbuf *out)
{
    struct board_items items = {0};

    board_list(board, part, &items);
    strbuf_addch(out, '[');
    vec_foreach (&items, item) {
        strbuf_addstr(out, item == items.items ? "" : ",");
        strbuf_add(out, item->json, item->len);
    }
    strbuf_addch(out, ']');
    vec_done(&items);
}

const char *board_row(const struct board *board, enum board_part part, const char *name)
{
    const struct row *row = strmap_get(&board->rows[part], "", name);

    return row ? row->json : NULL;
}
