/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <yyjson.h>

/* Objects that are written: small helpers around yyjson, which never fail. Texts are copied. */

/* A document with what every object begins with; `namespace` may be NULL. Freed by yyjson_mut_doc_free() or
 * _cleanup_(document_freep), as is that of json_new_object(). */
yyjson_mut_doc *document_object(const char *api_version, const char *kind, const char *namespace, const char *name);

static inline void document_freep(yyjson_mut_doc **doc)
{
    yyjson_mut_doc_free(*doc);
}

/* The object or array at a key, made when there is none. */
yyjson_mut_val *document_member(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key);
yyjson_mut_val *document_list(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key);

/* Adds a member or replaces it; NULL as text is null, as a value nothing. */
void document_set(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, const char *text);
void document_set_int(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, int64_t number);
void document_set_bool(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, bool is_true);
void document_set_value(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, yyjson_mut_val *value);

/* The text at a key, "" when it is not there. */
const char *document_text(yyjson_mut_val *object, const char *key);

/* Adds an ownerReference to the metadata of the root: of a pod. */
void document_own(yyjson_mut_doc *doc, const char *pod, const char *uid, bool is_controller);
