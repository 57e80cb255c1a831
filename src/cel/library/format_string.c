/* SPDX-License-Identifier: Apache-2.0 */

/*
 * string.format(): %s for anything, %d for integers, %f and %e for doubles, %x, %X, %o and %b for integers in other bases,
 * and %% for a percent sign.
 */
#include "cel/library/format_string.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "cel/library/library.h"

enum { FORMAT_PRECISION_MAX = 1000 };

struct clause {
    char verb;
    int precision;  // -1: not given
    size_t len;
};

/* Reads what stands behind a percent sign. */
static bool read_clause(const char *at, size_t left, struct clause *ret_clause)
{
    size_t i = 0;

    *ret_clause = (struct clause){.precision = -1};
    if (i < left && at[i] == '.') {
        int precision = 0;
        for (i++; i < left && isdigit((unsigned char)at[i]); i++)
            precision = MIN(precision * 10 + (at[i] - '0'), FORMAT_PRECISION_MAX + 1);
        if (at[i - 1] == '.' || precision > FORMAT_PRECISION_MAX)
            return false;
        ret_clause->precision = precision;
    }
    if (i >= left || !strchr("sdfebxXo", at[i]) || !at[i])
        return false;
    ret_clause->verb = at[i];
    ret_clause->len = i + 1;
    return true;
}

/* --- Values --- */

static bool write_any(struct run *run, struct strbuf *out, struct cel_value value, bool is_nested);

static bool write_list(struct run *run, struct strbuf *out, const struct cel_list *list)
{
    strbuf_addch(out, '[');
    for (size_t i = 0; i < list->len; i++) {
        strbuf_addstr(out, i ? ", " : "");
        if (!write_any(run, out, list->items->values[i], true))
            return false;
    }
    strbuf_addch(out, ']');
    return true;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Entries in the order of their keys as they are written. */
static bool write_map(struct run *run, struct strbuf *out, const struct cel_map *map)
{
    char **entries = run_alloc(run, map->len * sizeof *entries);
    bool is_right = entries != NULL;
    size_t made = 0;

    for (size_t i = 0; is_right && i < map->len; i++) {
        struct strbuf entry;
        strbuf_init(&entry, run->memory_left);
        is_right = write_any(run, &entry, map->entries[i].key, true);
        strbuf_addstr(&entry, ": ");
        is_right = is_right && write_any(run, &entry, map->entries[i].value, true) &&
                   run_takes(run, entry.is_cut ? SIZE_MAX : entry.len);
        entries[made++] = strbuf_take(&entry);
        strbuf_done(&entry);
    }
    if (is_right && made)
        qsort(entries, made, sizeof *entries, by_text);
    strbuf_addch(out, '{');
    for (size_t i = 0; i < made; i++) {
        strbuf_addstr(out, i ? ", " : "");
        strbuf_addstr(out, entries[i]);
        free(entries[i]);
    }
    strbuf_addch(out, '}');
    return is_right;
}

static bool write_any(struct run *run, struct strbuf *out, struct cel_value value, bool is_nested)
{
    if (!run_works(run, 1))
        return false;
    switch (value.kind) {
    case CEL_LIST:
        return write_list(run, out, value.list);
    case CEL_MAP:
        return write_map(run, out, value.map);
    case CEL_NULL:
        strbuf_addstr(out, "null");
        return true;
    case CEL_TYPE:
        strbuf_addstr(out, value.type->name);
        return true;
    case CEL_BOOL:
    case CEL_INT:
    case CEL_UINT:
    case CEL_DOUBLE:
    case CEL_STRING:
    case CEL_BYTES:
    case CEL_DURATION:
    case CEL_TIMESTAMP: {
        bool has_quotes = is_nested && (value.kind == CEL_STRING || value.kind == CEL_BYTES ||
                                        value.kind == CEL_DURATION || value.kind == CEL_TIMESTAMP);
        struct cel_value text = value_to_text(run, value);
        if (text.kind == CEL_ERROR)
            return false;
        strbuf_addstr(out, has_quotes ? "\"" : "");
        strbuf_add(out, text.text.bytes, text.text.len);
        strbuf_addstr(out, has_quotes ? "\"" : "");
        return true;
    }
    default:
        return false;
    }
}

/* --- Numbers --- */

static bool as_number(struct cel_value value, double *ret_number)
{
    if (value.kind == CEL_STRING && (text_equals(value.text, "NaN") || text_equals(value.text, "Infinity") ||
                                     text_equals(value.text, "-Infinity"))) {
        *ret_number = text_equals(value.text, "NaN") ? NAN : *value.text.bytes == '-' ? -INFINITY : INFINITY;
        return true;
    }
    *ret_number = value.number;
    return value.kind == CEL_DOUBLE;
}

/* Thousands are separated. */
static void write_grouped(struct strbuf *out, const char *digits)
{
    size_t whole = strcspn(digits, ".");
    size_t sign = *digits == '-';

    for (size_t i = 0; i < whole; i++) {
        if (i > sign && (whole - i) % 3 == 0)
            strbuf_addch(out, ',');
        strbuf_addch(out, digits[i]);
    }
    strbuf_addstr(out, digits + whole);
}

/* "1.5 x 10^3" with a raised exponent. */
static void write_scientific(struct strbuf *out, const char *digits)
{
    static const char *const raised[] = {"\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",     "\xc2\xb3",
                                         "\xe2\x81\xb4", "\xe2\x81\xb5", "\xe2\x81\xb6", "\xe2\x81\xb7",
                                         "\xe2\x81\xb8", "\xe2\x81\xb9"};
    const char *exponent = strchr(digits, 'e');

    strbuf_add(out, digits, (size_t)(exponent - digits));
    strbuf_addstr(out, "\xe2\x80\xaf\xc3\x97\xe2\x80\xaf"
                       "10");
    for (const char *at = exponent + 1; *at; at++) {
        if (*at == '-')
            strbuf_addstr(out, "\xe2\x81\xbb");
        else if (isdigit((unsigned char)*at))
            strbuf_addstr(out, raised[*at - '0']);
    }
}

static bool write_double_as(struct strbuf *out, struct cel_value value, struct clause clause)
{
    char digits[FORMAT_PRECISION_MAX + 400];
    double number;

    if (!as_number(value, &number))
        return false;
    if (isnan(number) || isinf(number)) {
        strbuf_addstr(out, isnan(number) ? "NaN" : number > 0 ? "\xe2\x88\x9e" : "-\xe2\x88\x9e");
        return true;
    }
    int precision = clause.precision < 0 ? 6 : clause.precision;
    if (clause.verb == 'f') {
        (void)snprintf(digits, sizeof digits, "%.*f", precision, number);
        write_grouped(out, digits);
    } else {
        (void)snprintf(digits, sizeof digits, "%.*e", precision, number);
        write_scientific(out, digits);
    }
    return true;
}

static void write_in_base(struct strbuf *out, uint64_t amount, bool is_negative, unsigned base, bool is_upper)
{
    const char *digits = is_upper ? "0123456789ABCDEF" : "0123456789abcdef";
    char text[72];
    size_t at = sizeof text;

    do
        text[--at] = digits[amount % base];
    while (amount /= base);
    if (is_negative)
        text[--at] = '-';
    strbuf_add(out, text + at, sizeof text - at);
}

static bool write_integer_as(struct strbuf *out, struct cel_value value, char verb)
{
    const unsigned base = verb == 'b' ? 2 : verb == 'o' ? 8 : verb == 'd' ? 10 : 16;
    const bool is_negative = value.kind == CEL_INT && value.integer < 0;

    if (verb == 'b' && value.kind == CEL_BOOL) {
        strbuf_addch(out, value.boolean ? '1' : '0');
        return true;
    }
    if (base == 16 && (value.kind == CEL_STRING || value.kind == CEL_BYTES)) {
        for (size_t i = 0; i < value.text.len; i++)
            strbuf_addf(out, verb == 'X' ? "%02X" : "%02x", (unsigned char)value.text.bytes[i]);
        return true;
    }
    if (value.kind != CEL_INT && value.kind != CEL_UINT)
        return false;
    write_in_base(out, is_negative ? -(uint64_t)value.integer : value.uinteger, is_negative, base, verb == 'X');
    return true;
}

static bool write_clause(struct run *run, struct strbuf *out, struct clause clause, struct cel_value value)
{
    if (clause.verb == 's')
        return write_any(run, out, value, false);
    if (clause.verb == 'f' || clause.verb == 'e')
        return write_double_as(out, value, clause);
    return write_integer_as(out, value, clause.verb);
}

struct cel_value format_call(struct run *run, const struct cel_value *args, int count)
{
    const struct cel_text format = args[0].text;
    struct strbuf out;
    size_t used = 0;
    bool is_right = true;

    (void)count;
    strbuf_init(&out, run->memory_left);
    for (size_t i = 0; is_right && i < format.len; i++) {
        struct clause clause;
        if (format.bytes[i] != '%') {
            strbuf_addch(&out, format.bytes[i]);
            continue;
        }
        if (i + 1 < format.len && format.bytes[i + 1] == '%') {
            strbuf_addch(&out, '%');
            i++;
            continue;
        }
        is_right = read_clause(format.bytes + i + 1, format.len - i - 1, &clause) && used < args[1].list->len &&
                   write_clause(run, &out, clause, args[1].list->items->values[used]);
        used++;
        i += is_right ? clause.len : 0;
    }
    if (out.is_cut)
        run->stopped = CEL_MEMORY;
    struct cel_value value = run->stopped ? stopped_value(run)
                             : is_right   ? text_copy(run, out.text, out.len)
                                          : error_value(CEL_FAILED, "cannot be formatted");
    strbuf_done(&out);
    return value;
}

/* --- Literals --- */

static bool is_one_of(const struct cel_type *type, const enum type_kind *kinds, size_t count)
{
    if (type->kind == TYPE_DYN || type->kind == TYPE_ANY)
        return true;
    for (size_t i = 0; i < count; i++)
        if (type->kind == kinds[i])
            return true;
    return false;
}

static bool can_be_text(const struct cel_type *type)
{
    static const enum type_kind kinds[] = {TYPE_NULL,   TYPE_BOOL,  TYPE_INT,      TYPE_UINT,      TYPE_DOUBLE,
                                           TYPE_STRING, TYPE_BYTES, TYPE_DURATION, TYPE_TIMESTAMP, TYPE_TYPE};

    if (type->kind == TYPE_LIST || type->kind == TYPE_MAP) {
        for (int i = 0; i < type->param_count; i++)
            if (!can_be_text(type->params[i]))
                return false;
        return true;
    }
    return is_one_of(type, kinds, ARRAY_LEN(kinds));
}

static bool can_be_formatted(char verb, const struct cel_type *type)
{
    static const enum type_kind kinds[] = {TYPE_INT, TYPE_UINT, TYPE_BOOL, TYPE_STRING, TYPE_BYTES};
    static const enum type_kind doubles[] = {TYPE_DOUBLE, TYPE_STRING};

    switch (verb) {
    case 's':
        return can_be_text(type);
    case 'f':
    case 'e':
        return is_one_of(type, doubles, 1);
    case 'b':
        return is_one_of(type, kinds, 3);
    case 'x':
    case 'X':
        return type->kind != TYPE_BOOL && is_one_of(type, kinds, 5);
    default:
        return is_one_of(type, kinds, 2);
    }
}

int check_format(const char *text, const struct expr *call, struct err *err)
{
    const struct cel_text format = call->target->literal.text;
    const struct expr *args = call->args[0];
    uint32_t used = 0;

    for (size_t i = 0; i < format.len; i++) {
        struct clause clause;
        if (format.bytes[i] != '%')
            continue;
        if (i + 1 < format.len && format.bytes[i + 1] == '%') {
            i++;
            continue;
        }
        if (used >= args->arg_count)
            return position_error(text, call->position, err, "index %u out of range", used);
        if (!read_clause(format.bytes + i + 1, format.len - i - 1, &clause))
            return position_error(text, call->position, err, "unrecognized formatting clause");
        if (!can_be_formatted(clause.verb, args->args[used]->type))
            return position_error(text, args->args[used]->position, err, "%%%c cannot format this type", clause.verb);
        used++;
        i += clause.len;
    }
    if (args->arg_count > used)
        return position_error(text, call->position, err, "too many arguments supplied to string.format");
    return 0;
}
