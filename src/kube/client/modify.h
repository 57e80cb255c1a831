/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <yyjson.h>

#include "kube/client/client.h"

/*
 * Read, change, write: an object is changed on the understanding that nobody else has changed it meanwhile. When
 * somebody has, it is read anew and changed again. When the answer to a write gets lost it is read anew as well, until it
 * can be read, and shows by `change` whether something is left to be written: a refusal of a later try does not count for
 * the one that was lost. So the outcome is certain, as in kube/client/certain.h.
 */
struct kube_modify;

/* Changes the object in place. Returns 1 to have it written, 0 when it is as it should be, or a negative errno to
 * give up. Called once for each version that is tried. */
typedef int (*kube_modify_fn)(void *arg, yyjson_mut_doc *doc, yyjson_mut_val *object, struct err *err);

struct kube_modify_request {
    const struct kube_resource *resource;
    const char *namespace;
    const char *name;
    const char *subresource;  // that is written, "status" for one; NULL: the object
    yyjson_val *object;       // as last seen, to spare the first reading; NULL: not known
    uint32_t tries;           // 0: 10
    bool is_urgent;
    kube_modify_fn change;
    kube_done_fn on_done;  // with the last answer: of the write, or of the reading when nothing had to be written
    void *arg;             // of both
};

struct kube_modify *kube_modify_start(struct kube_client *client, const struct kube_modify_request *request);

/* From anywhere but its own call backs. */
void kube_modify_cancel(struct kube_modify *modify);
