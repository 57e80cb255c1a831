/* SPDX-License-Identifier: Apache-2.0 */

/* A Lease as JSON, and what follows from one. */
#include <stdio.h>
#include <string.h>

#include "kube/client/meta.h"
#include "kube/lease/lease_internal.h"
#include "text/json.h"

const char *micro_time_format(nsec_t time, char text[static TIME_TEXT_MAX])
{
    char whole[TIME_TEXT_MAX];
    nsec_t fraction = time % NSEC_PER_SEC;

    if (fraction < 0)
        fraction += NSEC_PER_SEC;
    (void)time_format(time - fraction, whole);
    (void)snprintf(text, TIME_TEXT_MAX, "%.19s.%06dZ", whole, (int)(fraction / NSEC_PER_USEC));
    return text;
}

static nsec_t time_at(yyjson_val *spec, const char *key)
{
    nsec_t time = 0;

    /* A time that cannot be read is as good as none: it only tells one record from another. */
    if (time_parse(kube_text(spec, key), &time, NULL) < 0)
        return 0;
    return time;
}

void lease_record_read(yyjson_val *object, struct lease_record *ret_record)
{
    yyjson_val *spec = yyjson_obj_get(object, "spec");
    int64_t seconds = yyjson_get_sint(yyjson_obj_get(spec, "leaseDurationSeconds"));

    /* All of it is compared as bytes. */
    memset(ret_record, 0, sizeof *ret_record);
    (void)snprintf(ret_record->holder, sizeof ret_record->holder, "%s", kube_text(spec, "holderIdentity"));
    ret_record->duration = CLAMP(seconds, (int64_t)0, (int64_t)86400) * NSEC_PER_SEC;
    ret_record->acquired = time_at(spec, "acquireTime");
    ret_record->renewed = time_at(spec, "renewTime");
    ret_record->transitions = yyjson_get_sint(yyjson_obj_get(spec, "leaseTransitions"));
}

enum lease_step lease_decide(const struct lease_record *record, const char *identity, nsec_t seen, nsec_t now)
{
    if (!record)
        return LEASE_CREATE;
    if (strcmp(record->holder, identity) == 0)
        return LEASE_RENEW;
    if (!record->holder[0] || now - seen >= record->duration)
        return LEASE_TAKE;
    return LEASE_WAIT;
}

/* Sets a member, whether it is there or not. `value` is put into the document as it is. */
static void put(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, yyjson_mut_val *value)
{
    (void)yyjson_mut_obj_put(object, yyjson_mut_str(doc, key), value);
}

static yyjson_mut_val *spec_of(yyjson_mut_doc *doc, yyjson_mut_val *root)
{
    yyjson_mut_val *spec = yyjson_mut_obj_get(root, "spec");

    return yyjson_mut_is_obj(spec) ? spec : yyjson_mut_obj_add_obj(doc, root, "spec");
}

static yyjson_mut_doc *new_lease(const struct lease_claim *claim)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);

    (void)yyjson_mut_obj_add_str(doc, root, "apiVersion", "coordination.k8s.io/v1");
    (void)yyjson_mut_obj_add_str(doc, root, "kind", "Lease");
    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, root, "metadata");

    (void)yyjson_mut_obj_add_str(doc, meta, "name", claim->name);
    (void)yyjson_mut_obj_add_str(doc, meta, "namespace", claim->namespace);
    return doc;
}

yyjson_mut_doc *lease_claim_encode(const struct lease_claim *claim, yyjson_val *object, enum lease_step step)
{
    yyjson_mut_doc *doc = object ? kube_copy(object) : new_lease(claim);
    yyjson_mut_val *spec = spec_of(doc, yyjson_mut_doc_get_root(doc));
    int64_t transitions = yyjson_mut_get_sint(yyjson_mut_obj_get(spec, "leaseTransitions"));
    char now[TIME_TEXT_MAX];

    (void)micro_time_format(claim->now, now);
    put(doc, spec, "holderIdentity", yyjson_mut_str(doc, claim->identity));
    put(doc, spec, "leaseDurationSeconds", yyjson_mut_sint(doc, (claim->duration + NSEC_PER_SEC - 1) / NSEC_PER_SEC));
    put(doc, spec, "renewTime", yyjson_mut_strcpy(doc, now));
    if (step != LEASE_RENEW) {
        put(doc, spec, "acquireTime", yyjson_mut_strcpy(doc, now));
        put(doc, spec, "leaseTransitions", yyjson_mut_sint(doc, transitions + (step == LEASE_TAKE)));
    }
    return doc;
}

yyjson_mut_doc *lease_release_encode(yyjson_val *object, nsec_t now)
{
    yyjson_mut_doc *doc = kube_copy(object);
    yyjson_mut_val *spec = spec_of(doc, yyjson_mut_doc_get_root(doc));
    char text[TIME_TEXT_MAX];

    /* The server may refuse an empty name, but not a missing one. */
    (void)yyjson_mut_obj_remove_key(spec, "holderIdentity");
    put(doc, spec, "leaseDurationSeconds", yyjson_mut_sint(doc, 1));
    put(doc, spec, "renewTime", yyjson_mut_strcpy(doc, micro_time_format(now, text)));
    return doc;
}
