/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* The formats of strings that the API server checks: "date-time", "ipv4" and so on. */

/* Whether the format is one of them; what others say is not checked. */
bool format_is_known(const char *format);

/* Whether `text` is in the format; true for one that is not known. */
bool format_matches(const char *format, const char *text);
