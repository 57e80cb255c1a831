/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/request/value.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "gpu/request/request.h"
#include "text/quantity.h"

enum { DIGITS_MAX = 64, EXPONENT_MAX = 64 };

/* Digits with a point, and a power of ten behind them, as billionths; what is finer is cut off. No sign but a plus, no
 * NaN, nothing endless: "1e400" is more than anybody has. */
static bool read_decimal(const char *text, uint64_t max_whole, uint64_t *ret_billionths)
{
    char digits[DIGITS_MAX];
    size_t count = 0;
    long point = 0;
    bool has_point = false;

    text += *text == '+';
    for (; isdigit((unsigned char)*text) || (*text == '.' && !has_point); text++) {
        if (*text == '.') {
            has_point = true;
            continue;
        }
        if (count == DIGITS_MAX)
            return false;
        digits[count++] = *text;
        point += !has_point;
    }
    if (count == 0)
        return false;
    if (*text == 'e' || *text == 'E') {
        char *end;
        long exponent = strtol(text + 1, &end, 10);
        if (end == text + 1 || isspace((unsigned char)text[1]) || exponent > EXPONENT_MAX || exponent < -EXPONENT_MAX)
            return false;
        point += exponent;
        text = end;
    }
    uint64_t value = 0;
    for (long i = 0; i < point + 9; i++) {
        if (value > (max_whole + 1) * GPU_REQUEST_WHOLE)
            return false;
        value = value * 10 + (i < (long)count ? (uint64_t)(digits[i] - '0') : 0);
    }
    *ret_billionths = value;
    return *text == '\0' && value <= max_whole * GPU_REQUEST_WHOLE;
}

static bool read_whole(const char *text, uint64_t max, uint64_t *ret_value)
{
    uint64_t value = 0;

    if (!*text)
        return false;
    for (; isdigit((unsigned char)*text); text++) {
        value = value * 10 + (uint64_t)(*text - '0');
        if (value > max)
            return false;
    }
    *ret_value = value;
    return *text == '\0';
}

static bool read_amount(const char *text, uint64_t max, uint64_t *ret_value)
{
    int64_t value, thousandths;

    if (quantity_parse(text, QUANTITY_ONE, &value, NULL) < 0 || (uint64_t)value > max ||
        quantity_parse(text, QUANTITY_MILLI, &thousandths, NULL) < 0 || thousandths % 1000 != 0)
        return false;
    *ret_value = (uint64_t)value;
    return true;
}

/* Less than a MiB is a mistake in the unit, not a request. */
static bool read_bytes(const char *text, uint64_t *ret_bytes)
{
    int64_t bytes;

    if (quantity_parse(text, QUANTITY_ONE, &bytes, NULL) < 0 || bytes < 1 << 20 || (uint64_t)bytes > GPU_BYTES_MAX)
        return false;
    *ret_bytes = (uint64_t)bytes;
    return true;
}

static bool read_hami(const char *text, uint64_t *ret_bytes)
{
    static const char units[] = "kmg";
    char digits[24];
    size_t len = strlen(text);
    const char *unit = len > 0 ? strchr(units, tolower((unsigned char)text[len - 1])) : NULL;
    unsigned shift = unit && *unit ? 10 * (unsigned)(unit - units + 1) : 0;

    if (len == 0 || len >= sizeof digits)
        return false;
    memcpy(digits, text, len + 1);
    if (shift)
        digits[len - 1] = '\0';
    if (!read_whole(digits, GPU_BYTES_MAX >> shift, ret_bytes))
        return false;
    *ret_bytes <<= shift;
    return true;
}

bool value_read(enum value_unit unit, const char *text, uint64_t *ret_value)
{
    switch (unit) {
    case VALUE_PART:
        return read_decimal(text, 1, ret_value) && *ret_value > 0;
    case VALUE_PERCENT:
        if (!read_amount(text, 100, ret_value))
            return false;
        *ret_value *= GPU_REQUEST_WHOLE / 100;
        return true;
    case VALUE_MIB:
        return read_whole(text, GPU_BYTES_MAX >> 20, ret_value) && (*ret_value <<= 20) > 0;
    case VALUE_MIBS:
        if (!read_amount(text, GPU_BYTES_MAX >> 20, ret_value))
            return false;
        *ret_value <<= 20;
        return true;
    case VALUE_QUANTITY:
        return read_bytes(text, ret_value);
    case VALUE_HAMI:
        return read_hami(text, ret_value);
    case VALUE_COUNT:
        return read_amount(text, GPU_MAX, ret_value) && *ret_value > 0;
    case VALUE_GPUS:
        return read_decimal(text, GPU_MAX, ret_value) && *ret_value > 0 &&
               (*ret_value < GPU_REQUEST_WHOLE || *ret_value % GPU_REQUEST_WHOLE == 0);
    default:
        return false;
    }
}

const char *value_expected(enum value_unit unit)
{
    static const char *const texts[] = {
        [VALUE_PART] = "a part of a GPU, above 0 and up to 1, such as 0.5",
        [VALUE_PERCENT] = "a whole number of percent, up to 100",
        [VALUE_MIB] = "a whole number of MiB, such as 4096",
        [VALUE_MIBS] = "a whole number of MiB, such as 4096",
        [VALUE_QUANTITY] = "an amount of memory of at least 1Mi, such as 4Gi",
        [VALUE_HAMI] = "a whole number with k, m or g, such as 4096m",
        [VALUE_COUNT] = "a number of GPUs, from 1 to 16",
        [VALUE_GPUS] = "a number of GPUs, or a part of one such as 0.5",
    };

    _Static_assert(ARRAY_LEN(texts) == VALUE_UNIT_COUNT_, "every unit has a text");
    return texts[unit];
}
