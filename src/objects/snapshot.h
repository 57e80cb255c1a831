/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "base/macros.h"

struct err;
struct object_set;
struct object_source;
struct settings;

/* The file in the zip that KAI's scheduler serves under /get-snapshot. */
#define SNAPSHOT_MEMBER "snapshot.json"

/* Is it the content of such a file? */
bool snapshot_is(yyjson_val *root);

/*
 * Adds the objects of a snapshot to the set, whose lists may be null or missing, and puts its scheduler's settings in
 * place of `settings`. `root` has to outlive the set. Returns 0 or -EINVAL.
 */
MUST_CHECK int snapshot_add(struct object_set *set, struct settings *settings, yyjson_val *root,
                            const struct object_source *source, struct err *err);
