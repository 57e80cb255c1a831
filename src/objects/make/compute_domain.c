/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A compute domain lets pods on several nodes write into each other's GPU memory. Its controller makes a claim template of
 * the name that it is given, through which a pod asks for a channel of the domain on its node.
 */
#include <string.h>

#include "objects/make/maker.h"

#define TEMPLATE_SPEC                                                                               \
    "{\"spec\":{\"devices\":{\"requests\":[{\"name\":\"channel\",\"exactly\":{\"deviceClassName\":" \
    "\"compute-domain-default-channel.nvidia.com\",\"allocationMode\":\"ExactCount\",\"count\":1}}]}}}"

int make_compute_domain(struct maker *maker, const struct object *owner, struct err *err)
{
    struct json_at spec;
    struct json_at channel;
    struct json_at template;
    const char *name = NULL;

    TRY(json_member_object(&owner->root, "spec", JSON_REQUIRED, &spec, err));
    TRY(json_member_object(&spec, "channel", JSON_OPTIONAL, &channel, err));
    TRY(json_member_object(&channel, "resourceClaimTemplate", JSON_OPTIONAL, &template, err));
    TRY(json_member_str(&template, "name", JSON_OPTIONAL, &name, err));
    if (!name)
        return 0;

    yyjson_doc *made = yyjson_read(TEMPLATE_SPEC, strlen(TEMPLATE_SPEC), 0);
    BUG_ON(!made);
    struct json_at made_spec = json_root(made);
    struct json_at nothing = {0};
    int r = make_child(maker, owner,
                       &(struct child){.api_version = "resource.k8s.io/v1",
                                       .kind = "ResourceClaimTemplate",
                                       .name = name,
                                       .template = &nothing,
                                       .spec = &made_spec},
                       err);
    yyjson_doc_free(made);
    return r;
}
