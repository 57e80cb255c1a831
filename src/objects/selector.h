/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/macros.h"
#include "model/delta.h"
#include "text/json.h"

struct err;

/* Selectors of the Kubernetes API as the model's. Everything is kept in the arena or borrowed from the document. */

/* A labelSelector. An empty one matches everything; one that is missing matches nothing. */
MUST_CHECK int label_selector_decode(struct arena *arena, const struct json_at *at, struct selector_spec *ret_selector,
                                     struct err *err);

/* Adds to a selector that the label has (or, negated, has not) the value: matchLabelKeys and its opposite. */
void selector_add(struct arena *arena, struct selector_spec *selector, const char *key, const char *value,
                  bool is_negated);

/* nodeSelectorTerms: one of them must match. A term without requirements matches no node. */
MUST_CHECK int node_terms_decode(struct arena *arena, const struct json_at *terms,
                                 const struct selector_spec **ret_terms, size_t *ret_count, struct err *err);

/* One term of them, or the preference of a preferred one. */
MUST_CHECK int node_term_decode(struct arena *arena, const struct json_at *term, struct selector_spec *ret_selector,
                                struct err *err);

/*
 * Does the selector match the object of that name with the labels at `labels`? For what is looked up while decoding:
 * namespaces, and the nodes of a DaemonSet.
 */
bool selector_spec_matches(const struct selector_spec *selector, const struct json_at *labels, const char *name);
