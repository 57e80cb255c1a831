/* SPDX-License-Identifier: Apache-2.0 */

/* How a trace went, as tables that fit a terminal of 80 columns. */
#include "model/state.h"
#include "sim/report/metrics.h"
#include "sim/report/recorded.h"
#include "sim/report/standing.h"
#include "sim/simulate/simulate.h"
#include "text/table.h"

enum { DEPTH_SHOWN = 8, METRICS_MAX = 6 };

/* A table of queues: the columns after the name, each a metric. */
struct queue_table {
    const char *title;
    bool has_quota;
    size_t count;
    struct {
        const char *title;
        enum metric metric;
    } metrics[METRICS_MAX];
};

static const struct queue_table tables[] = {
    {"GPU time",
     true,
     5,
     {{"FAIR SHARE", METRIC_FAIR_SHARE},
      {"ALLOCATED", METRIC_ALLOCATED},
      {"GPU HOURS", METRIC_GPU_HOURS},
      {"HOURS LOST", METRIC_LOST_GPU_HOURS},
      {"EVICTIONS", METRIC_EVICTIONS}}},
    {"Waiting time",
     false,
     6,
     {{"WORKLOADS", METRIC_WORKLOADS},
      {"P50 WAIT", METRIC_P50_WAIT},
      {"P95 WAIT", METRIC_P95_WAIT},
      {"MAX WAIT", METRIC_MAX_WAIT},
      {"COMPLETED", METRIC_COMPLETED},
      {"NEVER STARTED", METRIC_NEVER_STARTED}}},
};

static void add_row(struct table *t, const struct simulation *sim, const struct queue_table *of,
                    const struct queue_standing *at)
{
    const char *name = state_name(sim->state, sim->run.queues.items[at->queue].name);
    struct metric_filter filter = {.queue = name};
    char text[METRIC_TEXT_MAX];

    table_cell(t, STYLE_PLAIN, "%*s%s", (int)MIN(at->depth, (uint32_t)DEPTH_SHOWN) * 2, "", name);
    if (of->has_quota && at->quota < 0)
        table_cell(t, STYLE_DIM, "unlimited");
    else if (of->has_quota)
        table_cell(t, STYLE_PLAIN, "%.6g", at->quota);
    for (size_t i = 0; i < of->count; i++) {
        double value = metric_value(&sim->run, of->metrics[i].metric, &filter);

        table_cell(t, value == 0 ? STYLE_DIM : STYLE_PLAIN, "%s",
                   metric_format(metric_info(of->metrics[i].metric)->unit, value, text));
    }
}

static void print_table(const struct simulation *sim, const struct queue_table *of, const struct queue_standings *list,
                        const struct table_view *view, FILE *out)
{
    struct table_column columns[METRICS_MAX + 2] = {{"QUEUE", TABLE_LEFT, TABLE_CUT}};
    size_t count = 1;
    struct table t;

    if (of->has_quota)
        columns[count++] = (struct table_column){"QUOTA", TABLE_RIGHT, TABLE_WHOLE};
    for (size_t i = 0; i < of->count; i++)
        columns[count++] = (struct table_column){of->metrics[i].title, TABLE_RIGHT, TABLE_WHOLE};
    table_init(&t, columns, count);
    vec_foreach (list, at)
        add_row(&t, sim, of, at);
    (void)fprintf(out, "\n%s\n", of->title);
    table_print(&t, view, out);
    table_done(&t);
}

static const char *show(const struct simulation *sim, enum metric metric, char text[static METRIC_TEXT_MAX])
{
    return metric_format(metric_info(metric)->unit, metric_value(&sim->run, metric, &(struct metric_filter){0}), text);
}

static void print_summary(const struct simulation *sim, FILE *out)
{
    const struct sim_run *run = &sim->run;
    uint32_t nodes = sim->state->nodes_by_rank.len;
    double workloads = metric_value(run, METRIC_WORKLOADS, &(struct metric_filter){0});
    char a[METRIC_TEXT_MAX];
    char b[METRIC_TEXT_MAX];

    (void)fprintf(out, "%s workload%s in %s on %.6g GPUs of %u node%s, ", show(sim, METRIC_WORKLOADS, a),
                  workloads == 1 ? "" : "s", metric_format(UNIT_SECONDS, (double)(run->end - run->start) / 1e9, b),
                  gpu_to_double(sim->state->total.v[SHARE_GPU]), nodes, nodes == 1 ? "" : "s");
    (void)fprintf(out, "%s cycle%s\n", metric_format(UNIT_COUNT, (double)run->cycles, a), run->cycles == 1 ? "" : "s");
    (void)fprintf(out, "%s of the GPU time allocated", show(sim, METRIC_ALLOCATED, a));
    if (run->idle_partly->total > 0 || run->idle_shared->total > 0)
        (void)fprintf(out, ", %s of the idle GPU time fragmented", show(sim, METRIC_FRAGMENTED, a));
    (void)fputc('\n', out);
}

void simulation_print_trace(const struct simulation *sim, const struct table_view *view, FILE *out)
{
    struct queue_standings list = {0};

    queue_standings(&sim->run, &list);
    print_summary(sim, out);
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        print_table(sim, &tables[i], &list, view, out);
    recorded_waits_print(&sim->run, view, out);
    vec_done(&list);
}
