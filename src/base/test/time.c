/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/err.h"

static void times_are_read_and_written(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        nsec_t time;
        const char *written;
    } cases[] = {
        {"1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00Z"},
        {"2026-03-01T13:00:00.25+01:00", 1772366400250000000, "2026-03-01T12:00:00.25Z"},
        {"2026-03-01T00:30:00-00:45", 1772327700000000000, "2026-03-01T01:15:00Z"},
        {"2000-02-29T23:59:59.999999999Z", 951868799999999999, "2000-02-29T23:59:59.999999999Z"},
        {"2000-02-29T23:59:59.9999999999Z", 951868799999999999, "2000-02-29T23:59:59.999999999Z"},
        {"1969-12-31T23:59:59.5Z", -500000000, "1969-12-31T23:59:59.5Z"},
        {"1900-03-01T00:00:00Z", -2203891200000000000, "1900-03-01T00:00:00Z"},
        {"1677-09-21T00:12:43.145224192Z", INT64_MIN, "1677-09-21T00:12:43.145224192Z"},
        {"2262-04-11T23:47:16.854775807Z", INT64_MAX, "2262-04-11T23:47:16.854775807Z"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[TIME_TEXT_MAX];
        nsec_t time = 1;

        assert_int_equal(time_parse(cases[i].text, &time, NULL), 0);
        assert_int_equal(time, cases[i].time);
        assert_string_equal(time_format(time, text), cases[i].written);
    }
}

static void what_is_no_time_is_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        "now",
        "2026-03-01",
        "2026-03-01T12:00:00",
        "2026-03-01 12:00:00Z",
        "2026-3-01T12:00:00Z",
        "2026-13-01T12:00:00Z",
        "2026-02-29T12:00:00Z",
        "1900-02-29T12:00:00Z",
        "2026-03-00T12:00:00Z",
        "2026-03-01T24:00:00Z",
        "2026-03-01T12:60:00Z",
        "2026-03-01T12:00:60Z",
        "2026-03-01T12:00:00.Z",
        "2026-03-01T12:00:00+1:00",
        "2026-03-01T12:00:00+24:00",
        "2026-03-01T12:00:00Zx",
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = {0};
        nsec_t time = 42;

        assert_int_equal(time_parse(cases[i], &time, &err), -EINVAL);
        assert_int_equal(time, 42);
        assert_int_not_equal(err.text[0], '\0');
    }
    nsec_t time = 42;
    assert_int_equal(time_parse("0001-01-01T00:00:00Z", &time, NULL), -ERANGE);
    assert_int_equal(time_parse("9999-12-31T23:59:59Z", &time, NULL), -ERANGE);
    assert_int_equal(time_parse("2262-04-11T23:47:16.854775808Z", &time, NULL), -ERANGE);
    assert_int_equal(time, 42);
}

static void durations_are_read_and_written_as_go_does(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        nsec_t duration;
        const char *written;
    } cases[] = {
        {"0", 0, "0s"},
        {"-0", 0, "0s"},
        {"0s", 0, "0s"},
        {"90s", 90 * NSEC_PER_SEC, "1m30s"},
        {"1h30m", 90 * NSEC_PER_MIN, "1h30m0s"},
        {"+1.5h", 90 * NSEC_PER_MIN, "1h30m0s"},
        {"1h", NSEC_PER_HOUR, "1h0m0s"},
        {"500ms", 500 * NSEC_PER_MSEC, "500ms"},
        {"-1.5s", -1500 * NSEC_PER_MSEC, "-1.5s"},
        {".5us", 500, "500ns"},
        {"2.5\xc2\xb5s", 2500, "2.5\xc2\xb5s"},
        {"1\xce\xbcs", 1000, "1\xc2\xb5s"},
        {"1.000000001s", 1000000001, "1.000000001s"},
        {"0.9999999999s", 999999999, "999.999999ms"},
        {"0.33333333333333333333h", 1200000000000 - 1, "19m59.999999999s"},
        {"100h0m0.1s", 100 * NSEC_PER_HOUR + 100 * NSEC_PER_MSEC, "100h0m0.1s"},
        {"9223372036854775807ns", INT64_MAX, "2562047h47m16.854775807s"},
        {"-9223372036854775808ns", INT64_MIN, "-2562047h47m16.854775808s"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[DURATION_TEXT_MAX];
        nsec_t duration = 1;

        assert_int_equal(duration_parse(cases[i].text, &duration, NULL), 0);
        assert_int_equal(duration, cases[i].duration);
        assert_string_equal(duration_format(duration, text), cases[i].written);
    }
}

static void what_is_no_duration_is_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {"",    "-",   "1",   "-1",     "s",    ".s", "1x",
                                        "1 s", "1s ", "1h1", "1.2.3s", "--1s", "1S"};
    static const char *const too_long[] = {"9223372036854775808ns", "-9223372036854775809ns", "3000000h",
                                           "99999999999999999999999999999999999999999999999999h", "2562047h48m"};
    nsec_t duration = 42;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = {0};

        assert_int_equal(duration_parse(cases[i], &duration, &err), -EINVAL);
        assert_int_not_equal(err.text[0], '\0');
    }
    for (size_t i = 0; i < ARRAY_LEN(too_long); i++)
        assert_int_equal(duration_parse(too_long[i], &duration, NULL), -ERANGE);
    assert_int_equal(duration, 42);
}

static void clocks_do_not_go_back(void **state)
{
    (void)state;
    nsec_t before = nsec_now_monotonic();
    nsec_t cpu = nsec_now_cpu();

    assert_true(nsec_now_monotonic() >= before);
    assert_true(nsec_now_cpu() >= cpu);
    assert_true(nsec_now_wall() > INT64_C(1600000000) * NSEC_PER_SEC);
}

static void durations_may_have_days_and_weeks(void **state)
{
    struct err err = {0};
    nsec_t value = 0;

    (void)state;
    assert_int_equal(long_duration_parse("7d", &value, NULL), 0);
    assert_int_equal(value, 7 * 24 * NSEC_PER_HOUR);
    assert_int_equal(long_duration_parse("1.5w", &value, NULL), 0);
    assert_int_equal(value, 252 * NSEC_PER_HOUR);
    assert_int_equal(long_duration_parse("1h30m", &value, NULL), 0);
    assert_int_equal(value, 90 * NSEC_PER_MIN);
    assert_int_equal(long_duration_parse("30", &value, &err), -22);
    assert_string_equal(err.text, "expected a duration such as 90s, 30m, 12h or 7d, found '30'");
    assert_int_equal(long_duration_parse("-7d", &value, NULL), -22);
    assert_int_equal(long_duration_parse("-5m", &value, NULL), -22);
    assert_int_equal(long_duration_parse("1e300d", &value, NULL), -22);
    assert_int_equal(long_duration_parse("nand", &value, NULL), -22);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_read_and_written),
        cmocka_unit_test(what_is_no_time_is_refused),
        cmocka_unit_test(durations_are_read_and_written_as_go_does),
        cmocka_unit_test(what_is_no_duration_is_refused),
        cmocka_unit_test(durations_may_have_days_and_weeks),
        cmocka_unit_test(clocks_do_not_go_back),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
