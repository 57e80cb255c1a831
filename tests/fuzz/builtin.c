/* SPDX-License-Identifier: Apache-2.0 */

/* Any JSON object, taken as any built-in kind, passes the rules without harm; what comes out is in its form. */
#include "local/builtin/builtin.h"

#include "base/err.h"
#include "fuzz.h"
#include "local/api/kinds.h"
#include "local/builtin/event_forms.h"
#include "text/json.h"

/* Events have two forms, and lose nothing between them. */
static void try_forms(const struct api_kind *kind, yyjson_mut_doc *doc)
{
    yyjson_mut_doc *copy = yyjson_mut_doc_mut_copy(doc, NULL);

    event_form_store(kind, copy);
    event_form_enter(kind, copy);
    /* An object need not say its version, and has it afterwards. */
    (void)yyjson_mut_obj_remove_key(yyjson_mut_doc_get_root(copy), "apiVersion");
    (void)yyjson_mut_obj_remove_key(yyjson_mut_doc_get_root(doc), "apiVersion");
    BUG_ON(!yyjson_mut_equals(yyjson_mut_doc_get_root(copy), yyjson_mut_doc_get_root(doc)));
    yyjson_mut_doc_free(copy);
}

static void try_kind(const struct api_kind *kind, yyjson_val *object)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    struct field_faults faults = {0};
    struct problems problems = {0};
    struct err err = {0};

    yyjson_mut_doc_set_root(doc, yyjson_val_mut_copy(doc, object));
    if (builtin_check_fields(kind, doc, &faults, &err) == 0) {
        yyjson_mut_doc *old = yyjson_mut_doc_mut_copy(doc, NULL);
        builtin_default(kind, doc, NULL);
        builtin_prepare(kind, doc, NULL);
        builtin_validate(kind, doc, NULL, &problems);
        builtin_validate(kind, doc, old, &problems);
        field_faults_done(&faults);
        BUG_ON(builtin_check_fields(kind, doc, &faults, &err) < 0 || faults.texts.len > 0);
        try_forms(kind, doc);
        yyjson_mut_doc_free(old);
    } else {
        BUG_ON(err.text[0] == '\0');
    }
    problems_done(&problems);
    field_faults_done(&faults);
    yyjson_mut_doc_free(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const struct api_kind *kind;
    struct err err = {0};

    if (json_parse((const char *)data, size, "input", &doc, &err) < 0 || !yyjson_is_obj(yyjson_doc_get_root(doc)))
        return 0;
    for (size_t i = 0; (kind = builtin_kind_at(i)); i++)
        try_kind(kind, yyjson_doc_get_root(doc));
    return 0;
}
