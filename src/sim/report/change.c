/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/report/change.h"

#include <math.h>
#include <stdio.h>

#include "model/state.h"
#include "sim/run/run.h"

/* In percent of A, or in percentage points. */
static double size_of(const struct metric_info *info, double a, double b)
{
    if (info->unit == UNIT_PART)
        return (b - a) * 100;
    return a != 0 ? (b - a) / fabs(a) * 100 : 0;
}

const char *change_format(const struct metric_info *info, double a, double b, char text[static METRIC_TEXT_MAX])
{
    double size = size_of(info, a, b);

    if (!isfinite(a) || !isfinite(b) || (info->unit != UNIT_PART && a == 0 && b != 0))
        (void)snprintf(text, METRIC_TEXT_MAX, "-");
    else if (fabs(size) < 0.05)
        (void)snprintf(text, METRIC_TEXT_MAX, "=");
    else
        (void)snprintf(text, METRIC_TEXT_MAX, "%+.1f%s", size, info->unit == UNIT_PART ? " pp" : "%");
    return text;
}

static enum change direction(const struct metric_info *info, double a, double b)
{
    return (b > a) == (info->better > 0) ? CHANGE_BETTER : CHANGE_WORSE;
}

enum change change_of(const struct metric_info *info, double a, double b)
{
    bool is_from_zero = info->unit != UNIT_PART && a == 0 && b != 0;

    if (info->better == 0 || !isfinite(a) || !isfinite(b) || (!is_from_zero && fabs(size_of(info, a, b)) < 0.05))
        return CHANGE_NONE;
    return direction(info, a, b);
}

enum change change_of_queue(enum metric metric, const struct sim_run *a, const struct sim_run *b, uint32_t queue)
{
    const struct metric_info *info = metric_info(metric);
    struct metric_filter filter = {.queue = state_name(a->state, a->queues.items[queue].name)};
    double first;
    double second;

    /* A queue that holds fewer GPUs may do the same work with less of it lost: that is neither better nor worse. */
    if (info->is_of_cluster || info->better == 0 || metric == METRIC_ALLOCATED)
        return CHANGE_NONE;
    first = metric_value(a, metric, &filter);
    second = metric_value(b, metric, &filter);
    if (!isfinite(first) || !isfinite(second))
        return CHANGE_NONE;
    if (info->unit == UNIT_PART ? fabs(second - first) < 0.001 : fabs(second - first) < 0.01 * fabs(first))
        return CHANGE_NONE;
    if (first == second || (info->unit == UNIT_SECONDS && fabs(second - first) < 1))
        return CHANGE_NONE;
    return direction(info, first, second);
}
