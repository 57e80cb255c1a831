/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"
#include "kube/access/base64.h"
#include "local/builtin/default_internal.h"
#include "local/builtin/members.h"

/* --- Secrets --- */

/* Values that clients give as they are; they are stored with the others, and win over them. */
void default_secret(struct defaulting *defaulting, yyjson_mut_val *secret)
{
    yyjson_mut_doc *doc = defaulting->doc;
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(member_get(secret, "stringData"));

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        yyjson_mut_val *value = yyjson_mut_obj_iter_get_val(key);
        _cleanup_(freep) char *encoded = base64_encode(yyjson_mut_get_str(value), yyjson_mut_get_len(value));

        (void)yyjson_mut_obj_put(member_object(doc, secret, "data"), yyjson_mut_strcpy(doc, yyjson_mut_get_str(key)),
                                 yyjson_mut_strcpy(doc, encoded));
    }
    (void)yyjson_mut_obj_remove_key(secret, "stringData");
}

/* --- Jobs --- */

/* The selector belongs to the job alone: it is made from what no other job has. */
static void make_selector(struct defaulting *defaulting, yyjson_mut_val *job)
{
    static const char *const by_uid[] = {"batch.kubernetes.io/controller-uid", "controller-uid"};
    static const char *const by_name[] = {"batch.kubernetes.io/job-name", "job-name"};
    yyjson_mut_doc *doc = defaulting->doc;
    yyjson_mut_val *spec = member_get(job, "spec");
    yyjson_mut_val *meta = member_object(doc, member_get(spec, "template"), "metadata");
    yyjson_mut_val *labels = member_object(doc, meta, "labels");
    const char *uid = member_text(job, "metadata.uid");

    for (size_t i = 0; i < ARRAY_LEN(by_uid); i++) {
        member_default(doc, labels, by_uid[i], yyjson_mut_strcpy(doc, uid));
        member_default(doc, labels, by_name[i], yyjson_mut_strcpy(doc, member_text(job, "metadata.name")));
    }
    yyjson_mut_val *selector = member_object(doc, spec, "selector");
    member_default(doc, member_object(doc, selector, "matchLabels"), "batch.kubernetes.io/controller-uid",
                   yyjson_mut_strcpy(doc, uid));
}

void default_job(struct defaulting *defaulting, yyjson_mut_val *job)
{
    yyjson_mut_doc *doc = defaulting->doc;
    yyjson_mut_val *spec = member_get(job, "spec");
    yyjson_mut_val *template = member_get(spec, "template");

    yyjson_mut_val *labels = member_get(template, "metadata.labels");
    if (labels)
        member_default(doc, member_object(doc, job, "metadata"), "labels", yyjson_mut_val_mut_copy(doc, labels));
}

void prepare_job(struct defaulting *defaulting, yyjson_mut_val *job)
{
    yyjson_mut_val *spec = member_get(job, "spec");

    yyjson_mut_val *labels = member_get(job, "metadata.labels");

    if (!member_get(spec, "template") || defaulting->old || member_is_true(spec, "manualSelector") ||
        !*member_text(job, "metadata.uid"))
        return;
    /* Labels that the job has from its template follow it, but for a job whose name is made up. */
    bool is_shared = !labels || (yyjson_mut_equals(labels, member_get(spec, "template.metadata.labels")) &&
                                 !*member_text(job, "metadata.generateName"));
    make_selector(defaulting, job);
    if (is_shared)
        member_set(defaulting->doc, member_get(job, "metadata"), "labels",
                   yyjson_mut_val_mut_copy(defaulting->doc, member_get(spec, "template.metadata.labels")));
}
