/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/report/wait_sums.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void durations_are_written_to_the_second(void **unused)
{
    static const struct {
        int64_t seconds;
        const char *text;
    } cases[] = {{0, "0s"}, {59, "59s"}, {60, "1m"}, {3601, "1h 1s"}, {93784, "1d 2h 3m 4s"}, {8640000, "100d"}};
    char text[WAIT_TEXT_MAX];

    (void)unused;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(wait_text(cases[i].seconds, text), cases[i].text);
}

static void sums_add_up_over_queues_and_reasons(void **unused)
{
    static const nsec_t short_wait[_VERDICT_CODE_MAX] = {[VERDICT_NO_ROOM] = 3, [VERDICT_PROMISED] = 2};
    static const nsec_t long_wait[_VERDICT_CODE_MAX] = {[VERDICT_OVER_QUOTA] = 100, [VERDICT_PROMISED] = 5};
    static const nsec_t none[_VERDICT_CODE_MAX] = {0};
    enum verdict_code order[_VERDICT_CODE_MAX];
    struct wait_sums sums;

    (void)unused;
    wait_sums_init(&sums);
    wait_sums_add(&sums, "a", short_wait);
    wait_sums_add(&sums, "b", long_wait);
    wait_sums_add(&sums, "a", none);
    wait_sums_add(&sums, "", short_wait);
    assert_int_equal(wait_sum_total(&sums.all), 115);
    assert_int_equal(sums.all.workloads, 3);
    assert_int_equal(wait_sum_order(&sums.all, order), 3);
    assert_int_equal(order[0], VERDICT_OVER_QUOTA);
    assert_int_equal(order[1], VERDICT_PROMISED);
    assert_int_equal(order[2], VERDICT_NO_ROOM);
    assert_int_equal(sums.all.workloads_for[VERDICT_PROMISED], 3);
    nsec_t of_queues = 0;
    vec_foreach (&sums.by_queue, sum)
        of_queues += wait_sum_total(sum);
    assert_int_equal(of_queues, 115);
    wait_sums_done(&sums);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_are_written_to_the_second),
        cmocka_unit_test(sums_add_up_over_queues_and_reasons),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
