/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Any configuration is applied to any object, or refused with a reason; applied again, it changes nothing. Sets of fields
 * are read and written as they are, and keep the laws of sets. The input is [live object, configuration].
 */
#include "local/apply/apply.h"

#include <stdlib.h>

#include "base/err.h"
#include "fuzz.h"
#include "local/api/kinds.h"
#include "local/apply/fields.h"
#include "text/json.h"

static void check_sets(yyjson_mut_doc *doc)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    struct arena arena;

    arena_init(&arena);
    struct fields *a = fields_read(yyjson_mut_obj_get(root, "a"), &arena);
    struct fields *b = fields_read(yyjson_mut_obj_get(root, "b"), &arena);
    struct fields *again = fields_read(fields_write(a, doc), &arena);
    BUG_ON(!fields_is_equal(a, again));
    struct fields *both = fields_intersection(a, b, &arena);
    struct fields *only = fields_difference(a, b, &arena);
    BUG_ON(!fields_is_equal(fields_union(both, only, &arena), a));
    BUG_ON(!fields_is_empty(fields_intersection(only, b, &arena)));
    BUG_ON(!fields_is_equal(fields_union(a, b, &arena), fields_union(b, a, &arena)));
    arena_done(&arena);
}

static void apply_twice(const struct apply_request *request, yyjson_mut_doc *live, yyjson_val *config)
{
    yyjson_mut_doc *once = NULL, *twice = NULL;
    struct apply_conflicts conflicts = {0};
    struct err err = {0};
    enum apply_result result = apply_patch(request, live, config, &once, &conflicts, &err);

    BUG_ON(result == APPLY_CONFLICT);
    if (result != APPLY_DONE && result != APPLY_UNCHANGED) {
        BUG_ON(err.text[0] == '\0');
        return;
    }
    apply_track(request, live, once);
    yyjson_mut_doc_free(once);
    once = NULL;
    BUG_ON(apply_patch(request, live, config, &once, &conflicts, &err) != result);
    BUG_ON(apply_patch(request, once, config, &twice, &conflicts, &err) != APPLY_UNCHANGED);
    yyjson_mut_doc_free(once);
    yyjson_mut_doc_free(twice);
    apply_conflicts_done(&conflicts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct apply_request request = {.kind = builtin_kind_find("apps", "v1", "deployments"),
                                    .manager = "fuzzer",
                                    .subresource = "",
                                    .force = true,
                                    .now = NSEC_PER_SEC};
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct err err = {0};

    if (json_parse((const char *)data, size, "input", &doc, &err) < 0)
        return 0;
    yyjson_val *live = yyjson_arr_get(yyjson_doc_get_root(doc), 0);
    yyjson_val *config = yyjson_arr_get(yyjson_doc_get_root(doc), 1);
    if (!yyjson_is_obj(live) || !config)
        return 0;
    yyjson_mut_doc *object = yyjson_mut_doc_new(NULL);
    yyjson_mut_doc_set_root(object, yyjson_val_mut_copy(object, live));
    check_sets(object);
    apply_twice(&request, object, config);
    yyjson_mut_doc_free(object);
    return 0;
}
