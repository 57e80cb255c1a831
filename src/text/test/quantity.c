/* SPDX-License-Identifier: Apache-2.0 */
#include "text/quantity.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/macros.h"

static int64_t read_as(enum quantity_unit unit, const char *text)
{
    int64_t value = -1;

    assert_int_equal(quantity_parse(text, unit, &value, NULL), 0);
    return value;
}

static void every_suffix_scales(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t bytes;
    } cases[] = {
        {"0", 0},
        {"7", 7},
        {"+7", 7},
        {"1k", 1000},
        {"1Ki", 1024},
        {"64Gi", 68719476736},
        {"1.5Ki", 1536},
        {"0.5Ki", 512},
        {"1e3", 1000},
        {"12E2", 1200},
        {"2E", 2000000000000000000},
        {"2Ei", 2305843009213693952},
        {"0.000001Ti", 1099512},
        {"1.000000000000000001Ei", 1152921504606846978},
        {"1.00000000000000000000000", 1},
        {"0.0000000000000000000000001", 1},
        {"9223372036854775807", INT64_MAX},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(read_as(QUANTITY_ONE, cases[i].text), cases[i].bytes);
}

static void fractions_round_up_never_down(void **state)
{
    (void)state;
    assert_int_equal(read_as(QUANTITY_MILLI, "0.1"), 100);
    assert_int_equal(read_as(QUANTITY_MILLI, "500m"), 500);
    assert_int_equal(read_as(QUANTITY_MILLI, "1n"), 1);
    assert_int_equal(read_as(QUANTITY_ONE, "100m"), 1);
}

static void nonsense_is_refused_and_leaves_the_result_alone(void **state)
{
    (void)state;
    static const char *const cases[] = {"",   "Gi",  "1 Gi", "1gi",  "0x10", "NaN", "inf",
                                        "1e", "1e+", ".",    "1..2", "--1",  "-1",  "0.1x"};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = {0};
        int64_t value = 42;

        assert_int_equal(quantity_parse(cases[i], QUANTITY_ONE, &value, &err), -EINVAL);
        assert_int_equal(value, 42);
        assert_int_not_equal(err.text[0], '\0');
    }
}

static void what_does_not_fit_is_said_to_be_too_large(void **state)
{
    (void)state;
    struct err err = {0};
    int64_t value = 42;

    assert_int_equal(quantity_parse("9223372036854775808", QUANTITY_ONE, &value, &err), -ERANGE);
    assert_int_equal(quantity_parse("1e400", QUANTITY_ONE, &value, &err), -ERANGE);
    assert_int_equal(quantity_parse("9E", QUANTITY_MILLI, &value, &err), -ERANGE);
    assert_int_equal(value, 42);
    assert_string_equal(err.text, "'9E' is too large");
    assert_int_equal(err_wrap(&err, -ERANGE, "node %s: cpu", "gpu-1"), -ERANGE);
    assert_string_equal(err.text, "node gpu-1: cpu: '9E' is too large");
}

static void quantities_are_written_as_kubernetes_does(void **state)
{
    (void)state;
    static const struct {
        int64_t value;
        enum quantity_unit unit;
        const char *text;
    } cases[] = {
        {0, QUANTITY_ONE, "0"},
        {1000, QUANTITY_ONE, "1000"},
        {1536, QUANTITY_ONE, "1536"},
        {16000000000, QUANTITY_ONE, "16G"},
        {1500000000, QUANTITY_ONE, "1500M"},
        {3072000000, QUANTITY_ONE, "3072M"},
        {INT64_C(1000000) << 30, QUANTITY_ONE, "1000000Gi"},
        {INT64_C(64) << 30, QUANTITY_ONE, "64Gi"},
        {INT64_C(3) << 39, QUANTITY_ONE, "1536Gi"},
        {INT64_MIN, QUANTITY_ONE, "-8Ei"},
        {INT64_MAX, QUANTITY_ONE, "9223372036854775807"},
        {0, QUANTITY_MILLI, "0"},
        {500, QUANTITY_MILLI, "500m"},
        {2000, QUANTITY_MILLI, "2"},
        {2500, QUANTITY_MILLI, "2500m"},
        {1024000, QUANTITY_MILLI, "1024"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[QUANTITY_TEXT_MAX];

        assert_string_equal(quantity_format(cases[i].value, cases[i].unit, text), cases[i].text);
        if (cases[i].value >= 0)
            assert_int_equal(read_as(cases[i].unit, text), cases[i].value);
    }
}

static const char *exact(const char *text, char out[static QUANTITY_EXACT_TEXT_MAX])
{
    struct quantity quantity;

    assert_int_equal(quantity_parse_exact(text, &quantity, NULL), 0);
    return quantity_format_exact(&quantity, out);
}

static void exact_quantities_are_written_as_kubernetes_does(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"0", "0"},
        {"0Gi", "0"},
        {"1500m", "1500m"},
        {"1.5", "1500m"},
        {"2000", "2k"},
        {"0.3", "300m"},
        {"1024Mi", "1Gi"},
        {"1536Mi", "1536Mi"},
        {"0.5Ki", "512"},
        {"500M", "500M"},
        {"1000Ki", "1000Ki"},
        {"0.000000001", "1n"},
        {"1e-12", "1n"},
        {"1e12", "1T"},
        {"100u", "100u"},
        {"1Ei", "1Ei"},
        {"1.0001Gi", "1073849198182400u"},
        {"9223372036854775807", "9223372036854775807"},
    };
    char text[QUANTITY_EXACT_TEXT_MAX];

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(exact(cases[i][0], text), cases[i][1]);
}

static void exact_quantities_have_the_bounds_of_the_api(void **state)
{
    (void)state;
    struct quantity quantity = {.nano = 7};

    assert_int_equal(quantity_parse_exact("9223372036854775808", &quantity, NULL), -ERANGE);
    assert_int_equal(quantity_parse_exact("-1", &quantity, NULL), -EINVAL);
    assert_int_equal(quantity_parse_exact("1x", &quantity, NULL), -EINVAL);
    /* More than any of them, as a sum may be. */
    quantity = (struct quantity){.nano = (quantity_nano)INT64_MAX * QUANTITY_NANO_PER_ONE * 1000};
    char text[QUANTITY_EXACT_TEXT_MAX];
    assert_string_equal(quantity_format_exact(&quantity, text), "9223372036854775807k");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_suffix_scales),
        cmocka_unit_test(fractions_round_up_never_down),
        cmocka_unit_test(nonsense_is_refused_and_leaves_the_result_alone),
        cmocka_unit_test(what_does_not_fit_is_said_to_be_too_large),
        cmocka_unit_test(quantities_are_written_as_kubernetes_does),
        cmocka_unit_test(exact_quantities_are_written_as_kubernetes_does),
        cmocka_unit_test(exact_quantities_have_the_bounds_of_the_api),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
