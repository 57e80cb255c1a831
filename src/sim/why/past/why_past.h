/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/macros.h"
#include "base/time.h"

struct err;
struct table_view;

/*
 * A question about the past that a journal holds: how a workload waited up to a time and, if it was pending then, why, with
 * what would have helped. Without a workload: how long all waited, by queues and reasons.
 */
struct why_past_question {
    const char *journal;   // the folder, or one of its segments
    const char *workload;  // NULL: all
    nsec_t at;             // the last cycle at or before it counts; NSEC_MAX: the last one
    bool as_json;
};

/* Writes the answer. Fails as account_read and account_find_workload do. */
MUST_CHECK int why_past_answer(const struct why_past_question *question, const struct table_view *view, FILE *out,
                               struct err *err);
