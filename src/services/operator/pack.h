/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

/*
 * Objects of the API, written as one writes them: YAML's flow style, with values put in.
 *
 *     pack(doc, "{apiVersion: v1, kind: Service, metadata: {name: %s, labels: {app: %s}}, spec: %p}", name, app, spec)
 *
 * Bare words are strings, except for true, false and whole numbers. Values are copied into the document:
 *
 *     %s  a string                     NULL leaves the member or item out
 *     %d  a whole number
 *     %i  a boolean
 *     %p  a yyjson_mut_val * of `doc`  NULL leaves the member or item out
 *
 * The compiler does not check the arguments: it would complain about NULL as a string. The text is the program's own: one that cannot be read is a bug. Returns a value of `doc` that has no parent yet.
 */
yyjson_mut_val *pack(yyjson_mut_doc *doc, const char *format, ...);

/* A copy of a value of another document; NULL for NULL. */
yyjson_mut_val *pack_copy(yyjson_mut_doc *doc, yyjson_val *value);
