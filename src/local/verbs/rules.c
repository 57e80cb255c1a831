/* SPDX-License-Identifier: Apache-2.0 */
#include "local/verbs/rules.h"

#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/api/problems.h"
#include "local/builtin/builtin.h"
#include "local/custom/definitions.h"
#include "local/custom/schema.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"

enum { FAULTS_BYTES_MAX = 32 << 10 };

static void fail_strict(struct request *request, const struct field_faults *faults)
{
    struct strbuf text;

    strbuf_init(&text, FAULTS_BYTES_MAX);
    vec_foreach (&faults->texts, fault)
        strbuf_addf(&text, "%s%s", text.len ? ", " : "", *fault);
    if (request->verb == VERB_PATCH)
        fail_bad(request, "strict decoding error: %s", text.text);
    else
        fail_bad(request, "%s in version \"%s\" cannot be handled as a %s: strict decoding error: %s",
                 request->kind->kind, request->kind->version, request->kind->kind, text.text);
    strbuf_done(&text);
}

/* False after an answer. */
static bool report_faults(struct request *request, const struct field_faults *faults)
{
    const char *level = request_query(request, "fieldValidation");

    if (faults->texts.len == 0 || strcmp(level, "Ignore") == 0)
        return true;
    if (strcmp(level, "Strict") == 0) {
        fail_strict(request, faults);
        return false;
    }
    vec_foreach (&faults->texts, fault)
        request_warn(request, *fault);
    return true;
}

/* Returns 0, or -EINVAL for a value of a wrong type. */
static int check_members(const struct request *request, yyjson_mut_doc *doc, struct field_faults *faults,
                         struct err *err)
{
    const struct custom_kind *custom = custom_kind_of(request->kind);

    if (!custom)
        return builtin_check_fields(request->kind, doc, faults, err);
    schema_prune(custom->schema, doc, faults);
    return 0;
}

bool rules_check_fields(struct request *request, yyjson_mut_doc *doc)
{
    struct field_faults faults = {0};
    struct err err = {0};
    bool is_good;

    if (check_members(request, doc, &faults, &err) < 0) {
        fail_bad(request, "%s", err.text);
        is_good = false;
    } else {
        is_good = report_faults(request, &faults);
    }
    field_faults_done(&faults);
    return is_good;
}

static bool report_problems(struct request *request, yyjson_mut_doc *doc, struct problems *problems)
{
    bool is_good = !problems_any(problems);

    if (!is_good)
        fail_invalid(request, meta_text(doc, "name"), problems);
    problems_done(problems);
    return is_good;
}

static bool has_item(yyjson_mut_val *list, yyjson_mut_val *wanted)
{
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(list);

    for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));) {
        if (yyjson_mut_equals(item, wanted))
            return true;
    }
    return false;
}

static yyjson_mut_val *finalizers_of(yyjson_mut_doc *doc)
{
    return yyjson_mut_obj_get(yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "metadata"), "finalizers");
}

/* An object that is being deleted gets no more finalizers. */
static void check_finalizers(yyjson_mut_doc *doc, yyjson_mut_doc *old, struct problems *problems)
{
    const struct field meta = field_member(NULL, "metadata");
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(finalizers_of(doc));
    struct strbuf text;
    size_t count = 0;

    if (!old || !meta_has(old, "deletionTimestamp"))
        return;
    strbuf_init(&text, FAULTS_BYTES_MAX);
    strbuf_addstr(&text,
                  "no new finalizers can be added if the object is being deleted, found new finalizers []string{");
    for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));) {
        const char *name = yyjson_mut_get_str(item);
        if (!has_item(finalizers_of(old), item))
            strbuf_addf(&text, "%s\"%s\"", count++ ? ", " : "", name ? name : "");
    }
    strbuf_addch(&text, '}');
    if (count > 0)
        problem_forbidden(problems, FIELD(&meta, "finalizers"), text.text);
    strbuf_done(&text);
}

static bool is_definition(const struct api_kind *kind)
{
    return strcmp(kind->plural, "customresourcedefinitions") == 0 && strcmp(kind->group, "apiextensions.k8s.io") == 0;
}

/* A definition's status follows from it at once: there is no controller to wait for. */
static void complete_definition(const struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old,
                                struct problems *problems)
{
    definition_default(doc);
    definition_validate(doc, old, problems);
    if (!problems_any(problems))
        definitions_set_status(request->server->definitions, doc, nsec_now_wall());
}

bool rules_complete(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    const struct custom_kind *custom = custom_kind_of(request->kind);
    struct problems problems = {0};

    if (custom)
        schema_default(custom->schema, doc);
    else
        builtin_default(request->kind, doc, old);
    /* Metadata has the same rules in all kinds. */
    builtin_validate(request->kind, doc, old, &problems);
    check_finalizers(doc, old, &problems);
    if (custom)
        schema_validate(custom->schema, doc, old, &problems);
    else if (is_definition(request->kind))
        complete_definition(request, doc, old, &problems);
    return report_problems(request, doc, &problems);
}

bool rules_complete_status(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    const struct custom_kind *custom = custom_kind_of(request->kind);
    struct problems problems = {0};

    if (custom)
        schema_validate(custom->schema, doc, old, &problems);
    return report_problems(request, doc, &problems);
}
