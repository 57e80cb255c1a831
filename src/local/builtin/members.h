/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

/* Members of objects by a path of names with dots: "spec.template.metadata". Absent and null are the same here. */
yyjson_mut_val *member_get(yyjson_mut_val *object, const char *path);

/* The text of a member, "" when it is absent or none. */
const char *member_text(yyjson_mut_val *object, const char *path);
bool member_is(yyjson_mut_val *object, const char *path, const char *text);

/* A number, or `otherwise`. */
int64_t member_number(yyjson_mut_val *object, const char *path, int64_t otherwise);
bool member_is_true(yyjson_mut_val *object, const char *path);

/* Sets the member `name`, which is copied, in place of what is there. */
void member_set(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name, yyjson_mut_val *value);
void member_set_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name, const char *text);

/* The same where nothing is there yet. */
void member_default(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name, yyjson_mut_val *value);

/* The object `name`, made where it is missing. */
yyjson_mut_val *member_object(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name);

/* Walks over the items of an array, or of nothing. It is left by `return`, never by `break`. */
#define MEMBER_ITEMS(item, array)                                           \
    for (yyjson_mut_arr_iter item##_iter = yyjson_mut_arr_iter_with(array); \
         yyjson_mut_arr_iter_has_next(&item##_iter);)                       \
        for (yyjson_mut_val *item = yyjson_mut_arr_iter_next(&item##_iter); item; item = NULL)
