/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "base/macros.h"

struct err;
struct machine;
struct strbuf;

/* What a pod can be told about itself. */

/* Appends the field that a fieldRef names, such as metadata.labels['app']. Returns 0, or -EINVAL for one that there is not. */
MUST_CHECK int field_add(struct strbuf *to, yyjson_val *pod, const char *path, const struct machine *machine,
                         struct err *err);

/*
 * Appends the amount that a resourceFieldRef names, in units of its divisor, rounded up: of the container that it names,
 * or of `container`. A limit that is not set is what the machine has for pods.
 */
MUST_CHECK int resource_field_add(struct strbuf *to, yyjson_val *pod, yyjson_val *container, yyjson_val *ref,
                                  const struct machine *machine, struct err *err);
