/* SPDX-License-Identifier: Apache-2.0 */
/* Values that are no structs of the tables: their types, and the one way in which each is written. */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/time.h"
#include "local/wire/normal.h"
#include "local/wire/normal_internal.h"
#include "local/wire/types.h"
#include "text/quantity.h"

#define BASE64_DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

static void set_text(struct normal *normal, yyjson_mut_val *value, const char *text)
{
    yyjson_mut_val *copy = yyjson_mut_strcpy(normal->doc, text);

    yyjson_mut_set_strn(value, yyjson_mut_get_str(copy), yyjson_mut_get_len(copy));
}

/* For values that Go reads by themselves, without knowing the member that they are in. */
static int fail_lone(struct normal *normal, yyjson_mut_val *value, const char *type)
{
    const char *found = yyjson_mut_is_obj(value)    ? "object"
                        : yyjson_mut_is_arr(value)  ? "array"
                        : yyjson_mut_is_bool(value) ? "bool"
                        : yyjson_mut_is_num(value)  ? "number"
                                                    : "string";

    return err_set(normal->err, -EINVAL, "json: cannot unmarshal %s into Go value of type %s", found, type);
}

/* --- Numbers --- */

static bool is_integer(yyjson_mut_val *value, int64_t min, int64_t max)
{
    if (yyjson_mut_is_uint(value))
        return yyjson_mut_get_uint(value) <= (uint64_t)max;
    return yyjson_mut_is_sint(value) && yyjson_mut_get_sint(value) >= min && yyjson_mut_get_sint(value) <= max;
}

/* A whole number is written without a point. */
static bool settle_double(yyjson_mut_val *value)
{
    const double exact_max = 9007199254740992.0;
    double number = yyjson_mut_get_num(value);

    if (yyjson_mut_is_real(value) && number >= -exact_max && number <= exact_max && number == (double)(int64_t)number)
        yyjson_mut_set_sint(value, (int64_t)number);
    return yyjson_mut_is_num(value);
}

static int check_int_or_string(struct normal *normal, yyjson_mut_val *value)
{
    if (yyjson_mut_is_str(value) || is_integer(value, INT32_MIN, INT32_MAX))
        return 0;
    return fail_lone(normal, value, "int32");
}

/* --- Quantities --- */

/* Whether it has the form of a quantity, be the suffix right or not. */
static bool has_quantity_form(const char *text)
{
    size_t digits = strspn(text += *text == '-' || *text == '+', "0123456789.");

    text += digits;
    text += strspn(text, "eEinumkKMGTP");
    text += *text == '-' || *text == '+';
    return digits > 0 && text[strspn(text, "0123456789")] == '\0';
}

static bool has_exponent(const char *text)
{
    const char *letter = strpbrk(text, "eE");

    return letter && letter[1] && strchr("+-0123456789", letter[1]);
}

/* A quantity that was written with an exponent keeps one: "2k" becomes "2e3". */
static void write_exponent(char *text, size_t size)
{
    static const char suffixes[] = "numkMGTPE";
    static const int powers[] = {-9, -6, -3, 3, 6, 9, 12, 15, 18};
    size_t len = strlen(text);
    const char *suffix = strchr(suffixes, text[len - 1]);

    if (suffix)
        (void)snprintf(text + len - 1, size - len + 1, "e%d", powers[suffix - suffixes]);
}

static int settle_quantity(struct normal *normal, yyjson_mut_val *value)
{
    char number[48];
    char text[QUANTITY_EXACT_TEXT_MAX + 8] = "-";
    struct quantity quantity;

    if (yyjson_mut_is_num(value)) {
        char *written = yyjson_mut_val_write(value, YYJSON_WRITE_NOFLAG, NULL);
        (void)snprintf(number, sizeof number, "%s", written ? written : "");
        free(written);
        set_text(normal, value, number);
    }
    const char *given = yyjson_mut_get_str(value);
    if (!given || !has_quantity_form(given))
        return err_set(normal->err, -EINVAL,
                       "quantities must match the regular expression "
                       "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    bool is_negative = *given == '-';
    int code = quantity_parse_exact(given + is_negative, &quantity, NULL);
    if (code == -ERANGE)
        return 0;
    if (code < 0)
        return err_set(normal->err, -EINVAL, "unable to parse quantity's suffix");
    if (quantity.nano == 0)
        is_negative = false;
    (void)quantity_format_exact(&quantity, text + is_negative);
    if (has_exponent(given))
        write_exponent(text, sizeof text);
    if (strcmp(text, given) != 0)
        set_text(normal, value, text);
    return 0;
}

/* --- Times --- */

static int fail_time(struct normal *normal, const char *given, const char *layout)
{
    return err_set(normal->err, -EINVAL, "parsing time \"%s\" as \"%s\": cannot parse \"%s\" as \"2006\"", given,
                   layout, given);
}

static int settle_time(struct normal *normal, yyjson_mut_val *value, bool is_micro)
{
    const char *given = yyjson_mut_get_str(value);
    char text[TIME_TEXT_MAX];
    char micro[TIME_TEXT_MAX + 8];
    nsec_t time;

    if (!given)
        return fail_lone(normal, value, "string");
    int code = time_parse(given, &time, NULL);
    if (code == -ERANGE) {
        /* The time that Go has for none is earlier than any that is kept here. */
        if (strncmp(given, "0001-01-01T00:00:00", 19) == 0)
            yyjson_mut_set_null(value);
        return 0;
    }
    if (code < 0)
        return fail_time(normal, given, is_micro ? "2006-01-02T15:04:05.000000Z07:00" : "2006-01-02T15:04:05Z07:00");
    nsec_t part = (time % NSEC_PER_SEC + NSEC_PER_SEC) % NSEC_PER_SEC;
    (void)time_format(time - part, text);
    (void)snprintf(micro, sizeof micro, "%.*s.%06" PRId64 "Z", (int)strlen(text) - 1, text, part / NSEC_PER_USEC);
    if (strcmp(given, is_micro ? micro : text) != 0)
        set_text(normal, value, is_micro ? micro : text);
    return 0;
}

static int settle_duration(struct normal *normal, yyjson_mut_val *value)
{
    const char *given = yyjson_mut_get_str(value);
    char text[DURATION_TEXT_MAX];
    nsec_t duration;

    if (!given)
        return fail_lone(normal, value, "string");
    if (duration_parse(given, &duration, NULL) < 0)
        return err_set(normal->err, -EINVAL, "time: invalid duration \"%s\"", given);
    set_text(normal, value, duration_format(duration, text));
    return 0;
}

/* --- Bytes --- */

static void drop_line_ends(struct normal *normal, yyjson_mut_val *value)
{
    _cleanup_(freep) char *clean = xstrndup(yyjson_mut_get_str(value), yyjson_mut_get_len(value));
    char *to = clean;

    for (const char *at = clean; *at; at++)
        if (*at != '\n' && *at != '\r')
            *to++ = *at;
    *to = '\0';
    set_text(normal, value, clean);
}

/* Line ends are allowed and dropped; the position of a fault is that of the group of four that it is in, as Go has it. */
static int settle_bytes(struct normal *normal, const struct normal_at *at, yyjson_mut_val *value)
{
    const char *text = yyjson_mut_get_str(value);
    size_t digits = 0;
    size_t padding = 0;
    size_t position = 0;

    if (!text)
        return normal_fail_type(normal, at, value);
    for (; position < yyjson_mut_get_len(value); position++) {
        char c = text[position];
        if (c == '\n' || c == '\r')
            continue;
        bool is_digit = c && strchr(BASE64_DIGITS, c) && padding == 0;
        bool is_padding = c == '=' && digits % 4 >= 2 && digits % 4 + padding < 4;
        if (!is_digit && !is_padding)
            return err_set(normal->err, -EINVAL, "illegal base64 data at input byte %zu", position);
        digits += is_digit;
        padding += is_padding;
    }
    if ((digits + padding) % 4)
        return err_set(normal->err, -EINVAL, "illegal base64 data at input byte %zu", position - digits % 4 - padding);
    if (digits + padding < position)
        drop_line_ends(normal, value);
    return 0;
}

/* --- By kind --- */

static int check_strings(struct normal *normal, const struct normal_at *at, yyjson_mut_val *value)
{
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(value);

    if (!yyjson_mut_is_arr(value))
        return normal_fail_type(normal, at, value);
    for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));)
        if (!yyjson_mut_is_str(item))
            return normal_fail_type(normal, at, item);
    return 0;
}

static int settle_schema_choice(struct normal *normal, const struct normal_at *at, yyjson_mut_val *value)
{
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(value);
    int code = 0;

    if (yyjson_mut_is_obj(value))
        return normal_struct(normal, type_schema(), value, at->field);
    if (at->row->type == TYPE_SCHEMA_OR_BOOL && yyjson_mut_is_bool(value))
        return 0;
    if (at->row->type == TYPE_SCHEMA_OR_NAMES)
        return check_strings(normal, at, value);
    if (at->row->type == TYPE_SCHEMA_OR_BOOL || !yyjson_mut_is_arr(value))
        return normal_fail_type(normal, at, value);
    for (yyjson_mut_val *item; code == 0 && (item = yyjson_mut_arr_iter_next(&iter));) {
        const struct field field = field_item(at->field, iter.idx - 1);
        code = yyjson_mut_is_obj(item) ? normal_struct(normal, type_schema(), item, &field)
                                       : normal_fail_type(normal, at, item);
    }
    return code;
}

int normal_plain(struct normal *normal, const struct normal_at *at, yyjson_mut_val *value)
{
    bool is_right = true;

    switch (at->row->type) {
    case TYPE_STRING:
        is_right = yyjson_mut_is_str(value);
        break;
    case TYPE_BOOL:
        is_right = yyjson_mut_is_bool(value);
        break;
    case TYPE_INT32:
        is_right = is_integer(value, INT32_MIN, INT32_MAX);
        break;
    case TYPE_INT64:
        is_right = is_integer(value, INT64_MIN, INT64_MAX);
        break;
    case TYPE_DOUBLE:
        is_right = settle_double(value);
        break;
    case TYPE_BYTES:
        return settle_bytes(normal, at, value);
    case TYPE_QUANTITY:
        return settle_quantity(normal, value);
    case TYPE_INT_OR_STRING:
        return check_int_or_string(normal, value);
    case TYPE_TIME:
    case TYPE_MICRO_TIME:
        return settle_time(normal, value, at->row->type == TYPE_MICRO_TIME);
    case TYPE_DURATION:
        return settle_duration(normal, value);
    case TYPE_STRINGS:
        return check_strings(normal, at, value);
    case TYPE_SCHEMA_OR_BOOL:
    case TYPE_SCHEMA_OR_LIST:
    case TYPE_SCHEMA_OR_NAMES:
        return settle_schema_choice(normal, at, value);
    default:
        break;  // any JSON
    }
    return is_right ? 0 : normal_fail_type(normal, at, value);
}
