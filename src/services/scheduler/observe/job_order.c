/* SPDX-License-Identifier: Apache-2.0 */

/* {"global_order": [{"id", "priority"}], "queue_order": {queue: [...]}}, of PodGroups by name as in KAI. */
#include "services/scheduler/observe/job_order.h"

#include <stdlib.h>
#include <yyjson.h>

#include "base/arena.h"
#include "base/time.h"
#include "engine/engine.h"
#include "model/state.h"
#include "net/http_server.h"
#include "services/scheduler/observe/observer.h"
#include "text/json.h"

static void add_job(yyjson_mut_doc *doc, yyjson_mut_val *list, const struct state *state, const struct gang *gang)
{
    yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);

    (void)yyjson_mut_obj_add_strcpy(doc, item, "id", state_name(state, gang->name));
    (void)yyjson_mut_obj_add_int(doc, item, "priority", gang->priority);
}

static yyjson_mut_val *queue_list(yyjson_mut_doc *doc, yyjson_mut_val *queues, const char *name)
{
    yyjson_mut_val *list = yyjson_mut_obj_get(queues, name);

    if (list)
        return list;
    list = yyjson_mut_arr(doc);
    (void)yyjson_mut_obj_add(queues, yyjson_mut_strcpy(doc, name), list);
    return list;
}

/* Shares and orders are those of a cycle, which is opened for that and decides nothing. */
static void add_orders(const struct scheduler_view *view, yyjson_mut_doc *doc, yyjson_mut_val *root)
{
    yyjson_mut_val *all = yyjson_mut_obj_add_arr(doc, root, "global_order");
    yyjson_mut_val *queues = yyjson_mut_obj_add_obj(doc, root, "queue_order");
    const struct state *state = view->state;
    struct arena arena;
    uint32_t count;

    arena_init(&arena);
    engine_take_in(view->engine);
    engine_open(view->engine, nsec_now_wall());
    const gang_id *gangs = engine_waiting(view->engine, &arena, &count);

    for (uint32_t i = 0; i < count; i++) {
        const struct gang *gang = &state->gangs.items[gangs[i]];

        add_job(doc, all, state, gang);
        add_job(doc, queue_list(doc, queues, state_name(state, gang->queue_name)), state, gang);
    }
    engine_close(view->engine);
    arena_done(&arena);
}

void job_order_serve(const struct scheduler_view *view, struct http_exchange *exchange)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);
    size_t len = 0;

    add_orders(view, doc, root);
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_PRETTY_TWO_SPACES | YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);

    http_reply(exchange, 200, "application/json", text, len);
    free(text);
    yyjson_mut_doc_free(doc);
}
