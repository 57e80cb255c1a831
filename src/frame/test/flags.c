/* SPDX-License-Identifier: Apache-2.0 */
#include "frame/flags.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"

struct values {
    const char *name;
    bool leads, is_on;
    int64_t workers;
    double qps;
    nsec_t period;
    struct flag_pairs labels;
    yyjson_doc *plugins;
};

#define AT(member) FLAG_AT(struct values, member)

static const struct flag flags[] = {
    {"name", FLAG_STRING, AT(name), "kai-scheduler", "", 0, 0},
    {"leader-elect", FLAG_BOOL, AT(leads), NULL, "", 0, 0},
    {"is-on", FLAG_BOOL, AT(is_on), "true", "", 0, 0},
    {"workers", FLAG_INT, AT(workers), "10", "", 1, 100},
    {"qps", FLAG_DOUBLE, AT(qps), "50", "", 0, 0},
    {"period", FLAG_DURATION, AT(period), "1s", "", 0, 0},
    {"labels", FLAG_PAIRS, AT(labels), NULL, "", 0, 0},
    {"plugins", FLAG_JSON, AT(plugins), NULL, "", 0, 0},
    {"old", FLAG_IGNORED, 0, "5", "", 0, 0},
    {"old-switch", FLAG_IGNORED, 0, "true", "", 0, 0},
};

#define ARGS(...) ((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

static int parse(struct values *values, const char *const *argv, enum flags_result *result, struct err *err)
{
    int argc = 0;

    while (argv[argc])
        argc++;
    return flags_parse(&(struct flag_set){.flags = flags, .count = ARRAY_LEN(flags), .values = values}, 1, argc, argv,
                       result, err);
}

static void done(struct values *values)
{
    flags_done(&(struct flag_set){.flags = flags, .count = ARRAY_LEN(flags), .values = values}, 1);
}

static void what_is_not_given_is_as_the_table_says(void **state)
{
    (void)state;
    struct values values;
    enum flags_result result;
    struct err err;

    assert_int_equal(parse(&values, ARGS(), &result, &err), 0);
    assert_int_equal(result, FLAGS_RUN);
    assert_string_equal(values.name, "kai-scheduler");
    assert_false(values.leads);
    assert_true(values.is_on);
    assert_int_equal(values.workers, 10);
    assert_true(values.qps == 50);
    assert_int_equal(values.period, NSEC_PER_SEC);
    assert_int_equal(values.labels.len, 0);
    assert_null(values.plugins);
    done(&values);
}

static void flags_are_taken_in_all_forms_that_go_takes(void **state)
{
    (void)state;
    const char *const *argv =
        ARGS("--name", "x", "-leader-elect", "--is-on=false", "-workers=3", "--qps=0.5", "--period", "1m30s",
             "--labels=a=b,c=d=e", "--plugins={\"a\":[1]}", "--old-switch", "--old", "7");
    struct values values;
    enum flags_result result;
    struct err err;

    assert_int_equal(parse(&values, argv, &result, &err), 0);
    assert_string_equal(values.name, "x");
    assert_true(values.leads);
    assert_false(values.is_on);
    assert_int_equal(values.workers, 3);
    assert_true(values.qps == 0.5);
    assert_int_equal(values.period, 90 * NSEC_PER_SEC);
    assert_int_equal(values.labels.len, 2);
    assert_string_equal(values.labels.items[0].key, "a");
    assert_string_equal(values.labels.items[0].value, "b");
    assert_string_equal(values.labels.items[1].key, "c");
    assert_string_equal(values.labels.items[1].value, "d=e");
    assert_true(yyjson_is_obj(yyjson_doc_get_root(values.plugins)));
    done(&values);
}

static void what_is_wrong_is_said_with_the_name_of_the_flag(void **state)
{
    (void)state;
    static const struct {
        const char *const argv[3];
        const char *text;
    } cases[] = {
        {{"--unknown=1"}, "unknown flag --unknown"},
        {{"--workers=0"}, "--workers: 0 is not between 1 and 100"},
        {{"--workers=x"}, "--workers: 'x' is not a whole number"},
        {{"--qps", "much"}, "--qps: 'much' is not a number"},
        {{"--is-on=maybe"}, "--is-on: expected true or false, found 'maybe'"},
        {{"--leader-elect", "false"}, "'false' is not a flag; to set a boolean, write --name=false"},
        {{"--labels=a"}, "--labels: expected key=value, found 'a'"},
        {{"--name"}, "--name needs a value: TEXT"},
        {{"word"}, "'word' is not a flag; to set a boolean, write --name=false"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct values values;
        enum flags_result result;
        struct err err;

        assert_int_equal(parse(&values, cases[i].argv, &result, &err), -22);
        assert_string_equal(err.text, cases[i].text);
        done(&values);
    }
}

static void bad_json_and_durations_are_refused(void **state)
{
    (void)state;
    struct values values;
    enum flags_result result;
    struct err err;

    assert_int_equal(parse(&values, ARGS("--plugins={"), &result, &err), -22);
    assert_memory_equal(err.text, "--plugins: ", 11);
    done(&values);
    assert_int_equal(parse(&values, ARGS("--period=5"), &result, &err), -22);
    assert_memory_equal(err.text, "--period: ", 10);
    done(&values);
}

static void help_is_asked_for_in_three_ways(void **state)
{
    (void)state;
    const char *const ways[] = {"-h", "--help", "-help"};

    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct values values;
        enum flags_result result = FLAGS_RUN;

        assert_int_equal(parse(&values, ARGS(ways[i], "--nonsense"), &result, NULL), 0);
        assert_int_equal(result, FLAGS_HELP);
        done(&values);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_given_is_as_the_table_says),
        cmocka_unit_test(flags_are_taken_in_all_forms_that_go_takes),
        cmocka_unit_test(what_is_wrong_is_said_with_the_name_of_the_flag),
        cmocka_unit_test(bad_json_and_durations_are_refused),
        cmocka_unit_test(help_is_asked_for_in_three_ways),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
