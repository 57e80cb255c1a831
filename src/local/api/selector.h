/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/macros.h"
#include "base/vec.h"

struct err;
struct store_object;

/*
 * The selectors of a list or a watch, as the query has them:
 *
 *     labelSelector=app=web,tier in (a, b),!old,size>5
 *     fieldSelector=spec.nodeName=gpu-1,status.phase!=Failed
 *
 * They are matched against the tags of an object (store/object.h): a label "app" is the tag "label:app", a field
 * "spec.nodeName" the tag "field:spec.nodeName". All zeros matches everything.
 */
#define SELECTOR_LABEL "label:"
#define SELECTOR_FIELD "field:"

enum selector_test {
    SELECTOR_IN,      // the value is one of `values`
    SELECTOR_NOT_IN,  // it is none of them, or there is no such label
    SELECTOR_EXISTS,
    SELECTOR_MISSING,
    SELECTOR_ABOVE,  // as whole numbers; the only value
    SELECTOR_BELOW,
};

struct selector_requirement {
    char *tag;  // with its prefix
    enum selector_test test;
    VEC(char *) values;
};

struct selector {
    VEC(struct selector_requirement) requirements;  // all must hold
};

/* Adds what the text asks for; "" asks for nothing. Returns 0, or -EINVAL with what is wrong and where. */
MUST_CHECK int selector_add_labels(struct selector *selector, const char *text, struct err *err);
MUST_CHECK int selector_add_fields(struct selector *selector, const char *text, struct err *err);

void selector_done(struct selector *selector);
bool selector_matches_object(const struct selector *selector, const struct store_object *object);

/* The value that a tag must have, when the selector leaves no other; NULL otherwise. For looking objects up by an index. */
const char *selector_only_value(const struct selector *selector, const char *tag);
