/* SPDX-License-Identifier: Apache-2.0 */

/* The formats that Kubernetes names: each says what is wrong with a text, or nothing. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cel/library/library.h"

#define FORMAT "kubernetes.NamedFormat"

struct format {
    const char *name;
    const char *shown;
    uint32_t regex_size;
    /* The number of complaints, at most two; their texts in `ret_texts`. */
    int (*validate)(struct cel_text text, const char **ret_texts);
};

/* --- Names --- */

static const char label_text[] =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character";
static const char subdomain_text[] =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "
    "or '.', and must start and end with an alphanumeric character";
static const char label_1035_text[] =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with "
    "an alphabetic character, and end with an alphanumeric character";
static const char name_text[] =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character";

static bool is_lower(char c)
{
    return islower((unsigned char)c) || isdigit((unsigned char)c);
}

static bool is_label(struct cel_text text, bool is_1035)
{
    for (size_t i = 0; i < text.len; i++)
        if (!is_lower(text.bytes[i]) && text.bytes[i] != '-')
            return false;
    return text.len && (is_1035 ? islower((unsigned char)text.bytes[0]) != 0 : is_lower(text.bytes[0])) &&
           is_lower(text.bytes[text.len - 1]);
}

static bool is_subdomain(struct cel_text text)
{
    while (true) {
        const char *dot = memchr(text.bytes, '.', text.len);
        struct cel_text label = {text.bytes, dot ? (size_t)(dot - text.bytes) : text.len};
        if (!is_label(label, false))
            return false;
        if (!dot)
            return true;
        text = (struct cel_text){dot + 1, text.len - label.len - 1};
    }
}

static int complain(bool is_too_long, const char *too_long, bool is_wrong, const char *wrong, const char **ret_texts)
{
    int count = 0;

    if (is_too_long)
        ret_texts[count++] = too_long;
    if (is_wrong)
        ret_texts[count++] = wrong;
    return count;
}

/* A prefix may end with a dash, which stands for a character that follows. */
static struct cel_text without_dash(struct cel_text text, char *copy, size_t size)
{
    if (text.len <= 1 || text.len >= size || text.bytes[text.len - 1] != '-')
        return text;
    memcpy(copy, text.bytes, text.len);
    copy[text.len - 1] = 'a';
    return (struct cel_text){copy, text.len};
}

static int validate_label(struct cel_text text, const char **ret_texts)
{
    return complain(text.len > 63, "must be no more than 63 characters", !is_label(text, false), label_text, ret_texts);
}

static int validate_1035(struct cel_text text, const char **ret_texts)
{
    return complain(text.len > 63, "must be no more than 63 characters", !is_label(text, true), label_1035_text,
                    ret_texts);
}

static int validate_subdomain(struct cel_text text, const char **ret_texts)
{
    return complain(text.len > 253, "must be no more than 253 characters", !is_subdomain(text), subdomain_text,
                    ret_texts);
}

#define PREFIX(name, validate)                                             \
    static int name(struct cel_text text, const char **ret_texts)          \
    {                                                                      \
        char copy[512];                                                    \
                                                                           \
        return validate(without_dash(text, copy, sizeof copy), ret_texts); \
    }

PREFIX(validate_label_prefix, validate_label)
PREFIX(validate_1035_prefix, validate_1035)
PREFIX(validate_subdomain_prefix, validate_subdomain)

static bool is_name(struct cel_text text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!isalnum((unsigned char)text.bytes[i]) && !strchr("-_.", text.bytes[i]))
            return false;
    return text.len && isalnum((unsigned char)text.bytes[0]) && isalnum((unsigned char)text.bytes[text.len - 1]);
}

static int validate_label_value(struct cel_text text, const char **ret_texts)
{
    return complain(text.len > 63, "must be no more than 63 characters", text.len && !is_name(text), name_text,
                    ret_texts);
}

static int validate_qualified(struct cel_text text, const char **ret_texts)
{
    const char *slash = memchr(text.bytes, '/', text.len);
    int count = 0;

    if (slash && memchr(slash + 1, '/', text.len - (size_t)(slash + 1 - text.bytes)))
        return complain(false, NULL, true, name_text, ret_texts);
    if (slash) {
        struct cel_text prefix = {text.bytes, (size_t)(slash - text.bytes)};
        text = (struct cel_text){slash + 1, text.len - prefix.len - 1};
        if (prefix.len == 0)
            ret_texts[count++] = "prefix part must be non-empty";
        else
            count += validate_subdomain(prefix, ret_texts);
    }
    if (text.len == 0)
        ret_texts[count++] = "name part must be non-empty";
    else if (text.len > 63)
        ret_texts[count++] = "name part must be no more than 63 characters";
    if (!is_name(text))
        ret_texts[count++] = name_text;
    return count;
}

/* --- Other texts --- */

static int validate_uri(struct cel_text text, const char **ret_texts)
{
    return complain(false, NULL, !is_request_uri(text), "invalid URI for request", ret_texts);
}

static bool is_shape(struct cel_text text, const char *shape)
{
    if (strlen(shape) != text.len)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        const unsigned char c = (unsigned char)text.bytes[i];
        if (shape[i] == 'x' ? !isxdigit(c) : shape[i] == '9' ? !isdigit(c) : c != (unsigned char)shape[i])
            return false;
    }
    return true;
}

static int validate_uuid(struct cel_text text, const char **ret_texts)
{
    bool is_right =
        is_shape(text, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") || is_shape(text, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");

    return complain(false, NULL, !is_right, "does not match the UUID format", ret_texts);
}

static int validate_byte(struct cel_text text, const char **ret_texts)
{
    size_t padding = 0;
    bool is_right = text.len > 0 && text.len % 4 == 0;

    while (padding < 2 && padding < text.len && text.bytes[text.len - 1 - padding] == '=')
        padding++;
    for (size_t i = 0; is_right && i < text.len - padding; i++)
        is_right = isalnum((unsigned char)text.bytes[i]) || text.bytes[i] == '+' || text.bytes[i] == '/';
    return complain(false, NULL, !is_right, "invalid base64", ret_texts);
}

static int validate_date(struct cel_text text, const char **ret_texts)
{
    char whole[40];
    struct timestamp time;
    bool is_right = is_shape(text, "9999-99-99");

    if (is_right) {
        size_t len = (size_t)snprintf(whole, sizeof whole, "%.10sT00:00:00Z", text.bytes);
        is_right = read_timestamp((struct cel_text){whole, len}, &time);
    }
    return complain(false, NULL, !is_right, "invalid date", ret_texts);
}

static int validate_datetime(struct cel_text text, const char **ret_texts)
{
    char copy[80];
    struct timestamp time;
    bool is_right = text.len >= 19 && text.len < sizeof copy;

    if (is_right) {
        for (size_t i = 0; i < text.len; i++)
            copy[i] = (char)toupper((unsigned char)text.bytes[i]);
        is_right = read_timestamp((struct cel_text){copy, text.len}, &time);
    }
    return complain(false, NULL, !is_right, "invalid datetime", ret_texts);
}

static const struct format formats[] = {
    {"dns1123Label", "DNS1123Label", 30, validate_label},
    {"dns1123Subdomain", "DNS1123Subdomain", 60, validate_subdomain},
    {"dns1035Label", "DNS1035Label", 30, validate_1035},
    {"qualifiedName", "QualifiedName", 60, validate_qualified},
    {"dns1123LabelPrefix", "DNS1123LabelPrefix", 30, validate_label_prefix},
    {"dns1123SubdomainPrefix", "DNS1123SubdomainPrefix", 60, validate_subdomain_prefix},
    {"dns1035LabelPrefix", "DNS1035LabelPrefix", 30, validate_1035_prefix},
    {"labelValue", "LabelValue", 40, validate_label_value},
    {"uri", "URI", 1103, validate_uri},
    {"uuid", "uuid", 72, validate_uuid},
    {"byte", "byte", 84, validate_byte},
    {"date", "date", 72, validate_date},
    {"datetime", "datetime", 72, validate_datetime},
};

bool format_equals(const void *a, const void *b)
{
    return a == b;
}

uint32_t format_regex_size(struct cel_value format)
{
    return ((const struct format *)format.other)->regex_size;
}

static struct cel_value format_value(size_t index)
{
    return (struct cel_value){.kind = CEL_FORMAT, .other = &formats[index]};
}

static struct cel_value named(struct run *run, const struct cel_value *args, int count)
{
    (void)count;
    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        if (text_equals(args[0].text, formats[i].name))
            return optional_of(run, format_value(i));
    return optional_none();
}

static struct cel_value validate(struct run *run, const struct cel_value *args, int count)
{
    const char *texts[4];
    struct cel_value values[4];
    int wrong = ((const struct format *)args[0].other)->validate(args[1].text, texts);

    (void)count;
    for (int i = 0; i < wrong; i++)
        values[i] = cel_string(texts[i]);
    if (wrong == 0)
        return optional_none();
    struct cel_value list = list_copy(run, values, (size_t)wrong);
    return list.kind == CEL_ERROR ? list : optional_of(run, list);
}

#define CONSTANT(name, index)                                                              \
    static struct cel_value name(struct run *run, const struct cel_value *args, int count) \
    {                                                                                      \
        (void)run;                                                                         \
        (void)args;                                                                        \
        (void)count;                                                                       \
        return format_value(index);                                                        \
    }

CONSTANT(dns1123_label, 0)
CONSTANT(dns1123_subdomain, 1)
CONSTANT(dns1035_label, 2)
CONSTANT(qualified_name, 3)
CONSTANT(dns1123_label_prefix, 4)
CONSTANT(dns1123_subdomain_prefix, 5)
CONSTANT(dns1035_label_prefix, 6)
CONSTANT(label_value, 7)
CONSTANT(uri, 8)
CONSTANT(uuid, 9)
CONSTANT(byte, 10)
CONSTANT(date, 11)
CONSTANT(datetime, 12)

static const struct overload rows[] = {
    {"format.named", "format-named", "(string) optional_type(" FORMAT ")", named},
    {"validate", "format-validate", ".(" FORMAT ", string) optional_type(list(string))", validate},
    {"format.dns1123Label", "format.dns1123Label", "() " FORMAT, dns1123_label},
    {"format.dns1123Subdomain", "format.dns1123Subdomain", "() " FORMAT, dns1123_subdomain},
    {"format.dns1035Label", "format.dns1035Label", "() " FORMAT, dns1035_label},
    {"format.qualifiedName", "format.qualifiedName", "() " FORMAT, qualified_name},
    {"format.dns1123LabelPrefix", "format.dns1123LabelPrefix", "() " FORMAT, dns1123_label_prefix},
    {"format.dns1123SubdomainPrefix", "format.dns1123SubdomainPrefix", "() " FORMAT, dns1123_subdomain_prefix},
    {"format.dns1035LabelPrefix", "format.dns1035LabelPrefix", "() " FORMAT, dns1035_label_prefix},
    {"format.labelValue", "format.labelValue", "() " FORMAT, label_value},
    {"format.uri", "format.uri", "() " FORMAT, uri},
    {"format.uuid", "format.uuid", "() " FORMAT, uuid},
    {"format.byte", "format.byte", "() " FORMAT, byte},
    {"format.date", "format.date", "() " FORMAT, date},
    {"format.datetime", "format.datetime", "() " FORMAT, datetime},
};

const struct overload_table format_table = {rows, ARRAY_LEN(rows)};
