/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/client/condition.h"

#include "text/json.h"

yyjson_mut_doc *kube_condition_patch(const struct kube_condition *condition, nsec_t now)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);
    char when[TIME_TEXT_MAX];

    if (condition->uid)
        (void)yyjson_mut_obj_add_strcpy(doc, yyjson_mut_obj_add_obj(doc, root, "metadata"), "uid", condition->uid);
    yyjson_mut_val *status = yyjson_mut_obj_add_obj(doc, root, "status");
    yyjson_mut_val *to = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, status, "conditions"));
    (void)yyjson_mut_obj_add_strcpy(doc, to, "type", condition->type);
    (void)yyjson_mut_obj_add_strcpy(doc, to, "status", condition->status);
    (void)yyjson_mut_obj_add_strcpy(doc, to, "reason", condition->reason);
    (void)yyjson_mut_obj_add_strcpy(doc, to, "message", condition->message);
    /* To the second, as all conditions. */
    (void)yyjson_mut_obj_add_strcpy(doc, to, "lastTransitionTime", time_format(now - now % NSEC_PER_SEC, when));
    return doc;
}
