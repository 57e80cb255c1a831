/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Rows as a caller may see them. Workloads and queues are there or are not; of the pods that hold GPUs of a node, those that may not
 * be seen are counted.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "console/live/live_internal.h"
#include "kube/client/meta.h"
#include "text/json.h"

/* A node without the holders that the caller may not see. */
static void write_node(struct live *live, const struct caller *caller, const struct board_item *item,
                       struct strbuf *out)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    uint64_t hidden = 0;
    double gpus = 0;
    size_t i, count, len = 0;
    yyjson_mut_val *holder;

    if (json_parse(item->json, item->len, "the row", &doc, NULL) < 0)
        return;
    yyjson_mut_doc *copy = yyjson_doc_mut_copy(doc, NULL);
    yyjson_mut_val *root = yyjson_mut_doc_get_root(copy);
    yyjson_mut_val *holders = yyjson_mut_obj_get(root, "holders");
    yyjson_mut_val *shown = yyjson_mut_arr(copy);

    yyjson_mut_arr_foreach(holders, i, count, holder)
    {
        const char *namespace = yyjson_mut_get_str(yyjson_mut_obj_get(holder, "namespace"));
        const char *queue = yyjson_mut_get_str(yyjson_mut_obj_get(holder, "queue"));

        if (units_show_work(live->units, &caller->access, namespace ? namespace : "", queue ? queue : "")) {
            (void)yyjson_mut_arr_add_val(shown, yyjson_mut_val_mut_copy(copy, holder));
        } else {
            hidden++;
            gpus += yyjson_mut_get_num(yyjson_mut_obj_get(holder, "gpus"));
        }
    }
    (void)yyjson_mut_obj_remove_key(root, "holders");
    (void)yyjson_mut_obj_add_val(copy, root, "holders", shown);
    if (hidden > 0) {
        yyjson_mut_val *told = yyjson_mut_obj_add_obj(copy, root, "hidden");

        (void)yyjson_mut_obj_add_uint(copy, told, "pods", hidden);
        (void)yyjson_mut_obj_add_real(copy, told, "gpus", gpus);
    }
    char *text = yyjson_mut_write(copy, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);

    strbuf_add(out, text ? text : "{}", text ? len : 2);
    free(text);
    yyjson_mut_doc_free(copy);
}

static bool shows(struct live *live, const struct caller *caller, const struct board_item *item)
{
    const struct access *access = &caller->access;

    if (item->part == BOARD_QUEUES)
        return units_show_all_queues(access) || units_show_queue(live->units, access, item->name);
    if (item->part != BOARD_WORKLOADS || units_show_all_work(access))
        return true;
    const struct work_row *row = strmap_get(&live_index(live)->by_id, "", item->name);

    return row && live_shows(live, caller, row);
}

bool live_write_row(struct live *live, const struct caller *caller, const struct board_item *item, bool is_first,
                    struct strbuf *out)
{
    if (!shows(live, caller, item))
        return false;
    strbuf_addstr(out, is_first ? "" : ",");
    if (item->part == BOARD_NODES && !units_show_all_work(&caller->access))
        write_node(live, caller, item, out);
    else
        strbuf_add(out, item->json, item->len);
    return true;
}

void live_write_part(struct live_answer *answer, enum board_part part, uint32_t *ret_hidden)
{
    struct board_items items = {0};
    uint32_t shown = 0;

    board_list(answer->board, part, &items);
    strbuf_addch(&answer->out, '[');
    vec_foreach (&items, item)
        shown += live_write_row(answer->live, answer->caller, item, shown == 0, &answer->out);
    strbuf_addch(&answer->out, ']');
    *ret_hidden = items.len - shown;
    vec_done(&items);
}

/* --- changes --- */

/* Names of rows that have gone say nothing but that they were there: the caller gets those that it could have seen by their
 * namespace. */
static bool shows_gone(struct live *live, const struct caller *caller, const struct board_item *item)
{
    if (item->part == BOARD_QUEUES)
        return shows(live, caller, item);
    if (item->part != BOARD_WORKLOADS || units_show_all_work(&caller->access))
        return true;
    char *namespace = xstrndup(item->name, strcspn(item->name, "/"));
    bool may = units_show_work(live->units, &caller->access, namespace, "");

    free(namespace);
    return may;
}

static bool write_there(struct live *live, const struct caller *caller, const struct board_items *items,
                        enum board_part part, struct strbuf *out)
{
    struct strbuf rows;
    bool is_first = true;

    strbuf_init(&rows, out->max);
    vec_foreach (items, item) {
        if (item->part == part && item->json && live_write_row(live, caller, item, is_first, &rows))
            is_first = false;
    }
    if (!is_first)
        strbuf_addf(out, ",\"%s\":[", board_part_name(part));
    strbuf_add(out, rows.text, rows.len);
    strbuf_addstr(out, is_first ? "" : "]");
    strbuf_done(&rows);
    return !is_first;
}

static bool write_gone(struct live *live, const struct caller *caller, const struct board_items *items,
                       enum board_part part, bool is_first_part, struct strbuf *out)
{
    bool is_first = true;

    vec_foreach (items, item) {
        if (item->part != part || item->json || !shows_gone(live, caller, item))
            continue;
        if (is_first)
            strbuf_addf(out, "%s\"%s\":[", is_first_part ? ",\"gone\":{" : ",", board_part_name(part));
        strbuf_addstr(out, is_first ? "" : ",");
        json_add_string(out, item->name);
        is_first = false;
    }
    strbuf_addstr(out, is_first ? "" : "]");
    return !is_first;
}

bool live_write_since(struct live *live, const struct caller *caller, uint32_t parts, uint64_t version,
                      struct strbuf *out)
{
    struct board_items items = {0};
    bool has_rows = false;
    bool has_gone = false;

    (void)live_index(live);
    board_list_since(picture_board(live->picture), version, &items);
    for (int part = 0; part < _BOARD_PARTS; part++) {
        if (parts & (1u << part))
            has_rows = write_there(live, caller, &items, (enum board_part)part, out) || has_rows;
    }
    for (int part = 0; part < _BOARD_PARTS; part++) {
        if (parts & (1u << part))
            has_gone = write_gone(live, caller, &items, (enum board_part)part, !has_gone, out) || has_gone;
    }
    strbuf_addstr(out, has_gone ? "}" : "");
    vec_done(&items);
    return has_rows || has_gone;
}
