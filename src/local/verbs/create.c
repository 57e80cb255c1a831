/* SPDX-License-Identifier: Apache-2.0 */
#include "local/verbs/create_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/time.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/api/names.h"
#include "local/api/problems.h"
#include "local/rights/rights.h"
#include "local/server/namespaces.h"
#include "local/server/object_text.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"
#include "local/verbs/body.h"
#include "local/verbs/rules.h"
#include "local/verbs/write.h"
#include "net/rest/errors.h"

enum { GENERATE_TRIES = 8 };

static const struct store_object *find_taken(const struct request *request, const char *name)
{
    return store_latest(request->server->store, request->number, request->namespace, name);
}

static void fail_taken(struct request *request, const struct store_object *object)
{
    yyjson_mut_doc *doc = object_doc(object);

    fail_exists(request, object->name, meta_has(doc, "deletionTimestamp"));
    yyjson_mut_doc_free(doc);
}

/* Finds a name that is free. False after an answer. */
static bool generate_name(struct request *request, yyjson_mut_doc *doc)
{
    char name[NAME_BYTES_MAX + 1];

    for (int i = 0; i < GENERATE_TRIES; i++) {
        name_generate(meta_text(doc, "generateName"), name);
        if (!find_taken(request, name)) {
            meta_set_text(doc, "name", name);
            return true;
        }
    }
    fail_exists(request, name, false);
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
    if (!request->is_dry_run)
        meta_remove(doc, "resourceVersion");
    if (status)
        (void)yyjson_mut_obj_add_val(doc, root, "status", status);
}

void create_object(struct request *request, yyjson_mut_doc *doc)
{
    /* An update of an object that is not there may have one: what it is compared with is not there either. */
    if (request->verb != VERB_UPDATE && *meta_text(doc, "resourceVersion")) {
        fail_problem(request,
                     &(struct rest_problem){.status = 500,
                                            .reason = "",
                                            .message = "resourceVersion should not be set on objects to be created"});
        return;
    }
    if (!make_name(request, doc))
        return;
    /* An update or an apply of an object that is not there. */
    if (request->verb != VERB_CREATE && !rights_check_verb(request, "create", meta_text(doc, "name")))
        return;
    stamp(request, doc);
    if (!namespace_allows(request, doc) || !rules_complete(request, doc, NULL))
        return;
    const struct store_object *taken = find_taken(request, meta_text(doc, "name"));

    if (taken) {
        fail_taken(request, taken);
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
