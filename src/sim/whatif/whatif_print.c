/* SPDX-License-Identifier: Apache-2.0 */

/* The answer as tables and as JSON; docs/whatif.md describes the members. */
#include <math.h>

#include "sim/report/requirement.h"
#include "sim/scenario/scenario_emit.h"
#include "sim/whatif/whatif.h"
#include "text/table.h"

static enum text_style style_of(enum whatif_outcome outcome)
{
    if (outcome == WHATIF_STARTING || outcome == WHATIF_RUNNING)
        return STYLE_GOOD;
    return outcome == WHATIF_ABSENT ? STYLE_DIM : STYLE_WARN;
}

static void add_fate(struct table *t, const struct whatif_fate *fate)
{
    const char *name = whatif_outcome_name(fate->outcome);

    if (fate->outcome == WHATIF_STARTING && fate->bound > 1)
        table_cell(t, style_of(fate->outcome), "%s (%u pods)", name, fate->bound);
    else if (fate->outcome == WHATIF_EVICTED && fate->evicted > 1)
        table_cell(t, style_of(fate->outcome), "%s (%u pods)", name, fate->evicted);
    else
        table_cell(t, style_of(fate->outcome), "%s", name);
}

static void print_workloads(const struct whatif *whatif, const struct table_view *view, FILE *out)
{
    static const struct table_column columns[] = {
        {"WORKLOAD", TABLE_LEFT, TABLE_CUT},    {"QUEUE", TABLE_LEFT, TABLE_CUT},
        {"WITHOUT", TABLE_LEFT, TABLE_WHOLE},   {"WITH", TABLE_LEFT, TABLE_WHOLE},
        {"EVICTED FOR", TABLE_LEFT, TABLE_CUT},
    };
    struct table t;

    if (whatif->workloads.len == 0) {
        (void)fputs("No workload starts or is evicted, with the change or without it.\n", out);
        return;
    }
    table_init(&t, columns, ARRAY_LEN(columns));
    vec_foreach (&whatif->workloads, row) {
        table_cell(&t, STYLE_PLAIN, "%s", row->name);
        table_cell(&t, STYLE_PLAIN, "%s", row->queue);
        add_fate(&t, &row->without);
        add_fate(&t, &row->with);
        table_cell(&t, STYLE_PLAIN, "%s", row->with.for_whom ? row->with.for_whom : "");
    }
    (void)fputs("Workloads that the next cycle starts, evicts or treats differently\n", out);
    table_print(&t, view, out);
    table_done(&t);
}

static void add_gpus(struct table *t, double amount)
{
    if (isnan(amount))
        table_cell(t, STYLE_DIM, "-");
    else if (amount < 0)
        table_cell(t, STYLE_DIM, "unlimited");
    else
        table_cell(t, STYLE_PLAIN, "%.4g", amount);
}

static void print_queues(const struct whatif *whatif, const struct table_view *view, FILE *out)
{
    static const struct table_column columns[] = {
        {"QUEUE", TABLE_LEFT, TABLE_CUT},   {"FAIR SHARE", TABLE_RIGHT, TABLE_WHOLE},
        {"WITH", TABLE_RIGHT, TABLE_WHOLE}, {"ALLOCATED", TABLE_RIGHT, TABLE_WHOLE},
        {"WITH", TABLE_RIGHT, TABLE_WHOLE},
    };
    struct table t;

    if (whatif->queues.len == 0)
        return;
    table_init(&t, columns, ARRAY_LEN(columns));
    vec_foreach (&whatif->queues, row) {
        table_cell(&t, STYLE_PLAIN, "%s", row->name);
        add_gpus(&t, row->fair[0]);
        add_gpus(&t, row->fair[1]);
        add_gpus(&t, row->allocated[0]);
        add_gpus(&t, row->allocated[1]);
    }
    (void)fputs("\nQueues whose GPUs change\n", out);
    table_print(&t, view, out);
    table_done(&t);
}

void whatif_print(const struct whatif *whatif, const struct requirements *requirements, const struct table_view *view,
                  FILE *out)
{
    requirements_print(requirements, view, out);
    print_workloads(whatif, view, out);
    print_queues(whatif, view, out);
    (void)fprintf(out, "\nStarts: %u without the change, %u with it. Evicted pods: %u without, %u with.\n",
                  whatif->starts[0], whatif->starts[1], whatif->evictions[0], whatif->evictions[1]);
}

/* ---- JSON. ---- */

static void write_fate(struct emit *e, const char *key, const struct whatif_fate *fate)
{
    emit_open(e, key, '{');
    if (fate->outcome == WHATIF_ABSENT)
        emit_str(e, "state", "Absent");
    else
        emit_str(e, "state", whatif_outcome_name(fate->outcome));
    emit_int(e, "startedPods", fate->bound);
    emit_int(e, "evictedPods", fate->evicted);
    if (fate->for_whom)
        emit_str(e, "for", fate->for_whom);
    emit_close(e, '}');
}

/* Unlimited is -1, as in the other documents; a queue that is only there with the change has no figure. */
static void write_pair(struct emit *e, const char *key, const double values[2])
{
    static const char *const sides[] = {"without", "with"};

    emit_open(e, key, '{');
    for (int side = 0; side < 2; side++) {
        if (!isnan(values[side]))
            emit_double(e, sides[side], values[side]);
    }
    emit_close(e, '}');
}

static void write_counts(struct emit *e, const char *key, const uint32_t counts[2])
{
    const double values[2] = {counts[0], counts[1]};

    write_pair(e, key, values);
}

void whatif_write(const struct whatif *whatif, const struct whatif_change *changes, size_t count,
                  const struct requirements *requirements, FILE *out)
{
    struct emit e = {.out = out};

    emit_open(&e, NULL, '{');
    emit_open(&e, "changes", '[');
    for (size_t i = 0; i < count; i++)
        emit_str(&e, NULL, changes[i].text);
    emit_close(&e, ']');
    requirements_write(&e, requirements);
    emit_open(&e, "workloads", '[');
    vec_foreach (&whatif->workloads, row) {
        emit_open(&e, NULL, '{');
        emit_str(&e, "workload", row->name);
        emit_str(&e, "queue", row->queue);
        write_fate(&e, "without", &row->without);
        write_fate(&e, "with", &row->with);
        emit_close(&e, '}');
    }
    emit_close(&e, ']');
    emit_open(&e, "queues", '[');
    vec_foreach (&whatif->queues, row) {
        emit_open(&e, NULL, '{');
        emit_str(&e, "queue", row->name);
        write_pair(&e, "fairShare", row->fair);
        write_pair(&e, "allocated", row->allocated);
        emit_close(&e, '}');
    }
    emit_close(&e, ']');
    write_counts(&e, "starts", whatif->starts);
    write_counts(&e, "evictedPods", whatif->evictions);
    emit_close(&e, '}');
    (void)fputc('\n', out);
}
