/* SPDX-License-Identifier: Apache-2.0 */

/* When cycles come, and what holds them back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/loop.h"
#include "services/scheduler/pace.h"

struct runs {
    struct loop *loop;
    struct pace *pace;
    int count;
    int wanted;    // then the loop stops
    nsec_t again;  // what each run returns
    bool wakes;    // each run finds a change
};

static nsec_t on_run(void *arg)
{
    struct runs *runs = arg;

    if (++runs->count == runs->wanted)
        loop_stop(runs->loop);
    else if (runs->wakes)
        pace_wake(runs->pace);
    return runs->again;
}

static struct runs runs_open(void)
{
    struct loop *loop = loop_new();

    return (struct runs){.loop = loop, .pace = pace_new(loop, NSEC_PER_SEC), .wanted = 1};
}

static void runs_close(struct runs *runs)
{
    pace_free(runs->pace);
    loop_free(runs->loop);
}

/* Everything that is due at once has happened. */
static void stop_loop(void *arg)
{
    loop_stop(arg);
}

static void run_for(struct loop *loop, nsec_t time)
{
    struct loop_timer timer;

    loop_timer_init(&timer, loop, stop_loop, loop);
    loop_timer_start(&timer, time);
    loop_run(loop);
    loop_timer_done(&timer);
}

static void nothing_runs_before_everything_is_listed_and_we_lead(void **arg)
{
    struct runs runs = runs_open();

    (void)arg;
    pace_set_run(runs.pace, on_run, &runs);
    pace_wake(runs.pace);
    run_for(runs.loop, 20 * NSEC_PER_MSEC);
    pace_release(runs.pace, HOLD_LISTING);
    run_for(runs.loop, 20 * NSEC_PER_MSEC);
    assert_int_equal(runs.count, 0);
    pace_release(runs.pace, HOLD_STANDBY);
    loop_run(runs.loop);
    assert_int_equal(runs.count, 1);
    runs_close(&runs);
}

static void a_hold_that_comes_after_the_change_stops_its_cycle(void **arg)
{
    struct runs runs = runs_open();

    (void)arg;
    pace_set_run(runs.pace, on_run, &runs);
    pace_release(runs.pace, HOLD_LISTING);
    pace_release(runs.pace, HOLD_STANDBY);
    pace_hold(runs.pace, HOLD_USAGE);
    assert_true(pace_is_held(runs.pace, HOLD_USAGE));
    run_for(runs.loop, 20 * NSEC_PER_MSEC);
    assert_int_equal(runs.count, 0);
    pace_release(runs.pace, HOLD_USAGE);
    loop_run(runs.loop);
    assert_int_equal(runs.count, 1);
    runs_close(&runs);
}

static void a_change_during_a_cycle_is_followed_by_another(void **arg)
{
    struct runs runs = runs_open();

    (void)arg;
    runs.wakes = true;
    runs.wanted = 5;
    pace_set_run(runs.pace, on_run, &runs);
    pace_release(runs.pace, HOLD_LISTING);
    pace_release(runs.pace, HOLD_STANDBY);
    loop_run(runs.loop);
    assert_int_equal(runs.count, 5);
    runs_close(&runs);
}

static void time_alone_brings_a_cycle_where_one_is_due(void **arg)
{
    struct runs runs = runs_open();

    (void)arg;
    runs.again = NSEC_PER_MSEC;
    runs.wanted = 3;
    pace_set_run(runs.pace, on_run, &runs);
    pace_release(runs.pace, HOLD_LISTING);
    pace_release(runs.pace, HOLD_STANDBY);
    loop_run(runs.loop);
    assert_int_equal(runs.count, 3);
    runs_close(&runs);
}

static void writes_are_repeated_only_while_decisions_would_be_made(void **arg)
{
    struct runs runs = runs_open();

    (void)arg;
    assert_int_equal(pace_may_repeat(runs.pace), KUBE_REPEAT_NEVER);
    pace_release(runs.pace, HOLD_LISTING);
    assert_int_equal(pace_may_repeat(runs.pace), KUBE_REPEAT_NOW);
    pace_hold(runs.pace, HOLD_BEHIND);
    assert_int_equal(pace_may_repeat(runs.pace), KUBE_REPEAT_LATER);
    pace_hold(runs.pace, HOLD_LISTING);
    assert_int_equal(pace_may_repeat(runs.pace), KUBE_REPEAT_NEVER);
    runs_close(&runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_runs_before_everything_is_listed_and_we_lead),
        cmocka_unit_test(a_hold_that_comes_after_the_change_stops_its_cycle),
        cmocka_unit_test(a_change_during_a_cycle_is_followed_by_another),
        cmocka_unit_test(writes_are_repeated_only_while_decisions_would_be_made),
        cmocka_unit_test(time_alone_brings_a_cycle_where_one_is_due),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
