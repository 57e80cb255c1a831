/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Each row gets a number for each column, so that a hundred thousand are compared without reading a text: texts that many rows share
 * are ranked once, and of a name its first bytes decide most comparisons.
 */
#include "console/live/work_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum { KEYS_MAX = 4 };

enum column {
    COLUMN_NAME = _WORK_TEXT_MAX,
    COLUMN_GPUS,
    COLUMN_PODS,
    COLUMN_CREATED,
    COLUMN_STARTED,
    COLUMN_FINISHED,
    COLUMN_WAITED,
    COLUMN_RAN,
    _COLUMN_MAX
};

static const char *const own_names[_COLUMN_MAX] = {
    [COLUMN_NAME] = "name",       [COLUMN_GPUS] = "gpus",       [COLUMN_PODS] = "pods",
    [COLUMN_CREATED] = "created", [COLUMN_STARTED] = "started", [COLUMN_FINISHED] = "finished",
    [COLUMN_WAITED] = "waited",   [COLUMN_RAN] = "ran",
};

struct key {
    int column;
    bool is_turned;
};

struct keyed {
    const struct work_row *row;
    double keys[KEYS_MAX];
};

struct order {
    struct key keys[KEYS_MAX];
    size_t count;
    uint32_t *ranks;  // of the index's texts
};

static const char *column_name(int column)
{
    return column < _WORK_TEXT_MAX ? work_text_name((enum work_text)column) : own_names[column];
}

static int read_order(const char *text, struct order *order, struct err *err)
{
    while (*text) {
        bool is_turned = *text == '-';
        const char *name = text + is_turned;
        size_t len = strcspn(name, ",");
        int column = 0;

        while (column < _COLUMN_MAX &&
               (strlen(column_name(column)) != len || strncmp(column_name(column), name, len) != 0))
            column++;
        if (column == _COLUMN_MAX)
            return err_set(err, -EINVAL, "sort: there is no column '%.*s'", (int)MIN(len, (size_t)40), name);
        if (order->count == KEYS_MAX)
            return err_set(err, -EINVAL, "sort: more than %d columns", KEYS_MAX);
        order->keys[order->count++] = (struct key){column, is_turned};
        text = name + len + (name[len] == ',');
    }
    return 0;
}

struct ranking {
    const char *text;
    uint32_t id;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct ranking *)a)->text, ((const struct ranking *)b)->text);
}

static uint32_t *rank_texts(const struct intern *texts)
{
    uint32_t count = intern_len(texts);
    struct ranking *all = xcalloc(count, sizeof *all);
    uint32_t *ranks = xcalloc(count, sizeof *ranks);

    for (uint32_t id = 0; id < count; id++)
        all[id] = (struct ranking){intern_str(texts, id), id};
    qsort(all, count, sizeof *all, by_text);
    for (uint32_t i = 0; i < count; i++)
        ranks[all[i].id] = i;
    free(all);
    return ranks;
}

/* The first six bytes, which a double holds exactly. */
static double name_key(const char *name)
{
    uint64_t key = 0;

    for (int i = 0; i < 6; i++) {
        key = key << 8 | (unsigned char)*name;
        name += *name != '\0';
    }
    return (double)key;
}

static double value_of(const struct order *order, const struct work_row *row, int column, nsec_t now)
{
    switch (column) {
    case COLUMN_NAME:
        return name_key(row->name);
    case COLUMN_GPUS:
        return row->gpus;
    case COLUMN_PODS:
        return (double)row->pods;
    case COLUMN_CREATED:
        return (double)row->created;
    case COLUMN_STARTED:
        return (double)row->started;
    case COLUMN_FINISHED:
        return (double)row->finished;
    case COLUMN_WAITED:
        return (double)work_row_waited(row, now);
    case COLUMN_RAN:
        return (double)work_row_ran(row, now);
    default:
        return order->ranks[row->texts[column]];
    }
}

static int compare(const void *a, const void *b, void *arg)
{
    const struct order *order = arg;
    const struct keyed *one = a;
    const struct keyed *two = b;

    for (size_t i = 0; i < order->count; i++) {
        const struct key *key = &order->keys[i];
        int side = (one->keys[i] > two->keys[i]) - (one->keys[i] < two->keys[i]);

        if (side == 0 && key->column == COLUMN_NAME)
            side = strcmp(one->row->name, two->row->name);
        if (side != 0)
            return key->is_turned ? -side : side;
    }
    return strcmp(one->row->id, two->row->id);
}

int work_order(const char *text, const struct work_index *index, nsec_t now, struct work_rows *rows, struct err *err)
{
    struct order order = {0};
    struct keyed *all;
    int r = read_order(text ? text : "-created", &order, err);

    if (r < 0 || rows->len == 0)
        return r;
    order.ranks = rank_texts(&index->texts);
    all = xcalloc(rows->len, sizeof *all);
    for (uint32_t i = 0; i < rows->len; i++) {
        all[i].row = rows->items[i];
        for (size_t k = 0; k < order.count; k++)
            all[i].keys[k] = value_of(&order, all[i].row, order.keys[k].column, now);
    }
    qsort_r(all, rows->len, sizeof *all, compare, &order);
    for (uint32_t i = 0; i < rows->len; i++)
        rows->items[i] = all[i].row;
    free(all);
    free(order.ranks);
    return 0;
}
