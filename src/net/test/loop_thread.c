/* SPDX-License-Identifier: Apache-2.0 */
#include "net/loop_thread.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/strbuf.h"

struct world {
    struct loop *parent;
    struct loop_thread *thread;
    struct strbuf log;
    struct loop_task task;
    pthread_t ran_in;
};

static void world_init(struct world *world)
{
    *world = (struct world){.parent = loop_new()};
    world->thread = loop_thread_new(world->parent);
    strbuf_init(&world->log, 1000);
}

static void world_done(struct world *world)
{
    loop_free(world->parent);
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

static void end(void *arg)
{
    struct world *world = arg;

    world->ran_in = pthread_self();
    loop_stop(loop_thread_loop(world->thread));
}

static void calls_are_made_in_the_thread_and_in_order(void **state)
{
    struct world world;

    (void)state;
    world_init(&world);
    loop_thread_call(world.thread, say_a, &world);
    loop_thread_start(world.thread);
    loop_thread_call(world.thread, say_b, &world);
    loop_thread_call(world.thread, say_a, &world);
    loop_thread_call(world.thread, end, &world);
    loop_thread_join(world.thread);
    assert_string_equal(world.log.text, "aba");
    assert_false(pthread_equal(world.ran_in, pthread_self()));
    world_done(&world);
}

static void what_was_made_before_the_start_runs_in_the_thread(void **state)
{
    struct world world;

    (void)state;
    world_init(&world);
    loop_task_init(&world.task, loop_thread_loop(world.thread), end, &world);
    loop_task_queue(&world.task);
    loop_thread_start(world.thread);
    loop_thread_join(world.thread);
    assert_false(pthread_equal(world.ran_in, pthread_self()));
    world_done(&world);
}

static void a_thread_that_was_not_started_finishes_what_waits(void **state)
{
    struct world world;

    (void)state;
    world_init(&world);
    loop_task_init(&world.task, loop_thread_loop(world.thread), say_a, &world);
    loop_task_queue(&world.task);
    loop_thread_join(world.thread);
    assert_string_equal(world.log.text, "a");
    world_done(&world);
    loop_thread_join(NULL);
}

static void on_signal(void *arg, int number)
{
    struct world *world = arg;

    (void)number;
    strbuf_addstr(&world->log, "s");
    loop_stop(world->parent);
}

static void send_signal(void *arg)
{
    (void)arg;
    (void)kill(getpid(), SIGUSR1);
}

static void its_parent_has_something_to_wait_for(void **state)
{
    struct world world;

    (void)state;
    world_init(&world);
    /* A signal alone does not keep a loop running. */
    assert_int_equal(loop_on_signal(world.parent, SIGUSR1, on_signal, &world, NULL), 0);
    loop_thread_start(world.thread);
    loop_thread_call(world.thread, send_signal, &world);
    loop_run(world.parent);
    assert_string_equal(world.log.text, "s");
    loop_thread_call(world.thread, end, &world);
    loop_thread_join(world.thread);
    world_done(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_made_in_the_thread_and_in_order),
        cmocka_unit_test(what_was_made_before_the_start_runs_in_the_thread),
        cmocka_unit_test(its_parent_has_something_to_wait_for),
        cmocka_unit_test(a_thread_that_was_not_started_finishes_what_waits),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
