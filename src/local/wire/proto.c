/* SPDX-License-Identifier: Apache-2.0 */
#include "local/wire/proto.h"

#include <errno.h>

enum { VARINT_BYTES_MAX = 10, NUMBER_MAX = (1 << 29) - 1 };

int proto_varint(struct proto *message, uint64_t *ret_value)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < VARINT_BYTES_MAX && message->at < message->end; i++) {
        uint8_t byte = *message->at++;
        /* The tenth byte has one bit that counts. */
        if (i == VARINT_BYTES_MAX - 1 && byte > 1)
            return -EINVAL;
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *ret_value = value;
            return 0;
        }
    }
    return -EINVAL;
}

/* Little-endian, of `width` bytes. */
static int read_fixed(struct proto *message, size_t width, uint64_t *ret_value)
{
    uint64_t value = 0;

    if (proto_len(message) < width)
        return -EINVAL;
    for (size_t i = 0; i < width; i++)
        value |= (uint64_t)message->at[i] << (8 * i);
    message->at += width;
    *ret_value = value;
    return 0;
}

static int read_bytes(struct proto *message, struct proto *ret_bytes)
{
    uint64_t len;

    if (proto_varint(message, &len) < 0 || len > proto_len(message))
        return -EINVAL;
    *ret_bytes = proto_of(message->at, (size_t)len);
    message->at += len;
    return 0;
}

int proto_next(struct proto *message, struct proto_field *ret_field)
{
    uint64_t tag;
    int code = -EINVAL;

    if (message->at == message->end)
        return 0;
    *ret_field = (struct proto_field){0};
    if (proto_varint(message, &tag) < 0 || tag >> 3 == 0 || tag >> 3 > NUMBER_MAX)
        return -EINVAL;
    ret_field->number = (uint32_t)(tag >> 3);
    ret_field->type = (enum proto_type)(tag & 7);
    if (ret_field->type == PROTO_VARINT)
        code = proto_varint(message, &ret_field->value);
    else if (ret_field->type == PROTO_FIXED64)
        code = read_fixed(message, sizeof(uint64_t), &ret_field->value);
    else if (ret_field->type == PROTO_FIXED32)
        code = read_fixed(message, sizeof(uint32_t), &ret_field->value);
    else if (ret_field->type == PROTO_BYTES)
        code = read_bytes(message, &ret_field->bytes);
    return code < 0 ? code : 1;
}
