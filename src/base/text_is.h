/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <string.h>

/* Whether two texts are equal. Most rows of a table that is searched differ in their first letter, and are passed over
 * without a call. */
static inline bool text_is(const char *text, const char *wanted)
{
    return *text == *wanted && strcmp(text, wanted) == 0;
}
