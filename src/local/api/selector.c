/* SPDX-License-Identifier: Apache-2.0 */
#include "local/api/selector.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "store/object.h"

enum { NAME_MAX_BYTES = 63, PREFIX_MAX_BYTES = 253, FIELD_MAX_BYTES = 256, SELECTOR_TAG_MAX = 1024 };

/* Where the reader is. */
struct reader {
    const char *text;
    const char *at;
    struct err *err;
};

static int fail(const struct reader *reader, const char *expected)
{
    return err_set(reader->err, -EINVAL, "selector \"%.200s\": expected %s at \"%.40s\"", reader->text, expected,
                   reader->at);
}

static void skip_spaces(struct reader *reader)
{
    while (*reader->at == ' ' || *reader->at == '\t')
        reader->at++;
}

static bool take(struct reader *reader, const char *token)
{
    size_t len = strlen(token);

    skip_spaces(reader);
    if (strncmp(reader->at, token, len) != 0)
        return false;
    reader->at += len;
    return true;
}

/* Letters, digits and what may stand between them in names and values. */
static size_t word_len(const struct reader *reader)
{
    size_t len = 0;

    while (isalnum((unsigned char)reader->at[len]) || (reader->at[len] && strchr("-_./", reader->at[len])))
        len++;
    return len;
}

static bool take_word(struct reader *reader, const char *word)
{
    skip_spaces(reader);
    size_t len = word_len(reader);
    if (len != strlen(word) || strncmp(reader->at, word, len) != 0)
        return false;
    reader->at += len;
    return true;
}

/* A name or a value of a label: at most 63 bytes, begins and ends with a letter or digit. */
static bool is_part(const char *text, size_t len)
{
    return len > 0 && len <= NAME_MAX_BYTES && isalnum((unsigned char)text[0]) &&
           isalnum((unsigned char)text[len - 1]) && !memchr(text, '/', len);
}

static bool is_label_name(const char *text, size_t len)
{
    const char *slash = memchr(text, '/', len);

    if (!slash)
        return is_part(text, len);
    size_t prefix = (size_t)(slash - text);
    return prefix > 0 && prefix <= PREFIX_MAX_BYTES && isalnum((unsigned char)text[0]) &&
           is_part(slash + 1, len - prefix - 1);
}

static int read_tag(struct reader *reader, char **ret_tag)
{
    struct strbuf tag;

    skip_spaces(reader);
    size_t len = word_len(reader);
    if (!is_label_name(reader->at, len))
        return fail(reader, "the name of a label");
    strbuf_init(&tag, SELECTOR_TAG_MAX);
    strbuf_addstr(&tag, SELECTOR_LABEL);
    strbuf_add(&tag, reader->at, len);
    reader->at += len;
    *ret_tag = strbuf_take(&tag);
    return 0;
}

/* A value may be empty. */
static int read_value(struct reader *reader, struct selector_requirement *requirement)
{
    skip_spaces(reader);
    size_t len = word_len(reader);
    if (len > 0 && !is_part(reader->at, len))
        return fail(reader, "the value of a label");
    vec_push(&requirement->values, xstrndup(reader->at, len));
    reader->at += len;
    return 0;
}

static int read_set(struct reader *reader, struct selector_requirement *requirement)
{
    if (!take(reader, "("))
        return fail(reader, "\"(\"");
    do {
        int r = read_value(reader, requirement);
        if (r < 0)
            return r;
    } while (take(reader, ","));
    return take(reader, ")") ? 0 : fail(reader, "\",\" or \")\"");
}

static int read_number(struct reader *reader, struct selector_requirement *requirement)
{
    skip_spaces(reader);
    size_t len = strspn(reader->at, "0123456789");
    if (len == 0 || len > 18)
        return fail(reader, "a whole number");
    vec_push(&requirement->values, xstrndup(reader->at, len));
    reader->at += len;
    return 0;
}

/* What comes behind the name of a label. */
static int read_test(struct reader *reader, struct selector_requirement *requirement)
{
    static const struct {
        const char *sign;
        enum selector_test test;
        int (*read)(struct reader *reader, struct selector_requirement *requirement);
    } signs[] = {
        {"==", SELECTOR_IN, read_value},    {"=", SELECTOR_IN, read_value},     {"!=", SELECTOR_NOT_IN, read_value},
        {">", SELECTOR_ABOVE, read_number}, {"<", SELECTOR_BELOW, read_number},
    };

    for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
        if (take(reader, signs[i].sign)) {
            requirement->test = signs[i].test;
            return signs[i].read(reader, requirement);
        }
    }
    bool is_in = take_word(reader, "in");
    if (is_in || take_word(reader, "notin")) {
        requirement->test = is_in ? SELECTOR_IN : SELECTOR_NOT_IN;
        return read_set(reader, requirement);
    }
    requirement->test = SELECTOR_EXISTS;
    return 0;
}

/* The requirement is in the selector at once, so that one cleans up for both. */
static struct selector_requirement *add_requirement(struct selector *selector)
{
    vec_push(&selector->requirements, (struct selector_requirement){0});
    return &vec_last(&selector->requirements);
}

int selector_add_labels(struct selector *selector, const char *text, struct err *err)
{
    struct reader reader = {.text = text, .at = text, .err = err};

    skip_spaces(&reader);
    if (!*reader.at)
        return 0;
    do {
        struct selector_requirement *requirement = add_requirement(selector);
        bool is_missing = take(&reader, "!");
        int r = read_tag(&reader, &requirement->tag);
        if (r == 0 && is_missing)
            requirement->test = SELECTOR_MISSING;
        else if (r == 0)
            r = read_test(&reader, requirement);
        if (r < 0)
            return r;
    } while (take(&reader, ","));
    skip_spaces(&reader);
    return *reader.at ? fail(&reader, "\",\" or the end") : 0;
}

/* --- Fields --- */

/* Up to an unescaped comma or sign; "\\", "\," and "\=" stand for the character. */
static void read_field_text(struct reader *reader, const char *stops, struct strbuf *text)
{
    for (; *reader->at && !strchr(stops, *reader->at); reader->at++) {
        if (*reader->at == '\\' && reader->at[1])
            reader->at++;
        strbuf_addch(text, *reader->at);
    }
}

static int read_field(struct reader *reader, struct selector_requirement *requirement)
{
    struct strbuf text;

    strbuf_init(&text, SELECTOR_TAG_MAX);
    strbuf_addstr(&text, SELECTOR_FIELD);
    read_field_text(reader, ",=!", &text);
    bool is_named = text.len > strlen(SELECTOR_FIELD) && text.len <= FIELD_MAX_BYTES;
    requirement->tag = strbuf_take(&text);
    if (!is_named)
        return fail(reader, "the name of a field");
    requirement->test = take(reader, "!=") ? SELECTOR_NOT_IN : SELECTOR_IN;
    if (requirement->test == SELECTOR_IN && !take(reader, "==") && !take(reader, "="))
        return fail(reader, "\"=\", \"==\" or \"!=\"");
    strbuf_init(&text, SELECTOR_TAG_MAX);
    read_field_text(reader, ",", &text);
    bool is_cut = text.is_cut;
    vec_push(&requirement->values, strbuf_take(&text));
    return is_cut ? fail(reader, "a shorter value") : 0;
}

int selector_add_fields(struct selector *selector, const char *text, struct err *err)
{
    struct reader reader = {.text = text, .at = text, .err = err};

    if (!*text)
        return 0;
    do {
        int r = read_field(&reader, add_requirement(selector));
        if (r < 0)
            return r;
    } while (take(&reader, ","));
    return 0;
}

/* --- Matching --- */

void selector_done(struct selector *selector)
{
    vec_foreach (&selector->requirements, requirement) {
        free(requirement->tag);
        vec_foreach (&requirement->values, value)
            free(*value);
        vec_done(&requirement->values);
    }
    vec_done(&selector->requirements);
}

static bool is_among(const struct selector_requirement *requirement, const char *value)
{
    vec_foreach (&requirement->values, one)
        if (strcmp(*one, value) == 0)
            return true;
    return false;
}

/* Compares as whole numbers; a value that is none matches neither. */
static bool is_beyond(const struct selector_requirement *requirement, const char *value)
{
    char *end = NULL;

    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (errno || end == value || *end)
        return false;
    long long limit = strtoll(requirement->values.items[0], NULL, 10);
    return requirement->test == SELECTOR_ABOVE ? number > limit : number < limit;
}

static bool holds(const struct selector_requirement *requirement, const struct store_object *object)
{
    const char *value = store_object_tag(object, requirement->tag);

    /* A field that is not set is empty; a label that is not set is not there. */
    if (!value && strncmp(requirement->tag, SELECTOR_FIELD, strlen(SELECTOR_FIELD)) == 0)
        value = "";
    switch (requirement->test) {
    case SELECTOR_IN:
        return value && is_among(requirement, value);
    case SELECTOR_NOT_IN:
        return !value || !is_among(requirement, value);
    case SELECTOR_EXISTS:
        return value != NULL;
    case SELECTOR_MISSING:
        return !value;
    case SELECTOR_ABOVE:
    case SELECTOR_BELOW:
        return value && is_beyond(requirement, value);
    }
    return false;
}

bool selector_matches_object(const struct selector *selector, const struct store_object *object)
{
    vec_foreach (&selector->requirements, requirement)
        if (!holds(requirement, object))
            return false;
    return true;
}

const char *selector_only_value(const struct selector *selector, const char *tag)
{
    vec_foreach (&selector->requirements, requirement)
        if (requirement->test == SELECTOR_IN && requirement->values.len == 1 && strcmp(requirement->tag, tag) == 0)
            return requirement->values.items[0];
    return NULL;
}
