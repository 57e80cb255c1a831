/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

/*
 * Adds to `patch` what a JSON merge patch (RFC 7386) needs to make `old` become `wanted`: members that differ, and null for
 * those that are gone. Lists are replaced as a whole. `old` may be NULL. Whether there is a difference.
 */
bool diff_objects(yyjson_mut_doc *doc, yyjson_mut_val *patch, yyjson_val *old, yyjson_mut_val *wanted);
