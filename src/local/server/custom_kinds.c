/* SPDX-License-Identifier: Apache-2.0 */

/* The registry of custom kinds follows the CustomResourceDefinitions in the store. */
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/time.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/builtin/builtin.h"
#include "local/custom/definitions.h"
#include "local/server/object_text.h"
#include "local/server/resources.h"
#include "local/server/server_parts.h"
#include "local/verbs/write.h"
#include "services/operator/crds.h"
#include "text/yaml.h"

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
        log_warn(server->log, "a CustomResourceDefinition cannot be served", log_str("name", object->name),
                 log_error(&err));
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

static void on_removed(void *arg, int result, const struct store_object *object, const struct err *err)
{
    struct server *server = arg;

    (void)object;
    if (result < 0)
        log_warn(server->log, "cannot remove an object of a kind that was deleted", log_error(err));
}

/* The objects of a kind go with its definition: they would be back with the next definition of that name. All versions of the
 * kind share them. */
static void remove_objects(struct server *server, const char *definition)
{
    const struct custom_kind *custom = NULL;
    const struct store_object *object;
    const struct api_kind *kind;
    struct store_cursor cursor;

    for (size_t i = 0; !custom && (kind = resource_at(server, i)); i++) {
        if (custom_kind_of(kind) && strcmp(custom_kind_of(kind)->definition, definition) == 0)
            custom = custom_kind_of(kind);
    }
    if (!custom)
        return;
    uint32_t number = resource_number(server, &custom->api);

    store_cursor_init(&cursor, server->store, number, "", "");
    while ((object = store_cursor_next(&cursor))) {
        const struct store_object *latest = store_latest(server->store, number, object->namespace, object->name);
        if (!latest)
            continue;
        yyjson_mut_doc *doc = object_doc(latest);
        write_doc(
            server,
            &(struct write){.kind = number, .namespace = object->namespace, .name = object->name, .is_removal = true},
            doc, on_removed, server);
        yyjson_mut_doc_free(doc);
    }
    store_cursor_done(&cursor);
}

static void on_change(void *arg)
{
    struct server *server = arg;
    const struct store_change *change = NULL;

    while (store_next_change(server->store, number_of(server), &server->definitions_position, &change) > 0) {
        if (change->version <= server->definitions_made)
            continue;
        if (!change->is_removal && change->before && is_same(change->before, change->after))
            continue;
        custom_watches_end(server, change->after->name);
        if (change->is_removal) {
            remove_objects(server, change->after->name);
            definitions_drop(server->definitions, change->after->name);
        } else {
            put(server, change->after);
        }
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

static void on_made(void *arg, int result, const struct store_object *object, const struct err *err)
{
    struct server *server = arg;

    (void)object;
    if (result < 0)
        log_warn(server->log, "an initial CustomResourceDefinition could not be created", log_error(err));
}

/* The definition is the release's own, and is in order. */
static void make(struct server *server, const struct api_kind *kind, const struct release_crd *crd)
{
    struct field_faults faults = {0};
    struct yaml_docs docs = {0};
    struct err err = {0};

    BUG_ON(yaml_parse(crd->text, *crd->len, crd->name, &docs, &err) < 0 || docs.len != 1);
    yyjson_mut_doc *doc = yyjson_doc_mut_copy(docs.items[0].json, NULL);

    BUG_ON(builtin_check_fields(kind, doc, &faults, &err) < 0);
    meta_stamp_new(doc, kind, nsec_now_wall());
    definition_default(doc);
    definitions_set_status(server->definitions, doc, nsec_now_wall());
    BUG_ON(definitions_put(server->definitions, doc, &err) < 0);
    server->definitions_made = store_next_version(server->store);
    write_doc(server, &(struct write){.kind = number_of(server), .namespace = "", .name = crd->name}, doc, on_made,
              server);
    field_faults_done(&faults);
    yyjson_mut_doc_free(doc);
    yaml_docs_done(&docs);
}

void custom_kinds_make(struct server *server)
{
    const struct api_kind *kind = builtin_kind_find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    const struct release_crd *crd;

    for (size_t i = 0; (crd = release_crd_at(i)); i++) {
        if (!custom_definition(server, crd->name))
            make(server, kind, crd);
    }
}

void custom_kinds_stop(struct server *server)
{
    if (server->follows_definitions.wake)
        store_unfollow(server->store, &server->follows_definitions);
}
