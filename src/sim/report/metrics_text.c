/* SPDX-License-Identifier: Apache-2.0 */

/* Metrics as text, for people and for programs. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "sim/report/metrics.h"
#include "sim/scenario/scenario_emit.h"

/* The two largest units that say something: 3d 4h, 2h 5m, 40s. */
static void format_seconds(double seconds, char text[static METRIC_TEXT_MAX])
{
    static const struct {
        const char *name;
        int64_t seconds;
    } units[] = {{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}};
    int64_t left = (int64_t)(seconds + 0.5);
    size_t i = 0;

    if (seconds < 9.95) {
        (void)snprintf(text, METRIC_TEXT_MAX, seconds == floor(seconds) ? "%.0fs" : "%.1fs", seconds);
        return;
    }
    while (left < units[i].seconds)
        i++;
    if (i == 3 || left % units[i].seconds / units[i + 1].seconds == 0)
        (void)snprintf(text, METRIC_TEXT_MAX, "%" PRId64 "%s", left / units[i].seconds, units[i].name);
    else
        (void)snprintf(text, METRIC_TEXT_MAX, "%" PRId64 "%s %" PRId64 "%s", left / units[i].seconds, units[i].name,
                       left % units[i].seconds / units[i + 1].seconds, units[i + 1].name);
}

/* "1234567" with commas between the thousands. */
static void format_whole(double value, char text[static METRIC_TEXT_MAX])
{
    char digits[METRIC_TEXT_MAX];
    int len = snprintf(digits, sizeof digits, "%.0f", value);
    size_t to = 0;

    for (int i = 0; i < len && to + 2 < METRIC_TEXT_MAX; i++) {
        if (i > 0 && (len - i) % 3 == 0 && digits[i - 1] != '-')
            text[to++] = ',';
        text[to++] = digits[i];
    }
    text[to] = '\0';
}

const char *metric_format(enum metric_unit unit, double value, char text[static METRIC_TEXT_MAX])
{
    if (!isfinite(value) || fabs(value) > 1e18)
        (void)snprintf(text, METRIC_TEXT_MAX, "-");
    else if (unit == UNIT_SECONDS)
        format_seconds(value, text);
    else if (unit == UNIT_PART)
        (void)snprintf(text, METRIC_TEXT_MAX, "%.1f%%", value * 100);
    else if (unit == UNIT_GPUS)
        (void)snprintf(text, METRIC_TEXT_MAX, "%.6g", value);
    else if (unit == UNIT_HOURS && fabs(value) < 99.95)
        (void)snprintf(text, METRIC_TEXT_MAX, "%.1f", value);
    else
        format_whole(value, text);
    return text;
}

void metrics_write(struct emit *e, const struct sim_run *run, const char *queue)
{
    struct metric_filter filter = {.queue = queue};

    emit_open(e, "metrics", '{');
    for (int i = 0; i < _METRIC_MAX; i++)
        if (!queue || !metric_info((enum metric)i)->is_of_cluster)
            emit_double(e, metric_info((enum metric)i)->name, metric_value(run, (enum metric)i, &filter));
    emit_close(e, '}');
}
