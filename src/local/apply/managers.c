/* SPDX-License-Identifier: Apache-2.0 */
#include "local/apply/managers.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/macros.h"
#include "local/apply/fields.h"

#define ANCIENT "ancient-changes"

static const char *text_of(yyjson_mut_val *entry, const char *member, struct arena *arena)
{
    const char *text = yyjson_mut_get_str(yyjson_mut_obj_get(entry, member));

    return text ? arena_strdup(arena, text) : "";
}

/* The entry of the same manager for the same kind of write; NULL without one. */
static struct manager *find_same(struct managers *managers, const struct manager *wanted)
{
    vec_foreach (managers, manager) {
        if (manager->is_applier == wanted->is_applier && strcmp(manager->name, wanted->name) == 0 &&
            strcmp(manager->api_version, wanted->api_version) == 0 &&
            strcmp(manager->subresource, wanted->subresource) == 0)
            return manager;
    }
    return NULL;
}

/* Of several entries the last one counts. */
static void add_read(struct managers *managers, const struct manager *manager)
{
    struct manager *same = find_same(managers, manager);

    if (same)
        *same = *manager;
    else
        vec_push(managers, *manager);
}

void managers_read(yyjson_mut_val *object, struct managers *managers, struct arena *arena)
{
    yyjson_mut_val *list = yyjson_mut_obj_get(yyjson_mut_obj_get(object, "metadata"), "managedFields");
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(list);

    for (yyjson_mut_val *entry; managers->len < MANAGERS_MAX && (entry = yyjson_mut_arr_iter_next(&iter));) {
        struct manager manager = {
            .name = text_of(entry, "manager", arena),
            .api_version = text_of(entry, "apiVersion", arena),
            .subresource = text_of(entry, "subresource", arena),
            .time = text_of(entry, "time", arena),
            .is_applier = strcmp(text_of(entry, "operation", arena), "Apply") == 0,
            .fields = fields_read(yyjson_mut_obj_get(entry, "fieldsV1"), arena),
        };
        if (!fields_is_empty(manager.fields))
            add_read(managers, &manager);
    }
}

/* Appliers first, then by time, name, version and subresource. */
static int compare_managers(const void *a, const void *b)
{
    const struct manager *left = a, *right = b;
    int order = (int)right->is_applier - (int)left->is_applier;

    order = order ? order : strcmp(left->time, right->time);
    order = order ? order : strcmp(left->name, right->name);
    order = order ? order : strcmp(left->api_version, right->api_version);
    return order ? order : strcmp(left->subresource, right->subresource);
}

static void add_text(yyjson_mut_doc *doc, yyjson_mut_val *entry, const char *member, const char *text)
{
    if (*text)
        yyjson_mut_obj_add_strcpy(doc, entry, member, text);
}

void managers_write(const struct managers *managers, yyjson_mut_doc *doc)
{
    yyjson_mut_val *metadata = yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "metadata");
    yyjson_mut_val *list = yyjson_mut_arr(doc);

    if (managers->len)
        qsort(managers->items, managers->len, sizeof *managers->items, compare_managers);
    vec_foreach (managers, manager) {
        if (fields_is_empty(manager->fields))
            continue;
        yyjson_mut_val *entry = yyjson_mut_arr_add_obj(doc, list);
        add_text(doc, entry, "manager", manager->name);
        add_text(doc, entry, "operation", manager->is_applier ? "Apply" : "Update");
        add_text(doc, entry, "apiVersion", manager->api_version);
        add_text(doc, entry, "time", manager->time);
        add_text(doc, entry, "fieldsType", "FieldsV1");
        yyjson_mut_obj_add_val(doc, entry, "fieldsV1", fields_write(manager->fields, doc));
        add_text(doc, entry, "subresource", manager->subresource);
    }
    if (!yyjson_mut_is_obj(metadata)) {
        metadata = yyjson_mut_obj(doc);
        yyjson_mut_obj_put(yyjson_mut_doc_get_root(doc), yyjson_mut_str(doc, "metadata"), metadata);
    }
    (void)yyjson_mut_obj_remove_key(metadata, "managedFields");
    if (yyjson_mut_arr_size(list))
        yyjson_mut_obj_add_val(doc, metadata, "managedFields", list);
}

static bool is_same(const struct manager *a, const struct manager *b)
{
    return a->is_applier == b->is_applier && strcmp(a->name, b->name) == 0 &&
           strcmp(a->subresource, b->subresource) == 0 &&
           (a->is_applier || strcmp(a->api_version, b->api_version) == 0);
}

struct manager *managers_find(struct managers *managers, const struct manager *like)
{
    vec_foreach (managers, manager)
        if (is_same(manager, like))
            return manager;
    return NULL;
}

static size_t count_updating(const struct managers *managers)
{
    size_t count = 0;

    vec_foreach (managers, manager)
        count += !manager->is_applier && !fields_is_empty(manager->fields);
    return count;
}

/* The oldest that updates and is not yet ancient; of the version, when one is given. */
static struct manager *find_oldest(struct managers *managers, const char *version, const struct manager *but)
{
    struct manager *oldest = NULL;

    vec_foreach (managers, manager)
        if (!manager->is_applier && manager != but && !fields_is_empty(manager->fields) &&
            strcmp(manager->name, ANCIENT) != 0 && (!version || strcmp(manager->api_version, version) == 0) &&
            (!oldest || strcmp(manager->time, oldest->time) < 0))
            oldest = manager;
    return oldest;
}

void managers_cap(struct managers *managers, struct arena *arena)
{
    while (count_updating(managers) > MANAGERS_UPDATING_MAX) {
        struct manager *oldest = find_oldest(managers, NULL, NULL);
        if (!oldest)
            return;
        struct manager like = {.name = ANCIENT, .api_version = oldest->api_version, .subresource = ""};
        struct manager *ancient = managers_find(managers, &like);
        struct manager *other = ancient ? ancient : find_oldest(managers, oldest->api_version, oldest);
        if (!other)
            return;
        if (!ancient) {
            /* The two oldest become the first ancient ones. */
            struct manager *older = oldest;
            oldest = other;
            other = older;
            other->name = ANCIENT;
            other->subresource = "";
        }
        other->fields = fields_union(other->fields, oldest->fields, arena);
        other->time = oldest->time;
        oldest->fields = NULL;
    }
}

bool managers_is_equal(struct managers *a, struct managers *b)
{
    struct managers *sides[] = {a, b};

    for (int side = 0; side < 2; side++)
        vec_foreach (sides[side], manager) {
            const struct manager *other = managers_find(sides[!side], manager);
            if (!fields_is_equal(manager->fields, other ? other->fields : NULL) ||
                (other && strcmp(manager->api_version, other->api_version) != 0))
                return false;
        }
    return true;
}

const char *managers_time(nsec_t time, struct arena *arena)
{
    char text[TIME_TEXT_MAX];

    return arena_strdup(arena, time_format(time - time % NSEC_PER_SEC, text));
}
