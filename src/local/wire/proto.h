/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

/*
 * The fields of a protobuf message, one after the other, without a description of the message: the libraries for C work
 * from generated code, and the types of Kubernetes are a table here. Nothing is allocated; bytes point into the message.
 */
enum proto_type { PROTO_VARINT = 0, PROTO_FIXED64 = 1, PROTO_BYTES = 2, PROTO_FIXED32 = 5 };

struct proto {
    const uint8_t *at;
    const uint8_t *end;
};

struct proto_field {
    uint32_t number;
    enum proto_type type;
    uint64_t value;      // of all types but PROTO_BYTES
    struct proto bytes;  // of PROTO_BYTES
};

static inline struct proto proto_of(const void *bytes, size_t len)
{
    return (struct proto){bytes, (const uint8_t *)bytes + len};
}

static inline size_t proto_len(const struct proto *bytes)
{
    return (size_t)(bytes->end - bytes->at);
}

/* Takes the next field off. Returns 1, 0 at the end, or -EINVAL when the bytes are not the start of a field. */
MUST_CHECK int proto_next(struct proto *message, struct proto_field *ret_field);

/* Takes a varint off, for lists of numbers that are packed into bytes. Returns 0 or -EINVAL. */
MUST_CHECK int proto_varint(struct proto *message, uint64_t *ret_value);
