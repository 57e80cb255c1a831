/* SPDX-License-Identifier: Apache-2.0 */

/* PATCH of the type application/apply-patch+yaml: server-side apply, which creates an object that is missing. */
#include "local/apply/apply.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "local/api/meta.h"
#include "local/api/problems.h"
#include "local/builtin/builtin.h"
#include "local/custom/definitions.h"
#include "local/server/object_text.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"
#include "local/verbs/body.h"
#include "local/verbs/create_internal.h"
#include "local/verbs/patch.h"
#include "local/verbs/update_internal.h"
#include "local/verbs/write.h"
#include "net/http_server.h"
#include "net/rest/errors.h"
#include "text/yaml.h"

enum { LINES_BYTES_MAX = 4 << 10 };

static void fail_conflicts(struct request *request, const struct apply_conflicts *conflicts)
{
    struct rest_cause *causes = xcalloc(conflicts->count, sizeof *causes);

    for (size_t i = 0; i < conflicts->count; i++)
        causes[i] = (struct rest_cause){
            .reason = "FieldManagerConflict", .message = conflicts->list[i].message, .field = conflicts->list[i].field};
    fail_problem(request,
                 &(struct rest_problem){
                     .status = 409, .message = conflicts->message, .causes = causes, .cause_count = conflicts->count});
    free(causes);
}

static void store_applied(struct request *request, yyjson_mut_doc **doc, yyjson_mut_doc *live)
{
    /* The version in the body, where there is one, is the client's condition; otherwise there is none. */
    if (!update_check_name(request, *doc) || !body_check(request, *doc))
        return;
    if (live) {
        update_object(request, doc, live);
        return;
    }
    meta_remove(*doc, "resourceVersion");
    create_object(request, *doc);
}

static const char *namespace_in(yyjson_val *body)
{
    const char *text = yyjson_get_str(yyjson_obj_get(yyjson_obj_get(body, "metadata"), "namespace"));

    return text ? text : "";
}

static void run(struct request *request, yyjson_mut_doc *live, yyjson_val *body)
{
    const struct custom_kind *custom = custom_kind_of(request->kind);
    yyjson_mut_doc *empty = builtin_empty(request->kind);
    const struct apply_request apply = {
        .kind = request->kind,
        .schema = custom ? custom->schema : NULL,
        .manager = request_query(request, "fieldManager"),
        .subresource = request->subresource,
        .force = request_query_is_true(request, "force"),
        .empty = empty,
        .now = nsec_now_wall(),
    };
    struct apply_conflicts conflicts = {0};
    yyjson_mut_doc *doc = NULL;
    struct err err = {0};

    switch (apply_patch(&apply, live, body, &doc, &conflicts, &err)) {
    case APPLY_DONE:
        store_applied(request, &doc, live);
        break;
    case APPLY_UNCHANGED:
        if (body_is_placed(request, namespace_in(body)))
            answer_doc(request, 200, live);
        break;
    case APPLY_MALFORMED:
        fail_bad(request, "%s", err.text);
        break;
    case APPLY_CONFLICT:
        fail_conflicts(request, &conflicts);
        break;
    case APPLY_INVALID:
        fail_problem(request, &(struct rest_problem){.status = 500, .reason = "", .message = err.text});
        break;
    }
    apply_conflicts_done(&conflicts);
    yyjson_mut_doc_free(empty);
    yyjson_mut_doc_free(doc);
}

static bool has_manager(struct request *request)
{
    struct problems problems = {0};

    if (*request_query(request, "fieldManager"))
        return true;
    problem_required(&problems, FIELD(NULL, "fieldManager"), "is required for apply patch");
    fail_invalid_type(request, "meta.k8s.io", "PatchOptions", "", &problems);
    problems_done(&problems);
    return false;
}

static void on_twice(void *arg, const char *key, struct yaml_mark mark)
{
    struct strbuf *lines = arg;

    strbuf_addf(lines, "\n  line %u: key \"%.60s\" already set in map", mark.line, key);
}

/* Keys that stand twice in the body; the last one counts where they are not refused. False after an answer. */
static bool report_twice(struct request *request, const struct strbuf *lines)
{
    const char *level = request_query(request, "fieldValidation");
    static const char how[] = "error converting YAML to JSON: yaml: unmarshal errors:";

    if (lines->len == 0 || strcmp(level, "Ignore") == 0)
        return true;
    if (strcmp(level, "Strict") == 0) {
        fail_bad(request, "error strict decoding YAML: %s%s", how, lines->text);
        return false;
    }
    request_warn(request, lines->text);
    return true;
}

static void read_and_run(struct request *request, const struct store_object *latest, const char *body, size_t len)
{
    struct yaml_docs docs = {0};
    struct strbuf lines;
    struct err err = {0};

    strbuf_init(&lines, LINES_BYTES_MAX);
    if (yaml_parse_twice(body, len, "patch", on_twice, &lines, &docs, &err) < 0 || docs.len == 0) {
        fail_bad(request, "error decoding YAML: %s", err.text);
    } else if (report_twice(request, &lines)) {
        yyjson_mut_doc *live = latest ? object_doc_as(request->kind, latest) : NULL;
        run(request, live, yyjson_doc_get_root(docs.items[0].json));
        yyjson_mut_doc_free(live);
    }
    strbuf_done(&lines);
    yaml_docs_done(&docs);
}

void apply_object(struct request *request)
{
    const struct store_object *latest = write_latest(request);
    size_t len = 0;
    const char *body = http_exchange_body(request->exchange, &len);

    if (has_manager(request))
        read_and_run(request, latest, body, len);
}
