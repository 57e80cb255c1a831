/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

struct request;

/* Applies the patch in the request's body to a document, which is then not what it was. False after an answer. */
bool patch_doc(struct request *request, yyjson_mut_doc *doc);

/* Whether the body is of a type that the kind can be patched with. False after an answer. */
bool patch_check_type(struct request *request);

/* Whether the body is a configuration to apply, and no patch. */
bool patch_is_apply(const struct request *request);

/* Applies the configuration in the request's body to its object, and answers. */
void apply_object(struct request *request);
