/* SPDX-License-Identifier: Apache-2.0 */
/* Values that are no structs of the tables, and the structs that JSON writes as a single value. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/macros.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/utf8.h"
#include "kube/access/base64.h"
#include "local/wire/types.h"
#include "local/wire/wire.h"
#include "local/wire/wire_internal.h"
#include "text/json.h"

/* Seconds since 1970 at which the first and the last year begin and end that RFC 3339 can write. */
#define YEAR_1 INT64_C(-62135596800)
#define YEAR_10000 INT64_C(253402300800)

int wire_read_text(struct wire_reading *reading, const struct type_row *row, struct proto bytes,
                   yyjson_mut_val **ret_text)
{
    size_t len = proto_len(&bytes);
    yyjson_mut_val *value = yyjson_mut_strncpy(reading->doc, (const char *)bytes.at, len);
    const char *text = yyjson_mut_get_str(value);

    for (const char *at = text; at < text + len; at += strlen(at) + 1)
        if (!utf8_is_valid(at))
            return wire_fail(reading, row, "text is not UTF-8");
    *ret_text = value;
    return 0;
}

/* --- Messages of numbers and one text --- */

/* The first three fields of a small message. What is left out is zero. */
struct small {
    int64_t numbers[4];
    struct proto bytes[4];
};

static int read_small(struct wire_reading *reading, const struct type_row *row, struct proto message,
                      struct small *small)
{
    struct proto_field field;
    int code;

    *small = (struct small){.bytes = {{(const uint8_t *)"", (const uint8_t *)""}}};
    for (size_t i = 1; i < ARRAY_LEN(small->bytes); i++)
        small->bytes[i] = small->bytes[0];
    while ((code = proto_next(&message, &field)) > 0) {
        if (field.number >= ARRAY_LEN(small->numbers))
            continue;
        if (field.type == PROTO_BYTES)
            small->bytes[field.number] = field.bytes;
        else
            small->numbers[field.number] = (int64_t)field.value;
    }
    return code < 0 ? wire_fail(reading, row, "malformed message") : 0;
}

static int read_int_or_string(struct wire_reading *reading, const struct type_row *row, const struct small *small,
                              yyjson_mut_val **ret_value)
{
    if (small->numbers[1] == 1)
        return wire_read_text(reading, row, small->bytes[3], ret_value);
    *ret_value = yyjson_mut_sint(reading->doc, (int32_t)small->numbers[2]);
    return 0;
}

static int read_time(struct wire_reading *reading, const struct type_row *row, const struct small *small,
                     yyjson_mut_val **ret_value)
{
    time_t seconds = small->numbers[1];
    int64_t nanos = CLAMP(small->numbers[2], INT64_C(0), NSEC_PER_SEC - 1);
    char text[TIME_TEXT_MAX * 2];
    char fraction[16] = "";
    struct tm parts;

    /* In seconds, because clients send times from the year 1 on, and nanoseconds in 64 bits begin with the year 1678. */
    if (seconds < YEAR_1 || seconds >= YEAR_10000 || !gmtime_r(&seconds, &parts))
        return wire_fail(reading, row, "time out of range");
    if (row->type != TYPE_TIME)
        (void)snprintf(fraction, sizeof fraction, ".%06" PRId64, nanos / NSEC_PER_USEC);
    (void)snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d%sZ", parts.tm_year + 1900, parts.tm_mon + 1,
                   parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, fraction);
    *ret_value = yyjson_mut_strcpy(reading->doc, text);
    return 0;
}

static int read_raw(struct wire_reading *reading, const struct type_row *row, struct proto bytes,
                    yyjson_mut_val **ret_value)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;

    *ret_value = yyjson_mut_null(reading->doc);
    if (proto_len(&bytes) == 0)
        return 0;
    int code = json_parse((const char *)bytes.at, proto_len(&bytes), row_name(row), &doc, reading->err);
    if (code < 0)
        return code;
    *ret_value = yyjson_val_mut_copy(reading->doc, yyjson_doc_get_root(doc));
    return 0;
}

/* The text of a quantity; an empty message is 0. */
static int read_quantity(struct wire_reading *reading, const struct type_row *row, struct proto bytes,
                         yyjson_mut_val **ret_value)
{
    *ret_value = yyjson_mut_str(reading->doc, "0");
    return proto_len(&bytes) ? wire_read_text(reading, row, bytes, ret_value) : 0;
}

/* --- Messages that repeat a field --- */

static int read_strings(struct wire_reading *reading, const struct type_row *row, struct proto message, uint32_t number,
                        yyjson_mut_val **ret_value)
{
    struct proto_field field;
    yyjson_mut_val *list = yyjson_mut_arr(reading->doc);
    int code;

    while ((code = proto_next(&message, &field)) > 0) {
        yyjson_mut_val *text = NULL;
        if (field.number != number || field.type != PROTO_BYTES)
            continue;
        if ((code = wire_count_value(reading, row)) < 0 ||
            (code = wire_read_text(reading, row, field.bytes, &text)) < 0)
            return code;
        yyjson_mut_arr_append(list, text);
    }
    *ret_value = list;
    return code < 0 ? wire_fail(reading, row, "malformed list") : 0;
}

static int read_schemas(struct wire_reading *reading, const struct type_row *row, struct proto message,
                        yyjson_mut_val **ret_value)
{
    struct proto_field field;
    yyjson_mut_val *list = yyjson_mut_arr(reading->doc);
    int code;

    while ((code = proto_next(&message, &field)) > 0) {
        if (field.number != 2 || field.type != PROTO_BYTES)
            continue;
        yyjson_mut_val *schema = yyjson_mut_arr_add_obj(reading->doc, list);
        if ((code = wire_count_value(reading, row)) < 0 ||
            (code = wire_read_message(reading, type_schema(), field.bytes, schema)) < 0)
            return code;
    }
    *ret_value = list;
    return code < 0 ? wire_fail(reading, row, "malformed list of schemas") : 0;
}

/* A schema, or what can stand in its place. The schema is field 1, but for the choice with a bool, where it is field 2. */
static int read_schema_choice(struct wire_reading *reading, const struct type_row *row, struct proto message,
                              yyjson_mut_val **ret_value)
{
    const uint32_t number = row->type == TYPE_SCHEMA_OR_BOOL ? 2 : 1;
    struct proto at = message;
    struct proto_field field;
    struct small small;

    while (proto_next(&at, &field) > 0) {
        if (field.number == number && field.type == PROTO_BYTES) {
            *ret_value = yyjson_mut_obj(reading->doc);
            return wire_read_message(reading, type_schema(), field.bytes, *ret_value);
        }
    }
    if (row->type == TYPE_SCHEMA_OR_LIST)
        return read_schemas(reading, row, message, ret_value);
    if (row->type == TYPE_SCHEMA_OR_NAMES)
        return read_strings(reading, row, message, 2, ret_value);
    int code = read_small(reading, row, message, &small);
    if (code < 0)
        return code;
    *ret_value = yyjson_mut_bool(reading->doc, small.numbers[1] != 0);
    return 0;
}

/* --- By kind --- */

static int read_number(struct wire_reading *reading, const struct type_row *row, const struct proto_field *field,
                       yyjson_mut_val **ret_value)
{
    double real;

    if (field->type != (row->type == TYPE_DOUBLE ? PROTO_FIXED64 : PROTO_VARINT))
        return wire_fail(reading, row, "expected a number");
    if (row->type == TYPE_BOOL) {
        *ret_value = yyjson_mut_bool(reading->doc, field->value != 0);
    } else if (row->type == TYPE_DOUBLE) {
        memcpy(&real, &field->value, sizeof real);
        if (!__builtin_isfinite(real))
            return wire_fail(reading, row, "expected a finite number");
        *ret_value = yyjson_mut_real(reading->doc, real);
    } else {
        int64_t value = row->type == TYPE_INT32 ? (int32_t)field->value : (int64_t)field->value;
        *ret_value = yyjson_mut_sint(reading->doc, value);
    }
    return 0;
}

static int read_bytes(struct wire_reading *reading, struct proto bytes, yyjson_mut_val **ret_value)
{
    _cleanup_(freep) char *text = base64_encode(bytes.at, proto_len(&bytes));

    *ret_value = yyjson_mut_strcpy(reading->doc, text);
    return 0;
}

static int read_small_value(struct wire_reading *reading, const struct type_row *row, struct proto message,
                            yyjson_mut_val **ret_value)
{
    char text[DURATION_TEXT_MAX];
    struct small small;
    int code = read_small(reading, row, message, &small);

    if (code < 0)
        return code;
    if (row->type == TYPE_QUANTITY)
        return read_quantity(reading, row, small.bytes[1], ret_value);
    if (row->type == TYPE_INT_OR_STRING)
        return read_int_or_string(reading, row, &small, ret_value);
    if (row->type == TYPE_RAW)
        return read_raw(reading, row, small.bytes[1], ret_value);
    if (row->type == TYPE_DURATION) {
        *ret_value = yyjson_mut_strcpy(reading->doc, duration_format(small.numbers[1], text));
        return 0;
    }
    /* An empty message is the time that was never set. */
    if (proto_len(&message) > 0)
        return read_time(reading, row, &small, ret_value);
    *ret_value = yyjson_mut_null(reading->doc);
    return 0;
}

int wire_read_plain(struct wire_reading *reading, const struct type_row *row, const struct proto_field *field,
                    yyjson_mut_val **ret_value)
{
    if (row->type >= TYPE_BOOL && row->type <= TYPE_DOUBLE)
        return read_number(reading, row, field, ret_value);
    if (field->type != PROTO_BYTES)
        return wire_fail(reading, row, "expected bytes");
    if (row->type == TYPE_STRING)
        return wire_read_text(reading, row, field->bytes, ret_value);
    if (row->type == TYPE_BYTES)
        return read_bytes(reading, field->bytes, ret_value);
    if (row->type == TYPE_STRINGS)
        return read_strings(reading, row, field->bytes, 1, ret_value);
    if (row->type >= TYPE_SCHEMA_OR_BOOL && row->type <= TYPE_SCHEMA_OR_NAMES)
        return read_schema_choice(reading, row, field->bytes, ret_value);
    return read_small_value(reading, row, field->bytes, ret_value);
}
