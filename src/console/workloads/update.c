/* SPDX-License-Identifier: Apache-2.0 */

/* A workload with another spec: the members of the request in place of those that it has, held against the policy again. */
#include <errno.h>
#include <string.h>

#include "console/data/items.h"
#include "console/rest/handlers.h"
#include "console/templates/reuse.h"
#include "console/workloads/kinds.h"
#include "console/workloads/phase.h"
#include "console/workloads/spec.h"
#include "console/workloads/workloads.h"

/* The others say what a workload is to those who call it, and stay. */
static int check_members(const struct json_at *spec, struct err *err)
{
    static const char *const members[] = {
        "args",       "autoscaling", "category",         "command",
        "compute",    "image",       "createHomeDir",    "environmentVariables",
        "nodePools",  "nodeType",    "imagePullPolicy",  "nodeAffinityRequired",
        "probes",     "podAffinity", "imagePullSecrets", "preemptibility",
        "workingDir", "security",    "priorityClass",    "servingConfiguration",
        "storage",
    };

    for (struct json_at member = {0}; json_next(spec, &member);) {
        bool is_known = yyjson_is_null(member.val);

        for (size_t i = 0; i < ARRAY_LEN(members); i++)
            is_known = is_known || strcmp(members[i], member.key) == 0;
        if (!is_known)
            return json_fail(&member, err, -EINVAL, "it cannot be changed: submit another workload");
    }
    return 0;
}

/* The body of the request with what it leaves as it is. */
static yyjson_doc *fill_from(const struct request *request, yyjson_val *item)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *whole = yyjson_val_mut_copy(doc, request->body.val);
    yyjson_mut_val *from = yyjson_mut_obj(doc);

    (void)yyjson_mut_obj_add_val(doc, from, "spec", yyjson_val_mut_copy(doc, yyjson_obj_get(item, "spec")));
    reuse_fill(doc, whole, from, false);
    yyjson_mut_doc_set_root(doc, whole);
    yyjson_doc *copy = yyjson_mut_doc_imut_copy(doc, NULL);
    BUG_ON(!copy);
    yyjson_mut_doc_free(doc);
    return copy;
}

static int write_item(struct request *request, yyjson_mut_val *item, struct err *err)
{
    int r = item_update(request->console->db, ITEM_WORKLOAD, request->id, item, err);

    if (r < 0)
        return r;
    yyjson_doc *copy = yyjson_mut_val_imut_copy(item, NULL);
    BUG_ON(!copy);
    workload_answer(request, yyjson_doc_get_root(copy));
    yyjson_doc_free(copy);
    request->action = "update";
    request->sync_kind = ITEM_WORKLOAD;
    request->status = 202;
    return 0;
}

static int update_workload(struct request *request, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    _cleanup_(json_doc_freep) yyjson_doc *filled = NULL;
    struct json_at spec_at = {0};
    yyjson_mut_val *spec = NULL;
    int r;

    if ((r = json_object(&request->body, err)) < 0 ||
        (r = json_member_object(&request->body, "spec", JSON_REQUIRED, &spec_at, err)) < 0 ||
        (r = check_members(&spec_at, err)) < 0 || (r = workload_take(request, ACTION_UPDATE, &doc, err)) < 0)
        return r;
    yyjson_val *item = yyjson_doc_get_root(doc);
    const struct workload_kind *kind = workload_kind_find(request->type);
    if (yyjson_equals_str(yyjson_obj_get(item, "desired"), DESIRED_DELETED))
        return err_set(err, -EINVAL, "the workload is being deleted");
    filled = fill_from(request, item);
    struct json_at body = json_root(filled);
    if ((r = spec_read(request, kind, &request->place, &body, &spec, err)) < 0)
        return r;
    yyjson_mut_val *changed = copy_item(request->doc, item);
    if ((r = workload_put_spec(request, kind, spec, changed, err)) < 0)
        return r;
    return write_item(request, changed, err);
}
CHANGES(handle_update_workload, update_workload)
