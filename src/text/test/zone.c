/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text/clock/zone.h"

static nsec_t at(const char *text)
{
    nsec_t time = 0;

    assert_int_equal(time_parse(text, &time, NULL), 0);
    return time;
}

static void times_are_written_with_the_offset_of_their_zone(void **state)
{
    /* Years beyond 2037 are by the rule behind the last change. */
    static const char *const rows[][3] = {
        {"Europe/Berlin", "2026-01-15T12:00:00Z", "2026-01-15T13:00:00+01:00"},
        {"Europe/Berlin", "2026-07-15T12:00:00Z", "2026-07-15T14:00:00+02:00"},
        {"Europe/Berlin", "2026-03-29T00:59:59Z", "2026-03-29T01:59:59+01:00"},
        {"Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-29T03:00:00+02:00"},
        {"Europe/Berlin", "2050-07-15T12:00:00Z", "2050-07-15T14:00:00+02:00"},
        {"America/New_York", "2026-11-01T06:00:00Z", "2026-11-01T01:00:00-05:00"},
        {"America/New_York", "2051-12-01T06:00:00Z", "2051-12-01T01:00:00-05:00"},
        {"Australia/Sydney", "2050-01-15T12:00:00Z", "2050-01-15T23:00:00+11:00"},
        {"Asia/Kolkata", "2026-01-15T12:00:00Z", "2026-01-15T17:30:00+05:30"},
        {"UTC", "2026-01-15T12:00:00Z", "2026-01-15T12:00:00Z"},
        {"", "2026-01-15T12:00:00Z", "2026-01-15T12:00:00Z"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct zone zone;
        char text[TIME_TEXT_MAX];

        if (zone_read(&zone, rows[i][0], NULL) == -ENOENT)
            skip();
        assert_string_equal(zone_format(&zone, at(rows[i][1]), text), rows[i][2]);
        zone_done(&zone);
    }
}

static void local_times_that_are_skipped_or_come_twice_have_one_meaning(void **state)
{
    struct zone zone;

    (void)state;
    if (zone_read(&zone, "Europe/Berlin", NULL) < 0)
        skip();
    assert_int_equal(zone_to_utc(&zone, at("2026-01-15T13:00:00Z")), at("2026-01-15T12:00:00Z"));
    assert_int_equal(zone_to_utc(&zone, at("2026-07-15T14:00:00Z")), at("2026-07-15T12:00:00Z"));
    assert_int_equal(zone_to_utc(&zone, at("2026-03-29T02:30:00Z")), at("2026-03-29T01:30:00Z"));
    assert_int_equal(zone_to_utc(&zone, at("2026-10-25T02:30:00Z")), at("2026-10-25T00:30:00Z"));
    zone_done(&zone);
}

static void names_that_are_paths_are_refused(void **state)
{
    struct zone zone;

    (void)state;
    assert_int_equal(zone_read(&zone, "../../etc/passwd", NULL), -EINVAL);
    assert_int_equal(zone_read(&zone, "/etc/localtime", NULL), -EINVAL);
    assert_int_equal(zone_read(&zone, "Europe/Nowhere", NULL), -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_written_with_the_offset_of_their_zone),
        cmocka_unit_test(local_times_that_are_skipped_or_come_twice_have_one_meaning),
        cmocka_unit_test(names_that_are_paths_are_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
