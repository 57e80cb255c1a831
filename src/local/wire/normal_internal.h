/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <yyjson.h>

#include "base/macros.h"
#include "local/api/problems.h"

struct err;
struct field_faults;
struct type;
struct type_row;

struct normal {
    yyjson_mut_doc *doc;
    struct field_faults *faults;
    struct err *err;
    size_t added;  // values that were not in the document before
};

/* Where a value is: the struct that has the member, and the way to it. */
struct normal_at {
    const struct type *owner;
    const struct type_row *row;
    const struct field *field;
    bool is_element;  // of a list or a map
};

/* "json: cannot unmarshal <found> into Go struct field ..."; returns -EINVAL. */
int normal_fail_type(const struct normal *normal, const struct normal_at *at, yyjson_mut_val *value);

/* A value of any kind but a struct of the tables. */
MUST_CHECK int normal_plain(struct normal *normal, const struct normal_at *at, yyjson_mut_val *value);

/* One of the choices of a JSON schema. */
MUST_CHECK int normal_struct(struct normal *normal, const struct type *type, yyjson_mut_val *object,
                             const struct field *field);
