/* SPDX-License-Identifier: Apache-2.0 */
#include "local/custom/format.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/time.h"
#include "local/api/names.h"

#define DIGITS "0123456789"
#define HEX DIGITS "abcdefABCDEF"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

typedef bool (*format_fn)(const char *text);

/* Whether the text has the shape of `mask`: 'x' for a hexadecimal digit, '9' for a digit, anything else for itself. */
static bool has_shape(const char *text, const char *mask)
{
    for (; *mask; mask++, text++) {
        if (*mask == 'x' ? !isxdigit((unsigned char)*text)
                         : (*mask == '9' ? !isdigit((unsigned char)*text) : *text != *mask))
            return false;
    }
    return *text == '\0';
}

/* --- Times --- */

static bool is_date(const char *text)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    if (!has_shape(text, "9999-99-99"))
        return false;
    long year = strtol(text, NULL, 10), month = strtol(text + 5, NULL, 10), day = strtol(text + 8, NULL, 10);
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] + (month == 2 && is_leap);
}

static bool is_date_time(const char *text)
{
    char date[11] = "";

    if (strlen(text) < 20 || (text[10] != 'T' && text[10] != 't'))
        return false;
    memcpy(date, text, 10);
    const char *rest = text + 19;
    char clock[9] = "";
    memcpy(clock, text + 11, 8);
    if (!is_date(date) || !has_shape(clock, "99:99:99") || strtol(clock, NULL, 10) > 23 ||
        strtol(clock + 3, NULL, 10) > 59 || strtol(clock + 6, NULL, 10) > 59)
        return false;
    if (*rest == '.') {
        size_t digits = strspn(rest + 1, DIGITS);
        if (!digits)
            return false;
        rest += 1 + digits;
    }
    if (strcmp(rest, "Z") == 0 || strcmp(rest, "z") == 0)
        return true;
    return has_shape(rest, "+99:99") || has_shape(rest, "-99:99");
}

static bool is_unit(const char *word, size_t len)
{
    static const char *const units[] = {
        "ns",   "us",         "ms",    "s",           "m",   "h",     "d",      "w",
        "nano", "nanosecond", "micro", "microsecond", "min", "milli", "second", "millisecond",
        "sec",  "minute",     "hour",  "hr",          "day", "week",  "wk",
    };

    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        size_t unit_len = strlen(units[i]);
        bool is_plural = len == unit_len + 1 && unit_len > 2 && word[len - 1] == 's';
        if (strncmp(word, units[i], unit_len) == 0 && (len == unit_len || is_plural))
            return true;
    }
    return false;
}

static bool is_duration(const char *text)
{
    nsec_t duration;

    if (duration_parse(text, &duration, NULL) == 0)
        return true;
    const char *at = text;
    do {
        size_t digits = strspn(at, DIGITS);
        const char *word = at + digits + strspn(at + digits, " ");
        size_t len = strspn(word, LETTERS);
        if (!digits || !is_unit(word, len))
            return false;
        at = word + len + strspn(word + len, " ");
    } while (*at);
    return true;
}

/* --- The network --- */

static bool is_ipv4(const char *text)
{
    struct in_addr address;

    return inet_pton(AF_INET, text, &address) == 1;
}

static bool is_ipv6(const char *text)
{
    struct in6_addr address;

    return inet_pton(AF_INET6, text, &address) == 1;
}

static bool is_cidr(const char *text)
{
    char address[INET6_ADDRSTRLEN] = "";
    const char *slash = strchr(text, '/');

    if (!slash || (size_t)(slash - text) >= sizeof address)
        return false;
    memcpy(address, text, (size_t)(slash - text));
    size_t digits = strspn(slash + 1, DIGITS);
    if (!digits || digits > 3 || slash[1 + digits] || (digits > 1 && slash[1] == '0'))
        return false;
    return strtol(slash + 1, NULL, 10) <= (is_ipv4(address) ? 32 : is_ipv6(address) ? 128 : -1);
}

static bool is_mac(const char *text)
{
    static const char *const masks[] = {
        "xx:xx:xx:xx:xx:xx",       "xx-xx-xx-xx-xx-xx",       "xxxx.xxxx.xxxx",
        "xx:xx:xx:xx:xx:xx:xx:xx", "xx-xx-xx-xx-xx-xx-xx-xx", "xxxx.xxxx.xxxx.xxxx",
    };

    for (size_t i = 0; i < ARRAY_LEN(masks); i++)
        if (has_shape(text, masks[i]))
            return true;
    return false;
}

static bool is_host_char(char c)
{
    return isalnum((unsigned char)c) || (c & 0x80);
}

static bool is_hostname(const char *text)
{
    size_t labels = 0;

    for (const char *at = text;; labels++) {
        size_t len = strcspn(at, ".");
        if (len == 0 || len > 63 || !is_host_char(at[0]) || !is_host_char(at[len - 1]))
            return false;
        for (size_t i = 0; i < len; i++)
            if (!is_host_char(at[i]) && at[i] != '-')
                return false;
        if (at[len] == '\0') {
            /* The last of several is a domain at the top: two letters or more. */
            for (size_t i = 0; labels && i < len; i++)
                if (isdigit((unsigned char)at[i]) || at[i] == '-')
                    return false;
            return labels == 0 || len > 1;
        }
        at += len + 1;
    }
}

static bool is_email(const char *text)
{
    const char *open = strchr(text, '<');
    const char *start = open ? open + 1 : text;
    size_t len = open ? strcspn(start, ">") : strlen(start);
    const char *at = memchr(start, '@', len);

    if (open && (start[len] != '>' || start[len + 1]))
        return false;
    return at && at > start && at + 1 < start + len && !memchr(start, ' ', len) &&
           !memchr(at + 1, '@', (size_t)(start + len - at - 1));
}

static bool is_uri(const char *text)
{
    size_t scheme = strspn(text, LETTERS DIGITS "+-.");

    for (const char *at = text; *at; at++)
        if (*at == ' ' || iscntrl((unsigned char)*at) || (*at == '%' && strspn(at + 1, HEX) < 2))
            return false;
    return text[0] == '/' || (isalpha((unsigned char)text[0]) && text[scheme] == ':');
}

/* --- Encodings and numbers --- */

static bool is_uuid(const char *text)
{
    return has_shape(text, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") ||
           has_shape(text, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
}

static bool is_uuid_of(const char *text, char version, bool has_variant)
{
    size_t version_at = strchr(text, '-') ? 14 : 12;
    size_t variant_at = strchr(text, '-') ? 19 : 16;

    return is_uuid(text) && text[version_at] == version && (!has_variant || strchr("89abAB", text[variant_at]));
}

static bool is_uuid3(const char *text)
{
    return is_uuid_of(text, '3', false);
}

static bool is_uuid4(const char *text)
{
    return is_uuid_of(text, '4', true);
}

static bool is_uuid5(const char *text)
{
    return is_uuid_of(text, '5', true);
}

static bool is_base64(const char *text)
{
    size_t len = strspn(text, LETTERS DIGITS "+/");
    size_t pad = strspn(text + len, "=");

    return len > 0 && pad <= 2 && (len + pad) % 4 == 0 && text[len + pad] == '\0';
}

static bool is_hex_color(const char *text)
{
    text += *text == '#';
    return has_shape(text, "xxx") || has_shape(text, "xxxxxx");
}

static bool is_rgb_color(const char *text)
{
    if (strncmp(text, "rgb(", 4) != 0)
        return false;
    text += 4;
    for (int i = 0; i < 3; i++) {
        text += strspn(text, " ");
        size_t digits = strspn(text, DIGITS);
        if (!digits || digits > 3 || strtol(text, NULL, 10) > 255)
            return false;
        text += digits + strspn(text + digits, " ");
        if (*text++ != (i < 2 ? ',' : ')'))
            return false;
    }
    return *text == '\0';
}

static bool is_object_id(const char *text)
{
    return has_shape(text, "xxxxxxxxxxxxxxxxxxxxxxxx");
}

static bool is_ssn(const char *text)
{
    return has_shape(text, "999-99-9999") || has_shape(text, "999 99 9999");
}

/* The digits of a number that is grouped by spaces and dashes; false for anything else, or when there are too many. */
static bool read_digits(const char *text, char digits[static 20])
{
    size_t count = 0;

    for (; *text; text++) {
        if (*text == ' ' || *text == '-')
            continue;
        if (count >= 19 || (!isdigit((unsigned char)*text) && *text != 'X'))
            return false;
        digits[count++] = *text;
    }
    digits[count] = '\0';
    return true;
}

static bool is_credit_card(const char *text)
{
    char digits[20] = "";
    int sum = 0;

    if (!read_digits(text, digits) || strlen(digits) < 13 || strchr(digits, 'X'))
        return false;
    size_t len = strlen(digits);
    for (size_t i = 0; i < len; i++) {
        int digit = digits[len - 1 - i] - '0';
        digit *= i % 2 ? 2 : 1;
        sum += digit > 9 ? digit - 9 : digit;
    }
    return sum % 10 == 0;
}

static bool is_isbn10(const char *text)
{
    char digits[20] = "";
    int sum = 0;

    if (!read_digits(text, digits) || strlen(digits) != 10)
        return false;
    for (int i = 0; i < 10; i++) {
        if (i < 9 && digits[i] == 'X')
            return false;
        sum += (i + 1) * (digits[i] == 'X' ? 10 : digits[i] - '0');
    }
    return sum % 11 == 0;
}

static bool is_isbn13(const char *text)
{
    char digits[20] = "";
    int sum = 0;

    if (!read_digits(text, digits) || strlen(digits) != 13 || strchr(digits, 'X'))
        return false;
    for (int i = 0; i < 13; i++)
        sum += (i % 2 ? 3 : 1) * (digits[i] - '0');
    return sum % 10 == 0;
}

static bool is_isbn(const char *text)
{
    return is_isbn10(text) || is_isbn13(text);
}

static bool is_anything(const char *text)
{
    (void)text;
    return true;
}

static const struct {
    const char *name;
    format_fn matches;
} formats[] = {
    {"date-time", is_date_time},
    {"datetime", is_date_time},
    {"date", is_date},
    {"duration", is_duration},
    {"ipv4", is_ipv4},
    {"ipv6", is_ipv6},
    {"cidr", is_cidr},
    {"mac", is_mac},
    {"hostname", is_hostname},
    {"email", is_email},
    {"uri", is_uri},
    {"uuid", is_uuid},
    {"uuid3", is_uuid3},
    {"uuid4", is_uuid4},
    {"uuid5", is_uuid5},
    {"byte", is_base64},
    {"hexcolor", is_hex_color},
    {"rgbcolor", is_rgb_color},
    {"bsonobjectid", is_object_id},
    {"ssn", is_ssn},
    {"creditcard", is_credit_card},
    {"isbn", is_isbn},
    {"isbn10", is_isbn10},
    {"isbn13", is_isbn13},
    {"password", is_anything},
    {"k8s-short-name", name_is_label},
    {"k8s-long-name", name_is_subdomain},
};

static format_fn find(const char *format)
{
    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        if (strcmp(formats[i].name, format) == 0)
            return formats[i].matches;
    return NULL;
}

bool format_is_known(const char *format)
{
    return find(format) != NULL;
}

bool format_matches(const char *format, const char *text)
{
    format_fn matches = find(format);

    return !matches || matches(text);
}
