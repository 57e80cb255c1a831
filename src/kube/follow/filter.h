/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "base/vec.h"

/*
 * Field and label selectors that are applied here instead of by the API server, for followers that share one watch.
 * Fields are compared as texts: "spec.nodeName=a", "status.phase!=Failed". Labels: "a=b", "a!=b", "a", "!a".
 */
struct filter_term {
    char *key;
    char *value;  // NULL: only whether the label is there counts
    bool is_label;
    bool is_not;
};

struct filter {
    VEC(struct filter_term) terms;
};

/*
 * Reads both selectors; NULL or "" selects everything. Whether all of it is understood; sets of values are not, nor are
 * selectors of a single object by its name, which are better left to the server. filter_done() either way.
 */
bool filter_parse(struct filter *filter, const char *label_selector, const char *field_selector);
void filter_done(struct filter *filter);

bool filter_matches(const struct filter *filter, yyjson_val *object);
