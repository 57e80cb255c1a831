/* SPDX-License-Identifier: Apache-2.0 */

/* The cluster at a glance: the summary, the map, the ledger and the free room. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "console/live/live_internal.h"
#include "console/rest/handlers.h"
#include "kube/client/meta.h"
#include "text/json.h"

/* --- rows as they are --- */

/* The parts of the query's list, as bits. */
static int read_parts(const char *text, uint32_t *ret_parts, struct err *err)
{
    *ret_parts = text ? 0 : (1u << _BOARD_PARTS) - 1;
    while (text && *text) {
        size_t len = strcspn(text, ",");
        int part = 0;

        while (part < _BOARD_PARTS && (strlen(board_part_name((enum board_part)part)) != len ||
                                       strncmp(board_part_name((enum board_part)part), text, len) != 0))
            part++;
        if (part == _BOARD_PARTS)
            return err_set(err, -EINVAL, "parts: there is no part '%.*s'", (int)MIN(len, (size_t)40), text);
        *ret_parts |= 1u << part;
        text += len + (text[len] == ',');
    }
    return 0;
}

static int answer_state(struct live_answer *answer, struct err *err)
{
    uint32_t parts = 0;
    uint32_t hidden;
    int r = read_parts(rest_query(answer->exchange, "parts"), &parts, err);
    uint32_t allowed = live_allowed_parts(answer->caller, parts);
    const char *separator = "";

    for (int part = 0; r == 0 && part < _BOARD_PARTS; part++) {
        if (!(allowed & (1u << part)))
            continue;
        strbuf_addf(&answer->out, ",\"%s\":", board_part_name((enum board_part)part));
        live_write_part(answer, (enum board_part)part, &hidden);
    }
    if (r < 0 || allowed == parts)
        return r;
    strbuf_addstr(&answer->out, ",\"denied\":[");
    for (int part = 0; part < _BOARD_PARTS; part++) {
        if (!(parts & ~allowed & (1u << part)))
            continue;
        strbuf_addf(&answer->out, "%s\"%s\"", separator, board_part_name((enum board_part)part));
        separator = ",";
    }
    strbuf_addch(&answer->out, ']');
    return 0;
}

static int answer_map(struct live_answer *answer, struct err *err)
{
    uint32_t hidden;

    (void)err;
    strbuf_addstr(&answer->out, ",\"items\":");
    live_write_part(answer, BOARD_NODES, &hidden);
    return 0;
}

static int answer_ledger(struct live_answer *answer, struct err *err)
{
    uint32_t hidden;

    (void)err;
    strbuf_addstr(&answer->out, ",\"items\":");
    live_write_part(answer, BOARD_QUEUES, &hidden);
    live_write_hidden(&answer->out, "queues", hidden);
    return 0;
}

/* --- the free room --- */

/* Nodes of one pool and model. */
struct room {
    char *pool, *model;
    uint64_t nodes, free_nodes;
    int64_t gpus;
    double free, largest;
};

/* How large the pods of a gang may be: what people ask for. */
static const int sizes[] = {1, 2, 4, 8, 16};

struct rooms {
    VEC(struct room) list;
    uint64_t pods[ARRAY_LEN(sizes)];
    uint64_t nodes[ARRAY_LEN(sizes)];
};

static struct room *find_room(struct rooms *rooms, const char *pool, const char *model)
{
    vec_foreach (&rooms->list, room) {
        if (strcmp(room->pool, pool) == 0 && strcmp(room->model, model) == 0)
            return room;
    }
    vec_push(&rooms->list, (struct room){.pool = xstrdup(pool), .model = xstrdup(model)});
    return &vec_last(&rooms->list);
}

static void count_node(struct rooms *rooms, yyjson_val *node)
{
    struct room *room = find_room(rooms, kube_text(node, "nodePool"), kube_text(node, "gpuModel"));
    int64_t gpus = yyjson_get_sint(yyjson_obj_get(node, "gpus"));
    double used = yyjson_get_num(yyjson_obj_get(node, "gpusAllocated"));
    double free_here = MAX((double)gpus - used, 0.0);
    bool is_usable =
        yyjson_get_bool(yyjson_obj_get(node, "isReady")) && !yyjson_get_bool(yyjson_obj_get(node, "isCordoned"));

    room->nodes++;
    room->gpus += gpus;
    if (!is_usable || gpus == 0)
        return;
    room->free += free_here;
    room->largest = MAX(room->largest, free_here);
    room->free_nodes += used <= 0;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        uint64_t pods = (uint64_t)free_here / (uint64_t)sizes[i];

        rooms->pods[i] += pods;
        rooms->nodes[i] += pods > 0;
    }
}

static void write_rooms(const struct rooms *rooms, struct strbuf *out)
{
    strbuf_addstr(out, ",\"items\":[");
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        strbuf_addf(out, "%s{\"gpusPerPod\":%d,\"pods\":%llu,\"nodes\":%llu}", i == 0 ? "" : ",", sizes[i],
                    (unsigned long long)rooms->pods[i], (unsigned long long)rooms->nodes[i]);
    strbuf_addstr(out, "],\"pools\":[");
    vec_foreach (&rooms->list, room) {
        strbuf_addstr(out, room == rooms->list.items ? "{\"nodePool\":" : ",{\"nodePool\":");
        json_add_string(out, room->pool);
        strbuf_addstr(out, ",\"gpuModel\":");
        json_add_string(out, room->model);
        strbuf_addf(out, ",\"nodes\":%llu,\"gpus\":%lld,\"free\":%.10g,\"largestFree\":%.10g,\"freeNodes\":%llu}",
                    (unsigned long long)room->nodes, (long long)room->gpus, room->free, room->largest,
                    (unsigned long long)room->free_nodes);
    }
    strbuf_addch(out, ']');
}

static int answer_holes(struct live_answer *answer, struct err *err)
{
    struct board_items items = {0};
    struct rooms rooms = {0};
    int r = 0;

    board_list(answer->board, BOARD_NODES, &items);
    vec_foreach (&items, item) {
        _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;

        if (r == 0)
            r = json_parse(item->json, item->len, "the row", &doc, err);
        if (r == 0)
            count_node(&rooms, yyjson_doc_get_root(doc));
    }
    if (r == 0)
        write_rooms(&rooms, &answer->out);
    vec_foreach (&rooms.list, room) {
        free(room->pool);
        free(room->model);
    }
    vec_done(&rooms.list);
    vec_done(&items);
    return r;
}

LIVE_READS(live_state, answer_state)
LIVE_READS(live_map, answer_map)
LIVE_READS(live_ledger, answer_ledger)
LIVE_READS(live_holes, answer_holes)
