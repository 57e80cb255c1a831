/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/vec.h"
#include "text/terminal.h"

/*
 * Tables for a terminal: a line of titles and one line a row, in columns.
 *
 *     NODE     GPUS  STATE
 *     gpu-1       8  ready
 *
 * Cells are copied. What would move the cursor or break the line is shown as '?', since names come from outside. Widths
 * count characters, not bytes.
 */
enum table_align { TABLE_LEFT, TABLE_RIGHT };

/* What may happen to the cells of a column when the table is too wide. Only the last column can go on in further lines,
 * and gives way before the others. */
enum table_shrink { TABLE_WHOLE, TABLE_CUT, TABLE_WRAP };

struct table_column {
    const char *title;
    enum table_align align;
    enum table_shrink shrink;
};

struct table_cell {
    const char *text;
    uint32_t width;
    enum text_style style;
};

struct table {
    const struct table_column *columns;
    size_t column_count;
    struct arena texts;
    VEC(struct table_cell) cells;  // row by row
};

/*
 * Replaces line ends and tabs by spaces, and other characters that must not reach a terminal by '?', in place. Returns the
 * columns that the text takes.
 */
uint32_t table_clean(char *text);

/* Columns that the text takes on a terminal. */
uint32_t table_columns(const char *text);

/* The bytes of `text` that make one line of `width` columns: up to the last space that fits, else as many as fit. */
size_t table_line_bytes(const char *text, uint32_t width);

/* What the table is printed on. */
struct table_view {
    uint32_t width;  // in characters, 0 for any
    bool has_colour;
};

/* Borrows `columns`, which is most often a static table. */
void table_init(struct table *t, const struct table_column *columns, size_t column_count);
void table_done(struct table *t);

/* Adds the next cell; a row is full after as many as there are columns. */
void table_cell(struct table *t, enum text_style style, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The view for `out`, from what terminal_of() knows about it. */
struct table_view table_view_of(FILE *out);

/* Prints titles and full rows. Write errors are left in `out` for ferror(). */
void table_print(const struct table *t, const struct table_view *view, FILE *out);
