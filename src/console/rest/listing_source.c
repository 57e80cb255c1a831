/* SPDX-License-Identifier: Apache-2.0 */
#include "console/rest/listing_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "console/rest/context.h"
#include "console/rest/listing_internal.h"

enum { SQL_MAX = 512 };

/* A row that is sorted: the page is known when all have passed. */
struct kept {
    struct listing_cell cell;
    yyjson_doc *doc;
    uint32_t at;  // rows that are equal keep their order
};

struct reading {
    struct request *request;
    const struct listing_source *source;
    struct listing_query query;
    bool is_paged;              // the rows are those of the page
    struct listing_rows *rows;  // NULL: they are counted
    VEC(struct kept) kept;
    struct listing_found found;
    struct err *err;
};

static void show(struct reading *reading, yyjson_val *row)
{
    vec_push(reading->rows, copy_item(reading->request->doc, row));
}

static int take_row(void *arg, const struct db_value *columns, size_t count)
{
    struct reading *reading = arg;
    const struct listing_page *page = &reading->query.page;
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const char *text = columns[0].text ? columns[0].text : "";
    int r = json_parse(text, strlen(text), "a row", &doc, reading->err);

    (void)count;
    if (r < 0)
        return r;
    yyjson_val *row = yyjson_doc_get_root(doc);
    if (reading->is_paged) {
        show(reading, row);
        return 0;
    }
    if (reading->source->may_see && !reading->source->may_see(reading->source->arg, row))
        return 0;
    reading->found.all++;
    if (!listing_query_wants(&reading->query, (struct listing_row){.read = row}))
        return 0;
    int64_t at = reading->found.total++;
    if (!reading->rows)
        return 0;
    if (reading->query.order) {
        vec_push(&reading->kept, (struct kept){.at = (uint32_t)at});
        struct kept *kept = &vec_last(&reading->kept);
        listing_cell_read((struct listing_row){.read = row}, reading->query.order, &kept->cell);
        kept->doc = TAKE_PTR(doc);
    } else if (at >= page->offset && at < page->offset + page->limit) {
        show(reading, row);
    }
    return 0;
}

static int compare(const void *a, const void *b, void *arg)
{
    const struct kept *left = a, *right = b;
    int order = listing_query_compare(arg, &left->cell, &right->cell);

    return order ? order : (left->at > right->at) - (left->at < right->at);
}

static void show_sorted(struct reading *reading)
{
    const struct listing_page *page = &reading->query.page;

    if (reading->kept.len > 1)
        qsort_r(reading->kept.items, reading->kept.len, sizeof *reading->kept.items, compare, &reading->query);
    for (int64_t i = page->offset; i < MIN(page->offset + page->limit, (int64_t)reading->kept.len); i++)
        show(reading, yyjson_doc_get_root(reading->kept.items[i].doc));
}

static void reading_done(struct reading *reading)
{
    vec_foreach (&reading->kept, kept)
        yyjson_doc_free(kept->doc);
    vec_done(&reading->kept);
}

/* The numbers are ours. */
static int read_rows(struct reading *reading, struct err *err)
{
    const struct listing_page *page = &reading->query.page;
    const struct listing_source *source = reading->source;
    struct db_call call = source->rows;
    char sql[SQL_MAX];
    int len = snprintf(sql, sizeof sql, "%s", source->rows.sql);

    BUG_ON(len < 0 || (size_t)len >= sizeof sql - 64);
    if (reading->is_paged)
        (void)snprintf(sql + len, sizeof sql - (size_t)len, " LIMIT %lld OFFSET %lld", (long long)page->limit,
                       (long long)page->offset);
    else if (source->rows_max > 0)
        (void)snprintf(sql + len, sizeof sql - (size_t)len, " LIMIT %lld", (long long)source->rows_max);
    call.sql = sql;
    return db_query(reading->request->console->db, call, take_row, reading, err);
}

static int read_count(struct reading *reading, struct err *err)
{
    struct db_call call = reading->source->rows;
    int r;

    call.sql = reading->source->count;
    r = db_query_number(reading->request->console->db, call, &reading->found.total, err);
    reading->found.all = reading->found.total;
    return r;
}

int listing_load(struct request *request, const struct listing_kind *kind, const struct listing_source *source,
                 struct listing_rows *ret_rows, struct listing_found *ret_found, struct err *err)
{
    struct reading reading = {.request = request, .source = source, .rows = ret_rows, .err = err};
    const struct listing_page *page = &reading.query.page;
    int r = listing_query_read(request->exchange, kind, &reading.query, err);

    if (r < 0)
        return r;
    reading.is_paged = page->is_plain && !source->may_see;
    if (ret_rows || !reading.is_paged)
        r = read_rows(&reading, err);
    if (r == 0 && ret_rows && reading.query.order)
        show_sorted(&reading);
    if (r == 0 && reading.is_paged)
        r = read_count(&reading, err);
    int64_t after = page->offset + (ret_rows ? ret_rows->len : 0);
    reading.found.next = after > page->offset && after < reading.found.total ? after : -1;
    *ret_found = reading.found;
    reading_done(&reading);
    return r;
}
