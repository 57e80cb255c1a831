/* SPDX-License-Identifier: Apache-2.0 */
#include "net/loop.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/strbuf.h"

struct world {
    struct loop *loop;
    struct strbuf log;
    struct loop_timer timers[3];
    struct loop_task tasks[3];
    int count;
};

static void world_init(struct world *world)
{
    *world = (struct world){.loop = loop_new()};
    strbuf_init(&world->log, 1000);
}

static void world_done(struct world *world)
{
    for (int i = 0; i < 3; i++) {
        loop_timer_done(&world->timers[i]);
        loop_task_cancel(&world->tasks[i]);
    }
    loop_free(world->loop);
    strbuf_done(&world->log);
}

static void say_a(void *arg)
{
    strbuf_addstr(&((struct world *)arg)->log, "a");
}

static void say_b(void *arg)
{
    strbuf_addstr(&((struct world *)arg)->log, "b");
}

static void again(void *arg)
{
    struct world *world = arg;

    strbuf_addstr(&world->log, "+");
    if (++world->count < 3)
        loop_task_queue(&world->tasks[0]);
}

static void timers_fire_in_order_of_their_time(void **state)
{
    (void)state;
    struct world world;

    world_init(&world);
    nsec_t start = nsec_now_monotonic();
    loop_timer_init(&world.timers[0], world.loop, say_a, &world);
    loop_timer_init(&world.timers[1], world.loop, say_b, &world);
    loop_timer_init(&world.timers[2], world.loop, say_b, &world);
    loop_timer_start(&world.timers[0], 20 * NSEC_PER_MSEC);
    loop_timer_start(&world.timers[1], 5 * NSEC_PER_MSEC);
    loop_timer_start(&world.timers[2], 10 * NSEC_PER_MSEC);
    assert_true(loop_timer_is_running(&world.timers[2]));
    loop_timer_stop(&world.timers[2]);
    assert_false(loop_timer_is_running(&world.timers[2]));
    loop_run(world.loop);
    assert_string_equal(world.log.text, "ba");
    assert_true(nsec_now_monotonic() - start >= 20 * NSEC_PER_MSEC);
    world_done(&world);
}

static void a_task_that_is_queued_twice_runs_once(void **state)
{
    (void)state;
    struct world world;

    world_init(&world);
    loop_task_init(&world.tasks[0], world.loop, say_a, &world);
    loop_task_init(&world.tasks[1], world.loop, say_b, &world);
    loop_task_init(&world.tasks[2], world.loop, say_b, &world);
    loop_task_queue(&world.tasks[1]);
    loop_task_queue(&world.tasks[0]);
    loop_task_queue(&world.tasks[1]);
    loop_task_queue(&world.tasks[2]);
    loop_task_cancel(&world.tasks[2]);
    assert_string_equal(world.log.text, "");
    loop_run(world.loop);
    assert_string_equal(world.log.text, "ba");
    world_done(&world);
}

static void a_task_that_queues_itself_leaves_turns_to_others(void **state)
{
    (void)state;
    struct world world;

    world_init(&world);
    loop_task_init(&world.tasks[0], world.loop, again, &world);
    loop_timer_init(&world.timers[0], world.loop, say_a, &world);
    loop_timer_start(&world.timers[0], 0);
    loop_task_queue(&world.tasks[0]);
    loop_run(world.loop);
    assert_int_equal(world.count, 3);
    assert_int_equal(world.log.len, 4);
    assert_true(world.log.text[3] == '+');
    world_done(&world);
}

static void on_signal(void *arg, int number)
{
    struct world *world = arg;

    world->count = number;
    loop_stop(world->loop);
}

static void raise_it(void *arg)
{
    (void)arg;
    assert_int_equal(raise(SIGUSR1), 0);
}

static void a_signal_reaches_its_function(void **state)
{
    (void)state;
    struct world world;

    world_init(&world);
    assert_int_equal(loop_on_signal(world.loop, SIGUSR1, on_signal, &world, NULL), 0);
    loop_timer_init(&world.timers[0], world.loop, raise_it, &world);
    loop_timer_init(&world.timers[1], world.loop, say_b, &world);
    loop_timer_start(&world.timers[0], 0);
    loop_timer_start(&world.timers[1], NSEC_PER_MIN);
    loop_run(world.loop);
    assert_int_equal(world.count, SIGUSR1);
    assert_string_equal(world.log.text, "");
    struct err err = {0};
    assert_true(loop_on_signal(world.loop, SIGKILL, on_signal, &world, &err) < 0);
    assert_true(err.text[0] != '\0');
    world_done(&world);
}

static void work_elsewhere(void *arg)
{
    ((struct world *)arg)->count = 7;
}

static void work_is_done_elsewhere_and_reported_here(void **state)
{
    (void)state;
    struct world world;

    world_init(&world);
    loop_work(world.loop, work_elsewhere, say_a, &world);
    loop_run(world.loop);
    assert_int_equal(world.count, 7);
    assert_string_equal(world.log.text, "a");
    world_done(&world);
}

static void free_all(void *arg)
{
    struct world *world = arg;

    loop_timer_done(&world->timers[0]);
    loop_task_cancel(&world->tasks[1]);
    strbuf_addstr(&world->log, "freed");
}

static void a_callback_may_give_back_what_called_it(void **state)
{
    (void)state;
    struct world world;

    world_init(&world);
    loop_timer_init(&world.timers[0], world.loop, free_all, &world);
    loop_timer_start(&world.timers[0], 0);
    loop_task_init(&world.tasks[0], world.loop, free_all, &world);
    loop_task_init(&world.tasks[1], world.loop, say_b, &world);
    loop_task_queue(&world.tasks[0]);
    loop_task_queue(&world.tasks[1]);
    loop_run(world.loop);
    assert_non_null(strstr(world.log.text, "freed"));
    assert_null(strchr(world.log.text, 'b'));
    world_done(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timers_fire_in_order_of_their_time),
        cmocka_unit_test(a_task_that_is_queued_twice_runs_once),
        cmocka_unit_test(a_task_that_queues_itself_leaves_turns_to_others),
        cmocka_unit_test(a_signal_reaches_its_function),
        cmocka_unit_test(work_is_done_elsewhere_and_reported_here),
        cmocka_unit_test(a_callback_may_give_back_what_called_it),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
