/* SPDX-License-Identifier: Apache-2.0 */

/* Two simulations as tables that fit a terminal of 80 columns, as JSON, and as a page. */
#include "sim/report/compare.h"

#include <math.h>

#include "base/strbuf.h"
#include "model/state.h"
#include "sim/report/change.h"
#include "sim/report/metrics.h"
#include "sim/report/report.h"
#include "sim/report/requirement.h"
#include "sim/run/run.h"
#include "sim/scenario/scenario_emit.h"
#include "text/table.h"

enum { VERDICT_TEXT_MAX = 1024, QUEUES_NAMED = 4 };

struct pair {
    double a;
    double b;
};

static struct pair values_of(const struct comparison *c, enum metric metric, const struct metric_filter *filter)
{
    return (struct pair){metric_value(c->runs[0], metric, filter), metric_value(c->runs[1], metric, filter)};
}

/* "; worse for product, platform": what a better figure for all of them hides. */
static uint32_t add_worse_queues(struct strbuf *text, const struct comparison *c, enum metric metric)
{
    const struct sim_run *first = c->runs[0];
    uint32_t worse = 0;

    for (uint32_t i = 0; i < first->queues.len; i++) {
        if (!first->queues.items[i].is_leaf || change_of_queue(metric, first, c->runs[1], i) != CHANGE_WORSE)
            continue;
        if (worse < QUEUES_NAMED)
            strbuf_addf(text, "%s%s", worse ? ", " : "; worse for ",
                        state_name(first->state, first->queues.items[i].name));
        worse++;
    }
    if (worse > QUEUES_NAMED)
        strbuf_addf(text, " and %u more", worse - QUEUES_NAMED);
    return worse;
}

static void add_verdict(struct table *t, const struct comparison *c, enum metric metric, struct pair values)
{
    enum text_style style = STYLE_PLAIN;
    struct strbuf text;

    strbuf_init(&text, VERDICT_TEXT_MAX);
    switch (change_of(metric_info(metric), values.a, values.b)) {
    case CHANGE_BETTER:
        strbuf_addstr(&text, "better");
        style = add_worse_queues(&text, c, metric) > 0 ? STYLE_WARN : STYLE_GOOD;
        break;
    case CHANGE_WORSE:
        strbuf_addstr(&text, "worse");
        style = STYLE_BAD;
        break;
    case CHANGE_NONE:
        break;
    }
    table_cell(t, style, "%s", text.text);
    strbuf_done(&text);
}

static void print_metrics(const struct comparison *c, const struct table_view *view, FILE *out)
{
    static const struct table_column columns[] = {
        {"METRIC", TABLE_LEFT, TABLE_WHOLE},  {"A", TABLE_RIGHT, TABLE_WHOLE}, {"B", TABLE_RIGHT, TABLE_WHOLE},
        {"CHANGE", TABLE_RIGHT, TABLE_WHOLE}, {"", TABLE_LEFT, TABLE_WRAP},
    };
    struct table t;
    char text[METRIC_TEXT_MAX];

    table_init(&t, columns, ARRAY_LEN(columns));
    for (int i = 0; i < _METRIC_MAX; i++) {
        const struct metric_info *info = metric_info((enum metric)i);
        struct pair values = values_of(c, (enum metric)i, &(struct metric_filter){0});

        if (info->is_at_end || (isnan(values.a) && isnan(values.b)))
            continue;
        table_cell(&t, STYLE_PLAIN, "%s", info->name);
        table_cell(&t, STYLE_PLAIN, "%s", metric_format(info->unit, values.a, text));
        table_cell(&t, STYLE_PLAIN, "%s", metric_format(info->unit, values.b, text));
        table_cell(&t, STYLE_PLAIN, "%s", change_format(info, values.a, values.b, text));
        add_verdict(&t, c, (enum metric)i, values);
    }
    table_print(&t, view, out);
    table_done(&t);
}

static const struct {
    struct table_column column;
    enum metric metric;
} queue_columns[] = {
    {{"MEAN WAIT", TABLE_RIGHT, TABLE_WHOLE}, METRIC_MEAN_WAIT},
    {{"P95 WAIT", TABLE_RIGHT, TABLE_WHOLE}, METRIC_P95_WAIT},
    {{"ALLOCATED", TABLE_RIGHT, TABLE_WHOLE}, METRIC_ALLOCATED},
    {{"LOST GPU HOURS", TABLE_RIGHT, TABLE_WHOLE}, METRIC_LOST_GPU_HOURS},
};

static void add_queue(struct table *t, const struct comparison *c, uint32_t queue)
{
    static const enum text_style styles[] = {
        [CHANGE_NONE] = STYLE_PLAIN, [CHANGE_BETTER] = STYLE_GOOD, [CHANGE_WORSE] = STYLE_BAD};
    const struct sim_run *first = c->runs[0];
    struct metric_filter filter = {.queue = state_name(first->state, first->queues.items[queue].name)};

    table_cell(t, STYLE_PLAIN, "%s", filter.queue);
    for (size_t i = 0; i < ARRAY_LEN(queue_columns); i++) {
        enum metric metric = queue_columns[i].metric;
        enum metric_unit unit = metric_info(metric)->unit;
        struct pair values = values_of(c, metric, &filter);
        char a[METRIC_TEXT_MAX];
        char b[METRIC_TEXT_MAX];

        table_cell(t, styles[change_of_queue(metric, first, c->runs[1], queue)], "%s → %s",
                   metric_format(unit, values.a, a), metric_format(unit, values.b, b));
    }
}

static void print_queues(const struct comparison *c, const struct table_view *view, FILE *out)
{
    struct table_column columns[ARRAY_LEN(queue_columns) + 1] = {{"QUEUE", TABLE_LEFT, TABLE_CUT}};
    const struct sim_run *first = c->runs[0];
    struct table t;

    for (size_t i = 0; i < ARRAY_LEN(queue_columns); i++)
        columns[i + 1] = queue_columns[i].column;
    table_init(&t, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < first->queues.len; i++)
        if (first->queues.items[i].is_leaf)
            add_queue(&t, c, i);
    (void)fputs("\nQueues, A → B\n", out);
    table_print(&t, view, out);
    table_done(&t);
}

void comparison_print(const struct comparison *c, const struct table_view *view, FILE *out)
{
    requirements_print(c->requirements, view, out);
    (void)fprintf(out, "A: %s\nB: %s\n\n", c->titles[0], c->titles[1]);
    print_metrics(c, view, out);
    print_queues(c, view, out);
}

static void write_pair(struct emit *e, const char *key, struct pair values)
{
    emit_open(e, key, '[');
    emit_double(e, NULL, values.a);
    emit_double(e, NULL, values.b);
    emit_close(e, ']');
}

static void write_metrics(struct emit *e, const struct comparison *c, const char *queue)
{
    struct metric_filter filter = {.queue = queue};

    emit_open(e, "metrics", '{');
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
    requirements_write(&e, c->requirements);
    emit_open(&e, "settings", '[');
    emit_str(&e, NULL, c->titles[0]);
    emit_str(&e, NULL, c->titles[1]);
    emit_close(&e, ']');
    write_metrics(&e, c, NULL);
    emit_open(&e, "queues", '[');
    for (uint32_t i = 0; i < first->queues.len; i++) {
        const char *name = state_name(first->state, first->queues.items[i].name);

        emit_open(&e, NULL, '{');
        emit_str(&e, "name", name);
        write_metrics(&e, c, name);
        emit_close(&e, '}');
    }
    emit_close(&e, ']');
    emit_close(&e, '}');
    (void)fputc('\n', out);
}

void comparison_report(const struct comparison *c, const char *title, FILE *out)
{
    const struct report_run runs[] = {{c->titles[0], c->runs[0]}, {c->titles[1], c->runs[1]}};
    struct report report = {title, runs, ARRAY_LEN(runs), c->requirements};

    report_write(out, &report);
}
