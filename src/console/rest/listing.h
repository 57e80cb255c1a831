/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/macros.h"
#include "base/vec.h"

struct err;
struct http_exchange;

/* Lists by the query: filterBy, search, sortBy, sortOrder, offset and limit. */

/* A field that a list may be filtered and sorted by, and where it lies in a row, as a JSON pointer. */
struct listing_field {
    const char *name;
    const char *pointer;
};

struct listing_kind {
    const struct listing_field *fields;  // up to one without a name
    const char *search;                  // the pointer that is searched
    uint32_t limit;                      // unless the query has one
    uint32_t limit_max;
};

struct listing_rows VEC_OF(yyjson_mut_val *);

struct listing_page {
    bool is_plain;  // all rows are wanted, in their own order
    int64_t offset;
    int64_t limit;
};

/* What the query says about the page, for lists too long to be read whole. */
MUST_CHECK int listing_page(const struct http_exchange *exchange, const struct listing_kind *kind,
                            struct listing_page *ret_page, struct err *err);

/*
 * Keeps the rows that the query asks for, in its order. `ret_total` is how many there are before offset and limit, and
 * `ret_next` the offset of the next page, or -1. Returns 0, or -EINVAL with what is wrong with the query.
 */
MUST_CHECK int listing_apply(const struct http_exchange *exchange, const struct listing_kind *kind,
                             struct listing_rows *rows, int64_t *ret_total, int64_t *ret_next, struct err *err);
