/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "console/data/db.h"
#include "console/rest/listing.h"

struct request;

/*
 * A list whose rows are in the database. Without filters the database gives the page alone; otherwise rows pass one by one, and
 * only those of the page are kept, so that a long list costs neither time nor memory for what is not shown.
 */
struct listing_source {
    struct db_call rows;  // a SELECT without LIMIT: one column with the JSON, in the usual order
    const char *count;    // a SELECT with the same parameters: how many there are
    int64_t rows_max;     // that are looked at; 0: all
    bool (*may_see)(void *arg, yyjson_val *row);  // NULL: the caller may see every row
    void *arg;
};

/* All items of a kind in a place, by their names. The texts are borrowed. */
#define LISTING_ITEMS(the_kind, place)                                                                       \
    .rows = DB_CALL("SELECT doc FROM items WHERE kind = $1 AND place = $2 ORDER BY name", db_text(the_kind), \
                    db_text(place)),                                                                         \
    .count = "SELECT count(*) FROM items WHERE kind = $1 AND place = $2"

struct listing_found {
    int64_t all;    // that the caller may see
    int64_t total;  // of these, that the query wants
    int64_t next;   // the offset of the next page; -1: there is none
};

/* The rows of the page as values of the answer. `ret_rows` may be NULL, when only their number is wanted. Returns 0, -EINVAL with
 * what is wrong with the query, or the failure of the database. */
MUST_CHECK int listing_load(struct request *request, const struct listing_kind *kind,
                            const struct listing_source *source, struct listing_rows *ret_rows,
                            struct listing_found *ret_found, struct err *err);
