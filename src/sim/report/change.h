/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/report/metrics.h"

struct sim_run;

/* How a metric differs between two settings, A and B. */

/* "-30.7%", or "+0.2 pp" for a metric that is a percentage; "=" for no change that shows, "-" where there is none to
 * state. Returns `text`. */
const char *change_format(const struct metric_info *info, double a, double b, char text[static METRIC_TEXT_MAX]);

enum change { CHANGE_NONE, CHANGE_BETTER, CHANGE_WORSE };

/* CHANGE_NONE also for metrics where neither more nor less is better. */
enum change change_of(const struct metric_info *info, double a, double b);

/*
 * The change of one queue, by its index in `a`: CHANGE_NONE for what is below one percent, a tenth of a percentage point or
 * a second, so that the queues that are named are worth a look. A mean of all workloads may be better although a queue's is
 * worse.
 */
enum change change_of_queue(enum metric metric, const struct sim_run *a, const struct sim_run *b, uint32_t queue);
