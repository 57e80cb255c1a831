/* SPDX-License-Identifier: Apache-2.0 */

/* Reading flags by tables. What is wrong is said with the flag's name and what it takes. */
#include "frame/flags.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "text/json.h"
#include "text/suggest.h"

/* Whether it may stand alone: what comes behind it is another flag. */
static bool is_switch(const struct flag *flag)
{
    const char *fallback = flag->fallback ? flag->fallback : "false";

    return flag->type == FLAG_BOOL ||
           (flag->type == FLAG_IGNORED && (strcmp(fallback, "true") == 0 || strcmp(fallback, "false") == 0));
}

static void *value_at(const struct flag_set *set, const struct flag *flag)
{
    return (char *)set->values + flag->offset;
}

static void pairs_done(struct flag_pairs *pairs)
{
    vec_foreach (pairs, pair) {
        free(pair->key);
        free(pair->value);
    }
    vec_done(pairs);
}

static bool has_range(const struct flag *flag)
{
    return flag->min != 0 || flag->max != 0;
}

static int check_range(const struct flag *flag, double value, struct err *err)
{
    double max = flag->max > flag->min ? flag->max : INFINITY;

    if (!has_range(flag) || (value >= flag->min && value <= max))
        return 0;
    if (isinf(max))
        return err_set(err, -EINVAL, "%.15g is below %.15g", value, flag->min);
    return err_set(err, -EINVAL, "%.15g is not between %.15g and %.15g", value, flag->min, max);
}

/* The words that Go's strconv takes. */
static int set_bool(bool *value, const char *text, struct err *err)
{
    static const char *const words[] = {"true",  "1", "t", "T", "TRUE",  "True",
                                        "false", "0", "f", "F", "FALSE", "False"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strcmp(text, words[i]) == 0) {
            *value = i < ARRAY_LEN(words) / 2;
            return 0;
        }
    }
    return err_set(err, -EINVAL, "expected true or false, found '%s'", text);
}

static int set_int(const struct flag *flag, int64_t *value, const char *text, struct err *err)
{
    char *end;
    long long number;

    errno = 0;
    number = strtoll(text, &end, 10);
    if (errno || end == text || *end)
        return err_set(err, -EINVAL, "'%s' is not a whole number", text);
    if (check_range(flag, (double)number, err) < 0)
        return -EINVAL;
    *value = number;
    return 0;
}

static int set_double(const struct flag *flag, double *value, const char *text, struct err *err)
{
    char *end;
    double number = strtod(text, &end);

    if (end == text || *end || !isfinite(number))
        return err_set(err, -EINVAL, "'%s' is not a number", text);
    if (check_range(flag, number, err) < 0)
        return -EINVAL;
    *value = number;
    return 0;
}

static int set_pairs(struct flag_pairs *pairs, const char *text, struct err *err)
{
    pairs_done(pairs);
    while (*text) {
        size_t len = strcspn(text, ",");
        const char *equals = memchr(text, '=', len);

        if (!equals || equals == text)
            return err_set(err, -EINVAL, "expected key=value, found '%.*s'", (int)len, text);
        if (pairs->len >= FLAG_PAIRS_MAX)
            return err_set(err, -EINVAL, "more than %d pairs", FLAG_PAIRS_MAX);
        vec_push(pairs, (struct flag_pair){xstrndup(text, (size_t)(equals - text)),
                                           xstrndup(equals + 1, len - (size_t)(equals - text) - 1)});
        text += len;
        text += *text == ',';
    }
    return 0;
}

static int set_json(yyjson_doc **doc, const char *text, struct err *err)
{
    yyjson_doc *parsed = NULL;
    int code = 0;

    if (*text)
        code = json_parse(text, strlen(text), "value", &parsed, err);
    if (code < 0)
        return code;
    yyjson_doc_free(*doc);
    *doc = parsed;
    return 0;
}

static int set_value(const struct flag_set *set, const struct flag *flag, const char *text, struct err *err)
{
    void *value = value_at(set, flag);

    switch (flag->type) {
    case FLAG_BOOL:
        return set_bool(value, text, err);
    case FLAG_INT:
        return set_int(flag, value, text, err);
    case FLAG_DOUBLE:
        return set_double(flag, value, text, err);
    case FLAG_STRING:
        *(const char **)value = text;
        return 0;
    case FLAG_DURATION:
        return duration_parse(text, value, err);
    case FLAG_PAIRS:
        return set_pairs(value, text, err);
    case FLAG_JSON:
        return set_json(value, text, err);
    case FLAG_IGNORED:
        return 0;
    }
    return -EINVAL;
}

static const char *fallback_of(const struct flag *flag)
{
    if (flag->fallback)
        return flag->fallback;
    if (flag->type == FLAG_BOOL)
        return "false";
    return flag->type == FLAG_INT || flag->type == FLAG_DOUBLE || flag->type == FLAG_DURATION ? "0" : "";
}

static int set_fallbacks(const struct flag_set *set, struct err *err)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct flag *flag = &set->flags[i];
        int code;

        if (flag->type == FLAG_PAIRS)
            *(struct flag_pairs *)value_at(set, flag) = (struct flag_pairs){0};
        else if (flag->type == FLAG_JSON)
            *(yyjson_doc **)value_at(set, flag) = NULL;
        code = set_value(set, flag, fallback_of(flag), err);
        if (code < 0)
            return err_wrap(err, code, "the default of --%s", flag->name);
    }
    return 0;
}

/* The name in a word such as "--name=value", without dashes; 0 when the word is no flag. */
static size_t name_in(const char *word, const char **ret_name)
{
    if (word[0] != '-')
        return 0;
    *ret_name = word + 1 + (word[1] == '-');
    return strcspn(*ret_name, "=");
}

/* How much of the name says that the flag is for the taker of this table alone: "binder." for the binder. */
static size_t address_in(const struct flag_set *set, const char *name, size_t len)
{
    size_t taker_len = set->taker_name ? strlen(set->taker_name) : 0;

    return taker_len > 0 && taker_len < len && strncmp(name, set->taker_name, taker_len) == 0 && name[taker_len] == '.'
               ? taker_len + 1
               : 0;
}

/* The flag in the first of the tables that has it, from table *at on; *at is then that table. NULL: none has it. */
static const struct flag *find_flag(const struct flag_set *sets, size_t set_count, const char *name, size_t len,
                                    size_t *at)
{
    for (; *at < set_count; (*at)++) {
        const struct flag_set *set = &sets[*at];
        size_t skipped = address_in(set, name, len);

        for (size_t i = 0; i < set->count; i++) {
            const struct flag *flag = &set->flags[i];

            if (strncmp(flag->name, name + skipped, len - skipped) == 0 && flag->name[len - skipped] == '\0')
                return flag;
        }
    }
    return NULL;
}

/* Gives the text to every taker that has the flag, once each. */
static int give(const struct flag_set *sets, size_t set_count, const char *name, size_t len, const char *text,
                struct err *err)
{
    const struct flag *flag;

    for (size_t at = 0; (flag = find_flag(sets, set_count, name, len, &at));) {
        size_t taker = sets[at].taker;
        int code = set_value(&sets[at], flag, text, err);

        if (code < 0)
            return err_wrap(err, -EINVAL, "--%s", flag->name);
        while (at < set_count && sets[at].taker == taker)
            at++;
    }
    return 0;
}

static int unknown_flag(const struct flag_set *sets, size_t set_count, const char *name, size_t len, struct err *err)
{
    struct suggestion suggestion;
    char typed[64];
    char hint[SUGGESTION_MAX];

    (void)snprintf(typed, sizeof typed, "%.*s", (int)len, name);
    suggestion_init(&suggestion, typed);
    for (size_t s = 0; s < set_count; s++) {
        for (size_t i = 0; i < sets[s].count; i++)
            suggestion_offer(&suggestion, sets[s].flags[i].name);
    }
    return err_set(err, -EINVAL, "unknown flag --%s%s", typed, suggestion_text(&suggestion, "--", hint));
}

/* Reads the flag at argv[*at] and moves behind it. */
static int read_flag(const struct flag_set *sets, size_t set_count, int argc, const char *const *argv, int *at,
                     struct err *err)
{
    const struct flag *flag;
    const char *word = argv[(*at)++];
    const char *name = word;
    size_t first = 0;
    size_t len = name_in(word, &name);
    const char *text = name[len] == '=' ? name + len + 1 : NULL;

    if (len == 0)
        return err_set(err, -EINVAL, "'%s' is not a flag; to set a boolean, write --name=false", word);
    flag = find_flag(sets, set_count, name, len, &first);
    if (!flag)
        return unknown_flag(sets, set_count, name, len, err);
    if (!text && is_switch(flag))
        text = "true";
    if (!text && *at < argc)
        text = argv[(*at)++];
    if (!text)
        return err_set(err, -EINVAL, "--%s needs a value: %s", flag->name, flag_value_name(flag));
    return give(sets, set_count, name, len, text, err);
}

int flags_parse(const struct flag_set *sets, size_t set_count, int argc, const char *const *argv,
                enum flags_result *ret_result, struct err *err)
{
    int code = 0;

    for (size_t s = 0; s < set_count && code == 0; s++)
        code = set_fallbacks(&sets[s], err);
    for (int at = 0; at < argc && code == 0;) {
        if (strcmp(argv[at], "-h") == 0 || strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-help") == 0) {
            *ret_result = FLAGS_HELP;
            return 0;
        }
        code = read_flag(sets, set_count, argc, argv, &at, err);
    }
    if (code == 0)
        *ret_result = FLAGS_RUN;
    return code;
}

void flags_done(const struct flag_set *sets, size_t set_count)
{
    for (size_t s = 0; s < set_count; s++) {
        for (size_t i = 0; i < sets[s].count; i++) {
            const struct flag *flag = &sets[s].flags[i];

            if (flag->type == FLAG_PAIRS) {
                pairs_done(value_at(&sets[s], flag));
            } else if (flag->type == FLAG_JSON) {
                yyjson_doc **doc = value_at(&sets[s], flag);

                yyjson_doc_free(*doc);
                *doc = NULL;
            }
        }
    }
}

const char *flag_value_name(const struct flag *flag)
{
    static const char *const names[] = {
        [FLAG_BOOL] = NULL,       [FLAG_INT] = "N",         [FLAG_DOUBLE] = "NUMBER", [FLAG_STRING] = "TEXT",
        [FLAG_DURATION] = "TIME", [FLAG_PAIRS] = "K=V,...", [FLAG_JSON] = "JSON",     [FLAG_IGNORED] = "VALUE",
    };

    return is_switch(flag) ? NULL : names[flag->type];
}
