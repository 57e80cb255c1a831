/* SPDX-License-Identifier: Apache-2.0 */

/* The answer as tables and as JSON; docs/whatif.md describes the members. */
#include <math.h>

#include "base/time.h"
#include "sim/report/metrics.h"
#include "sim/report/requirement.h"
#include "sim/scenario/scenario_emit.h"
#include "sim/whatif/hours.h"
#include "text/table.h"

static const char *const side_names[] = {[HOURS_WITHOUT] = "without", [HOURS_WITH] = "with"};

/* What one future comes to on average, of a queue or of all. */
struct average {
    double workloads;
    double wait;  // seconds of one workload; NAN: there is none
    double starts;
    double evictions;
    double used;
    double lost;
};

static struct average average_of(const struct hours_figures *figures, uint32_t futures)
{
    double count = (double)futures;

    return (struct average){
        .workloads = (double)figures->workloads / count,
        .wait = figures->workloads > 0 ? figures->waited / (double)figures->workloads : NAN,
        .starts = (double)figures->starts / count,
        .evictions = (double)figures->evictions / count,
        .used = figures->used / count,
        .lost = figures->lost / count,
    };
}

/* ---- Tables. ---- */

static const char *seconds_text(double seconds, char text[static METRIC_TEXT_MAX])
{
    return metric_format(UNIT_SECONDS, seconds, text);
}

static void add_started(struct table *t, const struct hours_fate *fate, uint32_t futures)
{
    if (!fate->is_there)
        table_cell(t, STYLE_DIM, "-");
    else if (fate->is_running)
        table_cell(t, STYLE_GOOD, "running");
    else
        table_cell(t, fate->started == futures ? STYLE_GOOD : STYLE_WARN, "%u", fate->started);
}

static void add_wait(struct table *t, const struct hours *hours, const struct hours_fate *fate)
{
    char text[METRIC_TEXT_MAX];

    if (!fate->is_there || fate->is_running)
        table_cell(t, STYLE_DIM, "-");
    else if (fate->median_wait == NSEC_MAX)
        table_cell(t, STYLE_WARN, "> %s", seconds_text((double)hours->horizon / 1e9, text));
    else
        table_cell(t, STYLE_PLAIN, "%s", seconds_text((double)fate->median_wait / 1e9, text));
}

static void add_evicted(struct table *t, const struct hours_fate *fate)
{
    if (fate->is_there)
        table_cell(t, fate->evicted > 0 ? STYLE_WARN : STYLE_PLAIN, "%u", fate->evicted);
    else
        table_cell(t, STYLE_DIM, "-");
}

static void print_workloads(const struct hours *hours, const struct table_view *view, FILE *out)
{
    static const struct table_column columns[] = {
        {"WORKLOAD", TABLE_LEFT, TABLE_CUT},   {"QUEUE", TABLE_LEFT, TABLE_CUT},
        {"STARTS", TABLE_RIGHT, TABLE_WHOLE},  {"WITH", TABLE_RIGHT, TABLE_WHOLE},
        {"WAIT", TABLE_RIGHT, TABLE_WHOLE},    {"WITH", TABLE_RIGHT, TABLE_WHOLE},
        {"SOONER", TABLE_RIGHT, TABLE_WHOLE},  {"LATER", TABLE_RIGHT, TABLE_WHOLE},
        {"EVICTED", TABLE_RIGHT, TABLE_WHOLE}, {"WITH", TABLE_RIGHT, TABLE_WHOLE},
    };
    struct table t;
    uint32_t shown = 0;

    table_init(&t, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < hours->workloads.len; i++) {
        const struct hours_workload *row = hours->workloads.items[i];

        if (!hours_workload_differs(row))
            continue;
        shown++;
        table_cell(&t, STYLE_PLAIN, "%s", row->name);
        table_cell(&t, STYLE_PLAIN, "%s", row->queue);
        for (int side = 0; side < _HOURS_SIDES; side++)
            add_started(&t, &row->sides[side], hours->futures);
        for (int side = 0; side < _HOURS_SIDES; side++)
            add_wait(&t, hours, &row->sides[side]);
        table_cell(&t, STYLE_PLAIN, "%u", row->sooner);
        table_cell(&t, STYLE_PLAIN, "%u", row->later);
        for (int side = 0; side < _HOURS_SIDES; side++)
            add_evicted(&t, &row->sides[side]);
    }
    if (shown > 0) {
        (void)fprintf(out, "Current workloads that the change affects: counts of %u futures, median waits\n",
                      hours->futures);
        table_print(&t, view, out);
    } else {
        (void)fputs("The change affects no current workload: all start at the same times and are evicted as often.\n",
                    out);
    }
    table_done(&t);
}

static void add_mean(struct table *t, double value)
{
    table_cell(t, STYLE_PLAIN, value < 100 ? "%.1f" : "%.0f", value);
}

static void print_queues(const struct hours *hours, const struct table_view *view, FILE *out)
{
    static const struct table_column columns[] = {
        {"QUEUE", TABLE_LEFT, TABLE_CUT},   {"WAIT", TABLE_RIGHT, TABLE_WHOLE},
        {"WITH", TABLE_RIGHT, TABLE_WHOLE}, {"STARTS", TABLE_RIGHT, TABLE_WHOLE},
        {"WITH", TABLE_RIGHT, TABLE_WHOLE}, {"EVICTIONS", TABLE_RIGHT, TABLE_WHOLE},
        {"WITH", TABLE_RIGHT, TABLE_WHOLE}, {"GPU HOURS", TABLE_RIGHT, TABLE_WHOLE},
        {"WITH", TABLE_RIGHT, TABLE_WHOLE},
    };
    struct table t;
    uint32_t shown = 0;

    table_init(&t, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < hours->queues.len; i++) {
        const struct hours_queue *row = hours->queues.items[i];
        struct average a = average_of(&row->sides[HOURS_WITHOUT], hours->futures);
        struct average b = average_of(&row->sides[HOURS_WITH], hours->futures);
        char text[METRIC_TEXT_MAX];

        if (!hours_queue_differs(row))
            continue;
        shown++;
        table_cell(&t, STYLE_PLAIN, "%s", row->name);
        table_cell(&t, STYLE_PLAIN, "%s", seconds_text(a.wait, text));
        table_cell(&t, STYLE_PLAIN, "%s", seconds_text(b.wait, text));
        add_mean(&t, a.starts);
        add_mean(&t, b.starts);
        add_mean(&t, a.evictions);
        add_mean(&t, b.evictions);
        add_mean(&t, a.used);
        add_mean(&t, b.used);
    }
    if (shown > 0) {
        (void)fputs("\nQueues that the change affects: mean wait of a workload; other figures are means of a future\n",
                    out);
        table_print(&t, view, out);
    }
    table_done(&t);
}

static void print_whole(const struct hours *hours, FILE *out)
{
    struct average a = average_of(&hours->whole[HOURS_WITHOUT], hours->futures);
    struct average b = average_of(&hours->whole[HOURS_WITH], hours->futures);
    char text[2][METRIC_TEXT_MAX];

    (void)fprintf(out, "\nMean wait within these hours: %s without the change, %s with it. ",
                  seconds_text(a.wait, text[0]), seconds_text(b.wait, text[1]));
    (void)fprintf(out, "Starts: %.1f without, %.1f with.\n", a.starts, b.starts);
    (void)fprintf(out, "Evictions: %.1f without, %.1f with. GPU hours: %.1f without, %.1f with; ", a.evictions,
                  b.evictions, a.used, b.used);
    (void)fprintf(out, "lost to evictions: %.1f and %.1f.\n", a.lost, b.lost);
}

static void print_basis(const struct hours *hours, FILE *out)
{
    const struct when_basis *basis = &hours->basis;
    char horizon[METRIC_TEXT_MAX];
    char text[METRIC_TEXT_MAX];

    (void)fprintf(out, "\nThe next %s, in %u pairs of futures. ", seconds_text((double)hours->horizon / 1e9, horizon),
                  hours->futures);
    if (basis->past > 0)
        (void)fprintf(out, "History: %u workloads in %s, the run times of %u known.\n", basis->past,
                      seconds_text((double)(hours->now - basis->past_since) / 1e9, text), basis->ended);
    else
        (void)fputs("There is no history: no further work is expected.\n", out);
}

void hours_print(const struct hours *hours, const struct hours_question *question, const struct table_view *view,
                 FILE *out)
{
    requirements_print(question->requirements, view, out);
    print_workloads(hours, view, out);
    print_queues(hours, view, out);
    print_whole(hours, out);
    print_basis(hours, out);
}

/* ---- JSON. ---- */

static void write_fate(struct emit *e, const char *key, const struct hours_fate *fate)
{
    if (!fate->is_there)
        return;
    emit_open(e, key, '{');
    emit_bool(e, "running", fate->is_running);
    emit_int(e, "startedIn", fate->started);
    if (fate->median_wait != NSEC_MAX)
        emit_double(e, "medianWaitSeconds", (double)fate->median_wait / 1e9);
    emit_int(e, "evictedIn", fate->evicted);
    emit_close(e, '}');
}

static void write_workload(struct emit *e, const struct hours_workload *row)
{
    emit_open(e, NULL, '{');
    emit_str(e, "workload", row->name);
    emit_str(e, "queue", row->queue);
    for (int side = 0; side < _HOURS_SIDES; side++)
        write_fate(e, side_names[side], &row->sides[side]);
    emit_int(e, "soonerIn", row->sooner);
    emit_int(e, "laterIn", row->later);
    emit_close(e, '}');
}

static void write_sides(struct emit *e, const struct hours_figures sides[_HOURS_SIDES], uint32_t futures)
{
    for (int side = 0; side < _HOURS_SIDES; side++) {
        struct average average = average_of(&sides[side], futures);

        emit_open(e, side_names[side], '{');
        emit_double(e, "workloads", average.workloads);
        if (!isnan(average.wait))
            emit_double(e, "meanWaitSeconds", average.wait);
        emit_double(e, "starts", average.starts);
        emit_double(e, "evictions", average.evictions);
        emit_double(e, "gpuHours", average.used);
        emit_double(e, "lostGpuHours", average.lost);
        emit_close(e, '}');
    }
}

static void write_question(struct emit *e, const struct hours *hours, const struct hours_question *question)
{
    char at[TIME_TEXT_MAX];

    emit_open(e, "changes", '[');
    for (size_t i = 0; i < question->change_count; i++)
        emit_str(e, NULL, question->changes[i].text);
    emit_close(e, ']');
    emit_str(e, "at", time_format(hours->now, at));
    emit_double(e, "horizonSeconds", (double)hours->horizon / 1e9);
    emit_int(e, "futures", hours->futures);
    emit_int(e, "seed", (int64_t)hours->seed);
}

void hours_write(const struct hours *hours, const struct hours_question *question, FILE *out)
{
    struct emit e = {.out = out};

    emit_open(&e, NULL, '{');
    write_question(&e, hours, question);
    requirements_write(&e, question->requirements);
    emit_open(&e, "workloads", '[');
    for (uint32_t i = 0; i < hours->workloads.len; i++)
        write_workload(&e, hours->workloads.items[i]);
    emit_close(&e, ']');
    emit_open(&e, "queues", '[');
    for (uint32_t i = 0; i < hours->queues.len; i++) {
        emit_open(&e, NULL, '{');
        emit_str(&e, "queue", hours->queues.items[i]->name);
        write_sides(&e, hours->queues.items[i]->sides, hours->futures);
        emit_close(&e, '}');
    }
    emit_close(&e, ']');
    emit_open(&e, "whole", '{');
    write_sides(&e, hours->whole, hours->futures);
    emit_close(&e, '}');
    emit_open(&e, "basis", '{');
    emit_int(&e, "pastWorkloads", hours->basis.past);
    emit_int(&e, "knownRunTimes", hours->basis.ended);
    emit_int(&e, "running", hours->basis.running);
    emit_int(&e, "withNeither", hours->basis.unknown);
    emit_close(&e, '}');
    emit_close(&e, '}');
    (void)fputc('\n', out);
}
