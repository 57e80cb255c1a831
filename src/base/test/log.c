/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"

static nsec_t now;

static nsec_t wall(void)
{
    return INT64_C(1794740000) * NSEC_PER_SEC + 218 * NSEC_PER_MSEC + now;
}

static nsec_t monotonic(void)
{
    return now;
}

struct fixture {
    struct log *log;
    char *text;
    size_t len;
    FILE *stream;
};

static void open_log(struct fixture *f, bool is_json, enum log_level level)
{
    now = 0;
    f->stream = open_memstream(&f->text, &f->len);
    f->log = log_new(&(struct log_options){.stream = f->stream,
                                           .is_json = is_json,
                                           .level = level,
                                           .name = "test",
                                           .repeats_max = 3,
                                           .wall = wall,
                                           .monotonic = monotonic});
}

static void close_log(struct fixture *f)
{
    log_free(f->log);
    (void)fclose(f->stream);
    free(f->text);
}

static void a_line_has_its_fields_as_text_or_json(void **state)
{
    (void)state;
    struct fixture f;
    struct err err;

    (void)err_set(&err, -1, "no \"kind\"\nhere");
    open_log(&f, false, LOG_INFO);
    log_warn(f.log, "pod waits", log_str("pod", "a/b"), log_int("n", -3), log_duration("for", 1500 * NSEC_PER_MSEC),
             log_error(&err));
    assert_string_equal(f.text, "2026-11-15T10:53:20.218Z WARN  pod waits service=test pod=a/b n=-3 for=1.5s "
                                "error=\"no \\\"kind\\\"?here\"\n");
    close_log(&f);
    open_log(&f, true, LOG_INFO);
    log_info(f.log, "pod waits", log_str("pod", "\xff\x01é"), log_double("x", 0.5));
    assert_string_equal(f.text, "{\"level\":\"info\",\"ts\":\"2026-11-15T10:53:20.218Z\",\"msg\":\"pod waits\","
                                "\"service\":\"test\",\"pod\":\"\\ufffd\\u0001é\",\"x\":0.5}\n");
    close_log(&f);
}

static void finer_levels_are_left_out(void **state)
{
    (void)state;
    struct fixture f;

    open_log(&f, false, LOG_INFO);
    assert_true(log_has(f.log, LOG_INFO));
    assert_false(log_has(f.log, LOG_DEBUG));
    log_debug(f.log, "fine");
    log_write(NULL, LOG_ERROR, "to nobody", LOG_FIELDS());
    (void)fflush(f.stream);
    assert_int_equal(f.len, 0);
    close_log(&f);
}

static void what_repeats_is_counted_instead(void **state)
{
    (void)state;
    struct fixture f;

    open_log(&f, false, LOG_INFO);
    for (int i = 0; i < 10; i++)
        log_info(f.log, "again", log_int("i", i));
    assert_int_equal(log_left_out(f.log), 7);
    assert_non_null(strstr(f.text, "i=2\n"));
    assert_null(strstr(f.text, "i=3"));
    log_info(f.log, "another");
    assert_non_null(strstr(f.text, "another"));
    now += NSEC_PER_SEC;
    log_info(f.log, "again");
    assert_non_null(strstr(f.text, "again service=test repeated=7\n"));
    close_log(&f);
}

static void a_line_too_long_loses_its_last_fields_and_stays_whole(void **state)
{
    (void)state;
    struct fixture f;
    char *large = malloc(40000);

    memset(large, 'x', 39999);
    large[39999] = '\0';
    open_log(&f, true, LOG_INFO);
    log_info(f.log, "long", log_int("a", 1), log_str("b", large), log_int("c", 2));
    assert_non_null(strstr(f.text, "\"a\":1}\n"));
    assert_int_equal(f.text[f.len - 1], '\n');
    close_log(&f);
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_its_fields_as_text_or_json),
        cmocka_unit_test(finer_levels_are_left_out),
        cmocka_unit_test(what_repeats_is_counted_instead),
        cmocka_unit_test(a_line_too_long_loses_its_last_fields_and_stays_whole),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
