/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <yyjson.h>

#include "base/macros.h"
#include "local/wire/proto.h"

struct err;
struct type;
struct type_row;

/* Values in one body, members and elements together. */
enum { WIRE_VALUES_MAX = 1 << 18 };

struct wire_reading {
    yyjson_mut_doc *doc;
    size_t values;
    unsigned depth;
    struct err *err;
};

/* "protobuf: <member>: <what>"; returns -EINVAL. */
int wire_fail(struct wire_reading *reading, const struct type_row *row, const char *what);
MUST_CHECK int wire_count_value(struct wire_reading *reading, const struct type_row *row);

/* Adds the fields of a message to `object`. */
MUST_CHECK int wire_read_message(struct wire_reading *reading, const struct type *type, struct proto bytes,
                                 yyjson_mut_val *object);

/* One value of any kind but a struct of the tables. */
MUST_CHECK int wire_read_plain(struct wire_reading *reading, const struct type_row *row,
                               const struct proto_field *field, yyjson_mut_val **ret_value);

MUST_CHECK int wire_read_text(struct wire_reading *reading, const struct type_row *row, struct proto bytes,
                              yyjson_mut_val **ret_text);
