/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "base/arena.h"

/*
 * The JSON paths of custom kinds: columns, scale, selectable fields. The part of the language that leads to one value:
 *
 *     .spec.replicas   .metadata.labels['app.kubernetes.io/name']   .status.conditions[?(@.type=="Ready")].status
 *     .spec.containers[0].image   .spec.containers[*].image, of which the first counts
 */
struct value_path;

enum { VALUE_PATH_BYTES_MAX = 1024 };

/* Lives in the arena. NULL when the text is no such path. */
const struct value_path *value_path_parse(const char *text, struct arena *arena);

/* The value at the path, borrowed from `object`; NULL when there is none. */
yyjson_mut_val *value_path_get(const struct value_path *path, yyjson_mut_val *object);

/* Puts the value there, in objects that are made where they are missing. False when something else is in the way, or the
 * path leads through a list. */
bool value_path_put(const struct value_path *path, yyjson_mut_doc *doc, yyjson_mut_val *value);
