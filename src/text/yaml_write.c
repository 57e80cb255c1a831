/* SPDX-License-Identifier: Apache-2.0 */

/* Writing YAML by libyaml's emitter. The events go out in the order of the value; only scalars need thought. */
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "text/json.h"
#include "text/yaml_internal.h"

enum { WIDTH = 1 << 20 };

struct writer {
    yaml_emitter_t emitter;
    bool has_failed;  // as happens without memory, or when the file takes no more
};

static int write_bytes(void *out, unsigned char *bytes, size_t len)
{
    return fwrite(bytes, 1, len, out) == len;
}

static void emit(struct writer *writer, yaml_event_t *event, int is_made)
{
    if (!is_made || writer->has_failed) {
        if (is_made)
            yaml_event_delete(event);
        writer->has_failed = true;
        return;
    }
    writer->has_failed = !yaml_emitter_emit(&writer->emitter, event);
}

static void emit_scalar(struct writer *writer, const char *text, size_t len, yaml_scalar_style_t style)
{
    yaml_event_t event;
    int is_made = yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text, (int)len, 1, 1, style);

    emit(writer, &event, is_made);
}

/* A text that would be read as a number, a boolean, null or a merge key is put in quotes; so is an empty one. */
static void emit_string(struct writer *writer, yyjson_val *value)
{
    const char *text = yyjson_get_str(value);
    size_t len = yyjson_get_len(value);
    bool is_plain = len > 0 && yaml_scalar_resolve(text, len).type == YAML_SCALAR_STRING;

    if (is_plain && memchr(text, '\n', len))
        emit_scalar(writer, text, len, YAML_LITERAL_SCALAR_STYLE);
    else
        emit_scalar(writer, text, len, is_plain ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE);
}

static void emit_value(struct writer *writer, yyjson_val *value);

static void emit_array(struct writer *writer, yyjson_val *value)
{
    bool is_empty = yyjson_arr_size(value) == 0;
    yaml_event_t event;
    yyjson_val *item;
    size_t i, count;

    emit(writer, &event,
         yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
                                              is_empty ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE));
    yyjson_arr_foreach(value, i, count, item)
    {
        emit_value(writer, item);
    }
    emit(writer, &event, yaml_sequence_end_event_initialize(&event));
}

static void emit_object(struct writer *writer, yyjson_val *value)
{
    bool is_empty = yyjson_obj_size(value) == 0;
    yaml_event_t event;
    yyjson_val *key, *member;
    size_t i, count;

    emit(writer, &event,
         yaml_mapping_start_event_initialize(&event, NULL, NULL, 1,
                                             is_empty ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE));
    yyjson_obj_foreach(value, i, count, key, member)
    {
        emit_string(writer, key);
        emit_value(writer, member);
    }
    emit(writer, &event, yaml_mapping_end_event_initialize(&event));
}

/* Documents are nested no deeper than JSON_DEPTH_MAX. */
static void emit_value(struct writer *writer, yyjson_val *value)
{
    if (yyjson_is_str(value)) {
        emit_string(writer, value);
    } else if (yyjson_is_arr(value)) {
        emit_array(writer, value);
    } else if (yyjson_is_obj(value)) {
        emit_object(writer, value);
    } else {
        size_t len = 0;
        char *text = yyjson_val_write(value, YYJSON_WRITE_INF_AND_NAN_AS_NULL, &len);

        if (text)
            emit_scalar(writer, text, len, YAML_PLAIN_SCALAR_STYLE);
        free(text);
    }
}

void yaml_write(yyjson_val *value, FILE *out)
{
    struct writer writer = {0};
    yaml_event_t event;

    if (!yaml_emitter_initialize(&writer.emitter))
        return;
    yaml_emitter_set_output(&writer.emitter, write_bytes, out);
    yaml_emitter_set_unicode(&writer.emitter, 1);
    yaml_emitter_set_width(&writer.emitter, WIDTH);
    emit(&writer, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
    emit(&writer, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
    emit_value(&writer, value);
    emit(&writer, &event, yaml_document_end_event_initialize(&event, 1));
    emit(&writer, &event, yaml_stream_end_event_initialize(&event));
    yaml_emitter_delete(&writer.emitter);
}
