/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

struct api_kind;
struct problems;

/* Lists what is wrong with the metadata of an object of any kind, as something new or as the successor of `old`: names,
 * labels, annotations and finalizers. */
void meta_validate(const struct api_kind *kind, yyjson_mut_doc *doc, yyjson_mut_doc *old, struct problems *problems);
