/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "local/api/selector.h"

struct request;
struct store_object;

/* Which objects of its kind a request is about: those of a namespace, or of all, that match its selectors. */
struct selection {
    struct selector selector;
    bool has_selectors;
    const char *namespace;  // "": all
};

/* Checks that the selectors of the query can be read, before anything else about them. False after an answer. */
bool selection_check(struct request *request);

/* Checks that objects of the kind can be selected by the fields. False after an answer. */
bool selection_check_fields(struct request *request);

/* Reads the selectors of the query; false after an answer. Texts are borrowed from the request. */
bool selection_read(struct request *request, struct selection *ret_selection);
void selection_done(struct selection *selection);
bool selection_has(const struct selection *selection, const struct store_object *object);

/* The objects in their order, each of which the caller keeps a reference to. */
struct page_objects;
void selection_collect(const struct selection *selection, const struct request *request, const char *after_namespace,
                       const char *after_name, struct page_objects *objects);

/* Whether there are objects behind the last of those that were selected, which the selectors do not match. */
bool selection_has_others(const struct selection *selection, const struct request *request,
                          const struct page_objects *objects);
