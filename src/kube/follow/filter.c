/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/follow/filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Longer selectors, and more terms, are left to the server. */
enum { TERMS_MAX = 64, PATH_MAX_KEYS = 8 };

void filter_done(struct filter *filter)
{
    vec_foreach (&filter->terms, term) {
        free(term->key);
        free(term->value);
    }
    vec_done(&filter->terms);
}

/* One term of `len` bytes. */
static bool read_term(struct filter *filter, const char *text, size_t len, bool is_label)
{
    size_t key_len = strcspn(text, "=!,");
    struct filter_term term = {.is_label = is_label};

    if (len == 0 || filter->terms.len == TERMS_MAX || strcspn(text, " ()\\\t") < len)
        return false;
    if (is_label && text[0] == '!') {
        term.is_not = true;
        text++;
        len--;
        key_len = strcspn(text, "=!,");
    }
    if (key_len == 0 || key_len > len || (key_len == len && !is_label))
        return false;
    if (key_len < len) {
        const char *value = text + key_len;

        if (term.is_not)
            return false;
        term.is_not = *value == '!';
        value += term.is_not;
        if (*value != '=')
            return false;
        value += value[1] == '=' && !term.is_not ? 2 : 1;
        term.value = xstrndup(value, len - (size_t)(value - text));
    }
    term.key = xstrndup(text, key_len);
    vec_push(&filter->terms, term);
    return is_label || strcmp(term.key, "metadata.name") != 0;
}

static bool read_selector(struct filter *filter, const char *text, bool is_label)
{
    if (!text || !*text)
        return true;
    for (;;) {
        size_t len = strcspn(text, ",");

        if (!read_term(filter, text, len, is_label))
            return false;
        if (text[len] == '\0')
            return true;
        text += len + 1;
    }
}

bool filter_parse(struct filter *filter, const char *label_selector, const char *field_selector)
{
    *filter = (struct filter){0};
    return read_selector(filter, label_selector, true) && read_selector(filter, field_selector, false);
}

static const char *field_at(yyjson_val *object, const char *path)
{
    for (int i = 0; i < PATH_MAX_KEYS && yyjson_is_obj(object); i++) {
        size_t len = strcspn(path, ".");

        object = yyjson_obj_getn(object, path, len);
        if (path[len] == '\0')
            return yyjson_is_str(object) ? yyjson_get_str(object) : "";
        path += len + 1;
    }
    return "";
}

static bool term_matches(const struct filter_term *term, yyjson_val *object)
{
    yyjson_val *labels;

    if (!term->is_label)
        return (strcmp(field_at(object, term->key), term->value) == 0) != term->is_not;
    labels = yyjson_obj_get(yyjson_obj_get(object, "metadata"), "labels");
    const char *value = yyjson_get_str(yyjson_obj_get(labels, term->key));
    bool is_met = value && (!term->value || strcmp(value, term->value) == 0);
    return is_met != term->is_not;
}

bool filter_matches(const struct filter *filter, yyjson_val *object)
{
    vec_foreach (&filter->terms, term) {
        if (!term_matches(term, object))
            return false;
    }
    return true;
}
