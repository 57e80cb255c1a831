/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Any schema is compiled or refused with a reason, any object is pruned, defaulted and validated by it, and what is stored
 * stays as it is when it is written again. The input is [schema, object]; the schema also serves as a definition.
 */
#include "local/custom/schema.h"

#include <stdlib.h>

#include "base/err.h"
#include "fuzz.h"
#include "local/api/problems.h"
#include "local/builtin/builtin.h"
#include "local/custom/definitions.h"
#include "text/json.h"

static yyjson_mut_doc *doc_of(yyjson_val *value)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);

    yyjson_mut_doc_set_root(doc, yyjson_val_mut_copy(doc, value));
    return doc;
}

static void store(const struct schema *schema, yyjson_mut_doc *doc)
{
    struct problems problems = {0};

    schema_prune(schema, doc, NULL);
    schema_default(schema, doc);
    schema_validate(schema, doc, NULL, &problems);
    problems_done(&problems);
}

static void try_object(yyjson_val *openapi, yyjson_val *object)
{
    struct problems problems = {0};
    yyjson_mut_doc *from = doc_of(openapi);
    struct schema *schema = schema_compile(yyjson_mut_doc_get_root(from), NULL, &problems);

    BUG_ON(!schema == !problems_any(&problems));
    if (schema) {
        yyjson_mut_doc *doc = doc_of(object);
        store(schema, doc);
        yyjson_mut_doc *again = yyjson_mut_doc_mut_copy(doc, NULL);
        store(schema, again);
        BUG_ON(!yyjson_mut_equals(yyjson_mut_doc_get_root(doc), yyjson_mut_doc_get_root(again)));
        yyjson_mut_doc_free(again);
        yyjson_mut_doc_free(doc);
    }
    schema_free(schema);
    problems_done(&problems);
    yyjson_mut_doc_free(from);
}

static void try_definition(yyjson_val *object)
{
    struct definitions *definitions = definitions_new();
    struct problems problems = {0};
    struct err err = {0};
    yyjson_mut_doc *doc = doc_of(object);

    definition_default(doc);
    definition_validate(doc, NULL, &problems);
    if (!problems_any(&problems)) {
        definitions_set_status(definitions, doc, 0);
        BUG_ON(definitions_put(definitions, doc, &err) < 0);
    }
    problems_done(&problems);
    definitions_free(definitions);
    yyjson_mut_doc_free(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct err err = {0};

    if (json_parse((const char *)data, size, "input", &doc, &err) < 0)
        return 0;
    yyjson_val *root = yyjson_doc_get_root(doc);
    if (!yyjson_is_obj(yyjson_arr_get(root, 0)) || !yyjson_is_obj(yyjson_arr_get(root, 1)))
        return 0;
    try_object(yyjson_arr_get(root, 0), yyjson_arr_get(root, 1));
    try_definition(yyjson_arr_get(root, 0));
    return 0;
}
