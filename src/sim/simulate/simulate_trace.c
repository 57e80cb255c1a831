/* SPDX-License-Identifier: Apache-2.0 */

/* How a trace went, as tables. */
#include "model/state.h"
#include "sim/report/metrics.h"
#include "sim/simulate/simulate.h"
#include "sim/simulate/simulate_queues.h"
#include "text/table.h"

enum { DEPTH_SHOWN = 8 };

/* The columns of the table of queues that are metrics. */
static const struct {
    struct table_column column;
    enum metric metric;
} shown[] = {
    {{"JOBS", TABLE_RIGHT, TABLE_WHOLE}, METRIC_JOBS},
    {{"FAIR SHARE", TABLE_RIGHT, TABLE_WHOLE}, METRIC_FAIR_SHARE},
    {{"USE", TABLE_RIGHT, TABLE_WHOLE}, METRIC_USE},
    {{"WAIT P50", TABLE_RIGHT, TABLE_WHOLE}, METRIC_P50_WAIT},
    {{"P95", TABLE_RIGHT, TABLE_WHOLE}, METRIC_P95_WAIT},
    {{"MAX", TABLE_RIGHT, TABLE_WHOLE}, METRIC_MAX_WAIT},
    {{"EVICTED", TABLE_RIGHT, TABLE_WHOLE}, METRIC_EVICTIONS},
    {{"LOST GPU-H", TABLE_RIGHT, TABLE_WHOLE}, METRIC_LOST_GPU_HOURS},
};
enum { COLUMNS = ARRAY_LEN(shown) + 2 };

static void add_row(struct table *t, const struct simulation *sim, const struct queue_standing *at)
{
    const char *name = state_name(sim->state, sim->run.queues.items[at->queue].name);
    struct metric_filter filter = {.queue = name};
    char text[METRIC_TEXT_MAX];

    table_cell(t, TABLE_PLAIN, "%*s%s", (int)MIN(at->depth, (uint32_t)DEPTH_SHOWN) * 2, "", name);
    if (at->quota < 0)
        table_cell(t, TABLE_DIM, "any");
    else
        table_cell(t, TABLE_PLAIN, "%.6g", at->quota);
    for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
        double value = metric_value(&sim->run, shown[i].metric, &filter);

        table_cell(t, value == 0 ? TABLE_DIM : TABLE_PLAIN, "%s",
                   metric_format(metric_info(shown[i].metric)->unit, value, text));
    }
}

static void print_queues(const struct simulation *sim, const struct table_view *view, FILE *out)
{
    struct table_column columns[COLUMNS] = {{"QUEUE", TABLE_LEFT, TABLE_CUT}, {"QUOTA", TABLE_RIGHT, TABLE_WHOLE}};
    struct queue_standings list = {0};
    struct table t;

    for (size_t i = 0; i < ARRAY_LEN(shown); i++)
        columns[i + 2] = shown[i].column;
    queue_standings(sim, &list);
    table_init(&t, columns, ARRAY_LEN(columns));
    vec_foreach (&list, at)
        add_row(&t, sim, at);
    table_print(&t, view, out);
    table_done(&t);
    vec_done(&list);
}

static const char *show(const struct simulation *sim, enum metric metric, char text[static METRIC_TEXT_MAX])
{
    return metric_format(metric_info(metric)->unit, metric_value(&sim->run, metric, &(struct metric_filter){0}), text);
}

/* One line that says it all, as a sentence. */
static void print_summary(const struct simulation *sim, FILE *out)
{
    const struct sim_run *run = &sim->run;
    uint32_t nodes = sim->state->nodes_by_rank.len;
    char a[METRIC_TEXT_MAX];
    char b[METRIC_TEXT_MAX];

    double jobs = metric_value(run, METRIC_JOBS, &(struct metric_filter){0});

    (void)fprintf(out, "%s workload%s in %s on %.6g GPUs of %u node%s: %s of the GPU time used",
                  show(sim, METRIC_JOBS, a), jobs == 1 ? "" : "s",
                  metric_format(UNIT_SECONDS, (double)(run->end - run->start) / 1e9, b),
                  gpu_to_double(sim->state->total.v[SHARE_GPU]), nodes, nodes == 1 ? "" : "s",
                  show(sim, METRIC_USE, (char[METRIC_TEXT_MAX]){0}));
    if (run->idle_partly->total > 0 || run->idle_shared->total > 0)
        (void)fprintf(out, ", %s of the rest in pieces", show(sim, METRIC_FRAGMENTATION, a));
    (void)fprintf(out, ", %s never started, %s cycle%s\n\n", show(sim, METRIC_NEVER_STARTED, a),
                  metric_format(UNIT_COUNT, (double)run->cycles, b), run->cycles == 1 ? "" : "s");
}

void simulation_print_trace(const struct simulation *sim, const struct table_view *view, FILE *out)
{
    print_summary(sim, out);
    print_queues(sim, view, out);
}
