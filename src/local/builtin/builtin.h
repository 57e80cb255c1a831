/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <yyjson.h>

#include "base/macros.h"
#include "local/api/problems.h"
#include "local/wire/normal.h"

struct api_kind;
struct err;

/*
 * The rules for the contents of built-in kinds, in the order in which a request passes them: which members there are,
 * what those that are left out become, and which values are refused. Pure: documents in, documents out.
 *
 *     body -> builtin_check_fields() -> builtin_default() -> (admission) -> builtin_validate() -> stored
 */

/*
 * Brings an object into the form that the API server stores: members that the kind does not have are dropped and listed,
 * so are all but the last of several members with one name; null and empty members go where Kubernetes omits them and
 * come where it writes them; quantities and times are written in one way.
 *
 * Returns 0, or -EINVAL for a value of the wrong type (a 400 with the text of `err`); the document is then not usable.
 */
MUST_CHECK int builtin_check_fields(const struct api_kind *kind, yyjson_mut_doc *doc, struct field_faults *faults,
                                    struct err *err);

/* The same for a body that is not an object of a resource, such as DeleteOptions, Binding, Eviction, Scale or a review.
 * -ENOENT when there is no such built-in type. */
MUST_CHECK int builtin_check_body(const char *api_version, const char *kind, yyjson_mut_doc *doc,
                                  struct field_faults *faults, struct err *err);

/*
 * Fills in the defaults. `old` is the object that is replaced, NULL for one that is new. A new object has its uid already
 * (meta_stamp_new()), since the selector of a Job is made from it; one that is replaced is stamped after it, since only then
 * can be seen whether anything has changed.
 */
void builtin_default(const struct api_kind *kind, yyjson_mut_doc *doc, yyjson_mut_doc *old);

/* Lists what is wrong with an object that has its defaults, as something new or as the successor of `old`. A status is not
 * checked: controllers write it. */
void builtin_validate(const struct api_kind *kind, yyjson_mut_doc *doc, yyjson_mut_doc *old, struct problems *problems);
