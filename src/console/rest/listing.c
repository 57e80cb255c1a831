/* SPDX-License-Identifier: Apache-2.0 */
#include "console/rest/listing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "net/rest/rest.h"

enum { FILTERS_MAX = 16, VALUE_MAX = 256 };

enum operator{ EQUALS, DIFFERS, AT_MOST, AT_LEAST, CONTAINS, LACKS, STARTS, ENDS };

static const struct {
    const char *text;
    enum operator operator;
} operators[] = {
    {"==", EQUALS},   {"!=", DIFFERS}, {"<=", AT_MOST}, {">=", AT_LEAST},
    {"=@", CONTAINS}, {"!@", LACKS},   {"=^", STARTS},  {"=$", ENDS},
};

struct filter {
    const char *pointer;
    enum operator operator;
    char value[VALUE_MAX];
};

/* A row's value as a text and, where it is one, a number. */
struct cell {
    char text[VALUE_MAX];
    double number;
    bool is_number;
};

static void read_cell(yyjson_mut_val *row, const char *pointer, struct cell *cell)
{
    yyjson_mut_val *value = yyjson_mut_ptr_get(row, pointer);

    *cell = (struct cell){0};
    if (yyjson_mut_is_str(value)) {
        (void)snprintf(cell->text, sizeof cell->text, "%s", yyjson_mut_get_str(value));
    } else if (yyjson_mut_is_num(value)) {
        cell->is_number = true;
        cell->number = yyjson_mut_get_num(value);
        (void)snprintf(cell->text, sizeof cell->text, "%.17g", cell->number);
    } else if (yyjson_mut_is_bool(value)) {
        (void)snprintf(cell->text, sizeof cell->text, "%s", yyjson_mut_get_bool(value) ? "true" : "false");
    }
}

static bool matches(yyjson_mut_val *row, const struct filter *filter)
{
    struct cell cell;
    const char *at;
    size_t len = strlen(filter->value);

    read_cell(row, filter->pointer, &cell);
    double number = strtod(filter->value, NULL);
    int order = cell.is_number ? (cell.number > number) - (cell.number < number) : strcmp(cell.text, filter->value);

    switch (filter->operator) {
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

static const char *find_pointer(const struct listing_kind *kind, const char *name, size_t len)
{
    for (const struct listing_field *field = kind->fields; field->name; field++) {
        if (strlen(field->name) == len && strncmp(field->name, name, len) == 0)
            return field->pointer;
    }
    return NULL;
}

/* "name=@abc". */
static int parse_filter(const struct listing_kind *kind, const char *text, size_t len, struct filter *ret_filter,
                        struct err *err)
{
    size_t name_len = strcspn(text, "=!<>");

    ret_filter->pointer = name_len < len ? find_pointer(kind, text, name_len) : NULL;
    if (!ret_filter->pointer)
        return err_set(err, -EINVAL, "filterBy: there is no field in '%.*s'", (int)MIN(len, (size_t)100), text);
    for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
        size_t value_len = len - name_len - 2;

        if (len < name_len + 2 || strncmp(text + name_len, operators[i].text, 2) != 0)
            continue;
        if (value_len >= VALUE_MAX)
            return err_set(err, -EINVAL, "filterBy: the value is too long");
        ret_filter->operator= operators[i].operator;
        memcpy(ret_filter->value, text + name_len + 2, value_len);
        ret_filter->value[value_len] = '\0';
        return 0;
    }
    return err_set(err, -EINVAL, "filterBy: there is no operator in '%.*s'", (int)MIN(len, (size_t)100), text);
}

/* Filters come in one parameter, separated by commas, or in several. */
static int parse_filters(const struct http_exchange *exchange, const struct listing_kind *kind, struct filter *filters,
                         size_t *ret_count, struct err *err)
{
    const char *name;
    const char *value;

    for (size_t at = 0; rest_query_next(exchange, &at, &name, &value);) {
        if (strcmp(name, "filterBy") != 0)
            continue;
        for (const char *text = value; *text;) {
            size_t len = strcspn(text, ",");

            if (*ret_count == FILTERS_MAX)
                return err_set(err, -EINVAL, "filterBy: more than %d filters", FILTERS_MAX);
            int r = parse_filter(kind, text, len, &filters[*ret_count], err);
            if (r < 0)
                return r;
            ++*ret_count;
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

struct order {
    const char *pointer;
    bool is_descending;
};

static int compare(const void *a, const void *b, void *arg)
{
    const struct order *order = arg;
    struct cell left, right;

    read_cell(*(yyjson_mut_val *const *)a, order->pointer, &left);
    read_cell(*(yyjson_mut_val *const *)b, order->pointer, &right);
    int result = left.is_number && right.is_number ? (left.number > right.number) - (left.number < right.number)
                                                   : strcmp(left.text, right.text);
    return order->is_descending ? -result : result;
}

static int parse_order(const struct http_exchange *exchange, const struct listing_kind *kind, struct order *ret_order,
                       struct err *err)
{
    const char *by = rest_query(exchange, "sortBy");
    const char *direction = rest_query(exchange, "sortOrder");

    if (by && !(ret_order->pointer = find_pointer(kind, by, strlen(by))))
        return err_set(err, -EINVAL, "sortBy: there is no field '%.100s'", by);
    if (direction && strcmp(direction, "asc") != 0 && strcmp(direction, "desc") != 0)
        return err_set(err, -EINVAL, "sortOrder: expected 'asc' or 'desc'");
    ret_order->is_descending = direction && strcmp(direction, "desc") == 0;
    return 0;
}

static bool is_wanted(yyjson_mut_val *row, const struct filter *filters, size_t count, const char *search,
                      const char *search_pointer)
{
    struct cell cell;

    for (size_t i = 0; i < count; i++) {
        if (!matches(row, &filters[i]))
            return false;
    }
    if (!search || !*search)
        return true;
    read_cell(row, search_pointer, &cell);
    return strcasestr(cell.text, search) != NULL;
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

int listing_apply(const struct http_exchange *exchange, const struct listing_kind *kind, struct listing_rows *rows,
                  int64_t *ret_total, int64_t *ret_next, struct err *err)
{
    struct filter filters[FILTERS_MAX];
    struct order order = {0};
    size_t filter_count = 0;
    struct listing_page page;
    uint32_t kept = 0;
    int r;

    if ((r = parse_filters(exchange, kind, filters, &filter_count, err)) < 0 ||
        (r = parse_order(exchange, kind, &order, err)) < 0 || (r = listing_page(exchange, kind, &page, err)) < 0)
        return r;
    for (uint32_t i = 0; i < rows->len; i++) {
        if (is_wanted(rows->items[i], filters, filter_count, rest_query(exchange, "search"), kind->search))
            rows->items[kept++] = rows->items[i];
    }
    if (order.pointer && kept > 1)
        qsort_r(rows->items, kept, sizeof *rows->items, compare, &order);
    *ret_total = kept;
    int64_t first = MIN(page.offset, (int64_t)kept);
    int64_t count = MIN(page.limit, (int64_t)kept - first);
    if (first > 0 && count > 0)
        memmove(rows->items, rows->items + first, (size_t)count * sizeof *rows->items);
    rows->len = (uint32_t)count;
    *ret_next = first + count < kept ? first + count : -1;
    return 0;
}
