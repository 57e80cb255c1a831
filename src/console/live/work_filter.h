/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/macros.h"
#include "base/time.h"
#include "base/vec.h"
#include "console/live/work_index.h"

struct err;

/*
 * Which workloads a list has: terms with spaces between them, all of which a row has to fit. docs/design/live-api.md has the
 * grammar:
 *
 *     queue:vision,language -state:Completed gpus>=8 waited>1h "two words" train
 */
enum { WORK_FILTER_TEXT_MAX = 2048 };

struct work_term;
struct work_filter {
    VEC(struct work_term *) terms;
};

/* `me` stands for the user of "user:me". Returns 0, or -EINVAL with the term that cannot be read. */
MUST_CHECK int work_filter_parse(const char *text, const char *me, struct work_filter *ret_filter, struct err *err);
void work_filter_done(struct work_filter *filter);

bool work_filter_fits(const struct work_filter *filter, const struct work_index *index, const struct work_row *row,
                      nsec_t now);
