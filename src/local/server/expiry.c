/* SPDX-License-Identifier: Apache-2.0 */

/* Objects that are kept for a time, which are events, go when it is over. */
#include "base/err.h"
#include "base/log.h"
#include "base/vec.h"
#include "local/api/kinds.h"
#include "local/server/object_text.h"
#include "local/server/resources.h"
#include "local/server/server_parts.h"
#include "local/verbs/write.h"

#define BETWEEN_SWEEPS NSEC_PER_MIN

static void on_removed(void *arg, int result, const struct store_object *object, const struct err *err)
{
    struct server *server = arg;

    (void)object;
    if (result < 0)
        log_warn(server->log, "an expired object could not be removed", log_error(err));
}

static void remove_object(struct server *server, const struct store_object *object)
{
    yyjson_mut_doc *doc = object_doc(object);

    write_doc(
        server,
        &(struct write){.kind = object->kind, .namespace = object->namespace, .name = object->name, .is_removal = true},
        doc, on_removed, server);
    yyjson_mut_doc_free(doc);
}

static void sweep(void *arg)
{
    struct server *server = arg;
    int64_t now = nsec_now_wall() / NSEC_PER_SEC;
    uint32_t kind = resource_number(server, builtin_kind_find("", "v1", "events"));
    const struct store_object *object;
    struct store_cursor cursor;

    store_cursor_init(&cursor, server->store, kind, "", "");
    while ((object = store_cursor_next(&cursor))) {
        /* An event that has been written again meanwhile lives on. */
        if (object->expires && object->expires <= now &&
            store_latest(server->store, kind, object->namespace, object->name) == object)
            remove_object(server, object);
    }
    store_cursor_done(&cursor);
    loop_timer_start(&server->sweep, BETWEEN_SWEEPS);
}

void expiry_start(struct server *server)
{
    loop_timer_init(&server->sweep, server->loop, sweep, server);
    loop_timer_start(&server->sweep, BETWEEN_SWEEPS);
}
