/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"

struct err;

/*
 * Regular expressions in the syntax of RE2, as schemas have them: the time that a match takes grows with the lengths of
 * the expression and the text alone, whoever wrote them. A match is found anywhere in the text.
 */
struct pattern;

enum { PATTERN_BYTES_MAX = 16 << 10 };

/* Returns 0, or -EINVAL with the reason in the words of Go: "missing closing ): `(`". */
MUST_CHECK int pattern_new(const char *text, struct pattern **ret_pattern, struct err *err);
void pattern_free(struct pattern *pattern);

bool pattern_matches(const struct pattern *pattern, const char *text, size_t len);
