/* SPDX-License-Identifier: Apache-2.0 */

/* Good answers. */
#include <stdio.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/builtin/event_forms.h"
#include "local/server/compress.h"
#include "local/server/object_text.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"
#include "local/server/table.h"
#include "net/http_server.h"

/* All warnings of an answer together, and one of them. */
enum { WARNINGS_BYTES_MAX = 4096, ANSWER_MAX = 64 << 20 };

/* A quoted string of HTTP. */
static void add_quoted(struct strbuf *line, const char *text)
{
    strbuf_addch(line, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            strbuf_addch(line, '\\');
        strbuf_addch(line, *text);
    }
    strbuf_addch(line, '"');
}

void answer_warnings(struct request *request)
{
    size_t sent = 0;

    vec_foreach (&request->warnings, warning) {
        struct strbuf line;

        strbuf_init(&line, WARNINGS_BYTES_MAX);
        strbuf_addstr(&line, "299 - ");
        add_quoted(&line, *warning);
        sent += line.len;
        if (!line.is_cut && sent <= WARNINGS_BYTES_MAX)
            http_reply_header(request->exchange, "Warning", line.text);
        strbuf_done(&line);
    }
}

void answer_json(struct request *request, int status, const char *body, size_t len)
{
    answer_warnings(request);
    /* Answers belong to whoever asked. */
    http_reply_header(request->exchange, "Cache-Control", "no-cache, private");
    reply_compressed(request->exchange, status, "application/json", body, len);
    request_end(request);
}

void answer_object(struct request *request, int status, const char *body, size_t len)
{
    bool is_table = request->form == ACCEPT_TABLE || request->form == ACCEPT_TABLE_BETA;
    struct strbuf text;

    if (is_table && !table_check(request))
        return;
    strbuf_init(&text, ANSWER_MAX);
    if (is_table)
        table_write_one(&text, request, body, len);
    else
        object_add(&text, request->kind, request->form, body, len);
    answer_json(request, status, text.text, text.len);
    strbuf_done(&text);
}

void answer_doc(struct request *request, int status, yyjson_mut_doc *doc)
{
    size_t len = 0;

    event_form_store(request->kind, doc);
    char *text = object_text(doc, &len);

    answer_object(request, status, text, len);
    free(text);
}

void answer_success(struct request *request, const char *uid)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_val *details = yyjson_mut_obj(doc);
    size_t len = 0;

    yyjson_mut_doc_set_root(doc, root);
    (void)yyjson_mut_obj_add_str(doc, root, "kind", "Status");
    (void)yyjson_mut_obj_add_str(doc, root, "apiVersion", "v1");
    (void)yyjson_mut_obj_add_obj(doc, root, "metadata");
    (void)yyjson_mut_obj_add_str(doc, root, "status", "Success");
    (void)yyjson_mut_obj_add_str(doc, details, "name", request->name);
    if (*request->kind->group)
        (void)yyjson_mut_obj_add_str(doc, details, "group", request->kind->group);
    (void)yyjson_mut_obj_add_str(doc, details, "kind", request->kind->plural);
    (void)yyjson_mut_obj_add_str(doc, details, "uid", uid);
    (void)yyjson_mut_obj_add_val(doc, root, "details", details);
    char *text = yyjson_mut_write(doc, 0, &len);

    answer_json(request, 200, text, len);
    free(text);
    yyjson_mut_doc_free(doc);
}
