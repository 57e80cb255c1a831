/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"

struct state;

/* Labels of a node or a pod: pairs of interned strings, sorted by key id. */
struct label {
    name_id key;
    name_id value;
};

struct labels {
    const struct label *pairs;
    uint32_t count;
};

/* The value of `key`, or NO_ID when it is not there (an empty value is name_id 0, which is a value). */
name_id labels_get(struct labels labels, name_id key);

/* One requirement of a selector, as in Kubernetes' matchExpressions. */
enum match_op {
    MATCH_IN,
    MATCH_NOT_IN,
    MATCH_EXISTS,
    MATCH_NOT_EXISTS,
    MATCH_GREATER,  // the label as an integer; a label or value that is none matches nothing
    MATCH_LESS,
    MATCH_FIELD_NAME_IN,  // a node's name (matchFields), not a label
    MATCH_FIELD_NAME_NOT_IN,
    _MATCH_OP_MAX
};

struct match {
    enum match_op op;
    name_id key;
    const name_id *values;
    uint32_t value_count;
};

/* All of its requirements must hold; a selector without any matches everything. */
struct selector {
    const struct match *all;
    uint32_t count;
};

/* `name` is the object's own name, for MATCH_FIELD_NAME_*. */
bool selector_matches(const struct state *state, struct selector selector, struct labels labels, name_id name);
