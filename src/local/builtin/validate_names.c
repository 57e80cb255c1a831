/* SPDX-License-Identifier: Apache-2.0 */
/* Names of all sorts, in the words of the API server. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "local/api/names.h"
#include "local/builtin/validate_internal.h"

#define SUBDOMAIN_WORDS                                                                                              \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start " \
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "                      \
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define DNS_LABEL_WORDS                                                                                             \
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end " \
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "                  \
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
#define NAME_PART_WORDS                                                                                                \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " \
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "                                      \
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define LABEL_VALUE_WORDS                                                                                             \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "   \
    "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation " \
    "is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
#define CONFIG_KEY_WORDS                                                                                              \
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  " \
    "or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"

enum { PORT_NAME_MAX = 15 };

/* Letters, digits, "-", "_" and ".", the first and the last being a letter or digit. */
static bool is_name_part(const char *name, size_t len)
{
    if (len == 0 || !isalnum((unsigned char)name[0]) || !isalnum((unsigned char)name[len - 1]))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)name[i]) && !strchr("-_.", name[i]))
            return false;
    return true;
}

static bool is_only(const char *text, const char *allowed)
{
    return text[strspn(text, allowed)] == '\0';
}

void check_label_value(struct problems *problems, const struct field *field, const char *value)
{
    if (strlen(value) > LABEL_NAME_BYTES_MAX)
        problem_invalid_text(problems, field, value, "must be no more than 63 bytes");
    if (*value && !is_name_part(value, strlen(value)))
        problem_invalid_text(problems, field, value, LABEL_VALUE_WORDS);
}

static void check_prefix(struct problems *problems, const struct field *field, const char *key, size_t len)
{
    _cleanup_(freep) char *prefix = xstrndup(key, len);

    if (len == 0)
        problem_invalid_text(problems, field, key, "prefix part must be non-empty");
    else if (len > NAME_BYTES_MAX)
        problem_invalid_text(problems, field, key, "prefix part must be no more than 253 bytes");
    else if (!name_is_subdomain(prefix))
        problem_invalid_text(problems, field, key, "prefix part " SUBDOMAIN_WORDS);
}

void check_label_key(struct problems *problems, const struct field *field, const char *key)
{
    const char *slash = strchr(key, '/');
    const char *name = slash ? slash + 1 : key;

    if (strchr(name, '/')) {
        problem_invalid_text(problems, field, key,
                             "a valid label key " NAME_PART_WORDS
                             " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
        return;
    }
    if (slash)
        check_prefix(problems, field, key, (size_t)(slash - key));
    if (!*name)
        problem_invalid_text(problems, field, key, "name part must be non-empty");
    else if (strlen(name) > LABEL_NAME_BYTES_MAX)
        problem_invalid_text(problems, field, key, "name part must be no more than 63 bytes");
    if (!is_name_part(name, strlen(name)))
        problem_invalid_text(problems, field, key, "name part " NAME_PART_WORDS);
}

void check_labels(struct problems *problems, const struct field *field, yyjson_mut_val *labels)
{
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(labels);

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        check_label_key(problems, field, yyjson_mut_get_str(key));
        check_label_value(problems, field, yyjson_mut_get_str(yyjson_mut_obj_iter_get_val(key)));
    }
}

void check_subdomain(struct problems *problems, const struct field *field, const char *name)
{
    if (strlen(name) > NAME_BYTES_MAX)
        problem_invalid_text(problems, field, name, "must be no more than 253 characters");
    else if (!name_is_subdomain(name))
        problem_invalid_text(problems, field, name, SUBDOMAIN_WORDS);
}

size_t dns_label_problems(const char *name, const char *words[static 2])
{
    size_t count = 0;

    if (strlen(name) > LABEL_NAME_BYTES_MAX)
        words[count++] = "must be no more than 63 characters";
    if (strlen(name) > NAME_BYTES_MAX)
        return count;
    if (!name_is_subdomain(name))
        words[count++] = DNS_LABEL_WORDS;
    else if (strchr(name, '.'))
        words[count++] = "must not contain dots";
    return count;
}

void check_dns_label(struct problems *problems, const struct field *field, const char *name)
{
    const char *words[2];
    size_t count = dns_label_problems(name, words);

    for (size_t i = 0; i < count; i++)
        problem_invalid_text(problems, field, name, words[i]);
}

void check_port_name(struct problems *problems, const struct field *field, const char *name)
{
    size_t len = strlen(name);

    if (len > PORT_NAME_MAX)
        problem_invalid_text(problems, field, name, "must be no more than 15 characters");
    if (!is_only(name, "abcdefghijklmnopqrstuvwxyz0123456789-"))
        problem_invalid_text(problems, field, name,
                             "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    if (!strpbrk(name, "abcdefghijklmnopqrstuvwxyz"))
        problem_invalid_text(problems, field, name, "must contain at least one letter (a-z)");
    if (strstr(name, "--"))
        problem_invalid_text(problems, field, name, "must not contain consecutive hyphens");
    if (len && (name[0] == '-' || name[len - 1] == '-'))
        problem_invalid_text(problems, field, name, "must not begin or end with a hyphen");
}

void check_config_key(struct problems *problems, const struct field *field, const char *key)
{
    if (strlen(key) > NAME_BYTES_MAX)
        problem_invalid_text(problems, field, key, "must be no more than 253 characters");
    if (!*key || !is_only(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."))
        problem_invalid_text(problems, field, key, CONFIG_KEY_WORDS);
    if (strcmp(key, ".") == 0)
        problem_invalid_text(problems, field, key, "must not be '.'");
    else if (strcmp(key, "..") == 0)
        problem_invalid_text(problems, field, key, "must not be '..'");
    else if (strncmp(key, "..", 2) == 0)
        problem_invalid_text(problems, field, key, "must not start with '..'");
}
