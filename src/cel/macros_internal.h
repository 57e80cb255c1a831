/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* How syntax trees are made, and calls that stand for more than a call. */

#include "cel/core.h"

struct tree {
    struct arena *arena;
    const char *text;
    struct err *err;
    int64_t last_id;
};

struct expr *tree_expr(struct tree *tree, enum expr_kind kind, size_t position);
struct expr *tree_literal(struct tree *tree, size_t position, struct cel_value value);
struct expr *tree_call(struct tree *tree, size_t position, const char *function, struct expr *target,
                       struct expr *const *args, uint32_t count);

/* Puts what a macro stands for in the place of its call; a call of anything else is left as it is. */
MUST_CHECK int expand_macro(struct tree *tree, struct expr *call, struct expr **ret_expr);
