/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

/*
 * Reading what a Config or SchedulingShard says, by paths such as "binder.service.image". The API server has checked the
 * types by the schema; a member that is missing, null or of another type counts as not set.
 */

/* The value at the path; NULL where there is none. */
yyjson_val *conf_at(yyjson_val *spec, const char *path);

/* A string, `fallback` where there is none. */
const char *conf_text(yyjson_val *spec, const char *path, const char *fallback);

/* A whole number within the range of an int32. */
int conf_int(yyjson_val *spec, const char *path, int fallback);

bool conf_bool(yyjson_val *spec, const char *path, bool fallback);

/* An object or an array that holds something; NULL otherwise. */
yyjson_val *conf_full(yyjson_val *spec, const char *path);
