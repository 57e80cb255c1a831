/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct request;
struct store_object;
struct strbuf;

/*
 * Objects as tables for people: what `kubectl get` prints. A row has the cells of the kind's columns and, as the query
 * says, the object, its metadata (the default) or nothing.
 */

/* Checks what the query says about objects in rows. False after an answer. */
bool table_check(struct request *request);

/* A table of objects. `meta` is the member "metadata" of the list. */
void table_write(struct strbuf *text, const struct request *request, const char *meta,
                 const struct store_object *const *objects, uint32_t count);

/* A table of one object; with `has_columns` false without the definitions of its columns. */
void table_write_row(struct strbuf *text, const struct request *request, const char *body, size_t len,
                     bool has_columns);

static inline void table_write_one(struct strbuf *text, const struct request *request, const char *body, size_t len)
{
    table_write_row(text, request, body, len, true);
}
