/* SPDX-License-Identifier: Apache-2.0 */
#include "local/verbs/update_internal.h"

#include <string.h>

#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/api/problems.h"
#include "local/apply/apply.h"
#include "local/custom/definitions.h"
#include "local/server/namespaces.h"
#include "local/server/object_text.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"
#include "local/verbs/body.h"
#include "local/verbs/create_internal.h"
#include "local/verbs/rules.h"
#include "local/verbs/write.h"
#include "net/http_server.h"

#define APPLY_TYPE "application/apply-patch"
enum { MANAGER_MAX = 256 };

static bool is_status(const struct request *request)
{
    return strcmp(request->subresource, "status") == 0;
}

static bool check_name(struct request *request, yyjson_mut_doc *doc)
{
    const char *name = meta_text(doc, "name");

    if (*name && strcmp(name, request->name) != 0) {
        fail_bad(request, "the name of the object (%s) does not match the name on the URL (%s)", name, request->name);
        return false;
    }
    meta_set_text(doc, "name", request->name);
    return true;
}

static bool check_uid(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    const char *uid = meta_text(doc, "uid");

    if (!*uid || strcmp(uid, meta_text(old, "uid")) == 0)
        return true;
    fail_conflict(request,
                  "StorageError: invalid object, Code: 4, Key: /registry/%s/%s%s%s, ResourceVersion: 0, "
                  "AdditionalErrorMsg: Precondition failed: UID in precondition: %s, UID in object meta: %s",
                  request->kind->plural, request->namespace, *request->namespace ? "/" : "", request->name, uid,
                  meta_text(old, "uid"));
    return false;
}

static bool check_version(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    const char *version = meta_text(doc, "resourceVersion");
    const struct field meta = field_member(NULL, "metadata");
    bool must = request->kind->flags & (KIND_NEEDS_VERSION | KIND_IS_CUSTOM);

    if (!*version && must) {
        struct problems problems = {0};
        problem_invalid_number(&problems, FIELD(&meta, "resourceVersion"), 0, "must be specified for an update");
        /* Of all that is invalid, this alone goes by the plural. */
        fail_invalid_type(request, request->kind->group, request->kind->plural, request->name, &problems);
        problems_done(&problems);
        return false;
    }
    if (!*version || strcmp(version, meta_text(old, "resourceVersion")) == 0)
        return true;
    fail_modified(request);
    return false;
}

/* A write to /status takes the status alone, and a write to the object everything but the status. */
static void merge_parts(const struct request *request, yyjson_mut_doc **doc, yyjson_mut_doc *old)
{
    if (namespace_is_kind(request->kind) && strcmp(request->subresource, "finalize") != 0)
        namespace_keep_finalizers(*doc, old);

    if (!is_status(request)) {
        if (request->kind->flags & KIND_STATUS)
            meta_keep_status(*doc, old);
        return;
    }
    yyjson_mut_doc *merged = yyjson_mut_doc_mut_copy(old, NULL);

    meta_keep_status(merged, *doc);
    yyjson_mut_doc_free(*doc);
    *doc = merged;
}

/* Fields that differ belong to who writes them; an apply has said so itself. */
static void track_owners(const struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    const struct custom_kind *custom = custom_kind_of(request->kind);
    const char *manager = request_query(request, "fieldManager");
    const char *type = http_exchange_header(request->exchange, "Content-Type");
    struct strbuf fallback;

    if (type && strncmp(type, APPLY_TYPE, strlen(APPLY_TYPE)) == 0)
        return;
    strbuf_init(&fallback, MANAGER_MAX);
    apply_default_manager(http_exchange_header(request->exchange, "User-Agent"), &fallback);
    apply_track(&(struct apply_request){.kind = request->kind,
                                        .schema = custom ? custom->schema : NULL,
                                        .manager = *manager ? manager : fallback.text,
                                        .subresource = request->subresource,
                                        .now = nsec_now_wall()},
                old, doc);
    strbuf_done(&fallback);
}

void update_object(struct request *request, yyjson_mut_doc **doc, yyjson_mut_doc *old)
{
    if (!check_uid(request, *doc, old) || !check_version(request, *doc, old))
        return;
    merge_parts(request, doc, old);
    meta_stamp_update(*doc, request->kind, old);
    bool is_good = is_status(request) ? rules_complete_status(request, *doc, old) : rules_complete(request, *doc, old);

    if (is_good) {
        track_owners(request, *doc, old);
        write_update(request, *doc, old);
    }
}

static void update_or_create(struct request *request, yyjson_mut_doc **doc)
{
    const struct store_object *latest = write_latest(request);
    yyjson_mut_doc *old;

    if (!latest && (request->kind->flags & KIND_PUT_CREATES) && !*request->subresource) {
        meta_remove(*doc, "resourceVersion");
        create_object(request, *doc);
        return;
    }
    if (!latest) {
        fail_not_found(request);
        return;
    }
    old = object_doc(latest);
    update_object(request, doc, old);
    yyjson_mut_doc_free(old);
}

void verb_update(struct request *request)
{
    yyjson_mut_doc *doc = NULL;

    if (!body_read(request, &doc))
        return;
    if (body_check(request, doc) && check_name(request, doc))
        update_or_create(request, &doc);
    yyjson_mut_doc_free(doc);
}
