/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "base/macros.h"

struct err;
struct http_exchange;
struct request;

/*
 * The bodies of requests as documents. JSON, YAML, and for built-in kinds Kubernetes' protobuf form; a body without a
 * Content-Type is JSON. A function that returns false has answered.
 */

/* The same without a request: for bodies of other kinds. Returns 0, -EMEDIUMTYPE for a type that is not read, or
 * -EINVAL. */
MUST_CHECK int body_parse(struct http_exchange *exchange, yyjson_mut_doc **ret_doc, struct err *err);

/* The object in the body, whose root is an object. */
bool body_read(struct request *request, yyjson_mut_doc **ret_doc);

/* The same for a body that may be missing: NULL then. */
bool body_read_optional(struct request *request, yyjson_mut_doc **ret_doc);

/* Checks the namespace of an object, "" without one. Objects outside of namespaces may have any, which is not kept. */
bool body_is_placed(struct request *request, const char *namespace);

/* Checks that the object is of the request's kind and version, and in its namespace, and that it has no fields that
 * the kind does not have, as far as fieldValidation asks for it. */
bool body_check(struct request *request, yyjson_mut_doc *doc);
