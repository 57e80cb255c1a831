/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order and the words of problems are those of the API server, for programs that look for them. It reports what is
 * wrong with a number's format, and with anyOf, oneOf, allOf and not, at a field called "<nil>".
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "cel/pattern.h"
#include "local/api/problems.h"
#include "local/custom/format.h"
#include "local/custom/schema_internal.h"

/* --- Texts --- */

static const struct field *body_of(const struct field *field)
{
    while (field && !field->is_body)
        field = field->parent;
    return field;
}

/* As messages name a field: from the body on, which is the whole object or its status. */
static void path_of(const struct field *field, struct strbuf *text)
{
    const struct field *body = body_of(field);
    struct strbuf whole;
    size_t skipped = 0;

    strbuf_init(text, PROBLEM_BYTES_MAX);
    strbuf_init(&whole, PROBLEM_BYTES_MAX);
    if (body) {
        field_format(body, &whole);
        skipped = whole.len;
        strbuf_clear(&whole);
    }
    field_format(field, &whole);
    skipped += whole.text[skipped] == '.';
    strbuf_addstr(text, whole.text + skipped);
    strbuf_done(&whole);
}

/* "<words>: <value>: <path> in body <what>" */
static void report(struct problems *problems, enum problem_reason reason, const struct field *field, const char *value,
                   const char *what)
{
    struct strbuf path, message;

    path_of(field, &path);
    strbuf_init(&message, PROBLEM_BYTES_MAX);
    strbuf_addf(&message, "Invalid value: %s: %s in body %s", value, path.text, what);
    problem_add(problems, reason, field, message.text);
    strbuf_done(&message);
    strbuf_done(&path);
}

static void report_value(struct problems *problems, enum problem_reason reason, const struct field *field,
                         yyjson_mut_val *value, const char *what)
{
    struct strbuf shown;

    strbuf_init(&shown, PROBLEM_BYTES_MAX);
    problem_show_value(value, &shown);
    report(problems, reason, field, shown.text, what);
    strbuf_done(&shown);
}

static void report_count(struct problems *problems, const struct field *field, size_t count, const char *what,
                         schema_limit limit, const char *things)
{
    char shown[24], text[96];

    (void)snprintf(shown, sizeof shown, "%zu", count);
    (void)snprintf(text, sizeof text, "%s %" PRId64 " %s", what, limit, things);
    report(problems, PROBLEM_INVALID, field, shown, text);
}

/* What the API server reports without a field. */
static void report_nowhere(struct problems *problems, const struct field *field, const char *before, const char *after)
{
    const struct field nowhere = field_member(NULL, "<nil>");
    struct strbuf path, message;

    path_of(field, &path);
    strbuf_init(&message, PROBLEM_BYTES_MAX);
    strbuf_addf(&message, "Invalid value: \"\": %s%s%s", before, path.text, after);
    problem_add(problems, PROBLEM_INVALID, &nowhere, message.text);
    strbuf_done(&message);
    strbuf_done(&path);
}

/* A number as Go prints it, with as few digits as tell it apart. */
static void format_number(double number, char text[static 40])
{
    if (fabs(number) < 1e21 && trunc(number) == number) {
        (void)snprintf(text, 40, "%.0f", number);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        (void)snprintf(text, 40, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            return;
    }
}

/* --- Types --- */

static bool is_whole(yyjson_mut_val *value)
{
    return yyjson_mut_is_int(value) ||
           (yyjson_mut_is_real(value) && trunc(yyjson_mut_get_real(value)) == yyjson_mut_get_real(value));
}

static const char *type_of(yyjson_mut_val *value)
{
    if (yyjson_mut_is_num(value))
        return is_whole(value) ? "integer" : "number";
    if (yyjson_mut_is_str(value))
        return "string";
    if (yyjson_mut_is_bool(value))
        return "boolean";
    if (yyjson_mut_is_obj(value))
        return "object";
    return yyjson_mut_is_arr(value) ? "array" : "null";
}

static void check_type(const struct schema_node *node, yyjson_mut_val *value, const struct field *field,
                       struct problems *problems)
{
    const char *found = type_of(value);
    const char *wanted = node->is_int_or_string ? "integer,string" : schema_type_name(node->type);
    char shown[16], text[96];

    if (node->is_int_or_string
            ? is_whole(value) || yyjson_mut_is_str(value)
            : !wanted || strcmp(found, wanted) == 0 || (node->type == TYPE_NUMBER && yyjson_mut_is_num(value)))
        return;
    /* What a number with a format is not has no format either, and that is what is said. */
    if (node->format && !node->is_int_or_string && (yyjson_mut_is_bool(value) || yyjson_mut_is_obj(value))) {
        wanted = node->format;
        found = "";
    }
    (void)snprintf(shown, sizeof shown, "\"%s\"", found);
    (void)snprintf(text, sizeof text, "must be of type %s: \"%s\"", wanted, found);
    report(problems, PROBLEM_TYPE_INVALID, field, shown, text);
}

/* --- Strings --- */

static size_t characters_in(yyjson_mut_val *value)
{
    const char *text = yyjson_mut_get_str(value);
    size_t count = 0;

    for (size_t i = 0; i < yyjson_mut_get_len(value); i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

static void check_string(const struct schema_node *node, yyjson_mut_val *value, const struct field *field,
                         struct problems *problems)
{
    struct strbuf text;

    if (node->max_length >= 0 && characters_in(value) > (size_t)node->max_length)
        problem_too_long(problems, field, (size_t)node->max_length);
    strbuf_init(&text, PROBLEM_BYTES_MAX);
    if (node->min_length >= 0 && characters_in(value) < (size_t)node->min_length) {
        strbuf_addf(&text, "should be at least %" PRId64 " chars long", node->min_length);
        report_value(problems, PROBLEM_INVALID, field, value, text.text);
    }
    if (node->pattern && !pattern_matches(node->pattern, yyjson_mut_get_str(value), yyjson_mut_get_len(value))) {
        strbuf_clear(&text);
        strbuf_addf(&text, "should match '%s'", node->pattern_text);
        report_value(problems, PROBLEM_INVALID, field, value, text.text);
    }
    if (node->format && !format_matches(node->format, yyjson_mut_get_str(value))) {
        strbuf_clear(&text);
        strbuf_addf(&text, "must be of type %s: ", node->format);
        problem_show_value(value, &text);
        report_value(problems, PROBLEM_TYPE_INVALID, field, value, text.text);
    }
    strbuf_done(&text);
}

/* --- Numbers --- */

static void check_number_format(const struct schema_node *node, yyjson_mut_val *value, const struct field *field,
                                struct problems *problems)
{
    const char *format = node->format ? node->format : "";
    double number = yyjson_mut_get_num(value);

    if (node->type == TYPE_INTEGER && !is_whole(value))
        report_nowhere(problems, field, "Checked value must be of type integer (default format) in ", "");
    if (node->type == TYPE_INTEGER && strcmp(format, "int32") == 0 && (number > INT32_MAX || number < INT32_MIN))
        report_nowhere(problems, field, "Checked value must be of type integer with format int32 in ", "");
    if (node->type == TYPE_INTEGER && strcmp(format, "int64") == 0 && !yyjson_mut_is_int(value) &&
        fabs(number) >= 0x1p63) {
        report(problems, PROBLEM_TYPE_INVALID, field, "\"float64\"", "must be of type int64: \"float64\"");
        report_nowhere(problems, field, "Checked value must be of type integer with format int64 in ", "");
    }
    if (node->type == TYPE_NUMBER && strcmp(format, "float") == 0 && fabs(number) > (double)__FLT_MAX__)
        report_nowhere(problems, field, "Checked value must be of type number with format float in ", "");
}

static void report_bound(struct problems *problems, const struct field *field, yyjson_mut_val *value, const char *what,
                         double bound)
{
    char number[40], shown[40], text[96];

    format_number(yyjson_mut_get_num(value), shown);
    format_number(bound, number);
    (void)snprintf(text, sizeof text, "should be %s %s", what, number);
    report(problems, PROBLEM_INVALID, field, shown, text);
}

static bool is_multiple(double number, double of)
{
    double times = number / of;

    /* 0.07 is a multiple of 0.01, although the quotient of the two is not whole. */
    return of != 0 && fabs(times - round(times)) <= 1e-9 * MAX(fabs(times), 1.0);
}

static void check_number(const struct schema_node *node, yyjson_mut_val *value, const struct field *field,
                         struct problems *problems)
{
    double number = yyjson_mut_get_num(value);

    check_number_format(node, value, field, problems);
    if (node->multiple_of.is_given && !is_multiple(number, node->multiple_of.value))
        report_bound(problems, field, value, "a multiple of", node->multiple_of.value);
    if (node->maximum.is_given &&
        (number > node->maximum.value || (node->maximum.is_exclusive && number >= node->maximum.value)))
        report_bound(problems, field, value, node->maximum.is_exclusive ? "less than" : "less than or equal to",
                     node->maximum.value);
    if (node->minimum.is_given &&
        (number < node->minimum.value || (node->minimum.is_exclusive && number <= node->minimum.value)))
        report_bound(problems, field, value, node->minimum.is_exclusive ? "greater than" : "greater than or equal to",
                     node->minimum.value);
}

/* --- Choices --- */

static bool is_equal(yyjson_mut_val *a, yyjson_mut_val *b)
{
    if (yyjson_mut_is_num(a) && yyjson_mut_is_num(b))
        return yyjson_mut_get_num(a) == yyjson_mut_get_num(b);
    return yyjson_mut_equals(a, b);
}

static void check_choices(const struct schema_node *node, yyjson_mut_val *value, const struct field *field,
                          struct problems *problems)
{
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(node->choices);
    struct strbuf message, shown;
    yyjson_mut_val *choice;

    while ((choice = yyjson_mut_arr_iter_next(&iter)))
        if (is_equal(choice, value))
            return;
    strbuf_init(&message, PROBLEM_BYTES_MAX);
    strbuf_init(&shown, PROBLEM_BYTES_MAX);
    strbuf_addstr(&message, "Unsupported value: ");
    problem_show_value(value, &message);
    strbuf_addstr(&message, ": supported values: ");
    iter = yyjson_mut_arr_iter_with(node->choices);
    for (bool is_first = true; (choice = yyjson_mut_arr_iter_next(&iter)); is_first = false) {
        yyjson_mut_val text;
        strbuf_clear(&shown);
        if (!yyjson_mut_is_str(choice))
            problem_show_value(choice, &shown);
        else
            strbuf_add(&shown, yyjson_mut_get_str(choice), yyjson_mut_get_len(choice));
        text = (yyjson_mut_val){.tag = ((uint64_t)shown.len << YYJSON_TAG_BIT) | YYJSON_TYPE_STR,
                                .uni = {.str = shown.text}};
        strbuf_addstr(&message, is_first ? "" : ", ");
        problem_show_value(&text, &message);
    }
    problem_add(problems, PROBLEM_NOT_SUPPORTED, field, message.text);
    strbuf_done(&shown);
    strbuf_done(&message);
}

/* --- Lists and objects --- */

static void check_items(const struct schema_node *node, yyjson_mut_val *list, const struct field *field,
                        struct problems *problems)
{
    size_t count = yyjson_mut_arr_size(list);
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(list);
    yyjson_mut_val *item;

    for (size_t i = 0; node->items && (item = yyjson_mut_arr_iter_next(&iter)); i++) {
        const struct field at = field_item(field, i);
        schema_validate_value(node->items, item, &at, problems);
    }
    if (node->min_items >= 0 && count < (size_t)node->min_items)
        report_count(problems, field, count, "should have at least", node->min_items, "items");
    if (node->max_items >= 0 && count > (size_t)node->max_items)
        problem_too_many(problems, field, count, (size_t)node->max_items);
}

static void check_members(const struct schema_node *node, yyjson_mut_val *object, const struct field *field,
                          struct problems *problems)
{
    size_t count = yyjson_mut_obj_size(object);

    if (node->min_properties >= 0 && count < (size_t)node->min_properties) {
        report_count(problems, field, count, "should have at least", node->min_properties, "properties");
        return;
    }
    if (node->max_properties >= 0 && count > (size_t)node->max_properties) {
        problem_too_many(problems, field, count, (size_t)node->max_properties);
        return;
    }
    for (size_t i = 0; i < node->required_count; i++)
        if (!yyjson_mut_obj_get(object, node->required[i]))
            problem_required(problems, FIELD(field, node->required[i]), "");

    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(object);
    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        const struct schema_node *child = schema_member_node(node, yyjson_mut_get_str(key));
        const struct field member = field_member(field, yyjson_mut_get_str(key));
        if (child)
            schema_validate_value(child, yyjson_mut_obj_iter_get_val(key), &member, problems);
    }
}

/* --- Combinations --- */

static void append(struct problems *to, struct problems *from)
{
    vec_foreach (&from->list, problem)
        if (to->list.len < PROBLEMS_MAX)
            problem_add(to, problem->reason, FIELD(NULL, problem->field), problem->message);
}

/* How many schemas take the value; what is wrong by the first one that does not is in `first`. */
static size_t count_valid(const struct schema_nodes *nodes, yyjson_mut_val *value, const struct field *field,
                          struct problems *first)
{
    size_t valid = 0;

    for (size_t i = 0; i < nodes->count; i++) {
        struct problems found = {0};
        schema_validate_value(nodes->list[i], value, field, &found);
        valid += !problems_any(&found);
        if (problems_any(&found) && !problems_any(first)) {
            *first = found;
            continue;
        }
        problems_done(&found);
    }
    return valid;
}

static void check_combinations(const struct schema_node *node, yyjson_mut_val *value, const struct field *field,
                               struct problems *problems)
{
    struct problems of_any = {0}, of_one = {0}, of_not = {0};
    char text[96];

    if (node->any_of.count && count_valid(&node->any_of, value, field, &of_any) == 0) {
        report_nowhere(problems, field, "\"", "\" must validate at least one schema (anyOf)");
        append(problems, &of_any);
    }
    if (node->one_of.count) {
        size_t valid = count_valid(&node->one_of, value, field, &of_one);
        (void)snprintf(text, sizeof text,
                       "\" must validate one and only one schema (oneOf). Found %zu valid alternatives", valid);
        if (valid == 0) {
            report_nowhere(problems, field, "\"", "\" must validate one and only one schema (oneOf). Found none valid");
            append(problems, &of_one);
        } else if (valid > 1) {
            report_nowhere(problems, field, "\"", text);
        }
    }
    size_t valid = 0;
    for (size_t i = 0; i < node->all_of.count; i++) {
        uint32_t before = problems->list.len;
        schema_validate_value(node->all_of.list[i], value, field, problems);
        valid += problems->list.len == before;
    }
    if (valid < node->all_of.count)
        report_nowhere(problems, field, "\"",
                       valid ? "\" must validate all the schemas (allOf)"
                             : "\" must validate all the schemas (allOf). None validated");
    if (node->not_of) {
        schema_validate_value(node->not_of, value, field, &of_not);
        if (!problems_any(&of_not))
            report_nowhere(problems, field, "\"", "\" must not validate the schema (not)");
    }
    problems_done(&of_any);
    problems_done(&of_one);
    problems_done(&of_not);
}

void schema_validate_value(const struct schema_node *node, yyjson_mut_val *value, const struct field *field,
                           struct problems *problems)
{
    /* Enough is known, and combinations of combinations end. */
    if (!node || problems->list.len >= PROBLEMS_MAX || (node->is_nullable && yyjson_mut_is_null(value)))
        return;
    check_type(node, value, field, problems);
    check_combinations(node, value, field, problems);
    if (yyjson_mut_is_str(value))
        check_string(node, value, field, problems);
    else if (yyjson_mut_is_num(value))
        check_number(node, value, field, problems);
    else if (yyjson_mut_is_arr(value))
        check_items(node, value, field, problems);
    if (node->choices)
        check_choices(node, value, field, problems);
    if (yyjson_mut_is_obj(value))
        check_members(node, value, field, problems);
}
