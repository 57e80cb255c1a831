/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "base/strbuf.h"
#include "base/vec.h"

struct table_view;

/* A tree of lines, which strokes show; long lines go on below themselves. */
struct tree_line {
    uint32_t depth;
    char *text;  // owned
};

struct tree {
    VEC(struct tree_line) lines;
    struct strbuf line;  // being written
};

void tree_init(struct tree *tree);

/* Ends the line being written; it lies below the last line of a smaller depth. */
void tree_end_line(struct tree *tree, uint32_t depth);

/* Prints and frees the tree. */
void tree_print(struct tree *tree, const struct table_view *view, FILE *out);
