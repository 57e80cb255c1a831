/* SPDX-License-Identifier: Apache-2.0 */
#include "local/custom/value_path.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"

enum step_kind { STEP_MEMBER, STEP_ITEM, STEP_EVERY, STEP_FILTER };

struct value_path {
    enum step_kind kind;
    const char *name;               // of STEP_MEMBER
    long index;                     // of STEP_ITEM; from the end below 0
    const struct value_path *left;  // of STEP_FILTER: the member of an element that is compared
    const char *right;              // and the text that it has to be
    const struct value_path *next;  // NULL: here
};

static const struct value_path *parse_steps(const char **at, const char *ends, struct arena *arena, bool *is_wrong);

/* A text in quotes; NULL when there is none. */
static const char *parse_quoted(const char **at, struct arena *arena)
{
    char quote = **at;
    const char *end = quote == '\'' || quote == '"' ? strchr(*at + 1, quote) : NULL;

    if (!end)
        return NULL;
    size_t len = (size_t)(end - *at - 1);
    char *text = arena_calloc(arena, len + 1, 1);
    memcpy(text, *at + 1, len);
    *at = end + 1;
    return text;
}

/* ?(@.type=="Ready") */
static bool parse_filter(const char **at, struct value_path *step, struct arena *arena)
{
    bool is_wrong = false;

    if (strncmp(*at, "?(@", 3) != 0)
        return false;
    *at += 3;
    step->kind = STEP_FILTER;
    step->left = parse_steps(at, "= ", arena, &is_wrong);
    *at += strspn(*at, " ");
    if (is_wrong || strncmp(*at, "==", 2) != 0)
        return false;
    *at += 2;
    *at += strspn(*at, " ");
    step->right = parse_quoted(at, arena);
    *at += strspn(*at, " ");
    return step->right && *(*at)++ == ')';
}

/* What stands between brackets. */
static bool parse_bracket(const char **at, struct value_path *step, struct arena *arena)
{
    char *end;

    if (**at == '?')
        return parse_filter(at, step, arena);
    if (**at == '*') {
        step->kind = STEP_EVERY;
        (*at)++;
        return true;
    }
    if (**at == '\'' || **at == '"') {
        step->kind = STEP_MEMBER;
        step->name = parse_quoted(at, arena);
        return step->name != NULL;
    }
    step->kind = STEP_ITEM;
    step->index = strtol(*at, &end, 10);
    if (end == *at)
        return false;
    *at = end;
    return true;
}

/* A member behind a dot; a backslash keeps a dot from ending it. */
static bool parse_member(const char **at, const char *ends, struct value_path *step, struct arena *arena)
{
    struct strbuf name;

    strbuf_init(&name, VALUE_PATH_BYTES_MAX);
    for (; **at && **at != '.' && **at != '[' && !strchr(ends, **at); (*at)++) {
        if (**at == '\\' && (*at)[1])
            (*at)++;
        strbuf_addch(&name, **at);
    }
    step->kind = STEP_MEMBER;
    step->name = arena_strdup(arena, name.text);
    bool is_named = name.len > 0;
    strbuf_done(&name);
    return is_named;
}

static const struct value_path *parse_steps(const char **at, const char *ends, struct arena *arena, bool *is_wrong)
{
    const struct value_path *first = NULL;
    const struct value_path **link = &first;

    while (**at && !strchr(ends, **at) && !*is_wrong) {
        struct value_path *step = ARENA_NEW(arena, struct value_path);
        const char opening = *(*at)++;
        if (opening == '.')
            *is_wrong = !parse_member(at, ends, step, arena);
        else
            *is_wrong = opening != '[' || !parse_bracket(at, step, arena) || *(*at)++ != ']';
        *link = step;
        link = &step->next;
    }
    return first;
}

const struct value_path *value_path_parse(const char *text, struct arena *arena)
{
    bool is_wrong = strlen(text) > VALUE_PATH_BYTES_MAX;
    const struct value_path *path = is_wrong ? NULL : parse_steps(&text, "", arena, &is_wrong);

    return is_wrong ? NULL : path;
}

static yyjson_mut_val *element_that_fits(const struct value_path *step, yyjson_mut_val *list)
{
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(list);

    for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));)
        if (step->kind == STEP_EVERY || yyjson_mut_equals_str(value_path_get(step->left, item), step->right))
            return item;
    return NULL;
}

yyjson_mut_val *value_path_get(const struct value_path *path, yyjson_mut_val *object)
{
    for (; path && object; path = path->next) {
        long index = path->index;
        switch (path->kind) {
        case STEP_MEMBER:
            object = yyjson_mut_obj_get(object, path->name);
            break;
        case STEP_ITEM:
            index += index < 0 ? (long)yyjson_mut_arr_size(object) : 0;
            object = index < 0 ? NULL : yyjson_mut_arr_get(object, (size_t)index);
            break;
        case STEP_EVERY:
        case STEP_FILTER:
            object = element_that_fits(path, object);
            break;
        }
    }
    return object;
}

bool value_path_put(const struct value_path *path, yyjson_mut_doc *doc, yyjson_mut_val *value)
{
    yyjson_mut_val *at = yyjson_mut_doc_get_root(doc);

    for (; path; path = path->next) {
        if (path->kind != STEP_MEMBER || !yyjson_mut_is_obj(at))
            return false;
        yyjson_mut_val *below = path->next ? yyjson_mut_obj_get(at, path->name) : value;
        if (path->next && below) {
            at = below;
            continue;
        }
        below = below ? below : yyjson_mut_obj(doc);
        yyjson_mut_obj_put(at, yyjson_mut_strcpy(doc, path->name), below);
        at = below;
    }
    return true;
}
