/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message becomes an object whose members are those that are on the wire; normal_form() then takes out the zeros that
 * Go writes for every member and JSON leaves out. What a body can cost is bounded by the values that it makes: an empty
 * element is two bytes on the wire and a hundred in a document.
 */
#include "local/wire/wire.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/utf8.h"
#include "local/wire/normal.h"
#include "local/wire/proto.h"
#include "local/wire/types.h"
#include "local/wire/wire_internal.h"

static const uint8_t magic[] = {'k', '8', 's', 0};

bool wire_is_protobuf(const void *body, size_t len)
{
    return len >= sizeof magic && memcmp(body, magic, sizeof magic) == 0;
}

int wire_fail(struct wire_reading *reading, const struct type_row *row, const char *what)
{
    return err_set(reading->err, -EINVAL, "protobuf: %s: %s", row ? row_name(row) : "envelope", what);
}

int wire_count_value(struct wire_reading *reading, const struct type_row *row)
{
    if (++reading->values > WIRE_VALUES_MAX)
        return wire_fail(reading, row, "too many values");
    return 0;
}

/* --- Members --- */

static int read_element(struct wire_reading *reading, const struct type_row *row, const struct proto_field *field,
                        yyjson_mut_val **ret_value)
{
    const struct type *type = row_struct(row);
    int code = wire_count_value(reading, row);

    if (code < 0)
        return code;
    if (!type)
        return wire_read_plain(reading, row, field, ret_value);
    if (field->type != PROTO_BYTES)
        return wire_fail(reading, row, "expected a message");
    *ret_value = yyjson_mut_obj(reading->doc);
    return wire_read_message(reading, type, field->bytes, *ret_value);
}

/* An entry of a map is a message of key and value. The first of several values for one key would win in the document, and
 * the last one does by normal_form(). */
static int read_entry(struct wire_reading *reading, const struct type_row *row, const struct proto_field *field,
                      yyjson_mut_val *map)
{
    struct proto entry = field->bytes;
    struct proto_field part;
    yyjson_mut_val *key = yyjson_mut_str(reading->doc, "");
    yyjson_mut_val *value = NULL;
    int code;

    if (field->type != PROTO_BYTES)
        return wire_fail(reading, row, "expected an entry of a map");
    while ((code = proto_next(&entry, &part)) > 0) {
        if (part.number == 1)
            code = part.type == PROTO_BYTES ? wire_read_text(reading, row, part.bytes, &key)
                                            : wire_fail(reading, row, "expected text as the key of a map");
        else if (part.number == 2)
            code = read_element(reading, row, &part, &value);
        if (code < 0)
            return code;
    }
    if (code < 0)
        return wire_fail(reading, row, "malformed entry of a map");
    yyjson_mut_obj_add(map, key, value ? value : yyjson_mut_null(reading->doc));
    return wire_count_value(reading, row);
}

/* Numbers of a list may be packed into one field. */
static int read_packed(struct wire_reading *reading, const struct type_row *row, struct proto bytes,
                       yyjson_mut_val *list)
{
    while (bytes.at < bytes.end) {
        struct proto_field field = {.type = PROTO_VARINT};
        yyjson_mut_val *value = NULL;
        if (proto_varint(&bytes, &field.value) < 0)
            return wire_fail(reading, row, "malformed list of numbers");
        int code = read_element(reading, row, &field, &value);
        if (code < 0)
            return code;
        yyjson_mut_arr_append(list, value);
    }
    return 0;
}

/* The member of `object` that collects elements, made on the first one. */
static yyjson_mut_val *collection(struct wire_reading *reading, const struct type_row *row, yyjson_mut_val *object)
{
    yyjson_mut_val *found = yyjson_mut_obj_get(object, row_name(row));

    if (!found) {
        found = row->flags & ROW_LIST ? yyjson_mut_arr(reading->doc) : yyjson_mut_obj(reading->doc);
        yyjson_mut_obj_add(object, yyjson_mut_str(reading->doc, row_name(row)), found);
    }
    return found;
}

static int read_list_element(struct wire_reading *reading, const struct type_row *row, const struct proto_field *field,
                             yyjson_mut_val *list)
{
    bool is_number = row->type == TYPE_INT32 || row->type == TYPE_INT64 || row->type == TYPE_BOOL;
    yyjson_mut_val *value = NULL;

    if (is_number && field->type == PROTO_BYTES)
        return read_packed(reading, row, field->bytes, list);
    int code = read_element(reading, row, field, &value);
    if (code < 0)
        return code;
    yyjson_mut_arr_append(list, value);
    return 0;
}

static int read_member(struct wire_reading *reading, const struct type_row *row, const struct proto_field *field,
                       yyjson_mut_val *object)
{
    yyjson_mut_val *value = NULL;

    if (row->flags & ROW_LIST)
        return read_list_element(reading, row, field, collection(reading, row, object));
    if (row->flags & ROW_MAP)
        return read_entry(reading, row, field, collection(reading, row, object));

    /* Parts of a message that comes in several fields add up. */
    const struct type *type = row_struct(row);
    yyjson_mut_val *before = row->flags & ROW_INLINE ? object : yyjson_mut_obj_get(object, row_name(row));
    if (type && before && field->type == PROTO_BYTES)
        return wire_read_message(reading, type, field->bytes, before);
    if (row->flags & ROW_INLINE)
        return wire_fail(reading, row, "expected a message");
    int code = read_element(reading, row, field, &value);
    if (code < 0)
        return code;
    if (before)
        yyjson_mut_obj_replace(object, yyjson_mut_str(reading->doc, row_name(row)), value);
    else
        yyjson_mut_obj_add(object, yyjson_mut_str(reading->doc, row_name(row)), value);
    return 0;
}

int wire_read_message(struct wire_reading *reading, const struct type *type, struct proto bytes, yyjson_mut_val *object)
{
    struct proto_field field;
    int code;

    if (reading->depth >= WIRE_DEPTH_MAX)
        return wire_fail(reading, NULL, "nested too deeply");
    reading->depth++;
    while ((code = proto_next(&bytes, &field)) > 0) {
        const struct type_row *row = type_numbered(type, field.number);
        if (row && (code = read_member(reading, row, &field, object)) < 0)
            return code;
    }
    reading->depth--;
    if (code < 0)
        return err_set(reading->err, -EINVAL, "protobuf: malformed %s", type_name(type));
    return 0;
}

/* --- The envelope --- */

enum { TEXT_MAX = 256 };

struct envelope {
    char api_version[TEXT_MAX];
    char kind[TEXT_MAX];
    struct proto raw;
};

static int copy_text(const struct proto_field *field, char text[static TEXT_MAX])
{
    size_t len = proto_len(&field->bytes);

    if (field->type != PROTO_BYTES || len >= TEXT_MAX || memchr(field->bytes.at, 0, len))
        return -EINVAL;
    memcpy(text, field->bytes.at, len);
    text[len] = '\0';
    return utf8_is_valid(text) ? 0 : -EINVAL;
}

static int read_type_meta(struct proto bytes, struct envelope *envelope)
{
    struct proto_field field;
    int code;

    while ((code = proto_next(&bytes, &field)) > 0) {
        if (field.number == 1 || field.number == 2)
            code = copy_text(&field, field.number == 1 ? envelope->api_version : envelope->kind);
        if (code < 0)
            return code;
    }
    return code;
}

static int read_envelope(struct proto bytes, struct envelope *envelope)
{
    struct proto_field field;
    int code;

    while ((code = proto_next(&bytes, &field)) > 0) {
        if (field.number <= 2 && field.type != PROTO_BYTES)
            return -EINVAL;
        if (field.number == 1)
            code = read_type_meta(field.bytes, envelope);
        else if (field.number == 2)
            envelope->raw = field.bytes;
        else if (field.number == 3 && proto_len(&field.bytes))
            code = -EINVAL;  // no encoding of the contents is defined
        if (code < 0)
            return code;
    }
    return code;
}

static int read_object(struct wire_reading *reading, const struct envelope *envelope)
{
    const struct type *type = type_find_in(envelope->api_version, envelope->kind);
    yyjson_mut_val *root = yyjson_mut_obj(reading->doc);

    if (!type)
        return err_set(reading->err, -ENOENT, "no kind \"%s\" is registered for version \"%s\"", envelope->kind,
                       envelope->api_version);
    yyjson_mut_doc_set_root(reading->doc, root);
    yyjson_mut_obj_add_strcpy(reading->doc, root, "apiVersion", envelope->api_version);
    yyjson_mut_obj_add_strcpy(reading->doc, root, "kind", envelope->kind);
    int code = wire_read_message(reading, type, envelope->raw, root);
    if (code < 0)
        return code;
    return normal_form(type, reading->doc, NULL, reading->err);
}

int wire_read(const void *body, size_t len, yyjson_mut_doc **ret_doc, struct err *err)
{
    struct wire_reading reading = {.err = err};
    struct envelope envelope = {.raw = proto_of("", 0)};

    if (!wire_is_protobuf(body, len))
        return err_set(err, -EINVAL, "provided data does not appear to be a protobuf message, expected prefix k8s");
    if (read_envelope(proto_of((const uint8_t *)body + sizeof magic, len - sizeof magic), &envelope) < 0)
        return wire_fail(&reading, NULL, "malformed");

    reading.doc = yyjson_mut_doc_new(NULL);
    int code = read_object(&reading, &envelope);
    if (code < 0)
        yyjson_mut_doc_free(reading.doc);
    else
        *ret_doc = reading.doc;
    return code;
}
