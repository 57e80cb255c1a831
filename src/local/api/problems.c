/* SPDX-License-Identifier: Apache-2.0 */
#include "local/api/problems.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"

enum { FIELD_DEPTH_MAX = 1024, MESSAGE_BYTES_MAX = 1 << 20 };

static const struct {
    const char *name;
    const char *words;
} reasons[] = {
    [PROBLEM_REQUIRED] = {"FieldValueRequired", "Required value"},
    [PROBLEM_INVALID] = {"FieldValueInvalid", "Invalid value"},
    [PROBLEM_NOT_SUPPORTED] = {"FieldValueNotSupported", "Unsupported value"},
    [PROBLEM_DUPLICATE] = {"FieldValueDuplicate", "Duplicate value"},
    [PROBLEM_FORBIDDEN] = {"FieldValueForbidden", "Forbidden"},
    [PROBLEM_TOO_LONG] = {"FieldValueTooLong", "Too long"},
    [PROBLEM_TOO_MANY] = {"FieldValueTooMany", "Too many"},
    [PROBLEM_TOO_FEW] = {"FieldValueTooFew", "Too few"},
    [PROBLEM_TOO_SHORT] = {"FieldValueTooShort", "Too short"},
    [PROBLEM_TYPE_INVALID] = {"FieldValueTypeInvalid", "Invalid value"},
    [PROBLEM_NOT_FOUND] = {"FieldValueNotFound", "Not found"},
    [PROBLEM_INTERNAL] = {"InternalError", "Internal error"},
};

const char *problem_reason_name(enum problem_reason reason)
{
    return reasons[reason].name;
}

void field_format(const struct field *field, struct strbuf *text)
{
    const struct field *steps[FIELD_DEPTH_MAX];
    size_t count = 0;

    for (; field && count < FIELD_DEPTH_MAX; field = field->parent)
        steps[count++] = field;
    for (size_t i = count; i-- > 0;) {
        if (steps[i]->step == FIELD_ITEM)
            strbuf_addf(text, "[%zu]", steps[i]->index);
        else if (steps[i]->step == FIELD_KEY)
            strbuf_addf(text, "[%s]", steps[i]->name);
        else
            strbuf_addf(text, "%s%s", i + 1 < count ? "." : "", steps[i]->name);
    }
}

/* --- Values --- */

/* In quotes, with what cannot be printed escaped as Go does it. */
static void show_text(const char *value, size_t len, struct strbuf *text)
{
    static const char escapes[] = "abtnvfr";  // of the characters 7 to 13

    strbuf_addch(text, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)value[i];
        if (c == '"' || c == '\\')
            strbuf_addf(text, "\\%c", c);
        else if (c >= 7 && c <= 13)
            strbuf_addf(text, "\\%c", escapes[c - 7]);
        else if (c < 0x20 || c == 0x7f)
            strbuf_addf(text, "\\x%02x", c);
        else
            strbuf_addch(text, (char)c);
    }
    strbuf_addch(text, '"');
}

void problem_show_value(yyjson_mut_val *value, struct strbuf *text)
{
    if (yyjson_mut_is_str(value)) {
        show_text(yyjson_mut_get_str(value), yyjson_mut_get_len(value), text);
        return;
    }
    _cleanup_(freep) char *json = yyjson_mut_val_write(value, YYJSON_WRITE_NOFLAG, NULL);
    strbuf_addstr(text, json ? json : "null");
}

/* --- The list --- */

void problems_done(struct problems *problems)
{
    vec_foreach (&problems->list, problem) {
        free(problem->field);
        free(problem->message);
    }
    vec_done(&problems->list);
}

void problem_add(struct problems *problems, enum problem_reason reason, const struct field *field, const char *message)
{
    if (problems->list.len >= PROBLEMS_MAX)
        return;

    struct strbuf path;
    strbuf_init(&path, PROBLEM_BYTES_MAX);
    field_format(field, &path);
    vec_push(&problems->list, (struct problem){.reason = reason,
                                               .field = strbuf_take(&path),
                                               .message = xstrndup(message, PROBLEM_BYTES_MAX)});
    strbuf_done(&path);
}

/* "<words>[: <value>][: <detail>]"; the value is in `shown`, which may be empty. */
static void add_shown(struct problems *problems, enum problem_reason reason, const struct field *field,
                      const struct strbuf *shown, const char *detail)
{
    struct strbuf message;

    strbuf_init(&message, PROBLEM_BYTES_MAX);
    strbuf_addstr(&message, reasons[reason].words);
    if (shown->len)
        strbuf_addf(&message, ": %s", shown->text);
    if (*detail)
        strbuf_addf(&message, ": %s", detail);
    problem_add(problems, reason, field, message.text);
    strbuf_done(&message);
}

static void add_value(struct problems *problems, enum problem_reason reason, const struct field *field,
                      yyjson_mut_val *value, const char *detail)
{
    struct strbuf shown;

    strbuf_init(&shown, PROBLEM_BYTES_MAX);
    if (value)
        problem_show_value(value, &shown);
    add_shown(problems, reason, field, &shown, detail);
    strbuf_done(&shown);
}

void problem_required(struct problems *problems, const struct field *field, const char *detail)
{
    add_value(problems, PROBLEM_REQUIRED, field, NULL, detail);
}

void problem_forbidden(struct problems *problems, const struct field *field, const char *detail)
{
    add_value(problems, PROBLEM_FORBIDDEN, field, NULL, detail);
}

void problem_invalid(struct problems *problems, const struct field *field, yyjson_mut_val *value, const char *detail)
{
    add_value(problems, PROBLEM_INVALID, field, value, detail);
}

void problem_invalid_text(struct problems *problems, const struct field *field, const char *value, const char *detail)
{
    struct strbuf shown;

    strbuf_init(&shown, PROBLEM_BYTES_MAX);
    show_text(value, strlen(value), &shown);
    add_shown(problems, PROBLEM_INVALID, field, &shown, detail);
    strbuf_done(&shown);
}

void problem_invalid_number(struct problems *problems, const struct field *field, int64_t value, const char *detail)
{
    struct strbuf shown;

    strbuf_init(&shown, PROBLEM_BYTES_MAX);
    strbuf_addf(&shown, "%" PRId64, value);
    add_shown(problems, PROBLEM_INVALID, field, &shown, detail);
    strbuf_done(&shown);
}

void problem_type(struct problems *problems, const struct field *field, yyjson_mut_val *value, const char *detail)
{
    add_value(problems, PROBLEM_TYPE_INVALID, field, value, detail);
}

void problem_duplicate(struct problems *problems, const struct field *field, yyjson_mut_val *value)
{
    add_value(problems, PROBLEM_DUPLICATE, field, value, "");
}

void problem_not_found(struct problems *problems, const struct field *field, yyjson_mut_val *value)
{
    add_value(problems, PROBLEM_NOT_FOUND, field, value, "");
}

void problem_too_long(struct problems *problems, const struct field *field, size_t max_bytes)
{
    char detail[64];

    (void)snprintf(detail, sizeof detail, "may not be more than %zu byte%s", max_bytes, max_bytes == 1 ? "" : "s");
    add_value(problems, PROBLEM_TOO_LONG, field, NULL, detail);
}

void problem_too_many(struct problems *problems, const struct field *field, size_t count, size_t max)
{
    struct strbuf shown;
    char detail[64];

    strbuf_init(&shown, PROBLEM_BYTES_MAX);
    strbuf_addf(&shown, "%zu", count);
    (void)snprintf(detail, sizeof detail, "must have at most %zu item%s", max, max == 1 ? "" : "s");
    add_shown(problems, PROBLEM_TOO_MANY, field, &shown, detail);
    strbuf_done(&shown);
}

void problem_not_supported(struct problems *problems, const struct field *field, yyjson_mut_val *value,
                           const char *supported)
{
    struct strbuf detail;

    strbuf_init(&detail, PROBLEM_BYTES_MAX);
    strbuf_addstr(&detail, *supported ? "supported values: " : "");
    for (const char *at = supported; *at;) {
        size_t len = strcspn(at, " ");
        show_text(at, len, &detail);
        at += len;
        at += strspn(at, " ");
        if (*at)
            strbuf_addstr(&detail, ", ");
    }
    add_value(problems, PROBLEM_NOT_SUPPORTED, field, value, detail.text);
    strbuf_done(&detail);
}

/* --- As a Status --- */

void problems_message(const struct problems *problems, const char *group, const char *kind, const char *name,
                      struct strbuf *text)
{
    struct strmap seen = {0};
    struct strbuf list;

    strbuf_addf(text, "%s%s%s ", kind, *group ? "." : "", group);
    show_text(name, strlen(name), text);
    strbuf_addstr(text, " is invalid");
    strbuf_init(&list, MESSAGE_BYTES_MAX);
    vec_foreach (&problems->list, problem) {
        if (strmap_put(&seen, problem->field, problem->message, problem))
            continue;
        strbuf_addf(&list, "%s%s: %s", list.len ? ", " : "", problem->field, problem->message);
    }
    if (list.len)
        strbuf_addf(text, seen.len > 1 ? ": [%s]" : ": %s", list.text);
    strbuf_done(&list);
    strmap_done(&seen);
}

yyjson_mut_val *problems_causes(const struct problems *problems, yyjson_mut_doc *doc)
{
    yyjson_mut_val *causes = yyjson_mut_arr(doc);

    vec_foreach (&problems->list, problem) {
        yyjson_mut_val *cause = yyjson_mut_arr_add_obj(doc, causes);
        yyjson_mut_obj_add_str(doc, cause, "reason", reasons[problem->reason].name);
        yyjson_mut_obj_add_strcpy(doc, cause, "message", problem->message);
        yyjson_mut_obj_add_strcpy(doc, cause, "field", problem->field);
    }
    return causes;
}
