/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does with custom kinds what the server of local mode does with them, without a server: reads a request a line, and
 * writes an answer a line.
 *
 *     {"definition": {...}}                              a CustomResourceDefinition is created
 *     {"definition": {...}, "object": {...}, "old": ...} an object of its first version is created, or replaces another
 *     {"definition": {...}, "sequence": "configmaps", "steps": [...]}  patches of one object by several managers
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "local/api/kinds.h"
#include "local/api/patch.h"
#include "local/api/problems.h"
#include "local/apply/apply.h"
#include "local/builtin/builtin.h"
#include "local/custom/definitions.h"
#include "local/custom/schema.h"

static yyjson_mut_doc *doc_of(yyjson_val *value)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);

    yyjson_mut_doc_set_root(doc, yyjson_val_mut_copy(doc, value));
    return doc;
}

static void answer_problems(yyjson_mut_doc *answer, yyjson_mut_val *root, struct problems *problems)
{
    if (problems_any(problems))
        yyjson_mut_obj_add_val(answer, root, "causes", problems_causes(problems, answer));
    problems_done(problems);
}

static void create_definition(yyjson_val *definition, yyjson_mut_doc *answer, yyjson_mut_val *root)
{
    yyjson_mut_doc *doc = doc_of(definition);
    struct problems problems = {0};

    definition_default(doc);
    definition_validate(doc, NULL, &problems);
    yyjson_mut_obj_add_val(answer, root, "object", yyjson_mut_val_mut_copy(answer, yyjson_mut_doc_get_root(doc)));
    answer_problems(answer, root, &problems);
    yyjson_mut_doc_free(doc);
}

static void create_object(yyjson_val *request, yyjson_mut_doc *answer, yyjson_mut_val *root)
{
    yyjson_mut_doc *definition = doc_of(yyjson_ptr_get(request, "/definition/spec/versions/0/schema/openAPIV3Schema"));
    yyjson_mut_doc *doc = doc_of(yyjson_obj_get(request, "object"));
    yyjson_mut_doc *old = yyjson_obj_get(request, "old") ? doc_of(yyjson_obj_get(request, "old")) : NULL;
    struct problems problems = {0};
    struct field_faults faults = {0};
    struct schema *schema = schema_compile(yyjson_mut_doc_get_root(definition), NULL, &problems);

    if (schema) {
        schema_prune(schema, doc, &faults);
        schema_default(schema, doc);
        schema_validate(schema, doc, old, &problems);
        yyjson_mut_obj_add_val(answer, root, "object", yyjson_mut_val_mut_copy(answer, yyjson_mut_doc_get_root(doc)));
    }
    yyjson_mut_val *warnings = yyjson_mut_obj_add_arr(answer, root, "warnings");
    vec_foreach (&faults.texts, text) {
        yyjson_mut_arr_add_strcpy(answer, warnings, *text);
        free(*text);
    }
    vec_done(&faults.texts);
    answer_problems(answer, root, &problems);
    schema_free(schema);
    yyjson_mut_doc_free(definition);
    yyjson_mut_doc_free(doc);
    yyjson_mut_doc_free(old);
}

/* --- Sequences --- */

static const char *text_of(yyjson_val *object, const char *member)
{
    const char *text = yyjson_get_str(yyjson_obj_get(object, member));

    return text ? text : "";
}

static void answer_conflicts(const struct apply_conflicts *conflicts, yyjson_mut_doc *answer, yyjson_mut_val *entry)
{
    yyjson_mut_val *details = yyjson_mut_obj_add_obj(answer, entry, "details");
    yyjson_mut_val *causes = yyjson_mut_obj_add_arr(answer, details, "causes");

    yyjson_mut_obj_add_strcpy(answer, entry, "message", conflicts->message);
    for (size_t i = 0; i < conflicts->count; i++) {
        yyjson_mut_val *cause = yyjson_mut_arr_add_obj(answer, causes);
        yyjson_mut_obj_add_str(answer, cause, "reason", "FieldManagerConflict");
        yyjson_mut_obj_add_strcpy(answer, cause, "message", conflicts->list[i].message);
        yyjson_mut_obj_add_strcpy(answer, cause, "field", conflicts->list[i].field);
    }
}

/* The status code of a step; the object that it leaves is in `*live`. */
static int take_step(const struct apply_request *request, yyjson_val *step, yyjson_mut_doc **live,
                     yyjson_mut_doc *answer, yyjson_mut_val *entry)
{
    struct apply_conflicts conflicts = {0};
    struct err err = {0};
    yyjson_mut_doc *made = NULL;
    yyjson_val *body = yyjson_obj_get(step, "body");
    int code = *live ? 200 : 201;

    if (strcmp(text_of(step, "how"), "apply") == 0) {
        static const int codes[] = {[APPLY_MALFORMED] = 400, [APPLY_CONFLICT] = 409, [APPLY_INVALID] = 500};
        enum apply_result result = apply_patch(request, *live, body, &made, &conflicts, &err);
        if (result == APPLY_CONFLICT)
            answer_conflicts(&conflicts, answer, entry);
        else if (result != APPLY_DONE && result != APPLY_UNCHANGED)
            yyjson_mut_obj_add_strcpy(answer, entry, "message", err.text);
        apply_conflicts_done(&conflicts);
        if (result != APPLY_DONE && result != APPLY_UNCHANGED)
            return codes[result];
    } else {
        made = yyjson_mut_doc_mut_copy(*live, NULL);
        if (patch_merge(made, body, &err) != PATCH_DONE)
            return 422;
    }
    if (request->schema) {
        schema_prune(request->schema, made, NULL);
        schema_default(request->schema, made);
    }
    /* A status is written at its own path alone, and nothing else is written there. */
    if (*live && (request->kind->flags & KIND_STATUS)) {
        const char *kept = *request->subresource ? "spec" : "status";
        yyjson_mut_val *root = yyjson_mut_doc_get_root(made);
        yyjson_mut_val *value = yyjson_mut_obj_get(yyjson_mut_doc_get_root(*live), kept);
        (void)yyjson_mut_obj_remove_key(root, kept);
        if (value)
            yyjson_mut_obj_add_val(made, root, kept, yyjson_mut_val_mut_copy(made, value));
    }
    if (strcmp(text_of(step, "how"), "merge") == 0)
        apply_track(request, *live, made);
    yyjson_mut_doc_free(*live);
    *live = made;
    return code;
}

static void run_sequence(yyjson_val *request, yyjson_mut_doc *answer, yyjson_mut_val *root)
{
    static const struct api_kind custom = {.group = "facts.example.com",
                                           .version = "v1",
                                           .plural = "applied",
                                           .kind = "Applied",
                                           .flags = KIND_STATUS | KIND_IS_CUSTOM};
    const char *plural = text_of(request, "sequence");
    const struct api_kind *kind = builtin_kind_find("", "v1", plural);
    yyjson_mut_doc *definition = doc_of(yyjson_ptr_get(request, "/definition/spec/versions/0/schema/openAPIV3Schema"));
    struct problems problems = {0};
    struct schema *schema = schema_compile(yyjson_mut_doc_get_root(definition), NULL, &problems);
    yyjson_mut_val *steps = yyjson_mut_obj_add_arr(answer, root, "steps");
    yyjson_arr_iter iter = yyjson_arr_iter_with(yyjson_obj_get(request, "steps"));
    yyjson_mut_doc *live = NULL;

    kind = kind ? kind : builtin_kind_find("apps", "v1", plural);
    for (yyjson_val *step; (step = yyjson_arr_iter_next(&iter));) {
        struct apply_request made = {.kind = kind ? kind : &custom,
                                     .schema = kind ? NULL : schema,
                                     .manager = text_of(step, "manager"),
                                     .subresource = text_of(step, "subresource"),
                                     .force = yyjson_is_true(yyjson_obj_get(step, "force")),
                                     .now = nsec_now_wall()};
        yyjson_mut_val *entry = yyjson_mut_arr_add_obj(answer, steps);
        int code = take_step(&made, step, &live, answer, entry);
        yyjson_mut_obj_add_int(answer, entry, "code", code);
        if (code < 300)
            yyjson_mut_obj_add_val(answer, entry, "object",
                                   yyjson_mut_val_mut_copy(answer, yyjson_mut_doc_get_root(live)));
    }
    yyjson_mut_doc_free(live);
    yyjson_mut_doc_free(definition);
    schema_free(schema);
    problems_done(&problems);
}

static void answer_line(const char *line, size_t len)
{
    yyjson_doc *request = yyjson_read(line, len, 0);
    yyjson_mut_doc *answer = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(answer);

    yyjson_mut_doc_set_root(answer, root);
    if (yyjson_obj_get(yyjson_doc_get_root(request), "steps"))
        run_sequence(yyjson_doc_get_root(request), answer, root);
    else if (yyjson_obj_get(yyjson_doc_get_root(request), "object"))
        create_object(yyjson_doc_get_root(request), answer, root);
    else
        create_definition(yyjson_obj_get(yyjson_doc_get_root(request), "definition"), answer, root);
    _cleanup_(freep) char *text = yyjson_mut_write(answer, 0, NULL);
    (void)puts(text ? text : "null");
    (void)fflush(stdout);
    yyjson_mut_doc_free(answer);
    yyjson_doc_free(request);
}

int main(void)
{
    _cleanup_(freep) char *line = NULL;
    size_t cap = 0;

    for (ssize_t len; (len = getline(&line, &cap, stdin)) > 0;)
        answer_line(line, (size_t)len);
    return 0;
}
