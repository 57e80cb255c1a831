/* SPDX-License-Identifier: Apache-2.0 */
#include "local/verbs/create_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/time.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/api/names.h"
#include "local/api/problems.h"
#include "local/server/namespaces.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"
#include "local/verbs/body.h"
#include "local/verbs/rules.h"
#include "local/verbs/write.h"
#include "net/rest/errors.h"

enum { GENERATE_TRIES = 8 };

static bool is_taken(const struct request *request, const char *name)
{
    return store_latest(request->server->store, request->number, request->namespace, name);
}

/* Finds a name that is free. False after an answer. */
static bool generate_name(struct request *request, yyjson_mut_doc *doc)
{
    char name[NAME_BYTES_MAX + 1];

    for (int i = 0; i < GENERATE_TRIES; i++) {
        name_generate(meta_text(doc, "generateName"), name);
        if (!is_taken(request, name)) {
            meta_set_text(doc, "name", name);
            return true;
        }
    }
    fail_exists(request, name);
    return false;
}

static bool make_name(struct request *request, yyjson_mut_doc *doc)
{
    if (!*meta_text(doc, "name") && *meta_text(doc, "generateName") && !generate_name(request, doc))
        return false;
    if (*meta_text(doc, "name"))
        return true;
    struct problems problems = {0};
    const struct field meta = field_member(NULL, "metadata");

    problem_required(&problems, FIELD(&meta, "name"), "name or generateName is required");
    fail_invalid(request, "", &problems);
    problems_done(&problems);
    return false;
}

/* Nodes report their state when they introduce themselves; all other kinds begin without one. */
static bool keeps_status(const struct request *request)
{
    return strcmp(request->kind->plural, "nodes") == 0 && !*request->kind->group;
}

static void stamp(const struct request *request, yyjson_mut_doc *doc)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *status = keeps_status(request) ? yyjson_mut_obj_remove_key(root, "status") : NULL;

    meta_stamp_new(doc, request->kind, nsec_now_wall());
    meta_remove(doc, "resourceVersion");
    if (status)
        (void)yyjson_mut_obj_add_val(doc, root, "status", status);
    if (namespace_is_kind(request->kind))
        namespace_prepare(doc);
}

void create_object(struct request *request, yyjson_mut_doc *doc)
{
    if (*meta_text(doc, "resourceVersion")) {
        fail_problem(request,
                     &(struct rest_problem){.status = 500,
                                            .reason = "",
                                            .message = "resourceVersion should not be set on objects to be created"});
        return;
    }
    if (!make_name(request, doc))
        return;
    stamp(request, doc);
    if (!namespace_allows(request, doc) || !rules_complete(request, doc, NULL))
        return;
    if (is_taken(request, meta_text(doc, "name"))) {
        fail_exists(request, meta_text(doc, "name"));
        return;
    }
    write_and_answer(request, meta_text(doc, "name"), doc, 201);
}

void verb_create(struct request *request)
{
    yyjson_mut_doc *doc = NULL;

    if (!body_read(request, &doc))
        return;
    if (body_check(request, doc))
        create_object(request, doc);
    yyjson_mut_doc_free(doc);
}
