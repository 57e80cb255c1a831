/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <yyjson.h>

#include "kube/client/certain.h"
#include "kube/client/client.h"

/* Requests that are more than a verb and an object. */

/* kube_send() with the document as its body. */
struct kube_call *kube_send_doc(struct kube_client *client, const struct kube_request *request,
                                const yyjson_mut_doc *doc);

/*
 * Binds a pod to a node. `uid` guards against another pod of that name; NULL for none. The outcome is certain
 * (kube/client/certain.h): when an answer got lost, or the server says that the pod has a node, the pod is read, and if it
 * is on that node all is well. Fails with -EEXIST when the pod is on another node; the object of the answer is the pod
 * then. Fails with -ENOENT when the pod is gone, and with -ESTALE when it must not be tried again.
 */
struct kube_bind;

struct kube_bind_request {
    const char *namespace;
    const char *pod;
    const char *uid;
    const char *node;
    const char *const *annotations;  // of the pod from then on: key, value, key, ... up to a NULL; NULL: none
    const char *const *labels;       // the same; servers before 1.33 drop them, and some others may
    kube_repeat_fn may_repeat;       // before it is tried again; NULL: it always may
    void (*on_unknown)(void *arg, const struct err *err);  // it may have been done; may be NULL
    kube_done_fn on_done;                                  // with the last answer
    void *arg;
};

struct kube_bind *kube_bind_start(struct kube_client *client, const struct kube_bind_request *request);
void kube_bind_cancel(struct kube_bind *bind);

/* The server cannot have done it so far. */
bool kube_bind_is_unsent(const struct kube_bind *bind);

/* Deletes an object, if it is still the one of that UID. */
struct kube_delete_request {
    const struct kube_resource *resource;
    const char *namespace;
    const char *name;
    const char *uid;            // NULL: whichever has the name
    const char *version;        // only as it was at that version; NULL: at any
    const char *propagation;    // "Background", "Foreground", "Orphan"; NULL: as the kind does
    int64_t grace_s;            // negative: the object's own
    kube_repeat_fn may_repeat;  // for kube_removal_start(), before it is tried again; NULL: it always may
    kube_done_fn on_done;
    void *arg;
};

struct kube_call *kube_delete(struct kube_client *client, const struct kube_delete_request *request);

/*
 * Deletes an object of a given UID, with a certain outcome: done when the object is gone, or another, or marked as being
 * deleted. Then the code is 0, whatever the status.
 */
struct kube_removal;

struct kube_removal *kube_removal_start(struct kube_client *client, const struct kube_delete_request *request,
                                        void (*on_unknown)(void *arg, const struct err *err));
void kube_removal_cancel(struct kube_removal *removal);

/* The server cannot have done it so far. */
bool kube_removal_is_unsent(const struct kube_removal *removal);

/* Asks for a pod to be evicted, which disruption budgets may refuse for now (429). Takes a pod as its resource. */
struct kube_call *kube_evict(struct kube_client *client, const struct kube_delete_request *request);
