/* SPDX-License-Identifier: Apache-2.0 */
#include "console/live/work_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/client/meta.h"
#include "picture/board.h"
#include "text/json.h"

/* Texts that no row has any more are dropped when there are so many. */
enum { TEXTS_EACH = 4, TEXTS_FEW = 4096, NODES_MAX = 1 << 20 };

static const char *const text_names[_WORK_TEXT_MAX] = {
    [WORK_NAMESPACE] = "namespace", [WORK_KIND] = "kind",   [WORK_QUEUE] = "queue",
    [WORK_USER] = "user",           [WORK_STATE] = "state", [WORK_REASON] = "reason",
};

const char *work_text_name(enum work_text text)
{
    return text_names[text];
}

const char *work_row_text(const struct work_index *index, const struct work_row *row, enum work_text text)
{
    return intern_str(&index->texts, row->texts[text]);
}

nsec_t work_row_waited(const struct work_row *row, nsec_t now)
{
    nsec_t end = row->started ? row->started : row->finished ? row->finished : now;

    return row->created ? MAX(end - row->created, 0) : 0;
}

nsec_t work_row_ran(const struct work_row *row, nsec_t now)
{
    return row->started ? MAX((row->finished ? row->finished : now) - row->started, 0) : 0;
}

void work_index_init(struct work_index *index)
{
    *index = (struct work_index){0};
    intern_init(&index->texts);
}

static void row_free(struct work_row *row)
{
    free(row->id);
    free(row->nodes);
    free(row);
}

void work_index_done(struct work_index *index)
{
    vec_foreach (&index->rows, row)
        row_free(*row);
    vec_done(&index->rows);
    strmap_done(&index->by_id);
    intern_done(&index->texts);
}

static void forget(struct work_index *index, const char *id)
{
    struct work_row *row = strmap_remove(&index->by_id, "", id);

    if (!row)
        return;
    index->rows.items[row->at] = vec_last(&index->rows);
    index->rows.items[row->at]->at = row->at;
    (void)vec_pop(&index->rows);
    row_free(row);
}

static struct work_row *ensure(struct work_index *index, const char *id)
{
    struct work_row *row = strmap_get(&index->by_id, "", id);

    if (row)
        return row;
    row = xcalloc(1, sizeof *row);
    row->id = xstrdup(id);
    row->at = index->rows.len;
    vec_push(&index->rows, row);
    (void)strmap_put(&index->by_id, "", row->id, row);
    return row;
}

static nsec_t time_at(yyjson_val *object, const char *key)
{
    const char *text = kube_text(object, key);
    nsec_t time = 0;

    return *text && time_parse(text, &time, NULL) == 0 ? time : 0;
}

/* With a slash on either side of each, which no name of a node has. */
static char *nodes_of(yyjson_val *object)
{
    struct strbuf text;
    yyjson_val *node;
    yyjson_arr_iter iter;

    strbuf_init(&text, NODES_MAX);
    yyjson_arr_iter_init(yyjson_obj_get(object, "nodes"), &iter);
    while ((node = yyjson_arr_iter_next(&iter))) {
        strbuf_addstr(&text, text.len == 0 ? "/" : "");
        strbuf_addstr(&text, yyjson_get_str(node) ? yyjson_get_str(node) : "");
        strbuf_addch(&text, '/');
    }
    char *nodes = text.len > 0 ? xstrdup(text.text) : NULL;

    strbuf_done(&text);
    return nodes;
}

static void read_row(struct work_index *index, struct work_row *row, yyjson_val *object)
{
    const char *name = kube_text(object, "name");

    for (int i = 0; i < _WORK_TEXT_MAX; i++) {
        const char *text = kube_text(object, text_names[i]);

        row->texts[i] = intern_id(&index->texts, text, strlen(text));
    }
    row->name = row->id + strlen(row->id) - MIN(strlen(name), strlen(row->id));
    free(row->nodes);
    row->nodes = nodes_of(object);
    row->gpus = yyjson_get_num(yyjson_obj_get(object, "gpus"));
    row->pods = yyjson_get_sint(yyjson_obj_get(yyjson_obj_get(object, "pods"), "total"));
    row->created = time_at(object, "created");
    row->started = time_at(object, "started");
    row->finished = time_at(object, "finished");
}

static void take_over(struct work_index *index, const struct board_item *item)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;

    if (!item->json)
        forget(index, item->name);
    else if (json_parse(item->json, item->len, "the row", &doc, NULL) == 0)
        read_row(index, ensure(index, item->name), yyjson_doc_get_root(doc));
}

void work_index_update(struct work_index *index, const struct board *board)
{
    struct board_items items = {0};

    if (index->sequence == board->sequence)
        return;
    if (!board_knows(board, index->sequence) ||
        intern_len(&index->texts) > TEXTS_FEW + TEXTS_EACH * (size_t)index->rows.len) {
        work_index_done(index);
        work_index_init(index);
    }
    board_list_since(board, index->sequence, &items);
    vec_foreach (&items, item) {
        if (item->part == BOARD_WORKLOADS)
            take_over(index, item);
    }
    vec_done(&items);
    index->sequence = board->sequence;
}
