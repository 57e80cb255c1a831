/* SPDX-License-Identifier: Apache-2.0 */

/* Another workload like one that is there, or that has ended: with a name of its own, and members in place of those it had. */
#include <errno.h>
#include <string.h>

#include "console/rest/handlers.h"
#include "console/templates/reuse.h"
#include "console/workloads/kinds.h"
#include "console/workloads/workloads.h"

static int check_members(const struct json_at *body, struct err *err)
{
    static const char *const members[] = {"name", "useGivenNameAsPrefix", "projectId", "spec", "masterSpec"};

    for (struct json_at member = {0}; json_next(body, &member);) {
        bool is_known = false;

        for (size_t i = 0; i < ARRAY_LEN(members); i++)
            is_known = is_known || strcmp(members[i], member.key) == 0;
        if (!is_known)
            return json_fail(&member, err, -EINVAL,
                             "expected name, useGivenNameAsPrefix, projectId, spec or masterSpec");
    }
    return 0;
}

/* The submission of the workload as it was, in place of what the body leaves out. */
static yyjson_doc *fill_from(const struct request *request, yyjson_val *item)
{
    static const char *const members[] = {"projectId", "spec", "masterSpec", "masterSpecSameAsWorker"};
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *whole = yyjson_val_mut_copy(doc, request->body.val);
    yyjson_mut_val *from = yyjson_mut_obj(doc);

    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        if (yyjson_obj_get(item, members[i]))
            (void)yyjson_mut_obj_add_val(doc, from, members[i],
                                         yyjson_val_mut_copy(doc, yyjson_obj_get(item, members[i])));
    }
    put_text(doc, from, "clusterId", request->console->cluster_id);
    reuse_fill(doc, whole, from, false);
    yyjson_mut_doc_set_root(doc, whole);
    yyjson_doc *copy = yyjson_mut_doc_imut_copy(doc, NULL);
    BUG_ON(!copy);
    yyjson_mut_doc_free(doc);
    return copy;
}

static int clone_workload(struct request *request, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    _cleanup_(json_doc_freep) yyjson_doc *filled = NULL;
    int r;

    if ((r = json_object(&request->body, err)) < 0 || (r = check_members(&request->body, err)) < 0 ||
        (r = workload_take(request, ACTION_READ, &doc, err)) < 0)
        return r;
    const struct workload_kind *kind = workload_kind_find(request->type);
    filled = fill_from(request, yyjson_doc_get_root(doc));
    struct json_at body = json_root(filled);
    return workload_submit(request, kind, &body, err);
}
CHANGES(handle_clone_workload, clone_workload)
