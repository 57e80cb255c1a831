/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/report/metrics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void percentiles_are_values_that_occurred(void **state)
{
    static const double one[] = {7};
    static const double ten[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

    (void)state;
    assert_true(isnan(metric_percentile(NULL, 0, 0.5)));
    assert_true(metric_percentile(one, 1, 0) == 7);
    assert_true(metric_percentile(one, 1, 0.95) == 7);
    assert_true(metric_percentile(ten, 10, 0.5) == 5);
    assert_true(metric_percentile(ten, 10, 0.95) == 10);
    assert_true(metric_percentile(ten, 10, 0.9) == 9);
    assert_true(metric_percentile(ten, 10, 1) == 10);
    assert_true(metric_percentile(ten, 10, 0) == 1);
}

static void numbers_are_shown_as_people_read_them(void **state)
{
    static const struct {
        enum metric_unit unit;
        double value;
        const char *text;
    } cases[] = {
        {UNIT_SECONDS, 0, "0s"},        {UNIT_SECONDS, 0.5, "0.5s"}, {UNIT_SECONDS, 59.6, "1m"},
        {UNIT_SECONDS, 61, "1m 1s"},    {UNIT_SECONDS, 3600, "1h"},  {UNIT_SECONDS, 5400, "1h 30m"},
        {UNIT_SECONDS, 90061, "1d 1h"}, {UNIT_PART, 0.123, "12.3%"}, {UNIT_COUNT, 1234567, "1,234,567"},
        {UNIT_COUNT, 100, "100"},       {UNIT_HOURS, 12.34, "12.3"}, {UNIT_HOURS, 1234.5, "1,234"},
        {UNIT_GPUS, 0.25, "0.25"},      {UNIT_COUNT, NAN, "-"},      {UNIT_SECONDS, INFINITY, "-"},
        {UNIT_COUNT, -1234, "-1,234"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[METRIC_TEXT_MAX];

        assert_string_equal(metric_format(cases[i].unit, cases[i].value, text), cases[i].text);
    }
}

static void sizes_have_names_and_ranges(void **state)
{
    double min;
    double max;

    (void)state;
    assert_true(size_parse("fraction", &min, &max));
    assert_true(min > 0 && max < 1);
    assert_true(size_parse("8-31", &min, &max));
    assert_true(min == 8 && max > 31 && max < 32);
    assert_true(size_parse("8-64", &min, &max));
    assert_true(min == 8 && max == 64);
    assert_true(size_parse("64+", &min, &max));
    assert_true(min == 64 && isinf(max));
    assert_true(size_parse("4", &min, &max));
    assert_true(min == 4 && max == 4);
    assert_false(size_parse("", &min, &max));
    assert_false(size_parse("big", &min, &max));
    assert_false(size_parse("8-", &min, &max));
    assert_false(size_parse("64-8", &min, &max));
    assert_false(size_parse("-3", &min, &max));

    assert_int_equal(size_class_of(0), 0);
    assert_int_equal(size_class_of(0.25), 1);
    assert_int_equal(size_class_of(1), 2);
    assert_int_equal(size_class_of(7.5), 3);
    assert_int_equal(size_class_of(8), 4);
    assert_int_equal(size_class_of(1024), 6);
}

static void every_metric_is_found_by_its_name(void **state)
{
    (void)state;
    for (int i = 0; i < _METRIC_MAX; i++) {
        const char *name = metric_info((enum metric)i)->name;
        enum metric found;

        assert_true(metric_find(name, strlen(name), &found));
        assert_int_equal(found, i);
    }
}

static void case_and_underscores_of_a_name_do_not_matter(void **state)
{
    enum metric found;

    (void)state;
    assert_true(metric_find("p95_wait", 8, &found));
    assert_int_equal(found, METRIC_P95_WAIT);
    assert_true(metric_find("LostGPUHours", 12, &found));
    assert_int_equal(found, METRIC_LOST_GPU_HOURS);
    assert_false(metric_find("p95_wai", 7, &found));
    assert_false(metric_find("p95_waits", 9, &found));
    assert_false(metric_find("", 0, &found));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles_are_values_that_occurred),
        cmocka_unit_test(numbers_are_shown_as_people_read_them),
        cmocka_unit_test(sizes_have_names_and_ranges),
        cmocka_unit_test(every_metric_is_found_by_its_name),
        cmocka_unit_test(case_and_underscores_of_a_name_do_not_matter),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
