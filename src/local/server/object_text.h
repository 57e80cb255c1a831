/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

#include "local/discovery/accept.h"

struct api_kind;
struct strbuf;
struct store_object;

/*
 * Objects as text. A stored object always begins with its kind and its apiVersion, and then its metadata:
 *
 *     {"kind":"Pod","apiVersion":"v1","metadata":{...},...}
 *
 * so that another version of the kind, and an item of a list, are made without reading it.
 */

/* The text of a document in that order; to be freed by the caller. */
char *object_text(yyjson_mut_doc *doc, size_t *ret_len);

/* A document of the text, to be changed. Stored objects can always be read. */
yyjson_mut_doc *object_doc(const struct store_object *object);

/* The same in the form that requests for the kind work in; most kinds have one form. */
yyjson_mut_doc *object_doc_as(const struct api_kind *kind, const struct store_object *object);

/* Adds the object as a whole, as the kind's version of it, or its metadata alone. */
void object_add(struct strbuf *text, const struct api_kind *kind, enum accept_form form, const char *body, size_t len);

/* Adds the object as an item of a list: those of built-in kinds do not say their kind. */
void object_add_item(struct strbuf *text, const struct api_kind *kind, enum accept_form form, const char *body,
                     size_t len);
