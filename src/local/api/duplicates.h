/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

/*
 * Of members with one name the last one counts, as it does for the readers of Kubernetes: the others are taken out.
 */

/* Of one object. `fn`, which may be NULL, is told of each name that comes again. */
typedef void (*duplicate_fn)(void *arg, const char *name);
void duplicates_drop_members(yyjson_mut_val *object, duplicate_fn fn, void *arg);

/* At every depth. */
void duplicates_drop(yyjson_mut_val *value);
