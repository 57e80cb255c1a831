/* SPDX-License-Identifier: Apache-2.0 */

/* How predictions of the past came out. */
#include <stdlib.h>

#include "base/strbuf.h"
#include "model/state.h"
#include "sim/report/metrics.h"
#include "sim/simulate/simulate.h"
#include "sim/when/backtest.h"
#include "text/csv.h"

struct figures {
    uint32_t asked;
    uint32_t refused;
    uint32_t judged;  // expected, and started
    uint32_t within[PREDICTION_INTERVALS];
    double length[PREDICTION_INTERVALS];  // seconds, in all
    VEC(double) errors;                   // of the median, seconds
    VEC(double) limit_errors;
};

static double seconds_between(nsec_t a, nsec_t b)
{
    return (double)(a < b ? b - a : a - b) / 1e9;
}

static void judge(struct figures *figures, const struct backtest_row *row)
{
    const struct prediction *p = &row->answer.prediction;

    figures->asked++;
    figures->refused += row->answer.outcome != WHEN_EXPECTED;
    if (row->answer.outcome != WHEN_EXPECTED || row->start == 0)
        return;
    figures->judged++;
    for (int i = 0; i < PREDICTION_INTERVALS; i++) {
        figures->within[i] += row->start >= p->low[i] && row->start <= p->high[i];
        figures->length[i] += seconds_between(p->low[i], p->high[i]);
    }
    vec_push(&figures->errors, seconds_between(p->median, row->start));
    if (row->by_limits != NSEC_MAX)
        vec_push(&figures->limit_errors, seconds_between(row->by_limits, row->start));
}

static int compare_doubles(const void *l_, const void *r_)
{
    const double *l = l_;
    const double *r = r_;

    return *l < *r ? -1 : *l > *r;
}

static double middle(double *values, uint32_t count)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof *values, compare_doubles);
    return values[count / 2];
}

static void print_figures(struct figures *figures, FILE *out)
{
    static const char *const names[] = {"80%", "90%"};
    double judged = MAX(figures->judged, 1u);
    char text[METRIC_TEXT_MAX];

    (void)fprintf(out, "Predictions: %u, refused %u, judged %u\n", figures->asked, figures->refused, figures->judged);
    for (int i = 0; i < PREDICTION_INTERVALS; i++)
        (void)fprintf(out, "Starts within the %s interval: %.1f%%, mean length %s\n", names[i],
                      100 * figures->within[i] / judged,
                      metric_format(UNIT_SECONDS, figures->length[i] / judged, text));
    (void)fprintf(out, "Median error: %s",
                  metric_format(UNIT_SECONDS, middle(figures->errors.items, figures->errors.len), text));
    (void)fprintf(out, ", by limits %s\n",
                  metric_format(UNIT_SECONDS, middle(figures->limit_errors.items, figures->limit_errors.len), text));
}

void backtest_print(const struct backtest *backtest, FILE *out)
{
    struct figures figures = {0};

    vec_foreach (&backtest->rows, row)
        judge(&figures, row);
    print_figures(&figures, out);
    vec_done(&figures.errors);
    vec_done(&figures.limit_errors);
}

static void write_seconds(nsec_t time, const struct simulation *sim, FILE *out)
{
    if (time == 0 || time == NSEC_MAX)
        (void)fputc(',', out);
    else
        (void)fprintf(out, ",%.3f", (double)(time - sim->run.start) / 1e9);
}

void backtest_write_rows(const struct backtest *backtest, const struct simulation *sim, FILE *out)
{
    static const char *const outcomes[] = {"expected", "running", "later", "never", "unknown"};
    _Static_assert(ARRAY_LEN(outcomes) == _WHEN_OUTCOME_MAX, "every outcome has a name");

    (void)fputs("namespace,workload,queue,gpus,outcome,submitted,at,median,low80,high80,low90,high90,futures_low,"
                "futures_high,by_limits,started\n",
                out);
    vec_foreach (&backtest->rows, row) {
        const struct sim_run_job *job = &sim->run.jobs.items[row->job];
        const struct prediction *p = &row->answer.prediction;
        const nsec_t times[] = {job->submitted,
                                p->at,
                                p->median,
                                p->low[PREDICTION_80],
                                p->high[PREDICTION_80],
                                p->low[PREDICTION_90],
                                p->high[PREDICTION_90],
                                p->first,
                                p->last,
                                row->by_limits,
                                row->start};

        csv_write(state_name(sim->state, job->namespace), out);
        (void)fputc(',', out);
        csv_write(state_name(sim->state, job->name), out);
        (void)fputc(',', out);
        csv_write(job->queue == NO_ID ? "" : state_name(sim->state, sim->run.queues.items[job->queue].name), out);
        (void)fprintf(out, ",%g,%s", gpu_to_double(job->gpus), outcomes[row->answer.outcome]);
        for (size_t i = 0; i < ARRAY_LEN(times); i++)
            write_seconds(times[i], sim, out);
        (void)fputc('\n', out);
    }
}
