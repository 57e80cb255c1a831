/* SPDX-License-Identifier: Apache-2.0 */
#include "local/apply/shape.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/macros.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"

enum { KEYS_MAX = 4, STEP_BYTES_MAX = 64 << 10 };

/* --- Built-in kinds --- */

/* Lists that are merged, the first row that fits; all others have one owner. Keys are in the order of their names. */
static const struct builtin_list {
    const char *name;
    const char *parent;              // NULL: anywhere
    const char *keys[KEYS_MAX + 1];  // none: plain values, each once
} lists[] = {
    {"ports", "containers", {"containerPort", "protocol"}},
    {"ports", "initContainers", {"containerPort", "protocol"}},
    {"ports", "ephemeralContainers", {"containerPort", "protocol"}},
    {"ports", "spec", {"port", "protocol"}},
    {"containers", NULL, {"name"}},
    {"initContainers", NULL, {"name"}},
    {"ephemeralContainers", NULL, {"name"}},
    {"env", NULL, {"name"}},
    {"volumes", "spec", {"name"}},
    {"volumeMounts", NULL, {"mountPath"}},
    {"volumeDevices", NULL, {"devicePath"}},
    {"imagePullSecrets", NULL, {"name"}},
    {"schedulingGates", NULL, {"name"}},
    {"resourceClaims", NULL, {"name"}},
    {"resourceClaimStatuses", NULL, {"name"}},
    {"claims", "resources", {"name"}},
    {"secrets", "", {"name"}},
    {"hostAliases", NULL, {"ip"}},
    {"podIPs", NULL, {"ip"}},
    {"topologySpreadConstraints", NULL, {"topologyKey", "whenUnsatisfiable"}},
    {"conditions", NULL, {"type"}},
    {"addresses", "status", {"type"}},
    {"ownerReferences", "metadata", {"uid"}},
    {"finalizers", "metadata", {NULL}},
    {"podCIDRs", "spec", {NULL}},
    {"reservedFor", "status", {"uid"}},
    {"devices", "status", {"device", "driver", "pool", "shareID"}},
    {"webhooks", "", {"name"}},
    {"matchConditions", NULL, {"name"}},
    {"drivers", "spec", {"name"}},
};

/* Objects that have one owner. */
static const char *const atomic_objects[] = {
    "selector",
    "nodeSelector",
    "labelSelector",
    "namespaceSelector",
    "podSelector",
    "objectSelector",
    "secretKeyRef",
    "configMapKeyRef",
    "fieldRef",
    "resourceFieldRef",
    "fileKeyRef",
    "secretRef",
    "configMapRef",
    "roleRef",
    "involvedObject",
    "regarding",
    "related",
    "dataSource",
    "targetRef",
    "scaleTargetRef",
    "parentReference",
    "reference",
    "nodePublishSecretRef",
    "requiredDuringSchedulingIgnoredDuringExecution",
};

/* Objects whose keys are data, not members of a type. */
static const char *const maps[] = {
    "labels",     "annotations",        "matchLabels",      "data",       "binaryData", "stringData", "limits",
    "requests",   "capacity",           "allocatable",      "parameters", "hard",       "used",       "overhead",
    "attributes", "allocatedResources", "volumeAttributes",
};

static bool is_among(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static const struct builtin_list *list_find(const struct shape *shape)
{
    /* Jobs own their conditions as a whole. */
    if (strcmp(shape->kind, "Job") == 0 && strcmp(shape->name, "conditions") == 0)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        if (strcmp(lists[i].name, shape->name) == 0 &&
            (!lists[i].parent || strcmp(lists[i].parent, shape->parent) == 0))
            return &lists[i];
    return NULL;
}

static enum schema_merge merge_builtin(const struct shape *shape, yyjson_mut_val *value)
{
    if (yyjson_mut_is_obj(value)) {
        if (is_among(atomic_objects, ARRAY_LEN(atomic_objects), shape->name))
            return SCHEMA_ATOMIC;
        return is_among(maps, ARRAY_LEN(maps), shape->name) ? SCHEMA_MAP : SCHEMA_STRUCT;
    }
    if (!yyjson_mut_is_arr(value))
        return SCHEMA_LEAF;
    const struct builtin_list *list = list_find(shape);
    return !list ? SCHEMA_ATOMIC : list->keys[0] ? SCHEMA_LIST_KEYED : SCHEMA_LIST_SET;
}

/* --- Both --- */

struct shape shape_of(const struct api_kind *kind, const struct schema *schema)
{
    return (struct shape){
        .node = schema ? schema_root(schema) : NULL,
        .kind = kind->kind,
        .name = "",
        .parent = "",
        .is_custom = schema != NULL,
        .is_root = true,
    };
}

enum schema_merge shape_merge(const struct shape *shape, yyjson_mut_val *value)
{
    if (shape->is_root)
        return SCHEMA_STRUCT;
    return shape->is_custom ? schema_merge_of(shape->node, value) : merge_builtin(shape, value);
}

struct shape shape_member(const struct shape *shape, const char *name, bool *ret_is_named)
{
    struct shape member = *shape;

    member.is_root = false;
    member.parent = shape->name;
    member.name = name;
    *ret_is_named = !is_among(maps, ARRAY_LEN(maps), shape->name);
    if (!shape->is_custom)
        return member;
    /* The metadata of custom kinds is that of all kinds. */
    if (shape->is_root && strcmp(name, "metadata") == 0) {
        member.is_custom = false;
        *ret_is_named = true;
        return member;
    }
    member.node = schema_member(shape->node, name, ret_is_named);
    *ret_is_named |= shape->is_root;
    return member;
}

struct shape shape_items(const struct shape *shape)
{
    struct shape items = *shape;

    items.node = schema_items(shape->node);
    return items;
}

static const char *key_at(const struct shape *shape, size_t index)
{
    const struct builtin_list *list = shape->is_custom ? NULL : list_find(shape);

    if (shape->is_custom)
        return schema_key_at(shape->node, index);
    return list && index < KEYS_MAX ? list->keys[index] : NULL;
}

static yyjson_mut_val *key_value(const struct shape *shape, yyjson_mut_val *element, const char *key)
{
    static const char protocol[] = "TCP";
    static yyjson_mut_val by_default = {
        .tag = ((sizeof protocol - 1) << YYJSON_TAG_BIT) | YYJSON_TYPE_STR,
        .uni = {.str = protocol},
    };
    yyjson_mut_val *value = yyjson_mut_obj_get(element, key);
    bool is_named;

    if (value)
        return value;
    if (shape->is_custom)
        return schema_default_of(schema_member(schema_items(shape->node), key, &is_named));
    return strcmp(key, "protocol") == 0 ? &by_default : NULL;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_json(struct strbuf *text, yyjson_mut_val *value)
{
    char *json = yyjson_mut_val_write(value, YYJSON_WRITE_NOFLAG, NULL);

    strbuf_addstr(text, json ? json : "null");
    free(json);
}

/* The keys of a schema come in any order, and in sets by name. */
static bool add_keys(const struct shape *shape, yyjson_mut_val *element, struct strbuf *text, struct arena *arena)
{
    size_t count = 0;

    while (key_at(shape, count))
        count++;
    const char **keys = arena_calloc(arena, count + 1, sizeof *keys);
    for (size_t i = 0; i < count; i++)
        keys[i] = key_at(shape, i);
    qsort(keys, count, sizeof *keys, compare_texts);
    strbuf_addstr(text, "k:{");
    bool has_any = false;
    for (size_t i = 0; i < count; i++) {
        yyjson_mut_val *value = key_value(shape, element, keys[i]);
        /* shareID is optional, the only key without a default that may be missing. */
        if (!value && strcmp(keys[i], "shareID") == 0)
            continue;
        if (!value || yyjson_mut_is_ctn(value))
            return false;
        strbuf_addf(text, "%s\"%s\":", has_any ? "," : "", keys[i]);
        add_json(text, value);
        has_any = true;
    }
    strbuf_addch(text, '}');
    return has_any;
}

const char *shape_step(const struct shape *shape, yyjson_mut_val *element, struct arena *arena)
{
    struct strbuf text;
    bool is_whole = true;

    strbuf_init(&text, STEP_BYTES_MAX);
    if (key_at(shape, 0)) {
        is_whole = yyjson_mut_is_obj(element) && add_keys(shape, element, &text, arena);
    } else {
        strbuf_addstr(&text, "v:");
        add_json(&text, element);
    }
    const char *step = is_whole && !text.is_cut ? arena_strdup(arena, text.text) : NULL;
    strbuf_done(&text);
    return step;
}
