/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

struct request;

/*
 * The rules for the contents of objects, of whichever side the kind is on: built in, or defined by a
 * CustomResourceDefinition. A function that returns false has answered.
 */

/* Members that the kind does not have are dropped, and lead to an error, to warnings or to nothing, as the query says. */
bool rules_check_fields(struct request *request, yyjson_mut_doc *doc);

/* Fills in the defaults of an object that a client has sent. */
void rules_default(const struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old);

/* Fills in defaults, has the object admitted, and checks the values. `old` is the object that is replaced, NULL for a new one. */
bool rules_complete(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old);

/* The same for a new status alone. */
bool rules_complete_status(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old);
