/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/api/patch.h"
#include "local/server/object_text.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"
#include "local/verbs/body.h"
#include "local/verbs/patch.h"
#include "local/verbs/rules.h"
#include "local/verbs/update_internal.h"
#include "local/verbs/write.h"
#include "net/http_server.h"
#include "net/rest/errors.h"
#include "text/json.h"

typedef enum patch_result (*patch_fn)(yyjson_mut_doc *doc, yyjson_val *patch, struct err *err);

static const struct {
    const char *type;
    patch_fn apply;
    bool is_for_custom;
} types[] = {
    {"application/json-patch+json", patch_json, true},
    {"application/merge-patch+json", patch_merge, true},
    {"application/strategic-merge-patch+json", patch_strategic, false},
};

static bool has_type(const struct request *request, const char *type)
{
    const char *header = http_exchange_header(request->exchange, "Content-Type");

    if (!header)
        return false;
    size_t len = strcspn(header, "; \t");
    return strlen(type) == len && strncasecmp(header, type, len) == 0;
}

static patch_fn find_type(const struct request *request)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        bool is_allowed = types[i].is_for_custom || !(request->kind->flags & KIND_IS_CUSTOM);
        if (is_allowed && has_type(request, types[i].type))
            return types[i].apply;
    }
    return NULL;
}

static void fail_type(struct request *request)
{
    if (request->kind->flags & KIND_IS_CUSTOM && has_type(request, "application/strategic-merge-patch+json")) {
        fail_problem(request, &(struct rest_problem){
                                  .status = 415,
                                  .message = "the body of the request was in an unknown format - accepted media types "
                                             "include: application/json-patch+json, application/merge-patch+json, "
                                             "application/apply-patch+yaml"});
        return;
    }
    fail_problem(request,
                 &(struct rest_problem){.status = 415, .message = "415: Unsupported Media Type", .has_details = true});
}

bool patch_is_apply(const struct request *request)
{
    return has_type(request, "application/apply-patch+yaml");
}

bool patch_check_type(struct request *request)
{
    if (find_type(request) || patch_is_apply(request))
        return true;
    fail_type(request);
    return false;
}

static void fail_patch(struct request *request, enum patch_result result, const struct err *err)
{
    switch (result) {
    case PATCH_MALFORMED:
        fail_bad(request, "%s", err->text);
        return;
    case PATCH_TOO_LARGE:
        fail_problem(request, &(struct rest_problem){.status = 413, .message = err->text});
        return;
    default:
        fail_problem(request, &(struct rest_problem){.status = 422, .message = err->text, .has_details = true});
    }
}

/* The names and the kind of an object are not changed by a patch. */
static bool check_identity(struct request *request, yyjson_mut_doc *doc)
{
    if (!yyjson_mut_is_obj(yyjson_mut_doc_get_root(doc))) {
        fail_problem(request,
                     &(struct rest_problem){.status = 422, .message = "the result of the patch is not an object"});
        return false;
    }
    return body_check(request, doc) && update_check_name(request, doc);
}

bool patch_doc(struct request *request, yyjson_mut_doc *doc)
{
    patch_fn apply = find_type(request);
    enum patch_result result;
    struct err err = {0};
    yyjson_doc *patch = NULL;
    size_t len = 0;
    const char *body = http_exchange_body(request->exchange, &len);

    if (!apply) {
        fail_type(request);
        return false;
    }
    if (json_parse(body, len, "patch", &patch, &err) < 0) {
        fail_bad(request, "error decoding patch: %s", err.text);
        return false;
    }
    result = apply(doc, yyjson_doc_get_root(patch), &err);
    yyjson_doc_free(patch);
    if (result != PATCH_DONE)
        fail_patch(request, result, &err);
    return result == PATCH_DONE;
}

void verb_patch(struct request *request)
{
    const struct store_object *latest = write_latest(request);
    yyjson_mut_doc *old;
    yyjson_mut_doc *doc;

    if (patch_is_apply(request)) {
        apply_object(request);
        return;
    }
    if (!latest) {
        fail_not_found(request);
        return;
    }
    old = object_doc_as(request->kind, latest);
    doc = object_doc_as(request->kind, latest);
    if (patch_doc(request, doc) && check_identity(request, doc))
        update_object(request, &doc, old);
    yyjson_mut_doc_free(doc);
    yyjson_mut_doc_free(old);
}
