/* SPDX-License-Identifier: Apache-2.0 */
#include "console/assets/fields.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "text/quantity.h"

/* Longer than any argument of a container, and far below the largest body. */
enum { TEXT_MAX = 16 << 10, ITEMS_MAX = 256 };

#define NUMBER_MAX 1e15

static bool is_label(const char *text)
{
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");

    return len > 0 && len <= 63 && !text[len] && text[0] != '-' && text[len - 1] != '-';
}

static bool is_mode(const char *text)
{
    return strlen(text) == 4 && text[0] == '0' && strspn(text, "01234567") == 4;
}

static bool is_option(const struct field *field, const char *text)
{
    for (size_t i = 0; field->options[i]; i++) {
        if (strcmp(field->options[i], text) == 0)
            return true;
    }
    return false;
}

static int fail_option(const struct json_at *at, const struct field *field, struct err *err)
{
    char list[256] = "";
    size_t len = 0;

    for (size_t i = 0; field->options[i] && len + strlen(field->options[i]) + 3 < sizeof list; i++) {
        size_t more = strlen(field->options[i]);

        if (i > 0) {
            memcpy(list + len, ", ", 2);
            len += 2;
        }
        memcpy(list + len, field->options[i], more);
        len += more;
    }
    list[len] = '\0';
    return json_fail(at, err, -EINVAL, "expected one of %s", list);
}

static int check_text(const struct json_at *at, const struct field *field, const char *text, struct err *err)
{
    size_t max = field->max > 0 ? (size_t)field->max : TEXT_MAX;
    struct err inner = {0};
    int64_t amount;

    if (!*text && !(field->type == FIELD_TEXT && field->min < 1))
        return json_fail(at, err, -EINVAL, "expected a text that is not empty");
    if (strlen(text) > max)
        return json_fail(at, err, -EINVAL, "longer than %zu bytes", max);
    switch (field->type) {
    case FIELD_OPTION:
        return is_option(field, text) ? 0 : fail_option(at, field, err);
    case FIELD_QUANTITY:
        if (quantity_parse(text, QUANTITY_ONE, &amount, &inner) < 0)
            return json_fail(at, err, -EINVAL, "expected a quantity such as 16Gi");
        return 0;
    case FIELD_LABEL:
        return is_label(text)
                   ? 0
                   : json_fail(
                         at, err, -EINVAL,
                         "expected up to 63 lower-case letters, digits and '-', the first and last a letter or digit");
    case FIELD_MODE:
        return is_mode(text) ? 0 : json_fail(at, err, -EINVAL, "expected four octal digits such as 0644");
    case FIELD_PATH:
        return *text == '/' ? 0 : json_fail(at, err, -EINVAL, "expected a path that begins with '/'");
    default:
        return 0;
    }
}

static int read_text(const struct json_at *at, const struct field *field, struct field_reading *reading,
                     yyjson_mut_val **ret_value, struct err *err)
{
    const char *text = NULL;
    int r = json_str(at, &text, err);

    if (r == 0)
        r = check_text(at, field, text, err);
    if (r < 0)
        return r;
    if (field->type == FIELD_ASSET && reading->refs) {
        const char *kind = at->parent ? yyjson_get_str(yyjson_obj_get(at->parent->val, "kind")) : NULL;
        struct field_ref ref = {field, text, kind};

        vec_push(reading->refs, ref);
    }
    *ret_value = yyjson_mut_strcpy(reading->doc, text);
    return 0;
}

static int read_list(const struct json_at *at, const struct field *field, struct field_reading *reading,
                     yyjson_mut_val **ret_value, struct err *err)
{
    const struct field of_text = {
        .type = field->options ? FIELD_OPTION : FIELD_TEXT, .min = 1, .options = field->options};
    const struct field of_object = {.type = FIELD_OBJECT, .fields = field->fields};
    int r = json_array(at, err);

    if (r < 0)
        return r;
    if (yyjson_arr_size(at->val) > ITEMS_MAX)
        return json_fail(at, err, -EINVAL, "more than %d items", ITEMS_MAX);
    *ret_value = yyjson_mut_arr(reading->doc);
    for (struct json_at item = {0}; json_next(at, &item);) {
        yyjson_mut_val *value = NULL;

        r = asset_member_read(&item, field->fields ? &of_object : &of_text, reading, &value, err);
        if (r < 0)
            return r;
        (void)yyjson_mut_arr_append(*ret_value, value);
    }
    return 0;
}

static int read_number(const struct json_at *at, const struct field *field, yyjson_mut_doc *doc,
                       yyjson_mut_val **ret_value, struct err *err)
{
    double max = field->max > 0 ? field->max : field->type == FIELD_WHOLE ? INT32_MAX : NUMBER_MAX;
    double number = 0;
    int64_t whole = 0;
    int r;

    if (field->type == FIELD_WHOLE) {
        r = json_int64(at, (int64_t)field->min, (int64_t)max, &whole, err);
        *ret_value = yyjson_mut_sint(doc, whole);
    } else {
        r = json_double(at, field->min, max, &number, err);
        *ret_value = yyjson_mut_real(doc, number);
    }
    return r;
}

int asset_member_read(const struct json_at *at, const struct field *field, struct field_reading *reading,
                      yyjson_mut_val **ret_value, struct err *err)
{
    bool value = false;
    int r;

    switch (field->type) {
    case FIELD_NUMBER:
    case FIELD_WHOLE:
        return read_number(at, field, reading->doc, ret_value, err);
    case FIELD_BOOL:
        r = json_bool(at, &value, err);
        *ret_value = yyjson_mut_bool(reading->doc, value);
        return r;
    case FIELD_OBJECT:
        *ret_value = yyjson_mut_obj(reading->doc);
        r = json_object(at, err);
        return r < 0 ? r : asset_members_read(at, field->fields, reading, *ret_value, err);
    case FIELD_LIST:
        return read_list(at, field, reading, ret_value, err);
    case FIELD_ANY:
        *ret_value = yyjson_val_mut_copy(reading->doc, at->val);
        return 0;
    default:
        return read_text(at, field, reading, ret_value, err);
    }
}

int asset_members_read(const struct json_at *at, const struct field *fields, struct field_reading *reading,
                       yyjson_mut_val *to, struct err *err)
{
    for (const struct field *field = fields; field->name; field++) {
        struct json_at member = {yyjson_obj_get(at->val, field->name), at, field->name, 0};
        yyjson_mut_val *value = NULL;

        if (!member.val || yyjson_is_null(member.val)) {
            if (field->flags & FIELD_REQUIRED)
                return json_fail(&member, err, -EINVAL, "it is required");
            if (field->flags & (FIELD_TRUE | FIELD_FALSE))
                (void)yyjson_mut_obj_add_bool(reading->doc, to, field->name, (field->flags & FIELD_TRUE) != 0);
            continue;
        }
        int r = asset_member_read(&member, field, reading, &value, err);
        if (r < 0)
            return r;
        BUG_ON((field->flags & FIELD_SECRET) && !reading->secrets);
        (void)yyjson_mut_obj_add_val(reading->doc, field->flags & FIELD_SECRET ? reading->secrets : to, field->name,
                                     value);
    }
    return 0;
}

const struct field *asset_member_find(const struct field *fields, const char *name)
{
    for (const struct field *field = fields; field && field->name; field++) {
        if (strcmp(field->name, name) == 0)
            return field;
    }
    return NULL;
}
