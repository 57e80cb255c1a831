/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

struct request;

/* Puts the document in the place of `old`, the newest state of the request's object, by the rules for its kind and for
 * the subresource, and answers. The document may be replaced by another one, and stays the caller's. */
void update_object(struct request *request, yyjson_mut_doc **doc, yyjson_mut_doc *old);

/* Whether the document has the name in the path; false after an answer. */
bool update_check_name(struct request *request, yyjson_mut_doc *doc);
