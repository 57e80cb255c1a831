/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "console/rest/listing.h"

/* The query of a list, read once: listing.c's and listing_source.c's. */
enum { LISTING_FILTERS_MAX = 16, LISTING_VALUE_MAX = 256 };

struct listing_filter {
    const char *pointer;
    int operator;
    double number;  // of the value
    char value[LISTING_VALUE_MAX];
};

struct listing_query {
    struct listing_filter filters[LISTING_FILTERS_MAX];
    size_t filter_count;
    const char *search;  // NULL: nothing is searched
    const char *search_pointer;
    const char *order;  // the pointer; NULL: the rows' own
    bool is_descending;
    struct listing_page page;
};

MUST_CHECK int listing_query_read(const struct http_exchange *exchange, const struct listing_kind *kind,
                                  struct listing_query *ret_query, struct err *err);

/* A row's value as a text and, where it is one, a number. */
struct listing_cell {
    char text[LISTING_VALUE_MAX];
    double number;
    bool is_number;
};

/* A row is a mutable value or one of a document: whichever a caller has, and NULL for the other. */
struct listing_row {
    yyjson_mut_val *made;
    yyjson_val *read;
};

void listing_cell_read(struct listing_row row, const char *pointer, struct listing_cell *cell);

/* Whether the filters and the search leave the row. */
bool listing_query_wants(const struct listing_query *query, struct listing_row row);

/* The order of two cells, as the query has it. */
int listing_query_compare(const struct listing_query *query, const struct listing_cell *left,
                          const struct listing_cell *right);
