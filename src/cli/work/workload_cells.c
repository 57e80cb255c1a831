/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/work/workload_cells.h"

#include <stdio.h>

#include "base/strbuf.h"
#include "cli/work/output.h"
#include "text/quantity.h"
#include "text/table.h"

enum { NODES_SHOWN = 4, CELL_MAX = 2048 };

static const struct table_column narrow[] = {
    {"WORKLOAD", TABLE_LEFT, TABLE_CUT}, {"QUEUE", TABLE_LEFT, TABLE_CUT},   {"STATE", TABLE_LEFT, TABLE_WHOLE},
    {"GPUS", TABLE_RIGHT, TABLE_WHOLE},  {"PODS", TABLE_RIGHT, TABLE_WHOLE}, {"AGE", TABLE_RIGHT, TABLE_WHOLE},
    {"REASON", TABLE_LEFT, TABLE_WRAP},
};

static const struct table_column wide[] = {
    {"JOB", TABLE_RIGHT, TABLE_WHOLE},    {"WORKLOAD", TABLE_LEFT, TABLE_CUT}, {"KIND", TABLE_LEFT, TABLE_WHOLE},
    {"QUEUE", TABLE_LEFT, TABLE_CUT},     {"USER", TABLE_LEFT, TABLE_CUT},     {"PRIORITY", TABLE_LEFT, TABLE_CUT},
    {"STATE", TABLE_LEFT, TABLE_WHOLE},   {"GPUS", TABLE_RIGHT, TABLE_WHOLE},  {"CPUS", TABLE_RIGHT, TABLE_WHOLE},
    {"MEMORY", TABLE_RIGHT, TABLE_WHOLE}, {"PODS", TABLE_RIGHT, TABLE_WHOLE},  {"TIME", TABLE_RIGHT, TABLE_WHOLE},
    {"AGE", TABLE_RIGHT, TABLE_WHOLE},    {"NODES", TABLE_LEFT, TABLE_CUT},    {"REASON", TABLE_LEFT, TABLE_WRAP},
};

static const struct table_column finished[] = {
    {"WORKLOAD", TABLE_LEFT, TABLE_CUT},     {"QUEUE", TABLE_LEFT, TABLE_CUT},    {"STATE", TABLE_LEFT, TABLE_WHOLE},
    {"GPUS", TABLE_RIGHT, TABLE_WHOLE},      {"EXIT", TABLE_RIGHT, TABLE_WHOLE},  {"TIME", TABLE_RIGHT, TABLE_WHOLE},
    {"GPU HOURS", TABLE_RIGHT, TABLE_WHOLE}, {"ENDED", TABLE_RIGHT, TABLE_WHOLE}, {"REASON", TABLE_LEFT, TABLE_WRAP},
};

enum text_style row_state_style(enum row_state state)
{
    static const enum text_style styles[_ROW_STATE_MAX] = {
        [ROW_PENDING] = STYLE_WARN,  [ROW_RUNNING] = STYLE_GOOD,    [ROW_PREEMPTING] = STYLE_WARN,
        [ROW_SUSPENDED] = STYLE_DIM, [ROW_TERMINATING] = STYLE_DIM, [ROW_COMPLETED] = STYLE_PLAIN,
        [ROW_FAILED] = STYLE_BAD,    [ROW_CANCELLED] = STYLE_DIM,
    };

    return styles[state];
}

double row_gpu_hours(const struct workload_row *row, nsec_t now)
{
    return (double)row->asked.milli_gpus / 1000 * (double)row_run_time(row, now) / (double)NSEC_PER_HOUR;
}

static void add_name(struct table *t, const struct workload_row *row)
{
    table_cell(t, STYLE_PLAIN, "%s/%s", row->namespace, row->name);
}

static void add_pods(struct table *t, const struct workload_row *row)
{
    long long there = row->pods_running + row->pods_succeeded;

    table_cell(t, STYLE_PLAIN, "%lld/%lld", there, (long long)row->pods);
}

static void add_reason(struct table *t, const struct workload_row *row)
{
    if (row->state == ROW_RUNNING)
        table_cell(t, STYLE_DIM, "%s", row->message);
    else
        table_cell(t, STYLE_PLAIN, "%s", row_reason_words(row->reason));
}

static void add_time(struct table *t, const struct workload_row *row, nsec_t now)
{
    char text[AGE_TEXT_MAX];

    table_cell(t, STYLE_PLAIN, "%s", row->started ? age_format(row_run_time(row, now), text) : "-");
}

static void add_nodes(struct table *t, const struct workload_row *row)
{
    struct strbuf text;

    strbuf_init(&text, CELL_MAX);
    for (size_t i = 0; i < row->node_count && i < NODES_SHOWN; i++)
        strbuf_addf(&text, "%s%s", i ? "," : "", row->nodes[i]);
    if (row->node_count > NODES_SHOWN)
        strbuf_addf(&text, " +%zu", row->node_count - NODES_SHOWN);
    table_cell(t, STYLE_PLAIN, "%s", row->node_count ? text.text : "-");
    strbuf_done(&text);
}

static void add_amount(struct table *t, int64_t amount, enum quantity_unit unit)
{
    char text[QUANTITY_TEXT_MAX];

    table_cell(t, STYLE_PLAIN, "%s", amount > 0 ? quantity_format(amount, unit, text) : "-");
}

static void add_wide(struct table *t, const struct workload_row *row, nsec_t now)
{
    char gpus[ASKED_TEXT_MAX];
    char age[AGE_TEXT_MAX];

    if (*row->array_id)
        table_cell(t, STYLE_PLAIN, "%s_%s", row->array_id, row->array_index);
    else
        table_cell(t, STYLE_PLAIN, "%s", *row->job_id ? row->job_id : "-");
    add_name(t, row);
    table_cell(t, STYLE_PLAIN, "%s", row->kind);
    table_cell(t, STYLE_PLAIN, "%s", row->queue);
    table_cell(t, STYLE_PLAIN, "%s", *row->user ? row->user : "-");
    table_cell(t, STYLE_PLAIN, "%s", *row->priority_class ? row->priority_class : "-");
    table_cell(t, row_state_style(row->state), "%s", row_state_name(row->state));
    table_cell(t, STYLE_PLAIN, "%s", asked_gpus_format(&row->asked, gpus));
    add_amount(t, row->asked.milli_cpus, QUANTITY_MILLI);
    add_amount(t, row->asked.memory_bytes, QUANTITY_ONE);
    add_pods(t, row);
    add_time(t, row, now);
    table_cell(t, STYLE_PLAIN, "%s", age_since(row->created, now, age));
    add_nodes(t, row);
    add_reason(t, row);
}

static void add_narrow(struct table *t, const struct workload_row *row, nsec_t now)
{
    char gpus[ASKED_TEXT_MAX];
    char age[AGE_TEXT_MAX];

    add_name(t, row);
    table_cell(t, STYLE_PLAIN, "%s", row->queue);
    table_cell(t, row_state_style(row->state), "%s", row_state_name(row->state));
    table_cell(t, STYLE_PLAIN, "%s", asked_gpus_format(&row->asked, gpus));
    add_pods(t, row);
    table_cell(t, STYLE_PLAIN, "%s", age_since(row->created, now, age));
    add_reason(t, row);
}

void workloads_fill(struct table *table, const struct found *rows, bool is_wide, nsec_t now)
{
    table_init(table, is_wide ? wide : narrow, is_wide ? ARRAY_LEN(wide) : ARRAY_LEN(narrow));
    vec_foreach (rows, row)
        (is_wide ? add_wide : add_narrow)(table, *row, now);
}

void workloads_print(const struct found *rows, bool is_wide, nsec_t now)
{
    struct table t;

    workloads_fill(&t, rows, is_wide, now);
    output_table(&t);
}

static void add_finished(struct table *t, const struct workload_row *row, nsec_t now)
{
    char gpus[ASKED_TEXT_MAX];
    char age[AGE_TEXT_MAX];

    add_name(t, row);
    table_cell(t, STYLE_PLAIN, "%s", row->queue);
    table_cell(t, row_state_style(row->state), "%s", row_state_name(row->state));
    table_cell(t, STYLE_PLAIN, "%s", asked_gpus_format(&row->asked, gpus));
    if (row->state == ROW_CANCELLED)
        table_cell(t, STYLE_PLAIN, "-");
    else
        table_cell(t, row->exit_code ? STYLE_BAD : STYLE_PLAIN, "%d", row->exit_code);
    add_time(t, row, now);
    table_cell(t, STYLE_PLAIN, "%.2f", row_gpu_hours(row, now));
    table_cell(t, STYLE_PLAIN, "%s", age_since(row->finished, now, age));
    add_reason(t, row);
}

void finished_print(const struct found *rows, bool is_wide, nsec_t now)
{
    struct table t;

    if (is_wide) {
        workloads_print(rows, true, now);
        return;
    }
    table_init(&t, finished, ARRAY_LEN(finished));
    vec_foreach (rows, row)
        add_finished(&t, *row, now);
    output_table(&t);
}
