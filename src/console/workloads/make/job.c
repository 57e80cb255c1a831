/* SPDX-License-Identifier: Apache-2.0 */
#include "console/workloads/make/job.h"

#include <string.h>

#include "console/data/items.h"
#include "console/org/wants.h"
#include "console/rest/context.h"
#include "console/workloads/make/template.h"
#include "console/workloads/phase.h"

enum { BACKOFF_LIMIT = 6 };

static const char *text_at(yyjson_val *item, const char *pointer)
{
    const char *text = yyjson_get_str(yyjson_ptr_get(item, pointer));

    return text ? text : "";
}

static void put_count(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, yyjson_val *spec, int64_t otherwise)
{
    yyjson_val *given = yyjson_obj_get(spec, key);

    (void)yyjson_mut_obj_add_sint(doc, to, key, given ? yyjson_get_sint(given) : otherwise);
}

/* A pod that was evicted is no failure. The API allows this for pods that are never started again in their place. */
static void put_failure_policy(yyjson_mut_doc *doc, yyjson_mut_val *spec)
{
    yyjson_mut_val *rules = yyjson_mut_obj_add_arr(doc, yyjson_mut_obj_add_obj(doc, spec, "podFailurePolicy"), "rules");
    yyjson_mut_val *rule = yyjson_mut_arr_add_obj(doc, rules);

    put_text(doc, rule, "action", "Ignore");
    yyjson_mut_val *pattern = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, rule, "onPodConditions"));
    put_text(doc, pattern, "type", "DisruptionTarget");
    put_text(doc, pattern, "status", "True");
}

/* All but these parts of a Job cannot be changed. */
static yyjson_mut_doc *encode_kept(yyjson_mut_val *job)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);
    yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(doc, root, "metadata");
    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(doc, root, "spec");
    static const char *const members[] = {"suspend", "parallelism"};

    (void)yyjson_mut_obj_add_val(doc, metadata, "labels",
                                 yyjson_mut_val_mut_copy(doc, yyjson_mut_ptr_get(job, "/metadata/labels")));
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        (void)yyjson_mut_obj_add_val(
            doc, spec, members[i],
            yyjson_mut_val_mut_copy(doc, yyjson_mut_obj_get(yyjson_mut_obj_get(job, "spec"), members[i])));
    return doc;
}

int job_want(const struct sync_item *item, const struct job_ask *ask, struct wants *wants, yyjson_mut_doc **ret_doc,
             struct err *err)
{
    yyjson_val *given = yyjson_obj_get(ask->item, "spec");
    bool is_stopped = strcmp(text_at(ask->item, "/desired"), DESIRED_STOPPED) == 0;
    bool restarts = strcmp(text_at(given, "/restartPolicy"), "OnFailure") == 0;
    struct want *want = wants_add(wants, KUBE_JOBS, WANT_SAME, text_at(ask->item, "/namespace"), ask->name);
    yyjson_mut_val *job = want_begin(want, item, ITEM_WORKLOAD);
    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(want->doc, job, "spec");

    template_labels(want->doc, ask->item, yyjson_mut_ptr_get(job, "/metadata/labels"));
    put_count(want->doc, spec, "completions", given, ask->count);
    put_count(want->doc, spec, "parallelism", given, ask->count);
    put_count(want->doc, spec, "backoffLimit", given, BACKOFF_LIMIT);
    (void)yyjson_mut_obj_add_bool(want->doc, spec, "suspend", is_stopped);
    if (!restarts)
        put_failure_policy(want->doc, spec);
    want->kept = encode_kept(job);
    *ret_doc = want->doc;
    return template_encode(want->doc, ask->item, yyjson_mut_obj_add_obj(want->doc, spec, "template"), err);
}
