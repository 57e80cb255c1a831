/* SPDX-License-Identifier: Apache-2.0 */

/* What predictions are made of: run times that were drawn, and intervals that earlier outcomes correct. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macros.h"
#include "model/resources.h"
#include "sim/trace/trace.h"
#include "sim/trace/trace_random.h"
#include "sim/when/calibration.h"
#include "sim/when/past.h"

#define HOUR NSEC_PER_HOUR
#define DAY (24 * HOUR)

/* ---- Run times. ---- */

struct book {
    struct trace trace;
    struct past history;
};

static void book_init(struct book *book)
{
    trace_init(&book->trace);
    past_init(&book->history, &book->trace);
}

static void book_done(struct book *book)
{
    past_done(&book->history);
    trace_done(&book->trace);
}

static struct past_traits ended(struct book *book, const char *user, nsec_t run)
{
    struct trace_job job = TRACE_JOB_INIT;

    job.name = trace_intern(&book->trace, "train-1");
    job.namespace = trace_intern(&book->trace, user);
    job.queue = trace_intern(&book->trace, "q");
    trace_submit(&book->trace, TRACE_ORIGIN, &job);
    uint32_t at = past_came(&book->history, book->trace.jobs.len - 1, TRACE_ORIGIN);
    past_ended(&book->history, at, run);
    return past_traits_of(&book->trace, book->trace.jobs.len - 1);
}

static void what_has_not_ended_counts_as_longer(void **state)
{
    struct random random;
    struct past_traits traits;
    struct book book;
    int beyond = 0;

    (void)state;
    random_init(&random, 1);
    book_init(&book);
    for (int i = 0; i < 100; i++)
        traits = ended(&book, "ann", HOUR);
    for (int i = 0; i < 100; i++)
        past_add_going(&book.history, &traits, 10 * HOUR);
    for (int i = 0; i < 1000; i++) {
        nsec_t least = 0;
        nsec_t run = past_draw(&book.history, &traits, &least, &random);

        assert_true(run == HOUR || (run == -1 && least == 10 * HOUR));
        beyond += run == -1;
    }
    assert_in_range(beyond, 400, 600);
    past_forget_going(&book.history);
    nsec_t least = 0;
    assert_true(past_draw(&book.history, &traits, &least, &random) == HOUR);
    book_done(&book);
}

static void what_goes_beyond_a_group_is_asked_of_a_wider_one(void **state)
{
    struct random random;
    struct past_traits traits;
    struct book book;

    (void)state;
    random_init(&random, 1);
    book_init(&book);
    for (int i = 0; i < 100; i++)
        (void)ended(&book, "bob", 20 * HOUR);
    traits = ended(&book, "ann", HOUR);
    for (int i = 0; i < 100; i++)
        past_add_going(&book.history, &traits, 10 * HOUR);
    for (int i = 0; i < 100; i++) {
        nsec_t least = HOUR;

        assert_true(past_draw(&book.history, &traits, &least, &random) == 20 * HOUR);
    }
    book_done(&book);
}

/* ---- Intervals. ---- */

/* All futures say about an hour. */
static struct prediction an_hour(nsec_t at, uint64_t queue)
{
    struct prediction prediction;
    nsec_t sorted[21];

    for (int i = 0; i < (int)ARRAY_LEN(sorted); i++)
        sorted[i] = at + HOUR + (i - 10) * NSEC_PER_MIN;
    prediction_set(&prediction, at, sorted, ARRAY_LEN(sorted), at + 14 * DAY,
                   &(struct prediction_subject){.queue = queue, .gpus = GPU_ONE});
    return prediction;
}

/* Waits are what futures say times a factor that they know nothing of; those of queue 2 are four times as long. */
static nsec_t wait_of(uint64_t queue, struct random *random)
{
    return (nsec_t)(random_lognormal(random, 1, 0.7) * (queue == 2 ? 4 : 1) * (double)HOUR);
}

static void outcomes_make_intervals_hold_in_each_queue(void **state)
{
    struct calibration calibration = {0};
    uint32_t within[3][PREDICTION_INTERVALS] = {0};
    uint32_t judged[3] = {0};
    struct random random;

    (void)state;
    random_init(&random, 7);
    for (int i = 0; i < 4000; i++) {
        nsec_t at = TRACE_ORIGIN + i * HOUR;
        uint64_t queue = 1 + (uint64_t)(i % 3 == 0);
        struct prediction prediction = an_hour(at, queue);
        nsec_t start = at + wait_of(queue, &random);

        calibration_apply(&calibration, NULL, &prediction);
        if (i >= 1000) {
            judged[queue]++;
            for (int k = 0; k < PREDICTION_INTERVALS; k++)
                within[queue][k] += prediction.low[k] <= start && start <= prediction.high[k];
        }
        assert_true(prediction.low[PREDICTION_90] <= prediction.low[PREDICTION_80]);
        assert_true(prediction.high[PREDICTION_80] <= prediction.high[PREDICTION_90]);
        calibration_add(&calibration, &prediction, start);
    }
    for (uint64_t queue = 1; queue <= 2; queue++) {
        assert_in_range(within[queue][PREDICTION_90] * 100 / judged[queue], 85, 97);
        assert_in_range(within[queue][PREDICTION_80] * 100 / judged[queue], 70, 92);
    }
    calibration_done(&calibration);
}

static void few_outcomes_correct_nothing(void **state)
{
    struct calibration calibration = {0};
    struct prediction before = an_hour(TRACE_ORIGIN, 1);
    struct prediction after = before;

    (void)state;
    for (int i = 0; i < CALIBRATION_MIN - 1; i++)
        calibration_add(&calibration, &before, TRACE_ORIGIN + 2 * HOUR);
    calibration_apply(&calibration, NULL, &after);
    assert_memory_equal(&before, &after, sizeof before);
    calibration_add(&calibration, &before, TRACE_ORIGIN + 2 * HOUR);
    calibration_apply(&calibration, NULL, &after);
    assert_int_equal(after.calibrated, CALIBRATION_MIN);
    assert_true(after.median == before.median);
    calibration_done(&calibration);
}

/* A fifth still waits after ten hours: the interval has to reach as far, though no outcome does. */
static void what_still_waits_counts_as_longer(void **state)
{
    struct calibration calibration = {0};
    struct prediction_list open = {0};
    nsec_t now = TRACE_ORIGIN + 10 * HOUR;
    struct prediction without = an_hour(now, 1);
    struct prediction with = without;
    struct prediction early = an_hour(TRACE_ORIGIN, 1);

    (void)state;
    for (int i = 0; i < 400; i++)
        calibration_add(&calibration, &early, TRACE_ORIGIN + HOUR + (i % 20) * NSEC_PER_MIN);
    for (int i = 0; i < 100; i++)
        vec_push(&open, early);
    calibration_apply(&calibration, NULL, &without);
    calibration_apply(&calibration, &open, &with);
    assert_true(without.high[PREDICTION_90] < now + 2 * HOUR);
    assert_true(with.high[PREDICTION_90] == with.horizon);
    assert_true(with.low[PREDICTION_90] <= without.low[PREDICTION_90] + NSEC_PER_MIN);
    vec_done(&open);
    calibration_done(&calibration);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_not_ended_counts_as_longer),
        cmocka_unit_test(what_goes_beyond_a_group_is_asked_of_a_wider_one),
        cmocka_unit_test(outcomes_make_intervals_hold_in_each_queue),
        cmocka_unit_test(few_outcomes_correct_nothing),
        cmocka_unit_test(what_still_waits_counts_as_longer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
