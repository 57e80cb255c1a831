/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "kube/client/client.h"

/*
 * All objects of a kind, one after the other. The list comes in pages if `page_size` is given, and each page is cut
 * into its objects while it comes: never is more than one of them in memory.
 */
struct kube_list;

/* An object; borrowed. Returns 0, or a negative errno that ends the list with it. */
typedef int (*kube_object_fn)(void *arg, yyjson_val *object);

/* Something in the list was left out: too large, or no object. */
typedef void (*kube_problem_fn)(void *arg, const struct err *err);

/* The end. `resource_version` is what a watch starts from when all went well, "" otherwise. When the list expired
 * between two pages, kube_answer_is_expired() says so, and everything has to be listed anew. */
typedef void (*kube_listed_fn)(void *arg, const struct kube_answer *answer, const char *resource_version);

struct kube_list_request {
    const struct kube_resource *resource;
    const char *namespace;  // NULL: all
    const char *label_selector;
    const char *field_selector;
    const char *resource_version;  // NULL: the newest; "0": whatever the server has at hand
    uint32_t page_size;            // 0: all at once
    bool is_metadata_only;
    kube_object_fn on_object;
    kube_problem_fn on_problem;  // may be NULL
    kube_listed_fn on_done;
    void *arg;
};

struct kube_list *kube_list_start(struct kube_client *client, const struct kube_list_request *request);

/* From anywhere but its own `on_done`. */
void kube_list_cancel(struct kube_list *list);
