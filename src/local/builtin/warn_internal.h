/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "local/builtin/builtin.h"

struct field;

/* Where the warnings about one object go. */
struct warning {
    builtin_warn_fn warn;
    void *arg;
};

/* One warning: the field, ": " and the text. */
void warn_at(const struct warning *warning, const struct field *field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Amounts of bytes that are no whole number. `amounts` maps resources to quantities. */
void warn_fraction(const struct warning *warning, const struct field *field, yyjson_mut_val *amounts,
                   const char *resource);

/* What is odd about a pod or about the template of one. `field` is that of the pod, NULL for a Pod itself. */
void warn_pod(const struct warning *warning, yyjson_mut_val *pod, const struct field *field);
