/* SPDX-License-Identifier: Apache-2.0 */

/* Any patch applied to any object gives a document that can be written, or says why not. The input is [object, patch]. */
#include "local/api/patch.h"

#include <stdlib.h>

#include "base/err.h"
#include "fuzz.h"
#include "text/json.h"

typedef enum patch_result (*patch_fn)(yyjson_mut_doc *doc, yyjson_val *patch, struct err *err);

static void apply(patch_fn patch, yyjson_val *object, yyjson_val *changes)
{
    struct err err = {0};
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);

    yyjson_mut_doc_set_root(doc, yyjson_val_mut_copy(doc, object));
    if (patch(doc, changes, &err) == PATCH_DONE) {
        char *text = yyjson_mut_write(doc, YYJSON_WRITE_NOFLAG, NULL);
        BUG_ON(yyjson_mut_doc_get_root(doc) && !text);
        free(text);
    } else {
        BUG_ON(err.text[0] == '\0');
    }
    yyjson_mut_doc_free(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const patch_fn patches[] = {patch_json, patch_merge, patch_strategic};
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct err err = {0};

    if (json_parse((const char *)data, size, "input", &doc, &err) < 0)
        return 0;
    yyjson_val *root = yyjson_doc_get_root(doc);
    yyjson_val *object = yyjson_arr_get(root, 0);
    yyjson_val *changes = yyjson_arr_get(root, 1);
    if (!yyjson_is_obj(object) || !changes)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(patches); i++)
        apply(patches[i], object, changes);
    return 0;
}
