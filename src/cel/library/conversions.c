/* SPDX-License-Identifier: Apache-2.0 */

/* Conversions between types. Texts are read and numbers written as Go does it. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cel/library/library.h"

enum { NUMBER_TEXT_MAX = 400 };

static struct cel_value failed(void)
{
    return error_value(CEL_FAILED, "type conversion error");
}

static struct cel_value same(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    return args[0];
}

/* A copy that ends with NUL, for the functions of libc; NULL when the text is longer or has a NUL in it. */
static const char *short_copy(struct cel_text text, char *out, size_t size)
{
    if (text.len >= size || memchr(text.bytes, '\0', text.len))
        return NULL;
    memcpy(out, text.bytes, text.len);
    out[text.len] = '\0';
    return out;
}

/* Digits alone, with a sign where one may be. */
static bool is_integer_text(const char *text, bool can_be_negative)
{
    if ((*text == '-' || *text == '+') && can_be_negative)
        text++;
    return *text && text[strspn(text, "0123456789")] == '\0';
}

static struct cel_value to_int(struct run *run, const struct cel_value *args, int count)
{
    char copy[NUMBER_TEXT_MAX];
    const struct timestamp *time = args[0].other;

    (void)run;
    (void)count;
    switch (args[0].kind) {
    case CEL_UINT:
        return args[0].uinteger > INT64_MAX ? error_value(CEL_RANGE, "integer overflow")
                                            : cel_int((int64_t)args[0].uinteger);
    case CEL_DOUBLE:
        if (isnan(args[0].number) || args[0].number <= -TWO_TO_63 || args[0].number >= TWO_TO_63)
            return error_value(CEL_RANGE, "integer overflow");
        return cel_int((int64_t)args[0].number);
    case CEL_DURATION:
        return cel_int(args[0].integer);
    case CEL_TIMESTAMP:
        return cel_int(time->seconds);
    default:
        if (!short_copy(args[0].text, copy, sizeof copy) || !is_integer_text(copy, true))
            return failed();
        errno = 0;
        long long value = strtoll(copy, NULL, 10);
        return errno ? failed() : cel_int(value);
    }
}

static struct cel_value to_uint(struct run *run, const struct cel_value *args, int count)
{
    struct cel_value value = {.kind = CEL_UINT};
    char copy[NUMBER_TEXT_MAX];

    (void)run;
    (void)count;
    switch (args[0].kind) {
    case CEL_INT:
        if (args[0].integer < 0)
            return error_value(CEL_RANGE, "unsigned integer overflow");
        value.uinteger = (uint64_t)args[0].integer;
        return value;
    case CEL_DOUBLE:
        if (isnan(args[0].number) || args[0].number < 0 || args[0].number >= TWO_TO_64)
            return error_value(CEL_RANGE, "unsigned integer overflow");
        value.uinteger = (uint64_t)args[0].number;
        return value;
    default:
        if (!short_copy(args[0].text, copy, sizeof copy) || !is_integer_text(copy, false))
            return failed();
        errno = 0;
        value.uinteger = strtoull(copy, NULL, 10);
        return errno ? failed() : value;
    }
}

/* What Go reads as a number: decimal, hexadecimal with an exponent, infinities and NaN; underscores are not read. */
static bool read_double(struct cel_text text, double *ret_number)
{
    char copy[NUMBER_TEXT_MAX];
    char *end;

    if (!short_copy(text, copy, sizeof copy) || !*copy || isspace((unsigned char)*copy))
        return false;
    bool is_hex = strstr(copy, "0x") || strstr(copy, "0X");
    if (strchr(copy, '(') || (is_hex && !strpbrk(copy, "pP")))
        return false;
    *ret_number = strtod(copy, &end);
    bool is_written = strpbrk(copy, "nN") != NULL;
    return *end == '\0' && (is_written || !isinf(*ret_number)) && !(isnan(*ret_number) && strpbrk(copy, "+-"));
}

static struct cel_value to_double(struct run *run, const struct cel_value *args, int count)
{
    struct cel_value value = {.kind = CEL_DOUBLE};

    (void)run;
    (void)count;
    if (args[0].kind == CEL_INT)
        value.number = (double)args[0].integer;
    else if (args[0].kind == CEL_UINT)
        value.number = (double)args[0].uinteger;
    else if (!read_double(args[0].text, &value.number))
        return failed();
    return value;
}

static struct cel_value to_bool(struct run *run, const struct cel_value *args, int count)
{
    static const char *const yes[] = {"1", "t", "T", "true", "TRUE", "True"};
    static const char *const no[] = {"0", "f", "F", "false", "FALSE", "False"};

    (void)run;
    (void)count;
    for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
        if (text_equals(args[0].text, yes[i]))
            return cel_bool(true);
        if (text_equals(args[0].text, no[i]))
            return cel_bool(false);
    }
    return failed();
}

static struct cel_value to_bytes(struct run *run, const struct cel_value *args, int count)
{
    struct cel_value value = args[0];

    (void)run;
    (void)count;
    value.kind = CEL_BYTES;
    return value;
}

/* The fewest digits that are read as the same number, as Go's %g writes them: with an exponent from 10^6 on. */
size_t write_double(double number, char *out, size_t size)
{
    char digits[40];
    int precision = 0;

    if (isnan(number) || isinf(number))
        return (size_t)snprintf(out, size, "%s", isnan(number) ? "NaN" : number > 0 ? "+Inf" : "-Inf");
    do
        (void)snprintf(digits, sizeof digits, "%.*e", precision, number);
    while (strtod(digits, NULL) != number && ++precision < 17);
    long exponent = strtol(strchr(digits, 'e') + 1, NULL, 10);
    if (exponent < -4 || exponent >= 6)
        return (size_t)snprintf(out, size, "%s", digits);
    return (size_t)snprintf(out, size, "%.*f", MAX(precision - (int)exponent, 0), number);
}

static size_t trim_zeros(const char *digits, int count)
{
    while (count > 0 && digits[count - 1] == '0')
        count--;
    return (size_t)count;
}

static size_t write_duration(int64_t nanos, char *out, size_t size)
{
    const uint64_t amount = nanos < 0 ? -(uint64_t)nanos : (uint64_t)nanos;
    char fraction[16];

    (void)snprintf(fraction, sizeof fraction, "%09u", (unsigned)(amount % 1000000000U));
    size_t digits = trim_zeros(fraction, 9);
    return (size_t)snprintf(out, size, "%s%llu%s%.*ss", nanos < 0 ? "-" : "",
                            (unsigned long long)(amount / 1000000000U), digits ? "." : "", (int)digits, fraction);
}

/* A NUL is a character like others. */
static bool is_utf8(struct cel_text text)
{
    char last[5];

    for (size_t at = 0, len; at < text.len; at += len) {
        const char *here = text.bytes + at;
        if (text.len - at < 4) {
            (void)snprintf(last, sizeof last, "%.*s", (int)(text.len - at), here);
            here = last;
        }
        len = *here ? utf8_len(here) : 1;
        if (len == 0)
            return false;
    }
    return true;
}

static struct cel_value to_string(struct run *run, const struct cel_value *args, int count)
{
    char out[NUMBER_TEXT_MAX];
    size_t len = 0;

    (void)count;
    switch (args[0].kind) {
    case CEL_BOOL:
        return cel_string(args[0].boolean ? "true" : "false");
    case CEL_INT:
        len = (size_t)snprintf(out, sizeof out, "%lld", (long long)args[0].integer);
        break;
    case CEL_UINT:
        len = (size_t)snprintf(out, sizeof out, "%llu", (unsigned long long)args[0].uinteger);
        break;
    case CEL_DOUBLE:
        len = write_double(args[0].number, out, sizeof out);
        break;
    case CEL_DURATION:
        len = write_duration(args[0].integer, out, sizeof out);
        break;
    case CEL_TIMESTAMP:
        len = write_timestamp(*(const struct timestamp *)args[0].other, out, sizeof out);
        break;
    case CEL_IP:
        len = write_address(args[0].other, out, sizeof out);
        break;
    case CEL_CIDR:
        len = write_address(args[0].other, out, sizeof out);
        len += (size_t)snprintf(out + len, sizeof out - len, "/%u", ((const struct address *)args[0].other)->bits);
        break;
    default:
        if (!is_utf8(args[0].text))
            return failed();
        return text_value(args[0].text.bytes, args[0].text.len);
    }
    return text_copy(run, out, len);
}

struct cel_value value_to_text(struct run *run, struct cel_value value)
{
    return value.kind == CEL_STRING ? value : to_string(run, &value, 1);
}

static struct cel_value to_duration(struct run *run, const struct cel_value *args, int count)
{
    int64_t nanos;

    (void)run;
    (void)count;
    return read_duration(args[0].text, &nanos) ? duration_value(nanos) : failed();
}

static struct cel_value to_timestamp(struct run *run, const struct cel_value *args, int count)
{
    struct timestamp time = {0};

    (void)count;
    if (args[0].kind == CEL_INT) {
        time.seconds = args[0].integer;
        if (time.seconds < TIME_MIN || time.seconds > TIME_MAX)
            return error_value(CEL_RANGE, "timestamp overflow");
    } else if (!read_timestamp(args[0].text, &time)) {
        return failed();
    }
    return timestamp_value(run, time);
}

static struct cel_value type_of(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    return (struct cel_value){.kind = CEL_TYPE, .type = value_type(args[0])};
}

static const struct overload rows[] = {
    {"bool", "bool_to_bool", "(bool) bool", same},
    {"bool", "string_to_bool", "(string) bool", to_bool},
    {"bytes", "bytes_to_bytes", "(bytes) bytes", same},
    {"bytes", "string_to_bytes", "(string) bytes", to_bytes},
    {"double", "double_to_double", "(double) double", same},
    {"double", "int64_to_double", "(int) double", to_double},
    {"double", "string_to_double", "(string) double", to_double},
    {"double", "uint64_to_double", "(uint) double", to_double},
    {"duration", "duration_to_duration", "(" DURATION ") " DURATION, same},
    {"duration", "string_to_duration", "(string) " DURATION, to_duration},
    {"dyn", "to_dyn", "(A) dyn", same},
    {"int", "int64_to_int64", "(int) int", same},
    {"int", "double_to_int64", "(double) int", to_int},
    {"int", "duration_to_int64", "(" DURATION ") int", to_int},
    {"int", "string_to_int64", "(string) int", to_int},
    {"int", "timestamp_to_int64", "(" TIMESTAMP ") int", to_int},
    {"int", "uint64_to_int64", "(uint) int", to_int},
    {"string", "string_to_string", "(string) string", same},
    {"string", "bool_to_string", "(bool) string", to_string},
    {"string", "bytes_to_string", "(bytes) string", to_string},
    {"string", "double_to_string", "(double) string", to_string},
    {"string", "duration_to_string", "(" DURATION ") string", to_string},
    {"string", "int64_to_string", "(int) string", to_string},
    {"string", "timestamp_to_string", "(" TIMESTAMP ") string", to_string},
    {"string", "uint64_to_string", "(uint) string", to_string},
    {"string", "ip_to_string", "(net.IP) string", to_string},
    {"string", "cidr_to_string", "(net.CIDR) string", to_string},
    {"timestamp", "timestamp_to_timestamp", "(" TIMESTAMP ") " TIMESTAMP, same},
    {"timestamp", "int64_to_timestamp", "(int) " TIMESTAMP, to_timestamp},
    {"timestamp", "string_to_timestamp", "(string) " TIMESTAMP, to_timestamp},
    {"type", "type", "(A) type(A)", type_of},
    {"uint", "uint64_to_uint64", "(uint) uint", same},
    {"uint", "double_to_uint64", "(double) uint", to_uint},
    {"uint", "int64_to_uint64", "(int) uint", to_uint},
    {"uint", "string_to_uint64", "(string) uint", to_uint},
};

const struct overload_table conversion_table = {rows, ARRAY_LEN(rows)};
