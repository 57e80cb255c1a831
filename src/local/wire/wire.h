/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <yyjson.h>

#include "base/macros.h"

struct err;

/*
 * Bodies in Kubernetes' protobuf form, which clients written in Go send for built-in kinds. They are turned into the JSON
 * that the same client would have sent; nothing is ever written in this form.
 */
#define WIRE_MEDIA_TYPE "application/vnd.kubernetes.protobuf"

/* Messages nested deeper than this are refused: the deepest field of a built-in kind is half as deep. */
enum { WIRE_DEPTH_MAX = 64 };

/* Whether the body begins as every such body does. */
bool wire_is_protobuf(const void *body, size_t len);

/*
 * Reads a whole body. The document holds copies of all it needs; apiVersion and kind are the first members of its root.
 * Fields that the tables do not have are skipped.
 *
 * Returns 0; -EINVAL when the bytes are no such body, -ENOENT when the kind is not a built-in one.
 */
MUST_CHECK int wire_read(const void *body, size_t len, yyjson_mut_doc **ret_doc, struct err *err);
