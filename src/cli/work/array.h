/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/macros.h"
#include "base/vec.h"

struct err;

/* The indexes of an array of jobs: "0-15", "1,3,5-7", "0-15:4", each with "%4" behind it for four at a time. */
enum { ARRAY_JOBS_MAX = 10000, ARRAY_INDEX_MAX = 4000000 };

struct array_spec {
    struct array_indexes VEC_OF(int64_t) indexes;  // in the order of the text, each once
    int64_t limit;                                 // so many at a time; 0: all
    int64_t first, last, step;                     // smallest and largest index, and the step of the first range
};

/* Returns 0, or -EINVAL with what is wrong. */
MUST_CHECK int array_parse(const char *text, struct array_spec *ret, struct err *err);
void array_spec_done(struct array_spec *array);
