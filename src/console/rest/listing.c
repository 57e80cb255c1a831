/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/mem.h"
#include "console/rest/listing_internal.h"
#include "net/rest/rest.h"

enum operator{ EQUALS, DIFFERS, AT_MOST, AT_LEAST, CONTAINS, LACKS, STARTS, ENDS };

static const struct {
    const char *text;
    enum operator operator;
} operators[] = {
    {"==", EQUALS},   {"!=", DIFFERS}, {"<=", AT_MOST}, {">=", AT_LEAST},
    {"=@", CONTAINS}, {"!@", LACKS},   {"=^", STARTS},  {"=$", ENDS},
};

static void set_number(struct listing_cell *cell, double number)
{
    cell->is_number = true;
    cell->number = number;
    (void)snprintf(cell->text, sizeof cell->text, "%.17g", number);
}

static void set_text(struct listing_cell *cell, const char *text)
{
    (void)snprintf(cell->text, sizeof cell->text, "%s", text);
}

static void read_made(yyjson_mut_val *value, struct listing_cell *cell)
{
    if (yyjson_mut_is_str(value))
        set_text(cell, yyjson_mut_get_str(value));
    else if (yyjson_mut_is_num(value))
        set_number(cell, yyjson_mut_get_num(value));
    else if (yyjson_mut_is_bool(value))
        set_text(cell, yyjson_mut_get_bool(value) ? "true" : "false");
}

static void read_read(yyjson_val *value, struct listing_cell *cell)
{
    if (yyjson_is_str(value))
        set_text(cell, yyjson_get_str(value));
    else if (yyjson_is_num(value))
        set_number(cell, yyjson_get_num(value));
    else if (yyjson_is_bool(value))
        set_text(cell, yyjson_get_bool(value) ? "true" : "false");
}

void listing_cell_read(struct listing_row row, const char *pointer, struct listing_cell *cell)
{
    cell->text[0] = '\0';
    cell->is_number = false;
    if (row.made)
        read_made(yyjson_mut_ptr_get(row.made, pointer), cell);
    else
        read_read(yyjson_ptr_get(row.read, pointer), cell);
}

static bool matches(struct listing_row row, const struct listing_filter *filter)
{
    struct listing_cell cell;
    const char *at;
    size_t len = strlen(filter->value);

    listing_cell_read(row, filter->pointer, &cell);
    int order = cell.is_number ? (cell.number > filter->number) - (cell.number < filter->number)
                               : strcmp(cell.text, filter->value);

    switch ((enum operator)filter->operator) {
    case EQUALS:
        return order == 0;
    case DIFFERS:
        return order != 0;
    case AT_MOST:
        return order <= 0;
    case AT_LEAST:
        return order >= 0;
    case CONTAINS:
        return strcasestr(cell.text, filter->value) != NULL;
    case LACKS:
        return strcasestr(cell.text, filter->value) == NULL;
    case STARTS:
        return strncasecmp(cell.text, filter->value, len) == 0;
    case ENDS:
        at = strlen(cell.text) >= len ? cell.text + strlen(cell.text) - len : NULL;
        return at && strcasecmp(at, filter->value) == 0;
    }
    return false;
}

bool listing_query_wants(const struct listing_query *query, struct listing_row row)
{
    struct listing_cell cell;

    for (size_t i = 0; i < query->filter_count; i++) {
        if (!matches(row, &query->filters[i]))
            return false;
    }
    if (!query->search || !*query->search)
        return true;
    listing_cell_read(row, query->search_pointer, &cell);
    return strcasestr(cell.text, query->search) != NULL;
}

static const char *find_pointer(const struct listing_kind *kind, const char *name, size_t len)
{
    for (const struct listing_field *field = kind->fields; field->name; field++) {
        if (strlen(field->name) == len && strncmp(field->name, name, len) == 0)
            return field->pointer;
    }
    return NULL;
}

/* "name=@abc". */
static int parse_filter(const struct listing_kind *kind, const char *text, size_t len,
                        struct listing_filter *ret_filter, struct err *err)
{
    size_t name_len = strcspn(text, "=!<>");

    ret_filter->pointer = name_len < len ? find_pointer(kind, text, name_len) : NULL;
    if (!ret_filter->pointer)
        return err_set(err, -EINVAL, "filterBy: there is no field in '%.*s'", (int)MIN(len, (size_t)100), text);
    for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
        size_t value_len = len - name_len - 2;

        if (len < name_len + 2 || strncmp(text + name_len, operators[i].text, 2) != 0)
            continue;
        if (value_len >= LISTING_VALUE_MAX)
            return err_set(err, -EINVAL, "filterBy: the value is too long");
        ret_filter->operator= operators[i].operator;
        memcpy(ret_filter->value, text + name_len + 2, value_len);
        ret_filter->value[value_len] = '\0';
        ret_filter->number = strtod(ret_filter->value, NULL);
        return 0;
    }
    return err_set(err, -EINVAL, "filterBy: there is no operator in '%.*s'", (int)MIN(len, (size_t)100), text);
}

/* Filters come in one parameter, separated by commas, or in several. */
static int parse_filters(const struct http_exchange *exchange, const struct listing_kind *kind,
                         struct listing_query *query, struct err *err)
{
    const char *name;
    const char *value;

    for (size_t at = 0; rest_query_next(exchange, &at, &name, &value);) {
        if (strcmp(name, "filterBy") != 0)
            continue;
        for (const char *text = value; *text;) {
            size_t len = strcspn(text, ",");

            if (query->filter_count == LISTING_FILTERS_MAX)
                return err_set(err, -EINVAL, "filterBy: more than %d filters", LISTING_FILTERS_MAX);
            int r = parse_filter(kind, text, len, &query->filters[query->filter_count], err);
            if (r < 0)
                return r;
            query->filter_count++;
            text += len + (text[len] == ',');
        }
    }
    return 0;
}

static int parse_number(const struct http_exchange *exchange, const char *name, int64_t min, int64_t max,
                        int64_t *ret_number, struct err *err)
{
    const char *text = rest_query(exchange, name);
    char *end;

    if (!text)
        return 0;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (!*text || *end || errno || number < min || number > max)
        return err_set(err, -EINVAL, "%s: expected a whole number from %lld to %lld", name, (long long)min,
                       (long long)max);
    *ret_number = number;
    return 0;
}

int listing_query_compare(const struct listing_query *query, const struct listing_cell *left,
                          const struct listing_cell *right)
{
    int result = left->is_number && right->is_number ? (left->number > right->number) - (left->number < right->number)
                                                     : strcmp(left->text, right->text);

    return query->is_descending ? -result : result;
}

static int parse_order(const struct http_exchange *exchange, const struct listing_kind *kind,
                       struct listing_query *query, struct err *err)
{
    const char *by = rest_query(exchange, "sortBy");
    const char *direction = rest_query(exchange, "sortOrder");

    if (by && !(query->order = find_pointer(kind, by, strlen(by))))
        return err_set(err, -EINVAL, "sortBy: there is no field '%.100s'", by);
    if (direction && strcmp(direction, "asc") != 0 && strcmp(direction, "desc") != 0)
        return err_set(err, -EINVAL, "sortOrder: expected 'asc' or 'desc'");
    query->is_descending = direction && strcmp(direction, "desc") == 0;
    return 0;
}

int listing_page(const struct http_exchange *exchange, const struct listing_kind *kind, struct listing_page *ret_page,
                 struct err *err)
{
    int r;

    *ret_page = (struct listing_page){
        .is_plain = !rest_query(exchange, "filterBy") && !rest_query(exchange, "search") &&
                    !rest_query(exchange, "sortBy") && !rest_query(exchange, "sortOrder"),
        .limit = kind->limit,
    };
    r = parse_number(exchange, "offset", 0, INT32_MAX, &ret_page->offset, err);
    return r < 0 ? r : parse_number(exchange, "limit", 1, kind->limit_max, &ret_page->limit, err);
}

int listing_query_read(const struct http_exchange *exchange, const struct listing_kind *kind,
                       struct listing_query *ret_query, struct err *err)
{
    int r;

    *ret_query = (struct listing_query){.search = rest_query(exchange, "search"), .search_pointer = kind->search};
    if ((r = parse_filters(exchange, kind, ret_query, err)) < 0 ||
        (r = parse_order(exchange, kind, ret_query, err)) < 0)
        return r;
    return listing_page(exchange, kind, &ret_query->page, err);
}

/* A row and the cell that it is sorted by, which is read once. */
struct sorted {
    struct listing_cell cell;
    yyjson_mut_val *row;
    uint32_t at;  // rows that are equal keep their order
};

static int compare(const void *a, const void *b, void *arg)
{
    const struct sorted *left = a, *right = b;
    int order = listing_query_compare(arg, &left->cell, &right->cell);

    return order ? order : (left->at > right->at) - (left->at < right->at);
}

static void sort(struct listing_query *query, yyjson_mut_val **rows, uint32_t count)
{
    struct sorted *sorted = xcalloc(count, sizeof *sorted);

    for (uint32_t i = 0; i < count; i++) {
        sorted[i].row = rows[i];
        sorted[i].at = i;
        listing_cell_read((struct listing_row){.made = rows[i]}, query->order, &sorted[i].cell);
    }
    qsort_r(sorted, count, sizeof *sorted, compare, query);
    for (uint32_t i = 0; i < count; i++)
        rows[i] = sorted[i].row;
    free(sorted);
}

int listing_apply(const struct http_exchange *exchange, const struct listing_kind *kind, struct listing_rows *rows,
                  int64_t *ret_total, int64_t *ret_next, struct err *err)
{
    struct listing_query query;
    uint32_t kept = 0;
    int r = listing_query_read(exchange, kind, &query, err);

    if (r < 0)
        return r;
    for (uint32_t i = 0; i < rows->len; i++) {
        if (listing_query_wants(&query, (struct listing_row){.made = rows->items[i]}))
            rows->items[kept++] = rows->items[i];
    }
    if (query.order && kept > 1)
        sort(&query, rows->items, kept);
    *ret_total = kept;
    int64_t first = MIN(query.page.offset, (int64_t)kept);
    int64_t count = MIN(query.page.limit, (int64_t)kept - first);
    if (first > 0 && count > 0)
        memmove(rows->items, rows->items + first, (size_t)count * sizeof *rows->items);
    rows->len = (uint32_t)count;
    *ret_next = first + count < kept ? first + count : -1;
    return 0;
}
