/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/report/compare.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "model/state.h"
#include "sim/report/metrics.h"
#include "sim/report/report.h"
#include "sim/run/run.h"
#include "sim/scenario/scenario_emit.h"
#include "text/table.h"

struct pair {
    double a;
    double b;
};

static struct pair values_of(const struct comparison *c, enum metric metric, const struct metric_filter *filter)
{
    return (struct pair){metric_value(c->runs[0], metric, filter), metric_value(c->runs[1], metric, filter)};
}

int comparison_judge(struct comparison *c, struct err *err)
{
    for (size_t i = 0; i < c->bound_count; i++) {
        const struct bound *bound = &c->bounds[i];
        struct pair values;

        if (bound->filter.queue && !metric_has_queue(c->runs[0], bound->filter.queue) &&
            !metric_has_queue(c->runs[1], bound->filter.queue))
            return err_set(err, -EINVAL, "--require '%s': no queue is called '%s'", bound->text, bound->filter.queue);
        values = values_of(c, bound->metric, &bound->filter);
        c->holds[i] = bound_holds(bound, values.a, values.b);
    }
    return 0;
}

/* "+12 %", green where the second one is better; changes too small to be shown are none. */
static void add_change(struct table *t, const struct metric_info *info, struct pair values)
{
    double change = values.a != 0 ? (values.b - values.a) / fabs(values.a) * 100 : 0;
    enum table_style style = TABLE_PLAIN;

    if (info->better != 0 && fabs(change) >= 0.05)
        style = (change > 0) == (info->better > 0) ? TABLE_GOOD : TABLE_BAD;
    if (!isfinite(values.a) || !isfinite(values.b) || (values.a == 0 && values.b != 0))
        table_cell(t, TABLE_DIM, "-");
    else if (fabs(change) < 0.05)
        table_cell(t, TABLE_DIM, "=");
    else
        table_cell(t, style, "%+.1f %%", change);
}

static void add_value(struct table *t, const struct metric_info *info, double value)
{
    char text[METRIC_TEXT_MAX];

    table_cell(t, TABLE_PLAIN, "%s", metric_format(info->unit, value, text));
}

static void print_metrics(const struct comparison *c, const struct table_view *view, FILE *out)
{
    const struct table_column columns[] = {
        {"METRIC", TABLE_LEFT, TABLE_WHOLE},      {c->titles[0], TABLE_RIGHT, TABLE_WHOLE},
        {c->titles[1], TABLE_RIGHT, TABLE_WHOLE}, {"CHANGE", TABLE_RIGHT, TABLE_WHOLE},
        {"MEANING", TABLE_LEFT, TABLE_WRAP},
    };
    struct table t;

    table_init(&t, columns, ARRAY_LEN(columns));
    for (int i = 0; i < _METRIC_MAX; i++) {
        const struct metric_info *info = metric_info((enum metric)i);
        struct pair values = values_of(c, (enum metric)i, &(struct metric_filter){0});

        if (isnan(values.a) && isnan(values.b))
            continue;
        table_cell(&t, TABLE_PLAIN, "%s", info->name);
        add_value(&t, info, values.a);
        add_value(&t, info, values.b);
        add_change(&t, info, values);
        table_cell(&t, TABLE_DIM, "%s", info->help);
    }
    table_print(&t, view, out);
    table_done(&t);
}

static const enum metric queue_metrics[] = {METRIC_MEAN_WAIT, METRIC_P95_WAIT, METRIC_SHARE, METRIC_LOST_GPU_HOURS};

static void add_queue(struct table *t, const struct comparison *c, const char *name)
{
    struct metric_filter filter = {.queue = name};

    table_cell(t, TABLE_PLAIN, "%s", name);
    for (size_t i = 0; i < ARRAY_LEN(queue_metrics); i++) {
        const struct metric_info *info = metric_info(queue_metrics[i]);
        struct pair values = values_of(c, queue_metrics[i], &filter);
        char a[METRIC_TEXT_MAX];
        char b[METRIC_TEXT_MAX];
        enum table_style style = TABLE_PLAIN;

        if (info->better != 0 && values.a != values.b && isfinite(values.a) && isfinite(values.b))
            style = (values.b > values.a) == (info->better > 0) ? TABLE_GOOD : TABLE_BAD;
        table_cell(t, style, "%s > %s", metric_format(info->unit, values.a, a), metric_format(info->unit, values.b, b));
    }
}

static void print_queues(const struct comparison *c, const struct table_view *view, FILE *out)
{
    static const struct table_column columns[] = {
        {"QUEUE", TABLE_LEFT, TABLE_CUT},         {"MEAN WAIT", TABLE_RIGHT, TABLE_WHOLE},
        {"P95 WAIT", TABLE_RIGHT, TABLE_WHOLE},   {"SHARE", TABLE_RIGHT, TABLE_WHOLE},
        {"LOST GPU-H", TABLE_RIGHT, TABLE_WHOLE},
    };
    const struct sim_run *first = c->runs[0];
    struct table t;

    table_init(&t, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < first->queues.len; i++)
        if (first->queues.items[i].is_leaf)
            add_queue(&t, c, state_name(first->state, first->queues.items[i].name));
    (void)fputc('\n', out);
    table_print(&t, view, out);
    table_done(&t);
}

static void print_bounds(const struct comparison *c, FILE *out)
{
    if (c->bound_count > 0)
        (void)fputc('\n', out);
    for (size_t i = 0; i < c->bound_count; i++) {
        const struct bound *bound = &c->bounds[i];
        const struct metric_info *info = metric_info(bound->metric);
        struct pair values = values_of(c, bound->metric, &bound->filter);
        char a[METRIC_TEXT_MAX];
        char b[METRIC_TEXT_MAX];

        (void)fprintf(out, "%s %s: %s with %s, %s with %s\n", c->holds[i] ? "holds " : "BROKEN", bound->text,
                      metric_format(info->unit, values.a, a), c->titles[0], metric_format(info->unit, values.b, b),
                      c->titles[1]);
    }
}

void comparison_print(const struct comparison *c, const struct table_view *view, FILE *out)
{
    print_metrics(c, view, out);
    print_queues(c, view, out);
    print_bounds(c, out);
}

static void write_pair(struct emit *e, const char *key, struct pair values)
{
    emit_open(e, key, '[');
    emit_double(e, NULL, values.a);
    emit_double(e, NULL, values.b);
    emit_close(e, ']');
}

static void write_metrics(struct emit *e, const char *key, const struct comparison *c, const char *queue)
{
    struct metric_filter filter = {.queue = queue};

    emit_open(e, key, '{');
    for (int i = 0; i < _METRIC_MAX; i++)
        if (!queue || !metric_info((enum metric)i)->is_of_cluster)
            write_pair(e, metric_info((enum metric)i)->name, values_of(c, (enum metric)i, &filter));
    emit_close(e, '}');
}

void comparison_write(const struct comparison *c, FILE *out)
{
    const struct sim_run *first = c->runs[0];
    struct emit e = {.out = out};

    emit_open(&e, NULL, '{');
    emit_open(&e, "settings", '[');
    emit_str(&e, NULL, c->titles[0]);
    emit_str(&e, NULL, c->titles[1]);
    emit_close(&e, ']');
    write_metrics(&e, "metrics", c, NULL);
    emit_open(&e, "queues", '{');
    for (uint32_t i = 0; i < first->queues.len; i++) {
        const char *name = state_name(first->state, first->queues.items[i].name);

        write_metrics(&e, name, c, name);
    }
    emit_close(&e, '}');
    emit_open(&e, "bounds", '[');
    for (size_t i = 0; i < c->bound_count; i++) {
        emit_open(&e, NULL, '{');
        emit_str(&e, "bound", c->bounds[i].text);
        emit_int(&e, "holds", c->holds[i]);
        write_pair(&e, "values", values_of(c, c->bounds[i].metric, &c->bounds[i].filter));
        emit_close(&e, '}');
    }
    emit_close(&e, ']');
    emit_close(&e, '}');
    (void)fputc('\n', out);
}

void comparison_report(const struct comparison *c, FILE *out)
{
    struct report_run runs[] = {{c->titles[0], c->runs[0]}, {c->titles[1], c->runs[1]}};
    struct report_bounds bounds = {c->bounds, c->holds, c->bound_count};

    report_write(out, "Muster comparison", runs, ARRAY_LEN(runs), &bounds);
}
