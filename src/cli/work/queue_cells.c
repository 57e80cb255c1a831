/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/work/queue_cells.h"

#include "cli/work/output.h"
#include "text/quantity.h"
#include "text/table.h"

enum { DEPTH_SHOWN = 8 };

static void add_gpus(struct table *t, enum text_style style, double gpus)
{
    char text[GPUS_TEXT_MAX];

    table_cell(t, gpus > 0 ? style : STYLE_DIM, "%s", gpus_format(gpus, text));
}

void queues_fill(struct table *table, const struct queue_rows *rows, bool is_wide)
{
    static const struct table_column columns[] = {
        {"QUEUE", TABLE_LEFT, TABLE_CUT},         {"QUOTA", TABLE_RIGHT, TABLE_WHOLE},
        {"FAIR SHARE", TABLE_RIGHT, TABLE_WHOLE}, {"ALLOCATED", TABLE_RIGHT, TABLE_WHOLE},
        {"BORROWED", TABLE_RIGHT, TABLE_WHOLE},   {"LENT", TABLE_RIGHT, TABLE_WHOLE},
        {"PENDING", TABLE_RIGHT, TABLE_WHOLE},    {"LIMIT", TABLE_RIGHT, TABLE_WHOLE},
        {"WEIGHT", TABLE_RIGHT, TABLE_WHOLE},     {"PRIORITY", TABLE_RIGHT, TABLE_WHOLE},
        {"DISPLAY NAME", TABLE_LEFT, TABLE_CUT},
    };

    table_init(table, columns, is_wide ? ARRAY_LEN(columns) : 7);
    vec_foreach (rows, row) {
        table_cell(table, STYLE_PLAIN, "%*s%s", (int)MIN(row->depth, (uint32_t)DEPTH_SHOWN) * 2, "", row->name);
        add_gpus(table, STYLE_PLAIN, row->quota);
        add_gpus(table, STYLE_PLAIN, row->fair_share);
        add_gpus(table, STYLE_GOOD, row->allocated);
        add_gpus(table, STYLE_WARN, row->borrowed);
        add_gpus(table, STYLE_PLAIN, row->lent);
        add_gpus(table, STYLE_WARN, row->pending);
        if (!is_wide)
            continue;
        add_gpus(table, STYLE_PLAIN, row->limit);
        add_gpus(table, STYLE_PLAIN, row->weight);
        table_cell(table, STYLE_PLAIN, "%lld", (long long)row->priority);
        table_cell(table, STYLE_PLAIN, "%s", row->display_name);
    }
}

static void add_amount(struct table *t, int64_t amount, enum quantity_unit unit)
{
    char text[QUANTITY_TEXT_MAX];

    table_cell(t, amount > 0 ? STYLE_PLAIN : STYLE_DIM, "%s", quantity_format(amount, unit, text));
}

/* GiB are enough for a column: "1.5 TiB" of a node is a number with many digits otherwise. */
static void add_memory(struct table *t, int64_t bytes)
{
    table_cell(t, bytes > 0 ? STYLE_PLAIN : STYLE_DIM, "%lldGi", (long long)(bytes >> 30));
}

void nodes_fill(struct table *table, const struct node_rows *rows, bool is_wide, nsec_t now)
{
    static const struct table_column columns[] = {
        {"NODE", TABLE_LEFT, TABLE_CUT},           {"STATE", TABLE_LEFT, TABLE_WHOLE},
        {"GPUS", TABLE_RIGHT, TABLE_WHOLE},        {"ALLOCATED", TABLE_RIGHT, TABLE_WHOLE},
        {"FREE", TABLE_RIGHT, TABLE_WHOLE},        {"PODS", TABLE_RIGHT, TABLE_WHOLE},
        {"MODEL", TABLE_LEFT, TABLE_CUT},          {"CPUS", TABLE_RIGHT, TABLE_WHOLE},
        {"CPUS USED", TABLE_RIGHT, TABLE_WHOLE},   {"MEMORY", TABLE_RIGHT, TABLE_WHOLE},
        {"MEMORY USED", TABLE_RIGHT, TABLE_WHOLE}, {"POOL", TABLE_LEFT, TABLE_CUT},
        {"AGE", TABLE_RIGHT, TABLE_WHOLE},
    };

    table_init(table, columns, is_wide ? ARRAY_LEN(columns) : 7);
    vec_foreach (rows, row) {
        double used = (double)row->gpus_milli_used / 1000;
        double free = MAX((double)row->gpus - used, 0.0);
        char age[AGE_TEXT_MAX];

        table_cell(table, STYLE_PLAIN, "%s", row->name);
        table_cell(table, row->is_ready && !row->is_cordoned ? STYLE_GOOD : STYLE_WARN, "%s", row->state);
        add_gpus(table, STYLE_PLAIN, (double)row->gpus);
        add_gpus(table, STYLE_GOOD, used);
        add_gpus(table, STYLE_PLAIN, row->is_ready && !row->is_cordoned ? free : 0);
        table_cell(table, STYLE_PLAIN, "%lld", (long long)row->pods);
        table_cell(table, STYLE_PLAIN, "%s", *row->model ? row->model : "-");
        if (!is_wide)
            continue;
        add_amount(table, row->milli_cpus, QUANTITY_MILLI);
        add_amount(table, row->milli_cpus_used, QUANTITY_MILLI);
        add_memory(table, row->memory_bytes);
        add_memory(table, row->memory_bytes_used);
        table_cell(table, STYLE_PLAIN, "%s", *row->pool ? row->pool : "default");
        table_cell(table, STYLE_PLAIN, "%s", age_since(row->created, now, age));
    }
}
