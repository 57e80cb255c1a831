/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

struct err;

/*
 * Regular expressions in the syntax of RE2, as schemas and expressions have them: the time that a match takes grows with
 * the lengths of the expression and the text alone, whoever wrote them. A match is found anywhere in the text.
 */
struct pattern;

enum { PATTERN_BYTES_MAX = 16 << 10 };

/* Returns 0, or -EINVAL with the reason in the words of Go: "missing closing ): `(`". */
MUST_CHECK int pattern_new(const char *text, struct pattern **ret_pattern, struct err *err);
void pattern_free(struct pattern *pattern);

/* Bytes that it takes as it is compiled. */
size_t pattern_bytes(const struct pattern *pattern);

bool pattern_matches(const struct pattern *pattern, const char *text, size_t len);

/* The same within a number of steps, which is counted down: 1 or 0, or -E2BIG when there are too few. */
MUST_CHECK int pattern_matches_within(const struct pattern *pattern, const char *text, size_t len, uint64_t *steps);

struct pattern_place {
    size_t start;
    size_t end;
};

/*
 * The first match at or behind `from`, of several that start there the one that the expression prefers: 1 when there is
 * one, else 0. -E2BIG when there are too few steps, or the search takes too much memory.
 */
MUST_CHECK int pattern_find(const struct pattern *pattern, const char *text, size_t len, size_t from, uint64_t *steps,
                            struct pattern_place *ret_place);
