/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does with custom kinds what the server of local mode does with them, without a server: reads a request a line, and
 * writes an answer a line.
 *
 *     {"definition": {...}}                              a CustomResourceDefinition is created
 *     {"definition": {...}, "object": {...}, "old": ...} an object of its first version is created, or replaces another
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "local/api/problems.h"
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

static void answer_line(const char *line, size_t len)
{
    yyjson_doc *request = yyjson_read(line, len, 0);
    yyjson_mut_doc *answer = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(answer);

    yyjson_mut_doc_set_root(answer, root);
    if (yyjson_obj_get(yyjson_doc_get_root(request), "object"))
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
