/* SPDX-License-Identifier: Apache-2.0 */

/* Any bytes give a document that can be written and is in its normal form, or a reason why not. */
#include "local/wire/wire.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "fuzz.h"
#include "local/wire/normal.h"
#include "local/wire/types.h"

static void check(yyjson_mut_doc *doc)
{
    _cleanup_(freep) char *text = yyjson_mut_write(doc, YYJSON_WRITE_NOFLAG, NULL);
    yyjson_mut_doc *again = yyjson_mut_doc_mut_copy(doc, NULL);
    yyjson_mut_val *root = yyjson_mut_doc_get_root(again);
    const char *version = yyjson_mut_get_str(yyjson_mut_obj_get(root, "apiVersion"));
    const struct type *type = type_find_in(version, yyjson_mut_get_str(yyjson_mut_obj_get(root, "kind")));
    struct field_faults faults = {0};
    struct err err = {0};

    BUG_ON(!text || !type);
    BUG_ON(normal_form(type, again, &faults, &err) < 0 || faults.texts.len > 0);
    BUG_ON(!yyjson_mut_equals(root, yyjson_mut_doc_get_root(doc)));
    yyjson_mut_doc_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    yyjson_mut_doc *doc = NULL;
    struct err err = {0};

    if (wire_read(data, size, &doc, &err) < 0) {
        BUG_ON(err.text[0] == '\0');
        return 0;
    }
    check(doc);
    yyjson_mut_doc_free(doc);
    return 0;
}
