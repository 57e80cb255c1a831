/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/macros.h"
#include "local/builtin/default_internal.h"
#include "local/builtin/members.h"

/* --- Services --- */

/* Nothing answers at this address: it is there because charts wait for one and programs print it. It follows from the
 * name, so that it needs no book of addresses and survives a restore. */
static void make_address(yyjson_mut_val *service, char text[static 16])
{
    uint64_t hash =
        hash_str(member_text(service, "metadata.namespace"), hash_str(member_text(service, "metadata.name"), 0));

    (void)snprintf(text, 16, "10.%u.%u.%u", (unsigned)(96 + hash % 16), (unsigned)(hash >> 8 & 0xff),
                   (unsigned)(1 + (hash >> 16) % 254));
}

static void default_address(struct defaulting *defaulting, yyjson_mut_val *service, yyjson_mut_val *spec)
{
    yyjson_mut_doc *doc = defaulting->doc;
    yyjson_mut_val *before = member_get(yyjson_mut_doc_get_root(defaulting->old), "spec.clusterIP");
    char address[16];

    if (!member_get(spec, "clusterIP") && yyjson_mut_is_str(before)) {
        member_set_text(doc, spec, "clusterIP", yyjson_mut_get_str(before));
    } else if (!member_get(spec, "clusterIP")) {
        make_address(service, address);
        member_set_text(doc, spec, "clusterIP", address);
    }
    if (!member_get(spec, "clusterIPs")) {
        member_set(doc, spec, "clusterIPs", yyjson_mut_arr(doc));
        yyjson_mut_arr_add_strcpy(doc, member_get(spec, "clusterIPs"), member_text(spec, "clusterIP"));
    }
    if (!member_get(spec, "ipFamilies")) {
        member_set(doc, spec, "ipFamilies", yyjson_mut_arr(doc));
        yyjson_mut_arr_add_str(doc, member_get(spec, "ipFamilies"), "IPv4");
    }
    member_default(doc, spec, "ipFamilyPolicy", yyjson_mut_str(doc, "SingleStack"));
}

void default_service(struct defaulting *defaulting, yyjson_mut_val *service)
{
    yyjson_mut_doc *doc = defaulting->doc;
    yyjson_mut_val *spec = member_get(service, "spec");

    if (!spec)
        return;
    MEMBER_ITEMS (port, member_get(spec, "ports")) {
        yyjson_mut_val *target = member_get(port, "targetPort");
        bool is_unset = yyjson_mut_is_str(target) ? yyjson_mut_get_len(target) == 0 : yyjson_mut_get_sint(target) == 0;
        if (is_unset)
            member_set(doc, port, "targetPort", yyjson_mut_int(doc, member_number(port, "port", 0)));
    }
    if (!member_is(spec, "type", "ExternalName"))
        default_address(defaulting, service, spec);
    /* An empty balancer is part of every service. */
    (void)member_object(doc, member_object(doc, service, "status"), "loadBalancer");
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

    if (!template)
        return;
    if (!defaulting->old && !member_is_true(spec, "manualSelector") && *member_text(job, "metadata.uid"))
        make_selector(defaulting, job);
    yyjson_mut_val *labels = member_get(template, "metadata.labels");
    if (labels)
        member_default(doc, member_object(doc, job, "metadata"), "labels", yyjson_mut_val_mut_copy(doc, labels));
}
