/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The meaning of plain scalars, as kubectl sees them: its YAML library follows YAML 1.1 for booleans and octal numbers,
 * but knows neither base 60 nor, where the target is JSON, dates. A number that does not fit its type stays a string.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "text/yaml_internal.h"

/* The longest number that is looked at: more digits than these say nothing. And the longest of the words below. */
enum { NUMBER_MAX = 400, WORD_MAX = 5 };

static const struct word {
    const char *text;
    enum yaml_scalar_type type;
    bool is_true;
} words[] = {
    {"", YAML_SCALAR_NULL, false},
    {"~", YAML_SCALAR_NULL, false},
    {"null", YAML_SCALAR_NULL, false},
    {"Null", YAML_SCALAR_NULL, false},
    {"NULL", YAML_SCALAR_NULL, false},
    {"y", YAML_SCALAR_BOOL, true},
    {"Y", YAML_SCALAR_BOOL, true},
    {"yes", YAML_SCALAR_BOOL, true},
    {"Yes", YAML_SCALAR_BOOL, true},
    {"YES", YAML_SCALAR_BOOL, true},
    {"true", YAML_SCALAR_BOOL, true},
    {"True", YAML_SCALAR_BOOL, true},
    {"TRUE", YAML_SCALAR_BOOL, true},
    {"on", YAML_SCALAR_BOOL, true},
    {"On", YAML_SCALAR_BOOL, true},
    {"ON", YAML_SCALAR_BOOL, true},
    {"n", YAML_SCALAR_BOOL, false},
    {"N", YAML_SCALAR_BOOL, false},
    {"no", YAML_SCALAR_BOOL, false},
    {"No", YAML_SCALAR_BOOL, false},
    {"NO", YAML_SCALAR_BOOL, false},
    {"false", YAML_SCALAR_BOOL, false},
    {"False", YAML_SCALAR_BOOL, false},
    {"FALSE", YAML_SCALAR_BOOL, false},
    {"off", YAML_SCALAR_BOOL, false},
    {"Off", YAML_SCALAR_BOOL, false},
    {"OFF", YAML_SCALAR_BOOL, false},
    {".nan", YAML_SCALAR_NOT_FINITE, false},
    {".NaN", YAML_SCALAR_NOT_FINITE, false},
    {".NAN", YAML_SCALAR_NOT_FINITE, false},
    {".inf", YAML_SCALAR_NOT_FINITE, false},
    {".Inf", YAML_SCALAR_NOT_FINITE, false},
    {".INF", YAML_SCALAR_NOT_FINITE, false},
    {"+.inf", YAML_SCALAR_NOT_FINITE, false},
    {"+.Inf", YAML_SCALAR_NOT_FINITE, false},
    {"+.INF", YAML_SCALAR_NOT_FINITE, false},
    {"-.inf", YAML_SCALAR_NOT_FINITE, false},
    {"-.Inf", YAML_SCALAR_NOT_FINITE, false},
    {"-.INF", YAML_SCALAR_NOT_FINITE, false},
    {"<<", YAML_SCALAR_MERGE, false},
};

/* The base that the prefix after the sign names, and where its digits start. A lone 0 is a digit, not a prefix. */
static int base_of(const char *digits, const char **ret_digits)
{
    *ret_digits = digits;
    if (digits[0] != '0' || digits[1] == '\0')
        return 10;

    static const struct {
        char letter;
        int base;
    } prefixes[] = {{'x', 16}, {'b', 2}, {'o', 8}};
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        if (tolower((unsigned char)digits[1]) == prefixes[i].letter) {
            *ret_digits = digits + 2;
            return prefixes[i].base;
        }
    }
    *ret_digits = digits + 1;
    return 8;
}

static bool read_integer(const char *text, struct yaml_scalar *scalar)
{
    bool is_negative = *text == '-';
    const char *digits;
    char *end;
    int base = base_of(text + (*text == '-' || *text == '+'), &digits);

    /* strtoull takes signs and prefixes of its own, which may not follow ours. */
    if (!isxdigit((unsigned char)*digits) || (base == 16 && tolower((unsigned char)digits[1]) == 'x'))
        return false;
    errno = 0;
    unsigned long long value = strtoull(digits, &end, base);
    if (errno || end == digits || *end != '\0')
        return false;

    if (is_negative) {
        if (value > (unsigned long long)INT64_MAX + 1)
            return false;
        scalar->type = YAML_SCALAR_INT;
        scalar->integer = value > INT64_MAX ? INT64_MIN : -(int64_t)value;
    } else if (value <= INT64_MAX) {
        scalar->type = YAML_SCALAR_INT;
        scalar->integer = (int64_t)value;
    } else if (*text != '+') {
        scalar->type = YAML_SCALAR_UINT;
        scalar->natural = value;
    } else {
        return false;
    }
    return true;
}

/* [-+]? ( .digits | digits [. digits?] ) ( [eE] [-+]? digits )? and nothing else: strtod takes more. */
static bool is_real(const char *text)
{
    const char *at = text + (*text == '-' || *text == '+');
    size_t before = strspn(at, "0123456789");
    size_t after = 0;

    at += before;
    if (*at == '.') {
        after = strspn(at + 1, "0123456789");
        at += 1 + after;
    }
    if (before == 0 && after == 0)
        return false;
    if (*at == 'e' || *at == 'E') {
        at += 1 + (at[1] == '-' || at[1] == '+');
        if (!isdigit((unsigned char)*at))
            return false;
        at += strspn(at, "0123456789");
    }
    return *at == '\0';
}

static bool read_number(const char *text, size_t len, struct yaml_scalar *scalar)
{
    char plain[NUMBER_MAX];
    size_t used = 0;

    if (len >= sizeof plain)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] != '_' || text[0] == '.')
            plain[used++] = text[i];
    }
    plain[used] = '\0';
    if (text[0] != '.' && read_integer(plain, scalar))
        return true;
    if (!is_real(plain))
        return false;

    double value = strtod(plain, NULL);
    if (!isfinite(value))
        return false;
    scalar->type = YAML_SCALAR_REAL;
    scalar->real = value;
    return true;
}

struct yaml_scalar yaml_scalar_resolve(const char *text, size_t len)
{
    struct yaml_scalar scalar = {.type = YAML_SCALAR_STRING};

    if (strlen(text) != len)
        return scalar;
    for (size_t i = 0; len <= WORD_MAX && i < ARRAY_LEN(words); i++) {
        if (strcmp(text, words[i].text) == 0) {
            scalar.type = words[i].type;
            scalar.is_true = words[i].is_true;
            return scalar;
        }
    }
    if (isdigit((unsigned char)*text) || *text == '+' || *text == '-' || *text == '.')
        (void)read_number(text, len, &scalar);
    return scalar;
}
