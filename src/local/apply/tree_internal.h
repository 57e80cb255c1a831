/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/strmap.h"
#include "base/vec.h"
#include "local/apply/tree.h"

/* The elements of a list that is merged, by the steps that lead to them. Those without a step are left out. */
struct tree_element {
    const char *step;
    yyjson_mut_val *value;
    bool is_repeated;  // another one has the same step
};

struct tree_elements {
    VEC(struct tree_element *) list;
    struct strmap by_step;  // the first of several
};

void tree_index(const struct shape *shape, yyjson_mut_val *list, struct tree_elements *elements, struct arena *arena);
struct tree_element *tree_element_find(const struct tree_elements *elements, const char *step);
void tree_elements_done(struct tree_elements *elements);

/* Whether there is nothing in it: no value, null, {} or []. */
bool tree_is_empty(yyjson_mut_val *value);
bool tree_is_list(enum schema_merge merge);
bool tree_is_object(enum schema_merge merge);
const char *tree_member_step(const char *name, struct arena *arena);

/* Reports the element of a list that occurs twice. Returns -EINVAL. */
int tree_fail_repeated(const struct fields *fields, const char *path, struct err *err);
