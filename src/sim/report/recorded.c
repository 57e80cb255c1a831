/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/report/recorded.h"

#include <stdlib.h>

#include "base/vec.h"
#include "sim/report/metrics.h"
#include "sim/run/run.h"
#include "sim/scenario/scenario_emit.h"
#include "text/table.h"

static const char *const names[] = {[WAITS_RECORDED] = "recorded", [WAITS_SIMULATED] = "simulated"};
_Static_assert(ARRAY_LEN(names) == _WAITS_MAX, "a name for each kind of waits");

static int compare_waits(const void *l, const void *r)
{
    double a = *(const double *)l;
    double b = *(const double *)r;

    return (a > b) - (a < b);
}

void recorded_waits_read(struct recorded_waits *ret, const struct sim_run *run)
{
    VEC(double) waits[_WAITS_MAX] = {0};

    *ret = (struct recorded_waits){0};
    vec_foreach (&run->jobs, job) {
        if (job->recorded_start == 0)
            continue;
        vec_push(&waits[WAITS_RECORDED], metric_recorded_wait(job));
        vec_push(&waits[WAITS_SIMULATED], metric_wait(run, job));
    }
    ret->workloads = waits[WAITS_RECORDED].len;
    for (int i = 0; ret->workloads > 0 && i < _WAITS_MAX; i++) {
        double sum = 0;

        qsort(waits[i].items, waits[i].len, sizeof *waits[i].items, compare_waits);
        vec_foreach (&waits[i], wait)
            sum += *wait;
        ret->of[i].mean = sum / waits[i].len;
        ret->of[i].p50 = metric_percentile(waits[i].items, waits[i].len, 0.5);
        ret->of[i].p95 = metric_percentile(waits[i].items, waits[i].len, 0.95);
        ret->of[i].max = vec_last(&waits[i]);
    }
    for (int i = 0; i < _WAITS_MAX; i++)
        vec_done(&waits[i]);
}

void recorded_waits_print(const struct sim_run *run, const struct table_view *view, FILE *out)
{
    static const struct table_column columns[] = {
        {"WAIT", TABLE_LEFT, TABLE_WHOLE}, {"MEAN", TABLE_RIGHT, TABLE_WHOLE}, {"P50", TABLE_RIGHT, TABLE_WHOLE},
        {"P95", TABLE_RIGHT, TABLE_WHOLE}, {"MAX", TABLE_RIGHT, TABLE_WHOLE},
    };
    struct recorded_waits waits;
    struct table t;

    recorded_waits_read(&waits, run);
    if (waits.workloads == 0)
        return;
    table_init(&t, columns, ARRAY_LEN(columns));
    for (int i = 0; i < _WAITS_MAX; i++) {
        const double figures[] = {waits.of[i].mean, waits.of[i].p50, waits.of[i].p95, waits.of[i].max};

        table_cell(&t, STYLE_PLAIN, "%s", names[i]);
        for (size_t k = 0; k < ARRAY_LEN(figures); k++) {
            char text[METRIC_TEXT_MAX];

            table_cell(&t, STYLE_PLAIN, "%s", metric_format(UNIT_SECONDS, figures[k], text));
        }
    }
    (void)fprintf(out, "\nWaits of the %u workloads whose start was recorded\n", waits.workloads);
    table_print(&t, view, out);
    table_done(&t);
}

void recorded_waits_write(struct emit *e, const struct sim_run *run)
{
    struct recorded_waits waits;

    recorded_waits_read(&waits, run);
    if (waits.workloads == 0)
        return;
    emit_open(e, "recordedWaits", '{');
    emit_int(e, "workloads", waits.workloads);
    for (int i = 0; i < _WAITS_MAX; i++) {
        emit_open(e, names[i], '{');
        emit_double(e, "mean", waits.of[i].mean);
        emit_double(e, "p50", waits.of[i].p50);
        emit_double(e, "p95", waits.of[i].p95);
        emit_double(e, "max", waits.of[i].max);
        emit_close(e, '}');
    }
    emit_close(e, '}');
}
