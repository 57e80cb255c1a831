/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/verdict.h"

/* A verdict's code in words, for a column: "over fair share". Returns `text`. */
enum { REASON_TEXT_MAX = 40 };
const char *reason_words(enum verdict_code code, char text[static REASON_TEXT_MAX]);

/* "soon", "not now", "by choice", "never"; "" for one that does not wait. */
const char *reason_outlook(enum verdict_code code);
