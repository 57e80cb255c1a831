/* SPDX-License-Identifier: Apache-2.0 */

/* The registry of custom kinds follows the CustomResourceDefinitions in the store. */
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/custom/definitions.h"
#include "local/server/object_text.h"
#include "local/server/resources.h"
#include "local/server/server_parts.h"

static uint32_t number_of(struct server *server)
{
    return resource_number(server, builtin_kind_find("apiextensions.k8s.io", "v1", "customresourcedefinitions"));
}

const struct store_object *custom_definition(struct server *server, const char *name)
{
    return store_get(server->store, number_of(server), "", name);
}

/* Kinds of a definition that is going stay until it is gone: its objects have to be deleted first. */
static void put(struct server *server, const struct store_object *object)
{
    yyjson_mut_doc *doc = object_doc(object);
    struct err err = {0};

    if (definitions_put(server->definitions, doc, &err) < 0)
        log_warn(server->log, "a definition cannot be used", log_str("name", object->name), log_error(&err));
    yyjson_mut_doc_free(doc);
}

/* Whether the kinds are the same before and after: what is written beside the definition is not theirs. */
static bool is_same(const struct store_object *before, const struct store_object *after)
{
    yyjson_doc *old = yyjson_read(before->body, before->body_len, 0);
    yyjson_doc *new = yyjson_read(after->body, after->body_len, 0);
    yyjson_val *a = yyjson_doc_get_root(old);
    yyjson_val *b = yyjson_doc_get_root(new);
    bool is_equal = yyjson_equals(yyjson_obj_get(a, "spec"), yyjson_obj_get(b, "spec")) &&
                    yyjson_equals(yyjson_obj_get(a, "status"), yyjson_obj_get(b, "status"));

    yyjson_doc_free(old);
    yyjson_doc_free(new);
    return is_equal;
}

static void on_change(void *arg)
{
    struct server *server = arg;
    const struct store_change *change = NULL;

    while (store_next_change(server->store, number_of(server), &server->definitions_position, &change) > 0) {
        if (!change->is_removal && change->before && is_same(change->before, change->after))
            continue;
        custom_watches_end(server, change->after->name);
        if (change->is_removal)
            definitions_drop(server->definitions, change->after->name);
        else
            put(server, change->after);
    }
}

void custom_kinds_start(struct server *server)
{
    const struct store_object *object;
    struct store_cursor cursor;

    store_cursor_init(&cursor, server->store, number_of(server), "", "");
    while ((object = store_cursor_next(&cursor)))
        put(server, object);
    store_cursor_done(&cursor);
    BUG_ON(store_position(server->store, store_version(server->store), &server->definitions_position) < 0);
    store_follow(server->store, &server->follows_definitions, number_of(server), on_change, server);
}

void custom_kinds_stop(struct server *server)
{
    if (server->follows_definitions.wake)
        store_unfollow(server->store, &server->follows_definitions);
}
