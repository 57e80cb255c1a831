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
    size_t len = header ? strcspn(header, "; \t") : 0;

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
    fail_problem(request,
                 &(struct rest_problem){.status = 415, .message = "415: Unsupported Media Type", .has_details = true});
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
    const char *name = meta_text(doc, "name");

    if (!yyjson_mut_is_obj(yyjson_mut_doc_get_root(doc))) {
        fail_problem(request, &(struct rest_problem){.status = 422, .message = "the patch leaves no object"});
        return false;
    }
    if (strcmp(name, request->name) != 0) {
        fail_bad(request, "the name of the object (%s) does not match the name on the URL (%s)", name, request->name);
        return false;
    }
    return body_check(request, doc);
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

    if (has_type(request, "application/apply-patch+yaml")) {
        apply_object(request);
        return;
    }
    if (!find_type(request)) {
        fail_type(request);
        return;
    }
    if (!latest) {
        fail_not_found(request);
        return;
    }
    old = object_doc(latest);
    doc = object_doc(latest);
    if (patch_doc(request, doc) && check_identity(request, doc))
        update_object(request, &doc, old);
    yyjson_mut_doc_free(doc);
    yyjson_mut_doc_free(old);
}
