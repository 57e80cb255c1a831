/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "kube/client/client.h"

/* The requests by which an agent writes about a pod of its node. All texts are borrowed for the call. */
struct pod_write {
    struct kube_client *client;
    const char *namespace;
    const char *name;
    const char *uid;  // that pod_delete() is limited to
    kube_done_fn on_done;
    void *arg;
};

/* Sends a strategic patch of the status. Frees the document. */
struct kube_call *pod_patch_status(struct pod_write write, yyjson_mut_doc *doc);

/* Sends a merge patch of everything else. Frees the document. */
struct kube_call *pod_patch(struct pod_write write, yyjson_mut_doc *doc);

/* Removes a pod that has ended. */
struct kube_call *pod_delete(struct pod_write write);
