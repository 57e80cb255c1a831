/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "services/scheduler/intake/usage_internal.h"

#define NOW (INT64_C(1763230000) * NSEC_PER_SEC + 250 * NSEC_PER_MSEC)

static void windows_count_from_their_last_reset(void **state)
{
    struct usage_setting usage = {.window = 600 * NSEC_PER_SEC};
    struct cron cron;

    (void)state;
    assert_int_equal(usage_range(&usage, NULL, NOW), 600 * NSEC_PER_SEC);
    usage.window_type = USAGE_TUMBLING;
    usage.source.tumbling_start = NOW - 1250 * NSEC_PER_SEC;
    assert_int_equal(usage_range(&usage, NULL, NOW), 50 * NSEC_PER_SEC);
    usage.source.tumbling_start = NOW - 1200 * NSEC_PER_SEC;
    assert_int_equal(usage_range(&usage, NULL, NOW), 0);
    usage.source.tumbling_start = NOW + 1;
    assert_int_equal(usage_range(&usage, NULL, NOW), 0);
    usage.window_type = USAGE_CRON;
    assert_int_equal(cron_parse("*/20 * * * *", &cron, NULL), 0);
    assert_int_equal(usage_range(&usage, &cron, NOW), 400 * NSEC_PER_SEC + 250 * NSEC_PER_MSEC);
    assert_int_equal(cron_parse("0 0 30 2 *", &cron, NULL), 0);
    assert_int_equal(usage_range(&usage, &cron, NOW), 0);
}

static void questions_are_promql(void **state)
{
    struct usage_setting usage = {.source = {.resolution = 1500 * NSEC_PER_MSEC}};
    struct strbuf text;

    (void)state;
    strbuf_init(&text, 4096);
    usage_expression(&usage, "m{a=\"b\"}", 60 * NSEC_PER_SEC, NOW, &text);
    assert_string_equal(text.text, "sum_over_time((m{a=\"b\"})[60s:1500ms])");
    strbuf_clear(&text);
    usage.half_life = 90 * NSEC_PER_SEC;
    usage.source.resolution = NSEC_PER_MIN;
    usage_expression(&usage, "m", 600 * NSEC_PER_SEC, NOW, &text);
    assert_string_equal(text.text, "sum_over_time(((m) * 0.5^((1763230000 - time()) / 90.000))[600s:60s])");
    strbuf_clear(&text);
    usage_address("http://host:9090/prom//", "sum(a) + 1", NOW, &text);
    assert_string_equal(text.text, "http://host:9090/prom/api/v1/query?query=sum%28a%29%20%2B%201&time=1763230000.250");
    strbuf_done(&text);
}

static int parse(const char *text, struct usage_samples *samples, struct err *err)
{
    return usage_answer_parse(text, strlen(text), samples, err);
}

static void answers_are_added_up_by_queue(void **state)
{
    struct usage_samples samples = {0};

    (void)state;
    assert_int_equal(parse("{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":["
                           "{\"metric\":{\"queue_name\":\"b\",\"pod\":\"1\"},\"value\":[1.5,\"2\"]},"
                           "{\"metric\":{\"queue_name\":\"a\"},\"value\":[1.5,\"1e3\"]},"
                           "{\"metric\":{\"queue_name\":\"b\",\"pod\":\"2\"},\"value\":[1.5,\"0.5\"]},"
                           "{\"metric\":{},\"value\":[1.5,\"7\"]}]}}",
                           &samples, NULL),
                     0);
    assert_int_equal(samples.len, 3);
    assert_string_equal(samples.items[0].queue, "");
    assert_string_equal(samples.items[1].queue, "a");
    assert_true(samples.items[1].value == 1000);
    assert_string_equal(samples.items[2].queue, "b");
    assert_true(samples.items[2].value == 2.5);
    usage_samples_done(&samples);
    assert_int_equal(
        parse("{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[]}}", &samples, NULL), 0);
    assert_int_equal(samples.len, 0);
}

static void what_is_no_answer_is_refused(void **state)
{
#define VECTOR(item) "{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[" item "]}}"
    static const struct {
        const char *body;
        const char *problem;
    } rows[] = {
        {"", "the answer is not a result of Prometheus"},
        {"<html>", "the answer is not a result of Prometheus"},
        {"{}", "the answer is not a result of Prometheus"},
        {"{\"status\":\"error\",\"error\":\"bad query\"}", "bad query"},
        {"{\"status\":\"success\"}", "expected a vector, found no result"},
        {"{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[]}}",
         "expected a vector, found matrix"},
        {VECTOR("{\"metric\":{\"queue_name\":\"q\"},\"value\":[1,\"NaN\"]}"),
         "expected amounts that are not negative, found 'NaN' for queue q"},
        {VECTOR("{\"value\":[1,\"+Inf\"]}"), "expected amounts that are not negative, found '+Inf'"},
        {VECTOR("{\"value\":[1,\"-1\"]}"), "expected amounts that are not negative, found '-1'"},
        {VECTOR("{\"value\":[1,\"1x\"]}"), "expected amounts that are not negative, found '1x'"},
        {VECTOR("{\"value\":[1,2]}"), "expected amounts that are not negative, found ''"},
        {VECTOR("{\"value\":[1]}"), "expected amounts that are not negative, found ''"},
        {VECTOR("3"), "expected amounts that are not negative, found ''"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct usage_samples samples = {0};
        struct err err = {0};

        assert_int_equal(parse(rows[i].body, &samples, &err), -EBADMSG);
        assert_string_equal(err.text, rows[i].problem);
        usage_samples_done(&samples);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_count_from_their_last_reset),
        cmocka_unit_test(questions_are_promql),
        cmocka_unit_test(answers_are_added_up_by_queue),
        cmocka_unit_test(what_is_no_answer_is_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
