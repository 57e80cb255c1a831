/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/macros.h"
#include "base/vec.h"

struct err;

/*
 * Reading comma-separated values (RFC 4180) whose first line names the columns. Fields may be quoted, with "" for a
 * quote and with line breaks inside; lines end with LF or CRLF; empty lines and, before the titles, lines that start
 * with '#' are left out, and so are blanks around titles. Messages start with "name:line: ".
 */
struct csv {
    const char *name;
    char separator;
    char *at;  // what is left of the text
    char *end;
    uint32_t line;  // on which the row that was read last starts
    uint32_t next_line;
    VEC(const char *) titles;
    VEC(const char *) fields;  // of the row that was read last
};

enum { CSV_COLUMNS_MAX = 1024 };

/*
 * Starts to read the `len` bytes at `text`, which are followed by one more byte (file_read() leaves a NUL there), and
 * reads the titles. The text is the reader's from here on: fields point into it, quotes are taken out in place. `name`
 * stands for it in messages. Returns 0 or -EINVAL.
 */
MUST_CHECK int csv_init(struct csv *csv, char *text, size_t len, const char *name, struct err *err);
void csv_done(struct csv *csv);

/* The same for values that are separated by another character, such as '|'; quotes have no meaning there. */
MUST_CHECK int csv_init_separated(struct csv *csv, char *text, size_t len, const char *name, char separator,
                                  struct err *err);

/* The number of the column called `title`, CSV_NO_COLUMN when there is none. Case does not matter. */
#define CSV_NO_COLUMN SIZE_MAX
size_t csv_find(const struct csv *csv, const char *title);

/*
 * Finds several columns at once. Those that are needed and missing are named in one message, with the titles that are
 * there. Returns 0 or -EINVAL.
 */
struct csv_column {
    const char *title;
    bool is_required;
    size_t index;  // is set: CSV_NO_COLUMN when there is none
};

MUST_CHECK int csv_find_all(const struct csv *csv, struct csv_column *columns, size_t count, struct err *err);

/* Reads the next row. Returns 1, 0 at the end, or -EINVAL when it has more or fewer fields than there are titles. */
MUST_CHECK int csv_next(struct csv *csv, struct err *err);

/* Field `column` of the row, NUL-terminated; "" for CSV_NO_COLUMN. Valid as long as the text. */
const char *csv_field(const struct csv *csv, size_t column);

/* Reports that something is wrong with a field of the row: "<name>:<line>: <title>: <what>". Returns -EINVAL. */
int csv_fail(const struct csv *csv, size_t column, struct err *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Writes a field, in quotes where it needs them. */
void csv_write(const char *text, FILE *out);
