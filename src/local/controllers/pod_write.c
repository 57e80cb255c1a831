/* SPDX-License-Identifier: Apache-2.0 */
#include "local/controllers/pod_write.h"

#include "kube/client/verbs.h"

static struct kube_call *patch(struct pod_write write, enum kube_verb verb, const char *subresource,
                               yyjson_mut_doc *doc)
{
    struct kube_call *call = kube_send_doc(write.client,
                                           &(struct kube_request){
                                               .verb = verb,
                                               .resource = kube_known(KUBE_PODS),
                                               .namespace = write.namespace,
                                               .name = write.name,
                                               .subresource = subresource,
                                               .is_repeatable = true,
                                               .on_done = write.on_done,
                                               .arg = write.arg,
                                           },
                                           doc);

    yyjson_mut_doc_free(doc);
    return call;
}

struct kube_call *pod_patch_status(struct pod_write write, yyjson_mut_doc *doc)
{
    return patch(write, KUBE_PATCH_STRATEGIC, "status", doc);
}

struct kube_call *pod_patch(struct pod_write write, yyjson_mut_doc *doc)
{
    return patch(write, KUBE_PATCH_MERGE, NULL, doc);
}

struct kube_call *pod_delete(struct pod_write write)
{
    return kube_delete(write.client, &(struct kube_delete_request){
                                         .resource = kube_known(KUBE_PODS),
                                         .namespace = write.namespace,
                                         .name = write.name,
                                         .uid = write.uid,
                                         .on_done = write.on_done,
                                         .arg = write.arg,
                                     });
}
