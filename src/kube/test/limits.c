/* SPDX-License-Identifier: Apache-2.0 */

/* When to go on: backing off, rates, and what is worth another try. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macros.h"
#include "kube/client/backoff.h"
#include "kube/client/bucket.h"
#include "kube/client/chance.h"
#include "kube/client/retry.h"

static void waits_double_up_to_their_limit(void **state)
{
    (void)state;
    struct backoff backoff = {.first = 100, .max = 1000};
    const nsec_t longest[] = {100, 200, 400, 800, 1000, 1000, 1000};

    for (size_t i = 0; i < ARRAY_LEN(longest); i++)
        assert_int_equal(backoff_next(&backoff, 0), longest[i]);
    backoff_reset(&backoff);
    assert_int_equal(backoff_next(&backoff, 0), 100);
}

static void jitter_takes_away_up_to_a_half(void **state)
{
    (void)state;
    struct chance chance = {.state = 1};
    nsec_t least = NSEC_MAX;
    nsec_t most = 0;

    for (int i = 0; i < 10000; i++) {
        struct backoff backoff = {.first = 1000, .max = 1000};
        nsec_t wait = backoff_next(&backoff, chance_next(&chance));

        least = MIN(least, wait);
        most = MAX(most, wait);
    }
    assert_in_range(least, 500, 510);
    assert_in_range(most, 990, 1000);
}

static void endless_failures_do_not_overflow(void **state)
{
    (void)state;
    struct backoff backoff = {.first = 1, .max = NSEC_MAX};

    for (int i = 0; i < 1000; i++)
        assert_true(backoff_next(&backoff, UINT64_MAX) >= 0);
}

static void a_burst_passes_and_then_the_rate_holds(void **state)
{
    (void)state;
    struct bucket bucket;
    nsec_t now = 1000;

    bucket_init(&bucket, 10, 5, now);
    for (int i = 0; i < 5; i++)
        assert_int_equal(bucket_take(&bucket, now), 0);
    assert_int_equal(bucket_take(&bucket, now), NSEC_PER_SEC / 10);
    assert_int_equal(bucket_take(&bucket, now + NSEC_PER_SEC / 20), NSEC_PER_SEC / 20);
    assert_int_equal(bucket_take(&bucket, now + NSEC_PER_SEC / 10), 0);
    assert_true(bucket_take(&bucket, now + NSEC_PER_SEC / 10) > 0);

    /* Time that goes back gives nothing and takes nothing. */
    assert_true(bucket_take(&bucket, 0) > 0);
    now += NSEC_PER_HOUR;
    for (int i = 0; i < 5; i++)
        assert_int_equal(bucket_take(&bucket, now), 0);
    assert_true(bucket_take(&bucket, now) > 0);
}

static void over_a_long_time_the_rate_is_met(void **state)
{
    (void)state;
    struct bucket bucket;
    nsec_t now = 0;
    int taken = 0;

    bucket_init(&bucket, 50, 1, now);
    while (now < 10 * NSEC_PER_SEC) {
        nsec_t wait = bucket_take(&bucket, now);

        taken += wait == 0;
        now += wait;
    }
    assert_in_range(taken, 499, 502);
}

static void no_rate_is_no_limit(void **state)
{
    (void)state;
    struct bucket bucket;

    bucket_init(&bucket, 0, 0, 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(bucket_take(&bucket, 0), 0);
}

static void only_what_may_help_is_tried_again(void **state)
{
    (void)state;
    static const struct {
        struct kube_outcome outcome;
        enum kube_retry retry;
    } cases[] = {
        {{.status = 200, .is_whole = true, .is_repeatable = true, .retry_after = -1}, RETRY_NO},
        {{.status = 404, .is_whole = true, .is_repeatable = true, .retry_after = -1}, RETRY_NO},
        {{.status = 409, .is_whole = true, .is_repeatable = true, .retry_after = -1}, RETRY_NO},
        {{.status = 410, .is_whole = true, .is_repeatable = true, .retry_after = -1}, RETRY_NO},
        {{.status = 429, .is_whole = true, .retry_after = -1}, RETRY_LATER},
        {{.status = 429, .is_whole = true, .retry_after = NSEC_PER_SEC}, RETRY_LATER},
        {{.status = 401, .is_whole = true, .retry_after = -1}, RETRY_LOGIN},
        {{.status = 401, .is_whole = true, .has_new_login = true, .retry_after = -1}, RETRY_NO},
        {{.status = 500, .is_whole = true, .retry_after = -1}, RETRY_NO},
        {{.status = 500, .is_whole = true, .is_repeatable = true, .retry_after = -1}, RETRY_LATER},
        {{.status = 503, .is_whole = true, .retry_after = 0}, RETRY_LATER},
        {{.status = 503, .is_whole = true, .retry_after = -1}, RETRY_NO},
        {{.status = 501, .is_whole = true, .is_repeatable = true, .retry_after = -1}, RETRY_NO},
        {{.status = 0, .is_unsent = true, .retry_after = -1}, RETRY_LATER},
        {{.status = 0, .is_unsent = true, .is_hopeless = true, .retry_after = -1}, RETRY_NO},
        {{.status = 0, .retry_after = -1}, RETRY_NO},
        {{.status = 0, .is_repeatable = true, .retry_after = -1}, RETRY_LATER},
        {{.status = 200, .is_repeatable = true, .retry_after = -1}, RETRY_LATER},
        {{.status = 200, .retry_after = -1}, RETRY_NO},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (kube_retry_of(&cases[i].outcome) != cases[i].retry)
            fail_msg("case %zu", i);
    }
}

static void retry_after_is_read_within_bounds(void **state)
{
    (void)state;
    assert_int_equal(kube_retry_after(NULL), -1);
    assert_int_equal(kube_retry_after(""), -1);
    assert_int_equal(kube_retry_after("-1"), -1);
    assert_int_equal(kube_retry_after("Wed, 21 Oct 2026 07:28:00 GMT"), -1);
    assert_int_equal(kube_retry_after("0"), 0);
    assert_int_equal(kube_retry_after("3"), 3 * NSEC_PER_SEC);
    assert_int_equal(kube_retry_after("99999999999999999999999"), NSEC_PER_MIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_double_up_to_their_limit),    cmocka_unit_test(jitter_takes_away_up_to_a_half),
        cmocka_unit_test(endless_failures_do_not_overflow),  cmocka_unit_test(a_burst_passes_and_then_the_rate_holds),
        cmocka_unit_test(over_a_long_time_the_rate_is_met),  cmocka_unit_test(no_rate_is_no_limit),
        cmocka_unit_test(only_what_may_help_is_tried_again), cmocka_unit_test(retry_after_is_read_within_bounds),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
