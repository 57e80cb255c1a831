/* SPDX-License-Identifier: Apache-2.0 */
#include "local/verbs/rules.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "local/admission/admission.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/api/problems.h"
#include "local/apply/apply.h"
#include "local/builtin/builtin.h"
#include "local/custom/definitions.h"
#include "local/custom/schema.h"
#include "local/server/namespaces.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"
#include "local/verbs/owners.h"
#include "local/verbs/patch.h"
#include "net/http_server.h"

enum { FAULTS_BYTES_MAX = 32 << 10, PATCH_SHOWN_MAX = 4 << 10 };

static bool is_patch(const struct request *request)
{
    return request->verb == VERB_PATCH && !patch_is_apply(request);
}

/* A patch whose result cannot be read is an invalid value itself; it is shown as the client has sent it. */
static void __attribute__((format(printf, 2, 3))) fail_patched(struct request *request, const char *format, ...)
{
    struct problems problems = {0};
    const struct field field = field_member(NULL, "patch");
    size_t len = 0;
    const char *body = http_exchange_body(request->exchange, &len);
    _cleanup_(freep) char *patch = xstrndup(body, MIN(len, (size_t)PATCH_SHOWN_MAX));
    struct err err = {0};
    va_list args;

    va_start(args, format);
    (void)vsnprintf(err.text, sizeof err.text, format, args);
    va_end(args);
    problem_invalid_text(&problems, &field, patch, err.text);
    fail_invalid_type(request, "", "", "", &problems);
    problems_done(&problems);
}

static void fail_strict(struct request *request, const struct field_faults *faults)
{
    struct strbuf text;

    strbuf_init(&text, FAULTS_BYTES_MAX);
    vec_foreach (&faults->texts, fault)
        strbuf_addf(&text, "%s%s", text.len ? ", " : "", *fault);
    if (is_patch(request))
        fail_patched(request, "strict decoding error: %s", text.text);
    else if (request->verb == VERB_PATCH)
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
static int check_members(struct request *request, yyjson_mut_doc *doc, struct field_faults *faults, struct err *err)
{
    const struct custom_kind *custom = custom_kind_of(request->kind);

    if (!custom)
        return builtin_check_fields(request->kind, doc, faults, err);
    int code = normal_metadata(doc, faults, err);

    if (code < 0)
        return err_wrap(err, code, "%s in version \"%s\" cannot be handled as a %s", request->kind->kind,
                        request->kind->version, request->kind->kind);
    schema_prune(custom->schema, doc, faults);
    request->has_wrong_types = !apply_has_types(request->kind, custom->schema, doc);
    return 0;
}

bool rules_check_fields(struct request *request, yyjson_mut_doc *doc)
{
    struct field_faults faults = {0};
    struct err err = {0};
    bool is_good;

    if (check_members(request, doc, &faults, &err) < 0) {
        if (is_patch(request))
            fail_patched(request, "%s", err.text);
        else
            fail_bad(request, "%s", err.text);
        is_good = false;
    } else {
        request->has_empty = faults.has_empty;
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
static void check_finalizers(const struct api_kind *kind, yyjson_mut_doc *doc, yyjson_mut_doc *old,
                             struct problems *problems)
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
    /* The API server checks this for all kinds and for most kinds once more, and lists both. */
    int times = kind_list_has("admissionregistration.k8s.io discovery.k8s.io", kind->group) ? 1 : 2;
    for (int i = 0; i < times && count > 0; i++)
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

/* Fields that the server fills in from here on have no owner. */
static void track_owners(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    owners_track(request, doc, old);
    if (request->has_empty && !request->is_custom)
        builtin_clear_empty(request->kind, doc);
}

void rules_default(const struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    const struct custom_kind *custom = custom_kind_of(request->kind);

    if (custom)
        schema_default(custom->schema, doc);
    else
        builtin_default(request->kind, doc, old);
}

static void add_warning(void *request, const char *text)
{
    request_warn(request, text);
}

bool rules_complete(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    const struct custom_kind *custom = custom_kind_of(request->kind);
    struct problems problems = {0};

    rules_default(request, doc, old);
    track_owners(request, doc, old);
    if (!admit_changes(request, doc, old))
        return false;
    /* What admission has added has defaults, too. */
    rules_default(request, doc, old);
    /* A new object that comes by one of its parts, as a Service may, gets nothing from the server. */
    if (!custom && (old || !*request->subresource))
        builtin_prepare(request->kind, doc, old);
    if (old)
        meta_count_change(doc, request->kind, old);
    check_finalizers(request->kind, doc, old, &problems);
    /* Metadata has the same rules in all kinds. */
    builtin_validate(request->kind, doc, old, &problems);
    if (custom)
        schema_validate(custom->schema, doc, old, &problems);
    else if (is_definition(request->kind))
        complete_definition(request, doc, old, &problems);
    if (!report_problems(request, doc, &problems))
        return false;
    if (!custom)
        builtin_warn(request->kind, doc, old, add_warning, request);
    return admit_checks(request, doc, old);
}

bool rules_complete_status(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    const struct custom_kind *custom = custom_kind_of(request->kind);
    struct problems problems = {0};

    if (!admit_status(request, doc, old))
        return false;
    track_owners(request, doc, old);
    check_finalizers(request->kind, doc, old, &problems);
    if (custom)
        schema_validate_status(custom->schema, doc, old, &problems);
    else if (namespace_is_kind(request->kind))
        builtin_validate(request->kind, doc, old, &problems);
    return report_problems(request, doc, &problems);
}
