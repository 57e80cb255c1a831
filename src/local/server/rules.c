/* SPDX-License-Identifier: Apache-2.0 */
#include "local/server/rules_internal.h"

#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/api/meta_rules.h"
#include "local/api/problems.h"
#include "local/builtin/builtin.h"
#include "local/server/request_internal.h"

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

bool rules_check_fields(struct request *request, yyjson_mut_doc *doc)
{
    struct field_faults faults = {0};
    struct err err = {0};
    bool is_good;

    if (builtin_check_fields(request->kind, doc, &faults, &err) < 0) {
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

bool rules_complete(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    struct problems problems = {0};

    meta_validate(request->kind, doc, old, &problems);
    return report_problems(request, doc, &problems);
}

bool rules_complete_status(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    struct problems problems = {0};

    meta_validate(request->kind, doc, old, &problems);
    return report_problems(request, doc, &problems);
}
