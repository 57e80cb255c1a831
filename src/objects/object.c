/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The set of objects: documents taken apart, and an index by kind, namespace and name and by UID. Keys are interned
 * strings, so that a look-up is one hash and one comparison.
 */
#include "objects/object.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "objects/fields.h"
#include "objects/foreign.h"
#include "objects/kinds.h"
#include "objects/notes.h"
#include "objects/place_internal.h"
#include "text/yaml.h"

/* Lists in lists: nobody writes them deeper. */
enum { LIST_DEPTH_MAX = 8, KEY_MAX = 1024 };

void object_set_init(struct object_set *set, struct object_notes *notes)
{
    *set = (struct object_set){.notes = notes, .made_max = OBJECTS_MADE_MAX};
    arena_init(&set->arena);
    intern_init(&set->keys);
    intern_init(&set->uids);
}

void object_set_done(struct object_set *set)
{
    vec_foreach (&set->made_docs, doc)
        yyjson_doc_free(*doc);
    vec_done(&set->made_docs);
    vec_done(&set->objects);
    vec_done(&set->by_key);
    vec_done(&set->by_uid);
    intern_done(&set->keys);
    intern_done(&set->uids);
    arena_done(&set->arena);
}

static size_t format_key(const struct object_kind *kind, const char *namespace, const char *name,
                         char key[static KEY_MAX])
{
    int len = snprintf(key, KEY_MAX, "%zu/%s/%s", object_kind_index(kind), namespace, name);

    return len < KEY_MAX ? (size_t)len : KEY_MAX - 1;
}

/* What the metadata of every kind says. */
struct meta {
    struct json_at metadata;
    const char *name;
    const char *generate_name;
    const char *namespace;
    const char *uid;
    nsec_t created;
};

static int decode_meta(const struct json_at *root, struct meta *meta, struct err *err)
{
    static const struct field in_root[] = {FIELD(meta, metadata, "metadata", FIELD_OBJECT)};
    static const struct field in_metadata[] = {
        FIELD(meta, name, "name", FIELD_STR),
        FIELD(meta, generate_name, "generateName", FIELD_STR),
        FIELD(meta, namespace, "namespace", FIELD_STR),
        FIELD(meta, uid, "uid", FIELD_STR),
        FIELD(meta, created, "creationTimestamp", FIELD_TIME),
    };

    TRY(FIELDS_DECODE(root, in_root, meta, err));
    return FIELDS_DECODE(&meta->metadata, in_metadata, meta, err);
}

static void set_uid(struct object_set *set, struct object *object, const char *uid)
{
    object->has_uid = uid && *uid;
    if (object->has_uid)
        object->uid = uid;
    else if (*object->namespace)
        object->uid = arena_printf(&set->arena, "%s/%s", object->namespace, object->name);
    else
        object->uid = object->name;
}

static void link_to_kind(struct object_set *set, struct object *object)
{
    size_t index = object_kind_index(object->kind);

    if (set->last_of_kind[index])
        set->last_of_kind[index]->next = object;
    else
        set->first_of_kind[index] = object;
    set->last_of_kind[index] = object;
}

static void index_object(struct object_set *set, struct object *object)
{
    char key[KEY_MAX];
    uint32_t id = intern_id(&set->keys, key, format_key(object->kind, object->namespace, object->name, key));

    if (id >= set->by_key.len)
        vec_resize(&set->by_key, id + 1);
    if (set->by_key.items[id]) {
        set->by_key.items[id]->is_replaced = true;
        object_notes_warn(set->notes, "%s %s%s%s is defined twice in the input; the later definition counts",
                          object->kind->kind, object->namespace, *object->namespace ? "/" : "", object->name);
    }
    set->by_key.items[id] = object;
    if (object->has_uid) {
        id = intern_id(&set->uids, object->uid, strlen(object->uid));
        if (id >= set->by_uid.len)
            vec_resize(&set->by_uid, id + 1);
        set->by_uid.items[id] = object;
    }
}

/* Names go into file names, labels and messages; an API server takes none with a control character. */
static bool has_control(const char *text)
{
    for (; text && *text; text++) {
        unsigned char byte = (unsigned char)*text;
        unsigned char next = (unsigned char)text[1];

        if (byte < 0x20 || byte == 0x7f || (byte == 0xc2 && next >= 0x80 && next < 0xa0))
            return true;
    }
    return false;
}

static bool is_version_of(const struct object_kind *kind, const char *api_version)
{
    const char *slash = strrchr(api_version, '/');
    const char *version = slash ? slash + 1 : api_version;
    size_t len = strlen(version);

    if (!kind->versions || !*api_version)
        return true;
    for (const char *at = kind->versions; *at; at += strspn(at, " ")) {
        size_t next = strcspn(at, " ");

        if (next == len && strncmp(at, version, len) == 0)
            return true;
        at += next;
    }
    return false;
}

static int fill_object(struct object_set *set, struct object *object, struct err *err)
{
    struct meta meta = {0};

    TRY(decode_meta(&object->root, &meta, err));
    if (meta.name && *meta.name)
        object->name = meta.name;
    else if (meta.generate_name && *meta.generate_name)
        object->name = arena_printf(&set->arena, "%s%llu", meta.generate_name, (unsigned long long)object->place);
    else
        return err_set(err, -EINVAL, "metadata.name: is missing");
    if (strlen(object->name) > 253 || (meta.namespace && strlen(meta.namespace) > 253))
        return err_set(err, -EINVAL, "metadata.name: expected at most 253 characters");
    object->namespace = object->kind->is_cluster_wide       ? ""
                        : meta.namespace && *meta.namespace ? meta.namespace
                                                            : "default";
    if (has_control(object->name))
        return err_set(err, -EINVAL, "metadata.name: expected letters, digits, '-' and '.', found a control character");
    if (has_control(meta.namespace))
        return err_set(err, -EINVAL, "metadata.namespace: expected letters, digits and '-', found a control character");
    if (!is_version_of(object->kind, object->api_version))
        return err_set(err, -EINVAL, "apiVersion: there is no %s %s; expected %s%s%s", object->api_version,
                       object->kind->kind, object->kind->group, *object->kind->group ? "/" : "",
                       object->kind->versions);

    set_uid(set, object, meta.uid);
    object->created = meta.created;
    if (meta.created == 0 && object->maker)
        object->created = object->maker->created;
    else if (meta.created == 0)
        object->created = set->undated_from + (nsec_t)object->place;
    return 0;
}

static int add(struct object_set *set, struct object object, struct err *err)
{
    int r = json_object(&object.root, err);

    object.place = set->objects.len + 1;
    object.api_version = object.api_version ? object.api_version : "";
    if (r >= 0)
        r = fill_object(set, &object, err);
    if (r < 0)
        return object_wrap(&object, r, err);

    struct object *kept = ARENA_NEW(&set->arena, struct object);
    *kept = object;
    vec_push(&set->objects, kept);
    link_to_kind(set, kept);
    index_object(set, kept);
    return 0;
}

int object_set_add_as(struct object_set *set, const struct object_kind *kind, yyjson_val *val,
                      const struct object_source *source, struct err *err)
{
    set->read_count++;
    return add(set, (struct object){.kind = kind, .root = {.val = val}, .source = source}, err);
}

/* The kind of a list's items, when they do not name it themselves: "PodList" holds Pods. NULL when it is no list. */
static const char *list_item_kind(struct object_set *set, const char *kind, const struct json_at *root)
{
    size_t len = strlen(kind);

    if (len < 4 || strcmp(kind + len - 4, "List") != 0 || !yyjson_obj_get(root->val, "items"))
        return NULL;
    char *item_kind = arena_strdup(&set->arena, kind);
    item_kind[len - 4] = '\0';
    return item_kind;
}

/* What an item of a list says itself counts before what its list says. */
struct inherited {
    const char *api_version;
    const char *kind;
    int depth;
};

static int add_value(struct object_set *set, yyjson_val *val, const struct object_source *source,
                     struct inherited inherited, struct err *err);

static int add_items(struct object_set *set, const struct json_at *items, const struct object_source *source,
                     struct inherited inherited, struct err *err)
{
    if (++inherited.depth > LIST_DEPTH_MAX)
        return err_set(err, -EINVAL, "%s: lists are nested too deeply", source->name);
    for (struct json_at item = {0}; json_next(items, &item);)
        TRY(add_value(set, item.val, source, inherited, err));
    return 0;
}

/* Folders hold other YAML too, such as Helm values: only a file that somebody named has to be right. */
static int not_an_object(const struct object_set *set, const struct object_source *source, const yyjson_val *val,
                         struct err *err, const char *what)
{
    struct yaml_mark mark = source->yaml ? yaml_where(source->yaml, val) : (struct yaml_mark){0, 0};
    struct err problem = {0};

    (void)err_set(&problem, -EINVAL, "%s", what);
    if (mark.line)
        (void)err_wrap(&problem, -EINVAL, "%s:%u:%u", source->name, mark.line, mark.column);
    else
        (void)err_wrap(&problem, -EINVAL, "%s", source->name);
    if (!source->is_from_folder)
        return err_set(err, -EINVAL, "%s", problem.text);
    object_notes_warn(set->notes, "%s; left out", problem.text);
    return 0;
}

static int add_value(struct object_set *set, yyjson_val *val, const struct object_source *source,
                     struct inherited inherited, struct err *err)
{
    struct json_at root = {.val = val};
    char group[API_GROUP_MAX];

    if (yyjson_is_arr(val))
        return add_items(set, &root, source, inherited, err);
    if (!yyjson_is_obj(val))
        return not_an_object(set, source, val, err, "expected a Kubernetes object");

    const char *kind = json_peek_str(&root, "kind");
    const char *api_version = json_peek_str(&root, "apiVersion");
    kind = kind ? kind : inherited.kind;
    api_version = api_version ? api_version : inherited.api_version;
    if (!kind || !*kind)
        return not_an_object(set, source, val, err, "expected a Kubernetes object, found one without a kind");
    if (!api_version || !*api_version)
        return not_an_object(set, source, val, err, "expected a Kubernetes object, found one without an apiVersion");

    const char *item_kind = list_item_kind(set, kind, &root);
    if (item_kind) {
        struct json_at items = json_member(&root, "items");

        if (items.val && !yyjson_is_arr(items.val))
            return not_an_object(set, source, items.val, err, "items: expected the list's objects in an array");
        /* A plain List is of API "v1" and says nothing of what its items are. */
        struct inherited below = {*item_kind ? api_version : NULL, *item_kind ? item_kind : NULL, inherited.depth};
        return add_items(set, &items, source, below, err);
    }

    const struct object_kind *row = object_kind_find(api_version, kind);
    if (!row || object_kind_is_foreign(row))
        object_notes_skip(set->notes, api_group(api_version, group), kind);
    if (!row)
        return 0;
    set->read_count++;
    return add(set, (struct object){.kind = row, .root = root, .api_version = api_version, .source = source}, err);
}

int object_set_add(struct object_set *set, yyjson_val *root, const struct object_source *source, struct err *err)
{
    return add_value(set, root, source, (struct inherited){0}, err);
}

int object_set_add_made(struct object_set *set, yyjson_doc *doc, const struct object *maker, struct err *err)
{
    struct json_at root = json_root(doc);
    struct object object = {.root = root, .source = maker->source, .maker = maker};

    vec_push(&set->made_docs, doc);
    set->made_values += yyjson_doc_get_val_count(doc);
    if (set->made_count++ >= set->made_max || set->made_values > (uint64_t)set->made_max * OBJECT_VALUES_MAX)
        return err_set(err, -E2BIG, "the workloads of the input become too many pods, expected at most %u",
                       set->made_max);
    object.api_version = json_peek_str(&root, "apiVersion");
    object.kind = object_kind_find(object.api_version, json_peek_str(&root, "kind"));
    BUG_ON(!object.kind);
    return add(set, object, err);
}

struct object *object_set_find(const struct object_set *set, const struct object_kind *kind, const char *namespace,
                               const char *name)
{
    char key[KEY_MAX];
    uint32_t id = 0;

    if (!intern_find(&set->keys, key, format_key(kind, namespace, name, key), &id) || id >= set->by_key.len)
        return NULL;
    return set->by_key.items[id];
}

struct object *object_set_first(const struct object_set *set, const struct object_kind *kind)
{
    return set->first_of_kind[object_kind_index(kind)];
}

struct object *object_set_find_uid(const struct object_set *set, const char *uid)
{
    uint32_t id = 0;

    if (!intern_find(&set->uids, uid, strlen(uid), &id) || id >= set->by_uid.len)
        return NULL;
    return set->by_uid.items[id];
}

int object_wrap(const struct object *object, int code, struct err *err)
{
    const char *namespace = object->namespace ? object->namespace : "";
    const char *name = object->name ? object->name : "";
    const struct object *read = object;

    if (!err)
        return code;
    while (read->maker)
        read = read->maker;
    struct yaml_mark mark = place_of(read, read == object ? err->text : "");
    const char *space = *name ? " " : "";
    const char *slash = *namespace ? "/" : "";
    /* A name that is far too long must leave room for what is wrong with it. */
    (void)err_wrap(err, code, "%s%s%.80s%s%.80s", object->kind->kind, space, namespace, slash, name);
    if (read->source && mark.line)
        (void)err_wrap(err, code, "%s:%u:%u", read->source->name, mark.line, mark.column);
    else if (read->source)
        (void)err_wrap(err, code, "%s", read->source->name);
    text_flatten(err->text);
    return code;
}

struct json_at object_labels(const struct object *object, struct json_at *meta)
{
    *meta = json_member(&object->root, "metadata");
    return json_member(meta, "labels");
}

struct json_at object_annotations(const struct object *object, struct json_at *meta)
{
    *meta = json_member(&object->root, "metadata");
    return json_member(meta, "annotations");
}

const char *object_label(const struct object *object, const char *key)
{
    struct json_at meta;
    struct json_at labels = object_labels(object, &meta);

    return json_peek_str(&labels, key);
}

const char *object_annotation(const struct object *object, const char *key)
{
    struct json_at meta;
    struct json_at annotations = object_annotations(object, &meta);

    return json_peek_str(&annotations, key);
}
