/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "kube/client/client.h"
#include "local/controllers/controller.h"

/*
 * What a controller does about an owner. Each of these starts a request. When all requests of a round are done, the owner
 * is looked at again; if one of them has failed, after a while. A child that is gone or has changed meanwhile is no failure.
 */

/* Creates a child from the document, which is freed; the event about it names the kind of the child. */
void owner_create(struct owner *owner, uint32_t kind, yyjson_mut_doc *doc);

/* Creates an object that is no child of its kinds, such as the claim of a volume; one that exists already is fine. */
void owner_create_other(struct owner *owner, const struct kube_resource *resource, yyjson_mut_doc *doc);

/* Deletes a child, in background. */
void owner_delete(struct owner *owner, struct child *child);

/* Changes a child or the owner itself, by a patch that is freed; `subresource` may be NULL. */
void owner_patch_child(struct owner *owner, const struct child *child, enum kube_verb verb, yyjson_mut_doc *patch,
                       const char *subresource);
void owner_patch(struct owner *owner, yyjson_mut_doc *patch, const char *subresource);

/*
 * Asks for something else that an owner needs. `on_answer` gets the answer, whatever it is, and may start more; `on_item`, of
 * lists, gets the items as they come (kube/client/client.h), and may be NULL.
 */
typedef int (*owner_item_fn)(struct owner *owner, const char *text, size_t len);
typedef void (*owner_answer_fn)(struct owner *owner, const struct kube_answer *answer);
void owner_ask(struct owner *owner, const struct kube_request *request, owner_item_fn on_item,
               owner_answer_fn on_answer);

/*
 * Makes the status of the owner `status`, which belongs to `doc`; nothing is written when it is that already. A member that
 * is not in `status` is removed. Members whose value is the zero of their type are left out by the server, so that
 * controllers must leave them out as well. `doc` is freed. Whether a write was started.
 */
bool owner_set_status(struct owner *owner, yyjson_mut_doc *doc, yyjson_mut_val *status);

/* Deletes the owner and, in background, its children. */
void owner_delete_itself(struct owner *owner);

/* Has the owner looked at again at a time of the wall clock, whatever happens until then. The earliest time counts. */
void owner_look_again(struct owner *owner, nsec_t time);

/* Whether a request was started since the round began. */
bool owner_has_acted(const struct owner *owner);

/* How many children may be created in a round: all that are needed, but after a failure one, to see whether it works. */
uint32_t owner_create_max(const struct owner *owner);

void owner_event(const struct owner *owner, const char *type, const char *reason, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Of the controller: a round begins; and an owner goes away. */
void owner_start(struct owner *owner);
void owner_cancel(struct owner *owner);
