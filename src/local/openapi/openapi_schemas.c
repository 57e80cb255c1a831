/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas from the tables of types. Schemas are named as in Kubernetes, since clients know some of the names. */
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/openapi/openapi.h"
#include "local/openapi/openapi_internal.h"
#include "local/wire/types.h"

#define MACHINERY "io.k8s.apimachinery.pkg."
#define META MACHINERY "apis.meta.v1."

enum { NAME_MAX_BYTES = 512 };

/* Types that are no structs of the tables: their schema, and its name where Kubernetes has one. */
static const struct {
    const char *name;
    const char *schema;
} plain[] = {
    [TYPE_STRING] = {NULL, "{\"type\":\"string\"}"},
    [TYPE_BOOL] = {NULL, "{\"type\":\"boolean\"}"},
    [TYPE_INT32] = {NULL, "{\"type\":\"integer\",\"format\":\"int32\"}"},
    [TYPE_INT64] = {NULL, "{\"type\":\"integer\",\"format\":\"int64\"}"},
    [TYPE_DOUBLE] = {NULL, "{\"type\":\"number\",\"format\":\"double\"}"},
    [TYPE_BYTES] = {NULL, "{\"type\":\"string\",\"format\":\"byte\"}"},
    [TYPE_QUANTITY] = {MACHINERY "api.resource.Quantity", "{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"number\"}]}"},
    [TYPE_INT_OR_STRING] = {MACHINERY "util.intstr.IntOrString",
                            "{\"format\":\"int-or-string\",\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}]}"},
    [TYPE_TIME] = {META "Time", "{\"type\":\"string\",\"format\":\"date-time\"}"},
    [TYPE_MICRO_TIME] = {META "MicroTime", "{\"type\":\"string\",\"format\":\"date-time\"}"},
    [TYPE_DURATION] = {META "Duration", "{\"type\":\"string\"}"},
    [TYPE_RAW] = {MACHINERY "runtime.RawExtension", "{\"type\":\"object\"}"},
    [TYPE_STRINGS] = {NULL, "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"},
    [TYPE_SCHEMA_OR_BOOL] = {NULL, "{}"},
    [TYPE_SCHEMA_OR_LIST] = {NULL, "{}"},
    [TYPE_SCHEMA_OR_NAMES] = {NULL, "{}"},
};

yyjson_mut_val *openapi_gvk(yyjson_mut_doc *doc, const char *group, const char *version, const char *kind)
{
    yyjson_mut_val *gvk = yyjson_mut_obj(doc);

    yyjson_mut_obj_add_strcpy(doc, gvk, "group", group);
    yyjson_mut_obj_add_strcpy(doc, gvk, "kind", kind);
    yyjson_mut_obj_add_strcpy(doc, gvk, "version", version);
    return gvk;
}

static yyjson_mut_val *read_schema(yyjson_mut_doc *doc, const char *text)
{
    yyjson_doc *read = yyjson_read(text, strlen(text), 0);
    yyjson_mut_val *schema = yyjson_val_mut_copy(doc, yyjson_doc_get_root(read));

    yyjson_doc_free(read);
    return schema;
}

static yyjson_mut_val *reference(yyjson_mut_doc *doc, const char *name)
{
    yyjson_mut_val *schema = yyjson_mut_obj(doc);
    char text[NAME_MAX_BYTES];

    (void)snprintf(text, sizeof text, "#/components/schemas/%s", name);
    yyjson_mut_obj_add_strcpy(doc, schema, "$ref", text);
    return schema;
}

static const char *struct_name(const struct type *type, char text[static NAME_MAX_BYTES])
{
    (void)snprintf(text, NAME_MAX_BYTES, "%s.%s", type_package(type), type_name(type));
    return text;
}

static void describe(struct openapi *openapi, const struct type *type);

/* The schema of a member, or of an element of it. */
static yyjson_mut_val *element_schema(struct openapi *openapi, const struct type_row *row)
{
    const struct type *type = row_struct(row);
    char name[NAME_MAX_BYTES];

    if (type) {
        describe(openapi, type);
        return reference(openapi->doc, struct_name(type, name));
    }
    if (!plain[row->type].name)
        return read_schema(openapi->doc, plain[row->type].schema);
    if (!yyjson_mut_obj_get(openapi->schemas, plain[row->type].name))
        yyjson_mut_obj_add_val(openapi->doc, openapi->schemas, plain[row->type].name,
                               read_schema(openapi->doc, plain[row->type].schema));
    return reference(openapi->doc, plain[row->type].name);
}

/* How apply and strategic patches merge a list. */
static void add_list_keys(struct openapi *openapi, const struct type_row *row, yyjson_mut_val *schema)
{
    yyjson_mut_doc *doc = openapi->doc;
    const char *keys = row_list_keys(row);
    const char *type = row->flags & ROW_KEYED    ? "map"
                       : row->flags & ROW_SET    ? "set"
                       : row->flags & ROW_ATOMIC ? "atomic"
                                                 : NULL;

    if (type)
        yyjson_mut_obj_add_str(doc, schema, row->flags & ROW_LIST ? "x-kubernetes-list-type" : "x-kubernetes-map-type",
                               type);
    if (*keys) {
        yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, schema, "x-kubernetes-list-map-keys");
        for (size_t len; *keys; keys += len + strspn(keys + len, " ")) {
            len = strcspn(keys, " ");
            yyjson_mut_arr_add_strncpy(doc, list, keys, len);
        }
    }
    if (*row_merge_key(row))
        yyjson_mut_obj_add_str(doc, schema, "x-kubernetes-patch-merge-key", row_merge_key(row));
    if (row->flags & ROW_PATCH_MERGE)
        yyjson_mut_obj_add_str(doc, schema, "x-kubernetes-patch-strategy",
                               row->flags & ROW_PATCH_RETAIN_KEYS ? "merge,retainKeys" : "merge");
}

static yyjson_mut_val *member_schema(struct openapi *openapi, const struct type_row *row)
{
    yyjson_mut_val *element = element_schema(openapi, row);

    if (!(row->flags & (ROW_LIST | ROW_MAP)))
        return element;
    yyjson_mut_val *schema = yyjson_mut_obj(openapi->doc);
    yyjson_mut_obj_add_str(openapi->doc, schema, "type", row->flags & ROW_LIST ? "array" : "object");
    yyjson_mut_obj_add_val(openapi->doc, schema, row->flags & ROW_LIST ? "items" : "additionalProperties", element);
    add_list_keys(openapi, row, schema);
    return schema;
}

/* Members of inlined structs are members of the struct around them. */
static void add_members(struct openapi *openapi, const struct type *type, yyjson_mut_val *properties,
                        yyjson_mut_val *required)
{
    const struct type_row *rows = type_rows(type);

    for (size_t i = 0; i < type->count; i++) {
        if (rows[i].flags & ROW_INLINE) {
            add_members(openapi, row_struct(&rows[i]), properties, required);
            continue;
        }
        yyjson_mut_obj_add_val(openapi->doc, properties, row_name(&rows[i]), member_schema(openapi, &rows[i]));
        if (!(rows[i].flags & (ROW_OPTIONAL | ROW_OMIT_EMPTY)))
            yyjson_mut_arr_add_str(openapi->doc, required, row_name(&rows[i]));
    }
}

static void add_type_meta(yyjson_mut_doc *doc, yyjson_mut_val *properties)
{
    static const char *const names[] = {"apiVersion", "kind"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (yyjson_mut_obj_get(properties, names[i]))
            continue;
        yyjson_mut_val *text = yyjson_mut_obj_add_obj(doc, properties, names[i]);
        yyjson_mut_obj_add_str(doc, text, "type", "string");
    }
}

static void describe(struct openapi *openapi, const struct type *type)
{
    yyjson_mut_doc *doc = openapi->doc;
    char name[NAME_MAX_BYTES];

    if (openapi->is_described[type_index(type)])
        return;
    openapi->is_described[type_index(type)] = true;
    yyjson_mut_val *schema = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, schema, "type", "object");
    yyjson_mut_val *properties = yyjson_mut_obj(doc);
    yyjson_mut_val *required = yyjson_mut_arr(doc);
    if (type->flags & TYPE_IS_KIND)
        add_type_meta(doc, properties);
    add_members(openapi, type, properties, required);
    if (yyjson_mut_obj_size(properties))
        yyjson_mut_obj_add_val(doc, schema, "properties", properties);
    if (yyjson_mut_arr_size(required))
        yyjson_mut_obj_add_val(doc, schema, "required", required);
    if (type->flags & TYPE_IS_KIND) {
        yyjson_mut_val *kinds = yyjson_mut_obj_add_arr(doc, schema, "x-kubernetes-group-version-kind");
        yyjson_mut_arr_append(kinds, openapi_gvk(doc, type_group(type), type_version(type), type_name(type)));
    }
    yyjson_mut_obj_add(openapi->schemas, yyjson_mut_strcpy(doc, struct_name(type, name)), schema);
}

/* "ai.run.scheduling.v2.Queue" for a Queue of scheduling.run.ai/v2. */
static void custom_name(const struct api_kind *kind, struct strbuf *name)
{
    _cleanup_(freep) char *group = xstrdup(kind->group);

    for (char *dot; (dot = strrchr(group, '.')); *dot = '\0')
        strbuf_addf(name, "%s.", dot + 1);
    strbuf_addf(name, "%s.%s.%s", group, kind->version, kind->kind);
}

static void describe_custom(struct openapi *openapi, const struct openapi_kind *kind)
{
    yyjson_mut_doc *doc = openapi->doc;
    const struct type_row *meta = type_member(type_find("", "v1", "ConfigMap"), "metadata");
    yyjson_mut_val *schema = kind->schema ? yyjson_val_mut_copy(doc, kind->schema) : yyjson_mut_obj(doc);
    yyjson_mut_val *properties = yyjson_mut_obj_get(schema, "properties");
    struct strbuf name;

    if (!yyjson_mut_obj_get(schema, "type"))
        yyjson_mut_obj_add_str(doc, schema, "type", "object");
    if (!properties)
        properties = yyjson_mut_obj_add_obj(doc, schema, "properties");
    add_type_meta(doc, properties);
    yyjson_mut_obj_put(properties, yyjson_mut_str(doc, "metadata"), element_schema(openapi, meta));
    yyjson_mut_val *kinds = yyjson_mut_obj_add_arr(doc, schema, "x-kubernetes-group-version-kind");
    yyjson_mut_arr_append(kinds, openapi_gvk(doc, kind->api->group, kind->api->version, kind->api->kind));
    strbuf_init(&name, NAME_MAX_BYTES);
    custom_name(kind->api, &name);
    yyjson_mut_obj_add(openapi->schemas, yyjson_mut_strcpy(doc, name.text), schema);
    strbuf_done(&name);
}

void openapi_add_schema(struct openapi *openapi, const struct openapi_kind *kind)
{
    const struct type *type = type_find(kind->api->group, kind->api->version, kind->api->kind);

    if (type && !(kind->api->flags & KIND_IS_CUSTOM))
        describe(openapi, type);
    else
        describe_custom(openapi, kind);
}
