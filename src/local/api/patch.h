/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <yyjson.h>

#include "base/macros.h"

struct err;

/*
 * The patches of the Kubernetes API, but for server-side apply: each changes a JSON document as its type says and knows
 * nothing of stores or versions. Pure.
 *
 * Each gives the new object, made in `doc` from parts of the old one, which is not usable any more; or says why not. What
 * a patch may do is bounded: operations, bytes that are copied, and nesting, by what the JSON reader accepts.
 */
enum patch_result {
    PATCH_DONE,
    PATCH_MALFORMED,  // 400: not a patch of that type
    PATCH_REJECTED,   // 422: it cannot be applied to this object
    PATCH_TOO_LARGE,  // 413
};

enum { PATCH_OPERATIONS_MAX = 10000, PATCH_COPY_BYTES_MAX = 3 << 20 };

/* RFC 6902, application/json-patch+json. `patch` is the array of operations. */
MUST_CHECK enum patch_result patch_json(yyjson_mut_doc *doc, yyjson_val *patch, struct err *err);

/* RFC 7386, application/merge-patch+json. */
MUST_CHECK enum patch_result patch_merge(yyjson_mut_doc *doc, yyjson_val *patch, struct err *err);

/*
 * application/strategic-merge-patch+json, for kinds of Kubernetes itself: lists are merged by the key of their elements,
 * and directives ($patch, $retainKeys, $setElementOrder, $deleteFromPrimitiveList) say what a plain merge cannot.
 */
MUST_CHECK enum patch_result patch_strategic(yyjson_mut_doc *doc, yyjson_val *patch, struct err *err);
