/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/time.h"

/* Members of objects by their path: value_at(job, "spec", "completions"). The server has checked them, so that a member of
 * another type counts as missing. */
#define value_at(object, ...) value_at_keys((object), (const char *const[]){__VA_ARGS__, NULL})
yyjson_val *value_at_keys(yyjson_val *object, const char *const *keys);

#define number_at(object, fallback, ...) number_of(value_at((object), __VA_ARGS__), (fallback))
#define bool_at(object, ...) yyjson_get_bool(value_at((object), __VA_ARGS__))

/* 0 when there is none. */
#define time_at(object, ...) time_of(value_at((object), __VA_ARGS__))

int64_t number_of(yyjson_val *value, int64_t fallback);
nsec_t time_of(yyjson_val *value);

/* Whether an array has the string. */
bool array_has(yyjson_val *array, const char *text);

/* The condition of the type in the status; NULL when there is none. */
yyjson_val *condition_of(yyjson_val *object, const char *type);
bool condition_is_true(yyjson_val *object, const char *type);

/* An intOrString, such as "25%", of `total`; rounded up or down. */
int64_t scaled_of(yyjson_val *value, int64_t fallback_percent, int64_t total, bool is_rounded_up);
