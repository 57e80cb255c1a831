/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/api/problems.h"
#include "local/server/namespaces.h"
#include "local/server/object_text.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"
#include "local/verbs/body.h"
#include "local/verbs/delete.h"
#include "local/verbs/write.h"

static const struct {
    const char *name;
    enum delete_policy policy;
} policies[] = {{"Background", DELETE_BACKGROUND}, {"Foreground", DELETE_FOREGROUND}, {"Orphan", DELETE_ORPHAN}};

static bool read_policy(struct request *request, const char *name, enum delete_policy *ret_policy)
{
    struct problems problems = {0};
    yyjson_mut_doc *doc;

    if (!*name)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
        if (strcmp(policies[i].name, name) == 0) {
            *ret_policy = policies[i].policy;
            return true;
        }
    }
    doc = yyjson_mut_doc_new(NULL);
    problem_not_supported(&problems, FIELD(NULL, "propagationPolicy"), yyjson_mut_str(doc, name),
                          "Foreground Background Orphan nil");
    fail_invalid_type(request, "meta.k8s.io", "DeleteOptions", "", &problems);
    problems_done(&problems);
    yyjson_mut_doc_free(doc);
    return false;
}

static void fail_both(struct request *request, const char *policy)
{
    struct problems problems = {0};

    problem_invalid_text(&problems, FIELD(NULL, "propagationPolicy"), policy,
                         "orphanDependents and deletionPropagation cannot be both set");
    fail_invalid_type(request, "meta.k8s.io", "DeleteOptions", "", &problems);
    problems_done(&problems);
}

static const char *text_in(yyjson_mut_val *object, const char *name)
{
    const char *text = yyjson_mut_get_str(yyjson_mut_obj_get(object, name));

    return text ? text : "";
}

bool delete_options_of(struct request *request, yyjson_mut_val *root, struct delete_options *options)
{
    yyjson_mut_val *grace = yyjson_mut_obj_get(root, "gracePeriodSeconds");
    yyjson_mut_val *orphans = yyjson_mut_obj_get(root, "orphanDependents");
    yyjson_mut_val *preconditions = yyjson_mut_obj_get(root, "preconditions");
    yyjson_mut_val *dry_run = yyjson_mut_obj_get(root, "dryRun");

    *options = (struct delete_options){.has_grace = yyjson_mut_is_int(grace)};
    options->grace_s = yyjson_mut_get_sint(grace);
    options->uid = text_in(preconditions, "uid");
    options->version = text_in(preconditions, "resourceVersion");
    if (yyjson_mut_is_bool(orphans) && *text_in(root, "propagationPolicy")) {
        fail_both(request, text_in(root, "propagationPolicy"));
        return false;
    }
    if (yyjson_mut_is_bool(orphans))
        options->policy = yyjson_mut_get_bool(orphans) ? DELETE_ORPHAN : DELETE_BACKGROUND;
    if (yyjson_mut_equals_str(yyjson_mut_arr_get_first(dry_run), "All"))
        request->is_dry_run = true;
    return read_policy(request, text_in(root, "propagationPolicy"), &options->policy);
}

bool delete_options_read(struct request *request, struct delete_options *ret_options, yyjson_mut_doc **ret_body)
{
    const char *grace = request_query(request, "gracePeriodSeconds");
    const char *orphans = request_query(request, "orphanDependents");

    *ret_options = (struct delete_options){.uid = "", .version = ""};
    if (!body_read_optional(request, ret_body))
        return false;
    if (*ret_body)
        return delete_options_of(request, yyjson_mut_doc_get_root(*ret_body), ret_options);
    ret_options->has_grace = *grace;
    ret_options->grace_s = strtoll(grace, NULL, 10);
    if (*orphans)
        ret_options->policy = strcmp(orphans, "true") == 0 ? DELETE_ORPHAN : DELETE_BACKGROUND;
    return read_policy(request, request_query(request, "propagationPolicy"), &ret_options->policy);
}

static bool check_preconditions(struct request *request, const struct delete_options *options, yyjson_mut_doc *doc)
{
    const char *uid = meta_text(doc, "uid");
    const char *version = meta_text(doc, "resourceVersion");

    if (*options->uid && strcmp(options->uid, uid) != 0) {
        fail_precondition(
            request,
            "the UID in the precondition (%s) does not match the UID in record (%s). The object might have "
            "been deleted and then recreated",
            options->uid, uid);
        return false;
    }
    if (*options->version && strcmp(options->version, version) != 0) {
        fail_precondition(
            request,
            "the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). "
            "The object might have been modified",
            options->version, version);
        return false;
    }
    return true;
}

void delete_warn(struct request *request, const struct delete_options *options)
{
    if (options->policy == DELETE_DEFAULT && strcmp(request->kind->plural, "jobs") == 0)
        request_warn(request, "child pods are preserved by default when jobs are deleted; set "
                              "propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress "
                              "this warning");
}

static void delete_doc(struct request *request, const struct delete_options *options, const struct store_object *latest,
                       yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    if (!check_preconditions(request, options, doc))
        return;
    switch (delete_mark(request->kind, options, doc)) {
    case DELETE_REMOVE:
        /* The last state is the one before this request. */
        meta_keep(doc, "finalizers", old);
        write_removal_and_answer(request, doc, request->kind->flags & KIND_SHOWS_DELETED);
        return;
    case DELETE_MARK:
        write_and_answer(request, request->name, doc, 200);
        return;
    case DELETE_LEAVE:
        answer_object(request, 200, latest->body, latest->body_len);
    }
}

void delete_object(struct request *request, const struct delete_options *options)
{
    const struct store_object *latest = write_latest(request);
    yyjson_mut_doc *doc;
    yyjson_mut_doc *old;

    if (!latest) {
        fail_not_found(request);
        return;
    }
    doc = object_doc(latest);
    old = object_doc(latest);
    delete_doc(request, options, latest, doc, old);
    yyjson_mut_doc_free(old);
    yyjson_mut_doc_free(doc);
}

void verb_delete(struct request *request)
{
    yyjson_mut_doc *body = NULL;
    struct delete_options options;

    if (namespace_is_kind(request->kind) && namespace_is_immortal(request->name)) {
        fail_forbidden(request, request->name, "this namespace may not be deleted");
        return;
    }
    if (delete_options_read(request, &options, &body)) {
        delete_warn(request, &options);
        delete_object(request, &options);
    }
    yyjson_mut_doc_free(body);
}
