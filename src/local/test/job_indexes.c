/* SPDX-License-Identifier: Apache-2.0 */
#include "local/workloads/job_indexes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macros.h"
#include "base/strbuf.h"

static void expect_text(const struct job_indexes *set, const char *wanted)
{
    struct strbuf text;

    strbuf_init(&text, 1000);
    job_indexes_format(set, &text);
    assert_string_equal(text.text, wanted);
    strbuf_done(&text);
}

static void a_set_is_written_as_it_was_read(void **state)
{
    static const char *const texts[] = {"", "0", "0-2", "1,3", "0-2,5", "1,2,7-9"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct job_indexes set = {0};

        job_indexes_parse(&set, texts[i], 10);
        expect_text(&set, texts[i]);
        job_indexes_done(&set);
    }
}

static void indexes_are_added_in_any_order(void **state)
{
    static const uint32_t order[] = {5, 0, 2, 1, 9, 1, 7, 8};
    struct job_indexes set = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        job_indexes_add(&set, order[i]);
    expect_text(&set, "0-2,5,7-9");
    assert_int_equal(job_indexes_len(&set), 7);
    assert_true(job_indexes_has(&set, 8));
    assert_false(job_indexes_has(&set, 6));
    job_indexes_done(&set);
}

static void what_is_no_set_or_out_of_range_is_left_out(void **state)
{
    static const char *const texts[] = {"x", "-", "5-3", "12", "3-12", "1,,2", "9999999999999999999999"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct job_indexes set = {0};

        job_indexes_parse(&set, texts[i], 10);
        assert_true(job_indexes_len(&set) <= 2);
        assert_false(job_indexes_has(&set, 12));
        job_indexes_done(&set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_is_written_as_it_was_read),
        cmocka_unit_test(indexes_are_added_in_any_order),
        cmocka_unit_test(what_is_no_set_or_out_of_range_is_left_out),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
