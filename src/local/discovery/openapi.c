/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The description of the API that kubectl and Helm ask for before they write: which paths take the parameter
 * fieldValidation. Merge keys are not described, so that clients use those that they have.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "local/api/kinds.h"
#include "local/server/resources.h"
#include "local/server/routes.h"
#include "local/server/server_parts.h"
#include "text/json.h"

enum { PATH_MAX_BYTES = 1024 };

/* "api/v1" or "apis/apps/v1". */
static void write_base(const struct api_kind *kind, char text[static PATH_MAX_BYTES])
{
    char version[API_VERSION_MAX];

    (void)snprintf(text, PATH_MAX_BYTES, "%s/%s", *kind->group ? "apis" : "api", api_kind_version(kind, version));
}

static void add_type(yyjson_mut_doc *doc, yyjson_mut_val *operation, const struct api_kind *kind)
{
    yyjson_mut_val *type = yyjson_mut_obj_add_obj(doc, operation, "x-kubernetes-group-version-kind");

    (void)yyjson_mut_obj_add_strcpy(doc, type, "group", kind->group);
    (void)yyjson_mut_obj_add_strcpy(doc, type, "version", kind->version);
    (void)yyjson_mut_obj_add_strcpy(doc, type, "kind", kind->kind);
}

static void add_operation(yyjson_mut_doc *doc, yyjson_mut_val *path, const char *method, const char *action,
                          const struct api_kind *kind)
{
    yyjson_mut_val *operation = yyjson_mut_obj_add_obj(doc, path, method);
    yyjson_mut_val *parameter = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, operation, "parameters"));
    yyjson_mut_val *schema;

    (void)yyjson_mut_obj_add_str(doc, operation, "x-kubernetes-action", action);
    add_type(doc, operation, kind);
    (void)yyjson_mut_obj_add_str(doc, parameter, "name", "fieldValidation");
    (void)yyjson_mut_obj_add_str(doc, parameter, "in", "query");
    schema = yyjson_mut_obj_add_obj(doc, parameter, "schema");
    (void)yyjson_mut_obj_add_str(doc, schema, "type", "string");
}

static void add_kind(yyjson_mut_doc *doc, yyjson_mut_val *paths, const char *base, const struct api_kind *kind)
{
    bool is_namespaced = kind->flags & KIND_NAMESPACED;
    char text[PATH_MAX_BYTES * 2];
    yyjson_mut_val *path;

    (void)snprintf(text, sizeof text, "/%s%s/%s", base, is_namespaced ? "/namespaces/{namespace}" : "", kind->plural);
    path = yyjson_mut_obj(doc);
    add_operation(doc, path, "get", "list", kind);
    add_operation(doc, path, "post", "post", kind);
    (void)yyjson_mut_obj_add(paths, yyjson_mut_strcpy(doc, text), path);
    (void)strncat(text, "/{name}", sizeof text - strlen(text) - 1);
    path = yyjson_mut_obj(doc);
    add_operation(doc, path, "put", "put", kind);
    add_operation(doc, path, "patch", "patch", kind);
    (void)yyjson_mut_obj_add(paths, yyjson_mut_strcpy(doc, text), path);
}

/* The document of a group and version; NULL when there is none. */
static char *document(const struct server *server, const char *wanted, size_t *ret_len)
{
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);
    yyjson_mut_val *info = yyjson_mut_obj(doc);
    yyjson_mut_val *paths = yyjson_mut_obj(doc);
    const struct api_kind *kind;
    char base[PATH_MAX_BYTES];
    char *text = NULL;

    (void)yyjson_mut_obj_add_str(doc, info, "title", "Muster");
    (void)yyjson_mut_obj_add_str(doc, info, "version", "v1.36.0");
    (void)yyjson_mut_obj_add_str(doc, root, "openapi", "3.0.0");
    (void)yyjson_mut_obj_add_val(doc, root, "info", info);
    (void)yyjson_mut_obj_add_val(doc, root, "paths", paths);
    for (size_t i = 0; (kind = resource_at(server, i)); i++) {
        write_base(kind, base);
        if (strcmp(base, wanted) == 0)
            add_kind(doc, paths, base, kind);
    }
    if (yyjson_mut_obj_size(paths) > 0)
        text = yyjson_mut_write(doc, 0, ret_len);
    yyjson_mut_doc_free(doc);
    return text;
}

static void reply(struct http_exchange *exchange, const char *tag, const char *text, size_t len)
{
    const char *known = http_exchange_header(exchange, "If-None-Match");

    http_reply_header(exchange, "ETag", tag);
    http_reply_header(exchange, "Vary", "Accept");
    if (known && strcmp(known, tag) == 0)
        http_reply(exchange, 304, NULL, NULL, 0);
    else
        http_reply(exchange, 200, "application/json", text, len);
}

void serve_openapi_document(void *arg, struct http_exchange *exchange)
{
    size_t len = 0;
    char *text = document(arg, rest_param(exchange, "path"), &len);
    char tag[32];

    if (!text) {
        rest_fail_problem(exchange,
                          &(struct rest_problem){.status = 404,
                                                 .message = "the server could not find the requested resource",
                                                 .has_details = true});
        return;
    }
    (void)snprintf(tag, sizeof tag, "\"%016" PRIx64 "\"", hash_bytes(text, len, 0));
    reply(exchange, tag, text, len);
    free(text);
}

static void add_document(yyjson_mut_doc *doc, yyjson_mut_val *paths, const struct server *server, const char *base)
{
    size_t len = 0;
    char *text = document(server, base, &len);
    char address[PATH_MAX_BYTES * 2];
    yyjson_mut_val *entry = yyjson_mut_obj(doc);

    (void)snprintf(address, sizeof address, "/openapi/v3/%s?hash=%016" PRIx64, base, hash_bytes(text, len, 0));
    (void)yyjson_mut_obj_add_strcpy(doc, entry, "serverRelativeURL", address);
    (void)yyjson_mut_obj_add(paths, yyjson_mut_strcpy(doc, base), entry);
    free(text);
}

void serve_openapi(void *arg, struct http_exchange *exchange)
{
    const struct server *server = arg;
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);
    yyjson_mut_val *paths = yyjson_mut_obj_add_obj(doc, root, "paths");
    const struct api_kind *kind;
    char base[PATH_MAX_BYTES];
    char tag[32];
    size_t len = 0;

    for (size_t i = 0; (kind = resource_at(server, i)); i++) {
        write_base(kind, base);
        if (!yyjson_mut_obj_get(paths, base))
            add_document(doc, paths, server, base);
    }
    char *text = yyjson_mut_write(doc, 0, &len);

    (void)snprintf(tag, sizeof tag, "\"%016" PRIx64 "\"", hash_bytes(text, len, 0));
    reply(exchange, tag, text, len);
    free(text);
    yyjson_mut_doc_free(doc);
}
