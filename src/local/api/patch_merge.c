/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "local/api/patch.h"

enum patch_result patch_merge(yyjson_mut_doc *doc, yyjson_val *patch, struct err *err)
{
    if (!yyjson_is_obj(patch)) {
        (void)err_set(err, -1, "a merge patch must be an object");
        return PATCH_MALFORMED;
    }
    yyjson_mut_val *changes = yyjson_val_mut_copy(doc, patch);
    yyjson_mut_doc_set_root(doc, yyjson_mut_merge_patch(doc, yyjson_mut_doc_get_root(doc), changes));
    return PATCH_DONE;
}
