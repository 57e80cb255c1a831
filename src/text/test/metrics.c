/* SPDX-License-Identifier: Apache-2.0 */
#include "text/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "base/strbuf.h"

static void expect_text(struct metrics *metrics, const char *expected)
{
    struct strbuf text;

    strbuf_init(&text, 1 << 20);
    metrics_render(metrics, &text);
    assert_string_equal(text.text, expected);
    strbuf_done(&text);
}

#define DROPPED                                                                                                \
    "# HELP kai_metric_series_dropped_total Samples that were dropped because a metric had too many series.\n" \
    "# TYPE kai_metric_series_dropped_total counter\n"                                                         \
    "kai_metric_series_dropped_total 0\n"

static void counters_and_gauges_are_written_by_name_with_escaped_labels(void **state)
{
    (void)state;
    _cleanup_(metrics_freep) struct metrics *metrics = metrics_new("kai");
    struct meter *binds = metrics_counter(metrics, "binds_total", "Binds.", METER_LABELS("queue", "node"));
    struct meter *age = metrics_gauge(metrics, "age", "How\nold.", NULL);

    meter_add(meter_series(binds, METER_LABELS("a\"b", "c\\d\n")), 2);
    meter_add(meter_series(binds, METER_LABELS("a\"b", "c\\d\n")), 1);
    meter_set(meter_series(age, NULL), 0.1);
    meter_set(meter_series(metrics_foreign(metrics, "process_x", "X.", false), NULL), 1e18);
    assert_ptr_equal(metrics_counter(metrics, "binds_total", "Binds.", NULL), binds);
    expect_text(metrics, "# HELP kai_age How\\nold.\n# TYPE kai_age gauge\nkai_age 0.1\n"
                         "# HELP kai_binds_total Binds.\n# TYPE kai_binds_total counter\n"
                         "kai_binds_total{queue=\"a\\\"b\",node=\"c\\\\d\\n\"} 3\n" DROPPED
                         "# HELP process_x X.\n# TYPE process_x gauge\nprocess_x 1e+18\n");
}

static void registries_rendered_together_have_each_name_once(void **state)
{
    (void)state;
    _cleanup_(metrics_freep) struct metrics *one = metrics_new("kai");
    _cleanup_(metrics_freep) struct metrics *other = metrics_new("kai");
    struct metrics *const both[] = {one, other};
    struct strbuf text;

    metrics_set_label(other, "app", "x\"y");
    meter_set(meter_series(metrics_gauge(one, "depth", "Depth.", METER_LABELS("queue")), METER_LABELS("a")), 1);
    meter_set(meter_series(metrics_gauge(other, "depth", "Depth.", METER_LABELS("queue")), METER_LABELS("a")), 2);
    (void)metrics_gauge(one, "empty", "Empty.", NULL);
    strbuf_init(&text, 1 << 20);
    metrics_render_all(both, ARRAY_LEN(both), &text);
    assert_string_equal(text.text, "# HELP kai_depth Depth.\n# TYPE kai_depth gauge\n"
                                   "kai_depth{queue=\"a\"} 1\nkai_depth{app=\"x\\\"y\",queue=\"a\"} 2\n" DROPPED
                                   "kai_metric_series_dropped_total{app=\"x\\\"y\"} 0\n");
    strbuf_done(&text);
}

static void histograms_count_what_is_at_or_below_each_bound(void **state)
{
    (void)state;
    static const double bounds[] = {0.5, 1};
    _cleanup_(metrics_freep) struct metrics *metrics = metrics_new("kai");
    struct meter *meter = metrics_histogram(metrics, "h", "H.", METER_LABELS("a"), bounds, ARRAY_LEN(bounds));
    struct meter_series *series = meter_series(meter, METER_LABELS("x"));

    meter_observe(series, 0.5);
    meter_observe(series, 0.75);
    meter_observe(series, 7);
    expect_text(metrics,
                "# HELP kai_h H.\n# TYPE kai_h histogram\n"
                "kai_h_bucket{a=\"x\",le=\"0.5\"} 1\nkai_h_bucket{a=\"x\",le=\"1\"} 2\n"
                "kai_h_bucket{a=\"x\",le=\"+Inf\"} 3\nkai_h_sum{a=\"x\"} 8.25\nkai_h_count{a=\"x\"} 3\n" DROPPED);
}

static void a_removed_series_is_not_written_any_more(void **state)
{
    (void)state;
    _cleanup_(metrics_freep) struct metrics *metrics = metrics_new("kai");
    struct meter *meter = metrics_gauge(metrics, "g", "G.", METER_LABELS("a"));

    meter_set(meter_series(meter, METER_LABELS("x")), 1);
    meter_set(meter_series(meter, METER_LABELS("y")), 2);
    assert_true(meter_remove(meter, METER_LABELS("x")));
    assert_false(meter_remove(meter, METER_LABELS("x")));
    expect_text(metrics, "# HELP kai_g G.\n# TYPE kai_g gauge\nkai_g{a=\"y\"} 2\n" DROPPED);
    assert_true(meter_value(meter_series(meter, METER_LABELS("x"))) == 0);
    meter_clear(meter);
    expect_text(metrics, DROPPED);
}

static void collect(void *arg, struct metrics *metrics)
{
    int *calls = arg;

    meter_set(meter_series(metrics_gauge(metrics, "calls", "C.", NULL), NULL), ++*calls);
}

static void what_is_collected_is_asked_for_at_each_rendering(void **state)
{
    (void)state;
    _cleanup_(metrics_freep) struct metrics *metrics = metrics_new("kai");
    int calls = 0;

    metrics_on_collect(metrics, collect, &calls);
    expect_text(metrics, "# HELP kai_calls C.\n# TYPE kai_calls gauge\nkai_calls 1\n" DROPPED);
    expect_text(metrics, "# HELP kai_calls C.\n# TYPE kai_calls gauge\nkai_calls 2\n" DROPPED);
}

static void there_are_no_more_series_than_the_limit(void **state)
{
    (void)state;
    _cleanup_(metrics_freep) struct metrics *metrics = metrics_new("kai");
    struct meter *meter = metrics_counter(metrics, "c_total", "C.", METER_LABELS("a"));
    struct strbuf text;
    char name[16];

    for (int i = 0; i < METER_SERIES_MAX + 5; i++) {
        (void)snprintf(name, sizeof name, "s%d", i);
        meter_add(meter_series(meter, METER_LABELS(name)), 1);
    }
    strbuf_init(&text, 8 << 20);
    metrics_render(metrics, &text);
    assert_non_null(strstr(text.text, "kai_metric_series_dropped_total 5\n"));
    assert_null(strstr(text.text, "s10000"));
    strbuf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_and_gauges_are_written_by_name_with_escaped_labels),
        cmocka_unit_test(registries_rendered_together_have_each_name_once),
        cmocka_unit_test(histograms_count_what_is_at_or_below_each_bound),
        cmocka_unit_test(a_removed_series_is_not_written_any_more),
        cmocka_unit_test(what_is_collected_is_asked_for_at_each_rendering),
        cmocka_unit_test(there_are_no_more_series_than_the_limit),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
