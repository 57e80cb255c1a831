/* SPDX-License-Identifier: Apache-2.0 */
#include "local/server/table.h"

#include <stdio.h>
#include <string.h>
#include <yyjson.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/server/object_text.h"
#include "local/server/request.h"
#include "local/tables/tables.h"
#include "net/rest/rest.h"
#include "store/object.h"

enum table_object { TABLE_METADATA, TABLE_OBJECT, TABLE_NOTHING };

static enum table_object object_of(const struct request *request)
{
    const char *value = request_query(request, "includeObject");

    return strcmp(value, "Object") == 0 ? TABLE_OBJECT : strcmp(value, "None") == 0 ? TABLE_NOTHING : TABLE_METADATA;
}

bool table_check(struct request *request)
{
    static const char *const known[] = {"", "Metadata", "Object", "None"};
    const char *value = request_query(request, "includeObject");

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strcmp(known[i], value) == 0)
            return true;
    fail_bad(request,
             "Unable to convert to Table as requested: includeObject: Invalid value: \"%.100s\": must be 'Metadata', "
             "'Object', 'None', or empty",
             value);
    return false;
}

static void add_head(struct strbuf *text, const struct request *request, const char *meta, bool has_columns)
{
    strbuf_addf(text, "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/%s\",%s,\"columnDefinitions\":",
                request->form == ACCEPT_TABLE_BETA ? "v1beta1" : "v1", meta);
    if (has_columns)
        tables_write_columns(api_kind_stored(request->kind), text);
    else
        strbuf_addstr(text, "null");
    strbuf_addstr(text, ",\"rows\":[");
}

static void add_row(struct strbuf *text, const struct request *request, const char *body, size_t len)
{
    enum table_object object = object_of(request);

    strbuf_addstr(text, "{\"cells\":");
    tables_write_cells(api_kind_stored(request->kind), body, len, nsec_now_wall(), text);
    tables_write_conditions(request->kind, body, len, text);
    if (object == TABLE_NOTHING)
        strbuf_addstr(text, ",\"object\":null");
    else {
        strbuf_addstr(text, ",\"object\":");
        object_add(text, request->kind, object == TABLE_OBJECT ? ACCEPT_OBJECT : ACCEPT_METADATA, body, len);
    }
    strbuf_addch(text, '}');
}

void table_write(struct strbuf *text, const struct request *request, const char *meta,
                 const struct store_object *const *objects, uint32_t count)
{
    add_head(text, request, meta, true);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            strbuf_addch(text, ',');
        add_row(text, request, objects[i]->body, objects[i]->body_len);
    }
    strbuf_addstr(text, "]}");
    /* Where the API server makes no rows of its own, none are null in Go. */
    if (count == 0 && tables_is_plain(api_kind_stored(request->kind))) {
        text->len -= strlen("[]}");
        strbuf_addstr(text, "null}");
    }
}

/* The version of the object is that of the table. */
void table_write_row(struct strbuf *text, const struct request *request, const char *body, size_t len, bool has_columns)
{
    yyjson_doc *doc = yyjson_read(body, len, YYJSON_READ_ALLOW_INVALID_UNICODE);
    const char *version =
        yyjson_get_str(yyjson_obj_get(yyjson_obj_get(yyjson_doc_get_root(doc), "metadata"), "resourceVersion"));
    char meta[128];

    if (version && *version)
        (void)snprintf(meta, sizeof meta, "\"metadata\":{\"resourceVersion\":\"%.40s\"}", version);
    else
        (void)snprintf(meta, sizeof meta, "\"metadata\":{}");
    yyjson_doc_free(doc);
    add_head(text, request, meta, has_columns);
    add_row(text, request, body, len);
    strbuf_addstr(text, "]}");
}
