/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/macros.h"
#include "base/time.h"
#include "base/vec.h"
#include "console/live/work_index.h"

struct err;

struct work_rows VEC_OF(const struct work_row *);

/* Sorts by columns with commas between them, "-" in front turning the order of one: "-gpus,created". Rows that are equal come by
 * their ids. NULL: the newest first. Returns 0, or -EINVAL for a column that there is not. */
MUST_CHECK int work_order(const char *text, const struct work_index *index, nsec_t now, struct work_rows *rows,
                          struct err *err);
