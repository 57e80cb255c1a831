/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A quantity is read as digits x 10^ten x 2^two and turned into an integer at the very end: keeping the exponents apart
 * means that no precision is lost on the way and that rounding happens once.
 */
#include "text/quantity.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/macros.h"

__extension__ typedef __int128 wide;

struct decimal {
    wide digits;
    int ten;
    int two;
    bool rest;  // a part too small to be held in `digits` was dropped
};

static const struct suffix {
    const char *text;
    int ten;
    int two;
} suffixes[] = {
    {"", 0, 0},    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},  {"k", 3, 0},   {"M", 6, 0},
    {"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},  {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20},
    {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60},
};

/* 19 digits and 60 twos stay within 128 bits; an exponent beyond this makes any amount 0, 1 or too large. */
enum { MAX_DIGITS = 19, MAX_EXPONENT = 99 };

/* Digits with at most one point. Returns what follows them, NULL when there are none. Digits past the last one that can
 * matter only move the point, and round the value up when they are not zero. */
static const char *read_digits(const char *at, struct decimal *value)
{
    bool point = false;
    bool any = false;
    int significant = 0;

    for (; isdigit((unsigned char)*at) || (*at == '.' && !point); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        any = true;
        significant += value->digits || *at != '0';
        if (significant > MAX_DIGITS) {
            value->rest |= *at != '0';
            value->ten += !point;
            continue;
        }
        value->digits = value->digits * 10 + (*at - '0');
        value->ten -= point;
    }
    return any ? at : NULL;
}

static bool read_exponent(const char *at, struct decimal *value)
{
    const char *digits = at + 1 + (at[1] == '+' || at[1] == '-');
    int exponent = 0;

    if (!isdigit((unsigned char)*digits))
        return false;
    for (; isdigit((unsigned char)*digits); digits++) {
        exponent = exponent * 10 + (*digits - '0');
        if (exponent > MAX_EXPONENT)
            exponent = MAX_EXPONENT;
    }
    value->ten += at[1] == '-' ? -exponent : exponent;
    return *digits == '\0';
}

static bool read_suffix(const char *at, struct decimal *value)
{
    /* "1E3" has an exponent, "1E" and "1Ei" a suffix: what follows the letter tells. */
    if ((*at == 'e' || *at == 'E') && strchr("+-0123456789", at[1]) && at[1] != '\0')
        return read_exponent(at, value);

    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
        if (strcmp(at, suffixes[i].text) == 0) {
            value->ten += suffixes[i].ten;
            value->two += suffixes[i].two;
            return true;
        }
    }
    return false;
}

/* The value as an integer of at most `max`, rounded up; false when it does not fit. */
static bool to_integer(struct decimal value, wide max, wide *ret_value)
{
    for (; value.ten < 0 && value.digits; value.ten++) {
        /* Twos go in before tens are divided out, so that "0.5Ki" is 512 and not 1024. */
        for (; value.two > 0 && value.digits % 10; value.two--)
            value.digits *= 2;
        value.rest |= value.digits % 10 != 0;
        value.digits /= 10;
    }
    for (; value.ten > 0 && value.digits && value.digits <= max; value.ten--)
        value.digits *= 10;
    for (; value.two > 0 && value.digits && value.digits <= max; value.two--)
        value.digits *= 2;
    value.digits += value.rest;
    if (value.digits > max)
        return false;

    *ret_value = value.digits;
    return true;
}

static int read_quantity(const char *text, struct decimal *value, struct err *err)
{
    if (*text == '-')
        return err_set(err, -EINVAL, "'%s' is negative; amounts start at 0", text);

    const char *suffix = read_digits(text + (*text == '+'), value);
    if (!suffix || !read_suffix(suffix, value))
        return err_set(err, -EINVAL, "expected a quantity such as 2, 500m, 1.5 or 64Gi, found '%s'", text);
    return 0;
}

int quantity_parse(const char *text, enum quantity_unit unit, int64_t *ret_value, struct err *err)
{
    struct decimal value = {.ten = unit == QUANTITY_MILLI ? 3 : 0};
    wide amount;
    int code = read_quantity(text, &value, err);

    if (code < 0)
        return code;
    if (!to_integer(value, INT64_MAX, &amount))
        return err_set(err, -ERANGE, "'%s' is too large", text);
    *ret_value = (int64_t)amount;
    return 0;
}

int quantity_parse_exact(const char *text, struct quantity *ret_quantity, struct err *err)
{
    struct decimal value = {.ten = 9};
    int code = read_quantity(text, &value, err);

    if (code < 0)
        return code;
    ret_quantity->is_binary = value.two > 0;
    if (!to_integer(value, INT64_MAX * QUANTITY_NANO_PER_ONE, &ret_quantity->nano))
        return err_set(err, -ERANGE, "'%s' is too large", text);
    return 0;
}

static const char *const binary_suffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

const char *quantity_format(int64_t value, enum quantity_unit unit, char text[static QUANTITY_TEXT_MAX])
{
    enum { MEBI = 2, MEGA = 1000000, GIGA = 1000000000 };
    int64_t bytes = value;
    size_t i = 0;

    if (unit == QUANTITY_MILLI && value % 1000 != 0) {
        (void)snprintf(text, QUANTITY_TEXT_MAX, "%" PRId64 "m", value);
        return text;
    }
    if (unit == QUANTITY_MILLI)
        value /= 1000;
    for (; unit == QUANTITY_ONE && value != 0 && value % 1024 == 0 && i + 1 < ARRAY_LEN(binary_suffixes); i++)
        value /= 1024;
    if (unit == QUANTITY_ONE && i < MEBI && value != 0 && bytes % MEGA == 0)
        (void)snprintf(text, QUANTITY_TEXT_MAX, "%" PRId64 "%s", bytes % GIGA ? bytes / MEGA : bytes / GIGA,
                       bytes % GIGA ? "M" : "G");
    else
        (void)snprintf(text, QUANTITY_TEXT_MAX, "%" PRId64 "%s", value, binary_suffixes[i]);
    return text;
}

/* printf knows no 128 bits: the digits from the last one on. */
static void format_wide(wide value, const char *suffix, char text[static QUANTITY_EXACT_TEXT_MAX])
{
    char digits[QUANTITY_EXACT_TEXT_MAX];
    size_t at = sizeof digits - 1;

    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + (int)(value % 10));
        value /= 10;
    } while (value > 0);
    (void)snprintf(text, QUANTITY_EXACT_TEXT_MAX, "%s%s", &digits[at], suffix);
}

const char *quantity_format_exact(const struct quantity *quantity, char text[static QUANTITY_EXACT_TEXT_MAX])
{
    static const char *const decimal[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
    wide value = quantity->nano;
    size_t i = 0;

    /* Below one Ki, and with a fraction, Kubernetes writes what was binary in decimal as well. */
    if (quantity->is_binary && value % QUANTITY_NANO_PER_ONE == 0 && value >= 1024 * QUANTITY_NANO_PER_ONE) {
        value /= QUANTITY_NANO_PER_ONE;
        for (; value % 1024 == 0 && i + 1 < ARRAY_LEN(binary_suffixes); i++)
            value /= 1024;
        format_wide(value, binary_suffixes[i], text);
        return text;
    }
    if (value == 0)
        i = 3;
    for (; value != 0 && value % 1000 == 0 && i + 1 < ARRAY_LEN(decimal); i++)
        value /= 1000;
    format_wide(value, decimal[i], text);
    return text;
}
