/* SPDX-License-Identifier: Apache-2.0 */
#include "local/openapi/openapi.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/macros.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/openapi/openapi_internal.h"
#include "local/wire/types.h"

enum { PATH_BYTES_MAX = 1024 };

/* An operation: what kubectl looks at. There is no requestBody on purpose: without one, kubectl patches its own kinds by the
 * merge keys that it brings along. */
static void add_operation(yyjson_mut_doc *doc, yyjson_mut_val *path, const struct api_kind *kind, const char *method,
                          const char *action)
{
    static const char *const writes[] = {"fieldManager", "dryRun", "fieldValidation"};
    yyjson_mut_val *operation = yyjson_mut_obj_add_obj(doc, path, method);
    bool is_write = strcmp(method, "get") != 0 && strcmp(method, "delete") != 0;

    yyjson_mut_obj_add_str(doc, operation, "x-kubernetes-action", action);
    yyjson_mut_obj_add_val(doc, operation, "x-kubernetes-group-version-kind",
                           openapi_gvk(doc, kind->group, kind->version, kind->kind));
    if (!is_write)
        return;
    yyjson_mut_val *parameters = yyjson_mut_obj_add_arr(doc, operation, "parameters");
    for (size_t i = 0; i < ARRAY_LEN(writes); i++) {
        yyjson_mut_val *parameter = yyjson_mut_arr_add_obj(doc, parameters);
        yyjson_mut_obj_add_str(doc, parameter, "name", writes[i]);
        yyjson_mut_obj_add_str(doc, parameter, "in", "query");
        yyjson_mut_val *schema = yyjson_mut_obj_add_obj(doc, parameter, "schema");
        yyjson_mut_obj_add_str(doc, schema, "type", "string");
    }
}

static yyjson_mut_val *add_path(yyjson_mut_doc *doc, yyjson_mut_val *paths, const struct api_kind *kind,
                                bool is_namespaced, const char *rest)
{
    struct strbuf text;

    strbuf_init(&text, PATH_BYTES_MAX);
    strbuf_addf(&text, "/%s/%s%s%s/%s%s%s", *kind->group ? "apis" : "api", kind->group, *kind->group ? "/" : "",
                kind->version, is_namespaced ? "namespaces/{namespace}/" : "", kind->plural, rest);
    yyjson_mut_val *path = yyjson_mut_obj(doc);
    yyjson_mut_obj_add(paths, yyjson_mut_strcpy(doc, text.text), path);
    strbuf_done(&text);
    return path;
}

static void add_paths(yyjson_mut_doc *doc, yyjson_mut_val *paths, const struct api_kind *kind)
{
    bool is_namespaced = kind->flags & KIND_NAMESPACED;
    yyjson_mut_val *list = add_path(doc, paths, kind, is_namespaced, "");
    yyjson_mut_val *item = add_path(doc, paths, kind, is_namespaced, "/{name}");

    add_operation(doc, list, kind, "get", "list");
    add_operation(doc, list, kind, "post", "post");
    add_operation(doc, list, kind, "delete", "deletecollection");
    add_operation(doc, item, kind, "get", "get");
    add_operation(doc, item, kind, "put", "put");
    add_operation(doc, item, kind, "patch", "patch");
    add_operation(doc, item, kind, "delete", "delete");
    if (is_namespaced)
        add_operation(doc, add_path(doc, paths, kind, false, ""), kind, "get", "list");
}

static char *write_text(yyjson_mut_doc *doc, size_t *ret_len)
{
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_NOFLAG, ret_len);

    BUG_ON(!text);
    yyjson_mut_doc_free(doc);
    return text;
}

char *openapi_document(const char *group, const char *version, const struct openapi_kind *kinds, size_t count,
                       size_t *ret_len)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    size_t types = 0;

    while (type_at(types))
        types++;
    _cleanup_(freep) bool *is_described = xcalloc(types, sizeof *is_described);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_str(doc, root, "openapi", "3.0.0");
    yyjson_mut_val *info = yyjson_mut_obj_add_obj(doc, root, "info");
    yyjson_mut_obj_add_strcpy(doc, info, "title", *group ? group : "core");
    yyjson_mut_obj_add_strcpy(doc, info, "version", version);
    yyjson_mut_val *paths = yyjson_mut_obj_add_obj(doc, root, "paths");
    yyjson_mut_val *components = yyjson_mut_obj_add_obj(doc, root, "components");
    struct openapi openapi = {doc, yyjson_mut_obj_add_obj(doc, components, "schemas"), is_described};
    for (size_t i = 0; i < count; i++) {
        add_paths(doc, paths, kinds[i].api);
        openapi_add_schema(&openapi, &kinds[i]);
    }
    return write_text(doc, ret_len);
}

const char *openapi_hash(const char *document, size_t len, char hash[static OPENAPI_HASH_MAX])
{
    uint64_t first = hash_bytes(document, len, 0);

    (void)snprintf(hash, OPENAPI_HASH_MAX, "%016" PRIX64 "%016" PRIX64, first, hash_bytes(document, len, first));
    return hash;
}

char *openapi_index(const struct openapi_entry *entries, size_t count, size_t *ret_len)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_val *paths = yyjson_mut_obj_add_obj(doc, root, "paths");

    yyjson_mut_doc_set_root(doc, root);
    for (size_t i = 0; i < count; i++) {
        struct strbuf address;
        strbuf_init(&address, PATH_BYTES_MAX);
        strbuf_addf(&address, "/openapi/v3/%s?hash=%s", entries[i].path, entries[i].hash);
        yyjson_mut_val *entry = yyjson_mut_obj(doc);
        yyjson_mut_obj_add_strcpy(doc, entry, "serverRelativeURL", address.text);
        yyjson_mut_obj_add(paths, yyjson_mut_strcpy(doc, entries[i].path), entry);
        strbuf_done(&address);
    }
    return write_text(doc, ret_len);
}
