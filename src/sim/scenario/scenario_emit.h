/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Writes JSON as it goes, so that an outcome of a million pods is never held as a document. `key` is NULL in arrays and
 * at the top. Write errors stay in `out`.
 */
struct emit {
    FILE *out;
    bool needs_comma;
};

void emit_open(struct emit *e, const char *key, char bracket);
void emit_close(struct emit *e, char bracket);
void emit_str(struct emit *e, const char *key, const char *text);
void emit_bool(struct emit *e, const char *key, bool value);
void emit_int(struct emit *e, const char *key, int64_t value);

/* Whole numbers without a point; other numbers with as many digits as it takes to read the same number again. */
void emit_double(struct emit *e, const char *key, double value);

/* The key of a value that the caller writes. */
void emit_key(struct emit *e, const char *key);
