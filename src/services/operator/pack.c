/* SPDX-License-Identifier: Apache-2.0 */
#include "services/operator/pack.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

struct packer {
    yyjson_mut_doc *doc;
    const char *at;
    va_list values;
};

static void skip_space(struct packer *packer)
{
    while (isspace((unsigned char)*packer->at))
        packer->at++;
}

/* The bare word up to one of `ends`, without the space after it. */
static size_t word_length(const char *text, const char *ends)
{
    size_t len = strcspn(text, ends);

    while (len && isspace((unsigned char)text[len - 1]))
        len--;
    BUG_ON(len == 0);
    return len;
}

static yyjson_mut_val *pack_word(struct packer *packer)
{
    const char *text = packer->at;
    size_t len = word_length(text, ",]}");
    char *end = NULL;

    packer->at += len;
    if (len == 4 && memcmp(text, "true", 4) == 0)
        return yyjson_mut_bool(packer->doc, true);
    if (len == 5 && memcmp(text, "false", 5) == 0)
        return yyjson_mut_bool(packer->doc, false);
    long long number = strtoll(text, &end, 10);
    if (end == text + len)
        return yyjson_mut_sint(packer->doc, number);
    return yyjson_mut_strncpy(packer->doc, text, len);
}

static yyjson_mut_val *pack_argument(struct packer *packer)
{
    char type = packer->at[1];
    const char *text;

    packer->at += 2;
    switch (type) {
    case 's':
        text = va_arg(packer->values, const char *);
        return text ? yyjson_mut_strcpy(packer->doc, text) : NULL;
    case 'd':
        return yyjson_mut_sint(packer->doc, va_arg(packer->values, int));
    case 'i':
        return yyjson_mut_bool(packer->doc, va_arg(packer->values, int) != 0);
    default:
        BUG_ON(type != 'p');
        return va_arg(packer->values, yyjson_mut_val *);
    }
}

static yyjson_mut_val *pack_value(struct packer *packer);

static yyjson_mut_val *pack_key(struct packer *packer)
{
    yyjson_mut_val *key;

    if (*packer->at == '%') {
        key = pack_argument(packer);
    } else {
        size_t len = word_length(packer->at, ":");

        key = yyjson_mut_strncpy(packer->doc, packer->at, len);
        packer->at += len;
    }
    skip_space(packer);
    BUG_ON(*packer->at != ':');
    packer->at++;
    return key;
}

static yyjson_mut_val *pack_object(struct packer *packer)
{
    yyjson_mut_val *object = yyjson_mut_obj(packer->doc);

    for (skip_space(packer); *packer->at != '}'; skip_space(packer)) {
        yyjson_mut_val *key = pack_key(packer);
        yyjson_mut_val *value = pack_value(packer);

        if (value)
            (void)yyjson_mut_obj_add(object, key, value);
        skip_space(packer);
        if (*packer->at == ',')
            packer->at++;
    }
    packer->at++;
    return object;
}

static yyjson_mut_val *pack_array(struct packer *packer)
{
    yyjson_mut_val *array = yyjson_mut_arr(packer->doc);

    for (skip_space(packer); *packer->at != ']'; skip_space(packer)) {
        yyjson_mut_val *value = pack_value(packer);

        if (value)
            (void)yyjson_mut_arr_append(array, value);
        skip_space(packer);
        if (*packer->at == ',')
            packer->at++;
    }
    packer->at++;
    return array;
}

static yyjson_mut_val *pack_value(struct packer *packer)
{
    skip_space(packer);
    switch (*packer->at) {
    case '{':
        packer->at++;
        return pack_object(packer);
    case '[':
        packer->at++;
        return pack_array(packer);
    case '%':
        return pack_argument(packer);
    default:
        return pack_word(packer);
    }
}

yyjson_mut_val *pack(yyjson_mut_doc *doc, const char *format, ...)
{
    struct packer packer = {.doc = doc, .at = format};

    va_start(packer.values, format);
    yyjson_mut_val *value = pack_value(&packer);
    va_end(packer.values);
    skip_space(&packer);
    BUG_ON(*packer.at != '\0');
    return value;
}

yyjson_mut_val *pack_copy(yyjson_mut_doc *doc, yyjson_val *value)
{
    return value ? yyjson_val_mut_copy(doc, value) : NULL;
}
