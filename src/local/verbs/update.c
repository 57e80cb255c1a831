/* SPDX-License-Identifier: Apache-2.0 */
#include "local/verbs/update_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/api/problems.h"
#include "local/server/namespaces.h"
#include "local/server/object_text.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"
#include "local/verbs/body.h"
#include "local/verbs/create_internal.h"
#include "local/verbs/rules.h"
#include "local/verbs/write.h"
#include "net/rest/errors.h"

static bool is_status(const struct request *request)
{
    return strcmp(request->subresource, "status") == 0;
}

bool update_check_name(struct request *request, yyjson_mut_doc *doc)
{
    const char *name = meta_text(doc, "name");

    if (!*name) {
        fail_bad(request, "the name of the object (%s based on URL) was undeterminable: name must be provided",
                 request->name);
        return false;
    }
    if (strcmp(name, request->name) != 0) {
        fail_bad(request, "the name of the object (%s) does not match the name on the URL (%s)", name, request->name);
        return false;
    }
    return true;
}

/* The folder in which the API server stores objects of the kind, which old kinds have under another name. */
static const char *storage_name(const struct api_kind *kind)
{
    static const struct {
        const char *plural;
        const char *name;
    } others[] = {{"replicationcontrollers", "controllers"},
                  {"services", "services/specs"},
                  {"endpoints", "services/endpoints"},
                  {"nodes", "minions"},
                  {"ingresses", "ingress"}};

    for (size_t i = 0; i < ARRAY_LEN(others) && !(kind->flags & KIND_IS_CUSTOM); i++)
        if (strcmp(kind->plural, others[i].plural) == 0)
            return others[i].name;
    return kind->plural;
}

/* `found` is the uid of the object that is there, "" for none. */
static bool check_uid(struct request *request, yyjson_mut_doc *doc, const char *found)
{
    const char *uid = meta_text(doc, "uid");

    if (!*uid || strcmp(uid, found) == 0)
        return true;
    const char *group = request->is_custom ? request->kind->group : "";

    fail_conflict(request,
                  "StorageError: invalid object, Code: 4, Key: %s/%s%s%s/%s%s%s, ResourceVersion: 0, "
                  "AdditionalErrorMsg: Precondition failed: UID in precondition: %s, UID in object meta: %s",
                  request->is_dry_run ? "" : "/registry", group, *group ? "/" : "", storage_name(request->kind),
                  request->namespace, *request->namespace ? "/" : "", request->name, uid, found);
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
    if (version[strspn(version, "0123456789")] != '\0') {
        char message[512];
        (void)snprintf(message, sizeof message, "strconv.ParseUint: parsing \"%.200s\": invalid syntax", version);
        fail_problem(request, &(struct rest_problem){.status = 500, .reason = "", .message = message});
        return false;
    }
    if (!*version || strcmp(version, meta_text(old, "resourceVersion")) == 0)
        return true;
    fail_modified(request);
    return false;
}

/* The metadata of a write to /status, but for members that such a write leaves alone. */
static void take_metadata(const struct api_kind *kind, yyjson_mut_doc *merged, yyjson_mut_doc *from,
                          yyjson_mut_doc *old)
{
    static const struct {
        const char *plural;
        const char *member;
    } kept[] = {{"deployments", "labels"}, {"pods", "ownerReferences"}};
    yyjson_mut_val *metadata = yyjson_mut_obj_get(yyjson_mut_doc_get_root(from), "metadata");

    if (kind->flags & (KIND_IS_CUSTOM | KIND_STATUS_ALONE))
        return;
    (void)yyjson_mut_obj_put(yyjson_mut_doc_get_root(merged), yyjson_mut_str(merged, "metadata"),
                             yyjson_mut_val_mut_copy(merged, metadata));
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        if (strcmp(kind->plural, kept[i].plural) == 0)
            meta_keep(merged, kept[i].member, old);
}

/* The class of a pod follows from its containers, and is not for clients to change. */
static void keep_class(const struct api_kind *kind, yyjson_mut_doc *merged, yyjson_mut_doc *old)
{
    yyjson_mut_val *status = yyjson_mut_obj_get(yyjson_mut_doc_get_root(merged), "status");
    yyjson_mut_val *class = yyjson_mut_obj_get(yyjson_mut_obj_get(yyjson_mut_doc_get_root(old), "status"), "qosClass");

    if (class && yyjson_mut_is_obj(status) && strcmp(kind->plural, "pods") == 0 && !*kind->group)
        (void)yyjson_mut_obj_put(status, yyjson_mut_str(merged, "qosClass"), yyjson_mut_val_mut_copy(merged, class));
}

/* A write to /status takes the status and mostly the metadata, a write to the object everything but the status. */
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
    keep_class(request->kind, merged, old);
    take_metadata(request->kind, merged, *doc, old);
    yyjson_mut_doc_free(*doc);
    *doc = merged;
}

void update_object(struct request *request, yyjson_mut_doc **doc, yyjson_mut_doc *old)
{
    if (!check_uid(request, *doc, meta_text(old, "uid")) || !check_version(request, *doc, old))
        return;
    /* What is written to /status has its defaults from what the client has sent, not from what is kept. */
    if (is_status(request))
        rules_default(request, *doc, old);
    merge_parts(request, doc, old);
    meta_stamp_update(*doc, request->kind, old);
    bool is_good = is_status(request) ? rules_complete_status(request, *doc, old) : rules_complete(request, *doc, old);

    if (is_good)
        write_update(request, *doc, old);
}

/* The status of a Service is a path to the whole Service in this. */
static bool creates(const struct request *request)
{
    return (request->kind->flags & KIND_PUT_CREATES) &&
           (!*request->subresource || (is_status(request) && (request->kind->flags & KIND_STATUS)));
}

static void update_or_create(struct request *request, yyjson_mut_doc **doc)
{
    const struct store_object *latest = write_latest(request);
    yyjson_mut_doc *old;

    if (!latest && creates(request)) {
        if (check_uid(request, *doc, ""))
            create_object(request, *doc);
        return;
    }
    if (!latest) {
        fail_not_found(request);
        return;
    }
    old = object_doc_as(request->kind, latest);
    update_object(request, doc, old);
    yyjson_mut_doc_free(old);
}

void verb_update(struct request *request)
{
    yyjson_mut_doc *doc = NULL;

    if (!body_read(request, &doc))
        return;
    if (body_check(request, doc) && update_check_name(request, doc))
        update_or_create(request, &doc);
    yyjson_mut_doc_free(doc);
}
