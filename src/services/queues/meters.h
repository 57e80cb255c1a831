/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/macros.h"

struct err;
struct flag_pairs;
struct metrics;
struct tree;

/*
 * The figures of queues under KAI's names, which dashboards and time-based fair share ask for. They are set anew for each
 * scrape, so that a queue that is gone leaves nothing behind.
 */

/* Checks the labels that queues' own labels are shown as. */
MUST_CHECK int queue_meters_check(const struct flag_pairs *labels, struct err *err);

/* `tree` is settled. NULL: shows nothing. */
void queue_meters_show(struct metrics *metrics, const struct flag_pairs *labels, struct tree *tree);
