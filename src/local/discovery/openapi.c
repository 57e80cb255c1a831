/* SPDX-License-Identifier: Apache-2.0 */

/* Serves the description of the API, which kubectl and Helm ask for before they write. */
#include "local/openapi/openapi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "local/api/kinds.h"
#include "local/custom/definitions.h"
#include "local/discovery/openapi_pages.h"
#include "local/server/compress.h"
#include "local/server/resources.h"
#include "local/server/routes.h"
#include "local/server/server_parts.h"

enum { PATH_MAX_BYTES = 1024 };

/* The kinds of one group and version, with the definitions that they are described by. */
struct members {
    VEC(struct openapi_kind) kinds;
    VEC(yyjson_doc *) definitions;
};

/* The schema of a custom kind as its definition has it; NULL for a built-in one. */
static yyjson_val *schema_of(struct server *server, const struct api_kind *kind, struct members *members)
{
    const struct custom_kind *custom = custom_kind_of(kind);
    const struct store_object *object = custom ? custom_definition(server, custom->definition) : NULL;
    yyjson_doc *doc = object ? yyjson_read(object->body, object->body_len, 0) : NULL;
    yyjson_val *versions = yyjson_obj_get(yyjson_obj_get(yyjson_doc_get_root(doc), "spec"), "versions");
    yyjson_val *version;
    size_t i, max;

    if (!doc)
        return NULL;
    vec_push(&members->definitions, doc);
    yyjson_arr_foreach(versions, i, max, version)
    {
        if (yyjson_equals_str(yyjson_obj_get(version, "name"), kind->version))
            return yyjson_obj_get(yyjson_obj_get(version, "schema"), "openAPIV3Schema");
    }
    return NULL;
}

static void members_done(struct members *members)
{
    vec_foreach (&members->definitions, doc)
        yyjson_doc_free(*doc);
    vec_done(&members->definitions);
    vec_done(&members->kinds);
}

/* Describes the group and version of a kind. */
static struct openapi_page make_page(struct server *server, const struct api_kind *first)
{
    struct members members = {0};
    struct openapi_page page = {0};
    const struct api_kind *kind;
    char version[API_VERSION_MAX];
    char path[PATH_MAX_BYTES];

    for (size_t i = 0; (kind = resource_at(server, i)); i++) {
        if (strcmp(kind->group, first->group) == 0 && strcmp(kind->version, first->version) == 0)
            vec_push(&members.kinds, ((struct openapi_kind){kind, schema_of(server, kind, &members)}));
    }
    (void)snprintf(path, sizeof path, "%s/%s", *first->group ? "apis" : "api", api_kind_version(first, version));
    page.path = xstrdup(path);
    page.text = openapi_document(first->group, first->version, members.kinds.items, members.kinds.len, &page.len);
    (void)openapi_hash(page.text, page.len, page.hash);
    members_done(&members);
    return page;
}

static const struct openapi_page *find_page(const struct openapi_pages *pages, const char *path)
{
    vec_foreach (&pages->items, page) {
        if (strcmp(page->path, path) == 0)
            return page;
    }
    return NULL;
}

static bool is_described(const struct openapi_pages *pages, const struct api_kind *kind)
{
    char version[API_VERSION_MAX];
    char path[PATH_MAX_BYTES];

    (void)snprintf(path, sizeof path, "%s/%s", *kind->group ? "apis" : "api", api_kind_version(kind, version));
    return find_page(pages, path);
}

/* All documents. They are made when somebody asks, and again when kinds have come or gone. */
static const struct openapi_pages *pages_now(struct server *server)
{
    struct openapi_pages *pages = &server->openapi;
    const struct api_kind *kind;

    if (pages->items.len > 0 && pages->revision == definitions_revision(server->definitions))
        return pages;
    openapi_pages_done(pages);
    pages->revision = definitions_revision(server->definitions);
    for (size_t i = 0; (kind = resource_at(server, i)); i++) {
        if (!is_described(pages, kind))
            vec_push(&pages->items, make_page(server, kind));
    }
    return pages;
}

void openapi_pages_done(struct openapi_pages *pages)
{
    vec_foreach (&pages->items, page) {
        free(page->path);
        free(page->text);
    }
    vec_done(&pages->items);
}

static void reply(struct http_exchange *exchange, const char *hash, const char *text, size_t len)
{
    const char *known = http_exchange_header(exchange, "If-None-Match");
    char tag[OPENAPI_HASH_MAX + 2];

    (void)snprintf(tag, sizeof tag, "\"%s\"", hash);
    http_reply_header(exchange, "ETag", tag);
    http_reply_header(exchange, "Vary", "Accept");
    if (known && strcmp(known, tag) == 0)
        http_reply(exchange, 304, NULL, NULL, 0);
    else
        reply_compressed(exchange, 200, "application/json", text, len);
}

void serve_openapi_document(void *arg, struct http_exchange *exchange)
{
    const struct openapi_page *page = find_page(pages_now(arg), rest_param(exchange, "path"));
    const char *wanted = rest_query(exchange, "hash");
    char address[PATH_MAX_BYTES * 2];

    if (!page) {
        rest_fail_problem(exchange,
                          &(struct rest_problem){.status = 404,
                                                 .message = "the server could not find the requested resource",
                                                 .has_details = true});
        return;
    }
    if (wanted && *wanted && strcmp(wanted, page->hash) != 0) {
        (void)snprintf(address, sizeof address, "/openapi/v3/%s?hash=%s", page->path, page->hash);
        http_reply_header(exchange, "Location", address);
        http_reply(exchange, 301, NULL, NULL, 0);
        return;
    }
    if (wanted && *wanted)
        http_reply_header(exchange, "Cache-Control", "public, immutable");
    reply(exchange, page->hash, page->text, page->len);
}

void serve_openapi(void *arg, struct http_exchange *exchange)
{
    const struct openapi_pages *pages = pages_now(arg);
    VEC(struct openapi_entry) entries = {0};
    char hash[OPENAPI_HASH_MAX];
    size_t len = 0;

    vec_foreach (&pages->items, page)
        vec_push(&entries, ((struct openapi_entry){page->path, page->hash}));
    char *text = openapi_index(entries.items, entries.len, &len);

    reply(exchange, openapi_hash(text, len, hash), text, len);
    free(text);
    vec_done(&entries);
}
