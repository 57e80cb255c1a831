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
 *     body -> builtin_check_fields() -> builtin_default() -> (owners) -> builtin_clear_empty() -> (admission) ->
 *     builtin_prepare() -> builtin_validate() -> builtin_warn() -> stored
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

/* Brings lists and maps without elements, which are the client's while field_faults.has_empty says so, into the stored form. */
void builtin_clear_empty(const struct api_kind *kind, yyjson_mut_doc *doc);

/* What an object of the kind has before a client has said anything: structs without members. NULL for a custom kind. */
yyjson_mut_doc *builtin_empty(const struct api_kind *kind);

/* The same for a body that is not an object of a resource, such as DeleteOptions, Binding, Eviction, Scale or a review.
 * -ENOENT when there is no such built-in type. */
MUST_CHECK int builtin_check_body(const char *api_version, const char *kind, yyjson_mut_doc *doc,
                                  struct field_faults *faults, struct err *err);

/* Fills in the defaults, which belong to the client that has left them out. `old` is the object that is replaced, NULL for
 * one that is new. */
void builtin_default(const struct api_kind *kind, yyjson_mut_doc *doc, yyjson_mut_doc *old);

/* Fills in what the server decides and no client owns: the address of a service, the status and the priority of a new pod,
 * the selector of a job. A new object has its uid already (meta_stamp_new()): the selector is made from it. */
void builtin_prepare(const struct api_kind *kind, yyjson_mut_doc *doc, yyjson_mut_doc *old);

/* Lists what is wrong with an object that has its defaults, as something new or as the successor of `old`. A status is not
 * checked: controllers write it. */
void builtin_validate(const struct api_kind *kind, yyjson_mut_doc *doc, yyjson_mut_doc *old, struct problems *problems);

/* Takes one warning, which is copied where it is kept. */
typedef void (*builtin_warn_fn)(void *arg, const char *text);

/* Warns of what is valid and rarely meant, such as two ports of one number, in the words of the API server. The object has
 * passed builtin_validate(). */
void builtin_warn(const struct api_kind *kind, yyjson_mut_doc *doc, yyjson_mut_doc *old, builtin_warn_fn warn,
                  void *arg);
