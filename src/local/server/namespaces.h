/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

struct api_kind;
struct request;

/* Namespaces: what they have from the beginning, and whether objects may be created in them. */

bool namespace_is_kind(const struct api_kind *kind);

/* Gives a new namespace its label, its finalizer and its phase. */
void namespace_prepare(yyjson_mut_doc *doc);

/* The finalizers in the spec are those of the old state: only /finalize changes them. */
void namespace_keep_finalizers(yyjson_mut_doc *doc, yyjson_mut_doc *old);

/* Whether the new object's namespace exists and is not being deleted; false after an answer. */
bool namespace_allows(struct request *request, yyjson_mut_doc *doc);

/* Namespaces that cannot be deleted. */
bool namespace_is_immortal(const char *name);
