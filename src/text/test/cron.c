/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/err.h"
#include "text/clock/cron.h"

static nsec_t at(const char *text)
{
    nsec_t time = 0;

    assert_int_equal(time_parse(text, &time, NULL), 0);
    return time;
}

static void the_latest_time_before_is_found(void **state)
{
    static const struct {
        const char *cron;
        const char *now;
        const char *before;
    } rows[] = {
        {"* * * * *", "2026-11-15T18:20:30Z", "2026-11-15T18:20:00Z"},
        {"* * * * *", "2026-11-15T18:20:00Z", "2026-11-15T18:19:00Z"},
        {"0 0 * * *", "2026-11-15T18:20:30Z", "2026-11-15T00:00:00Z"},
        {"30 18 * * *", "2026-11-15T18:20:30Z", "2026-11-14T18:30:00Z"},
        {"*/15 6-18/4 * * *", "2026-11-15T18:20:30Z", "2026-11-15T18:15:00Z"},
        {"0 9 * * MON-FRI", "2026-11-15T18:20:30Z", "2026-11-13T09:00:00Z"},
        {"0 0 * * 7", "2026-11-18T00:00:00Z", "2026-11-15T00:00:00Z"},
        {"0 0 * * Sun", "2026-11-18T00:00:00Z", "2026-11-15T00:00:00Z"},
        {"0 0 1 * *", "2026-11-01T00:00:00Z", "2026-10-01T00:00:00Z"},
        {"0 0 1,10 * 1", "2026-11-11T00:00:00Z", "2026-11-10T00:00:00Z"},
        {"0 0 1,10 * 1", "2026-11-10T00:00:00Z", "2026-11-09T00:00:00Z"},
        {"5/20 0 1 jan *", "2026-11-10T00:00:00Z", "2026-01-01T00:45:00Z"},
        {"0 0 29 2 *", "2026-11-10T00:00:00Z", "2024-02-29T00:00:00Z"},
        {"@weekly", "2026-11-18T00:00:00Z", "2026-11-15T00:00:00Z"},
        {"@yearly", "2026-11-18T00:00:00Z", "2026-01-01T00:00:00Z"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = {0};
        struct cron cron;

        if (cron_parse(rows[i].cron, &cron, &err) < 0)
            fail_msg("%s: %s", rows[i].cron, err.text);
        if (cron_before(&cron, at(rows[i].now)) != at(rows[i].before))
            fail_msg("%s before %s", rows[i].cron, rows[i].now);
    }
}

static void the_first_time_after_is_found(void **state)
{
    static const struct {
        const char *cron;
        const char *now;
        const char *after;
    } rows[] = {
        {"* * * * *", "2026-11-15T18:20:30Z", "2026-11-15T18:21:00Z"},
        {"* * * * *", "2026-11-15T18:20:00Z", "2026-11-15T18:21:00Z"},
        {"0 0 * * *", "2026-11-15T18:20:30Z", "2026-11-16T00:00:00Z"},
        {"0 9 * * MON-FRI", "2026-11-13T09:00:00Z", "2026-11-16T09:00:00Z"},
        {"0 0 29 2 *", "2026-11-10T00:00:00Z", "2028-02-29T00:00:00Z"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cron cron;

        assert_int_equal(cron_parse(rows[i].cron, &cron, NULL), 0);
        if (cron_after(&cron, at(rows[i].now)) != at(rows[i].after))
            fail_msg("%s after %s", rows[i].cron, rows[i].now);
    }
}

static void days_that_never_come_are_not_waited_for(void **state)
{
    struct cron cron;

    (void)state;
    assert_int_equal(cron_parse("0 0 30 2 *", &cron, NULL), 0);
    assert_int_equal(cron_before(&cron, at("2026-11-15T00:00:00Z")), 0);
    assert_int_equal(cron_parse("* * * * *", &cron, NULL), 0);
    assert_int_equal(cron_before(&cron, 0), 0);
    assert_int_equal(cron_before(&cron, 1), 0);
}

static void what_is_no_cron_is_refused(void **state)
{
    static const char *const rows[] = {
        "",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 8",
        "5-1 * * * *",
        "*/0 * * * *",
        "a * * * *",
        "1, * * * *",
        "-1 * * * *",
        "1-- * * * *",
        "@never",
        "99999999999999999999 * * * *",
    };
    struct err err = {0};
    struct cron cron;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (cron_parse(rows[i], &cron, &err) != -EINVAL)
            fail_msg("'%s' was taken", rows[i]);
    }
    assert_int_equal(cron_parse("* 24 * * *", &cron, &err), -EINVAL);
    assert_string_equal(err.text, "hour '24': expected numbers from 0 to 23, ranges such as 1-5 or steps such as */2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_latest_time_before_is_found),
        cmocka_unit_test(the_first_time_after_is_found),
        cmocka_unit_test(days_that_never_come_are_not_waited_for),
        cmocka_unit_test(what_is_no_cron_is_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
