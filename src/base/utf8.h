/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* How many bytes of a well-formed UTF-8 character start at `text`, which ends with NUL; 0 when none does. */
size_t utf8_len(const char *text);

/* Is all of it UTF-8? */
bool utf8_is_valid(const char *text);
