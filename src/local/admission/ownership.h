/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

struct request;

/*
 * Whose object it is (local/api/owner_keys.h). A new object belongs to its sender; what a controller creates for another
 * object belongs to that one's user. Nobody can change it afterwards.
 */
void ownership_set(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old);

/* The uid of the object's user; UID_NOBODY when its annotation cannot be read. */
uint32_t ownership_of(yyjson_mut_doc *doc);
