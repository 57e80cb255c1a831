/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/list.h"
#include "kube/client/client.h"

/* Writes that do not depend on what was there before: they are made again when somebody came in between. */
struct attempts {
    struct kube_client *client;
    struct list under_way;
};

void attempts_init(struct attempts *attempts, struct kube_client *client);

/* Drops those that are under way. */
void attempts_done(struct attempts *attempts);

struct attempt_request {
    enum kube_verb verb;  // one of the patches, create or delete
    const struct kube_resource *resource;
    const char *namespace;
    const char *name;
    const char *subresource;
    const yyjson_mut_doc *body;  // NULL: none
    kube_done_fn on_done;
    void *arg;
};

/* Copies what it needs. A create whose fate is unknown is made again too: it meets what it made. */
struct attempt *attempt_start(struct attempts *attempts, const struct attempt_request *request);

/* A delete with a UID and without grace. */
struct attempt *attempt_delete(struct attempts *attempts, const struct kube_resource *resource, const char *namespace,
                               const char *name, const char *uid, bool has_grace, kube_done_fn on_done, void *arg);

/* From anywhere but its own `on_done`. NULL is allowed. */
void attempt_cancel(struct attempt *attempt);
