/* SPDX-License-Identifier: Apache-2.0 */
#include "local/streams/log_lines.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/macros.h"

#define NOW (INT64_C(1800000000) * NSEC_PER_SEC)

static bool parse(const char *text, struct log_line *line)
{
    return log_line_parse(text, strlen(text), line);
}

static void lines_of_both_streams_are_read(void **state)
{
    struct log_line line;

    (void)state;
    assert_true(parse("2026-01-02T15:04:05.000000007Z stderr P a  b", &line));
    assert_true(line.is_stderr);
    assert_false(line.is_whole);
    assert_int_equal(line.len, 4);
    assert_memory_equal(line.text, "a  b", 4);
    assert_int_equal(line.time % NSEC_PER_SEC, 7);
    assert_true(parse("2026-01-02T15:04:05Z stdout F ", &line));
    assert_true(line.is_whole);
    assert_int_equal(line.len, 0);
}

static void broken_lines_are_left_out(void **state)
{
    static const char *const broken[] = {"",
                                         " ",
                                         "text",
                                         "2026-01-02T15:04:05Z",
                                         "2026-01-02T15:04:05Z stdout",
                                         "2026-01-02T15:04:05Z stdout F",
                                         "2026-01-02T15:04:05Z stdin  F x",
                                         "2026-01-02T15:04:05Z stdout X x",
                                         "yesterday stdout F x"};
    struct log_line line;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(broken); i++)
        assert_false(parse(broken[i], &line));
}

static const char *const *given;

static const char *query(void *arg, const char *name)
{
    (void)arg;
    for (const char *const *at = given; *at; at += 2) {
        if (strcmp(at[0], name) == 0)
            return at[1];
    }
    return "";
}

static int read_options(struct log_options *options, const char *const *pairs)
{
    struct err err = {0};

    given = pairs;
    return log_options_read(options, query, NULL, NOW, &err);
}

static void options_have_kubernetes_defaults(void **state)
{
    struct log_options options;

    (void)state;
    assert_int_equal(read_options(&options, (const char *const[]){NULL}), 0);
    assert_false(options.is_following);
    assert_int_equal(options.tail, -1);
    assert_int_equal(options.limit, -1);
    assert_int_equal(options.since, 0);
}

static void options_out_of_range_are_refused(void **state)
{
    struct log_options options;

    (void)state;
    assert_int_equal(read_options(&options, (const char *const[]){"tailLines", "-1", NULL}), -EINVAL);
    assert_int_equal(read_options(&options, (const char *const[]){"tailLines", "x", NULL}), -EINVAL);
    assert_int_equal(read_options(&options, (const char *const[]){"limitBytes", "0", NULL}), -EINVAL);
    assert_int_equal(read_options(&options, (const char *const[]){"sinceSeconds", "99999999999999999999", NULL}),
                     -EINVAL);
    assert_int_equal(read_options(&options, (const char *const[]){"sinceTime", "noon", NULL}), -EINVAL);
    assert_int_equal(
        read_options(&options, (const char *const[]){"sinceTime", "2026-01-02T15:04:05Z", "sinceSeconds", "1", NULL}),
        -EINVAL);
}

static void since_and_stream_choose_lines(void **state)
{
    struct log_options options;
    struct log_line line;

    (void)state;
    assert_int_equal(
        read_options(&options, (const char *const[]){"sinceTime", "2026-01-02T15:04:05Z", "stream", "Stderr", NULL}),
        0);
    assert_true(parse("2026-01-02T15:04:04Z stderr F x", &line));
    assert_false(log_line_is_wanted(&line, &options));
    assert_true(parse("2026-01-02T15:04:05Z stderr F x", &line));
    assert_true(log_line_is_wanted(&line, &options));
    assert_true(parse("2026-01-02T15:04:05Z stdout F x", &line));
    assert_false(log_line_is_wanted(&line, &options));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_both_streams_are_read),   cmocka_unit_test(broken_lines_are_left_out),
        cmocka_unit_test(options_have_kubernetes_defaults), cmocka_unit_test(options_out_of_range_are_refused),
        cmocka_unit_test(since_and_stream_choose_lines),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
