/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/run/run_series.h"

#include <stdlib.h>

#include "base/mem.h"

void timeline_init(struct timeline *timeline, nsec_t start)
{
    *timeline = (struct timeline){.start = start, .step = NSEC_PER_SEC, .now = start};
}

void timeline_done(struct timeline *timeline)
{
    vec_foreach (&timeline->series, series) {
        free((*series)->steps);
        free(*series);
    }
    vec_done(&timeline->series);
}

struct series *timeline_add(struct timeline *timeline)
{
    struct series *series = xcalloc(1, sizeof *series);

    series->since = timeline->now;
    series->steps = xcalloc(SERIES_STEPS, sizeof *series->steps);
    vec_push(&timeline->series, series);
    return series;
}

static void halve(struct timeline *timeline)
{
    timeline->step *= 2;
    vec_foreach (&timeline->series, at) {
        double *steps = (*at)->steps;

        for (uint32_t i = 0; i < SERIES_STEPS / 2; i++)
            steps[i] = steps[2 * i] + steps[2 * i + 1];
        for (uint32_t i = SERIES_STEPS / 2; i < SERIES_STEPS; i++)
            steps[i] = 0;
    }
}

void timeline_advance(struct timeline *timeline, nsec_t now)
{
    timeline->now = now;
    while ((now - timeline->start) / timeline->step >= SERIES_STEPS)
        halve(timeline);
}

static uint32_t step_at(const struct timeline *timeline, nsec_t time)
{
    return (uint32_t)((time - timeline->start) / timeline->step);
}

static void integrate(struct timeline *timeline, struct series *series)
{
    nsec_t from = series->since;

    if (series->value != 0) {
        while (from < timeline->now) {
            uint32_t step = step_at(timeline, from);
            nsec_t step_end = timeline->start + (nsec_t)(step + 1) * timeline->step;
            nsec_t to = MIN(step_end, timeline->now);

            series->steps[step] += series->value * (double)(to - from);
            from = to;
        }
        series->total += series->value * (double)(timeline->now - series->since);
    }
    series->since = timeline->now;
}

void series_set(struct timeline *timeline, struct series *series, double value)
{
    if (series->value == value)
        return;
    integrate(timeline, series);
    series->value = value;
}

void series_add(struct timeline *timeline, struct series *series, double amount)
{
    series->steps[step_at(timeline, timeline->now)] += amount;
    series->total += amount;
}

void timeline_finish(struct timeline *timeline)
{
    vec_foreach (&timeline->series, series)
        integrate(timeline, *series);
}

uint32_t timeline_steps(const struct timeline *timeline)
{
    return step_at(timeline, timeline->now) + 1;
}

double series_mean(const struct timeline *timeline, const struct series *series, uint32_t i)
{
    nsec_t from = timeline->start + (nsec_t)i * timeline->step;
    nsec_t length = MIN(timeline->step, timeline->now - from);

    return length > 0 ? series->steps[i] / (double)length : series->value;
}
