/* SPDX-License-Identifier: Apache-2.0 */

/* When a pause begins and ends, by the standings of followers that are only numbers here. */
#include "kube/follow/pause.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "base/time.h"

struct world {
    struct loop *loop;
    struct follow_pause pause;
    int behind;  // followers that are
    char log[16];
};

static bool is_behind(void *arg)
{
    return ((struct world *)arg)->behind > 0;
}

static void on_change(void *arg, bool is_paused)
{
    struct world *world = arg;

    strcat(world->log, is_paused ? "P" : "G");
    if (!is_paused)
        loop_stop(world->loop);
}

static void world_init(struct world *world)
{
    *world = (struct world){.loop = loop_new()};
    world->pause = (struct follow_pause){.is_behind = is_behind, .on_change = on_change, .arg = world};
    follow_pause_init(&world->pause, world->loop);
}

static void world_done(struct world *world)
{
    follow_pause_done(&world->pause);
    loop_free(world->loop);
}

static void set_behind(struct world *world, int behind)
{
    world->behind = behind;
    follow_pause_look(&world->pause);
}

static void a_pause_ends_a_moment_after_the_last_watch_is_open(void **arg)
{
    struct world world;

    (void)arg;
    world_init(&world);
    set_behind(&world, 0);
    assert_false(world.pause.is_paused);
    set_behind(&world, 2);
    set_behind(&world, 1);
    assert_true(world.pause.is_paused);
    set_behind(&world, 0);
    assert_true(world.pause.is_paused);
    assert_string_equal(world.log, "P");
    loop_run(world.loop);
    assert_false(world.pause.is_paused);
    assert_string_equal(world.log, "PG");
    world_done(&world);
}

static void a_watch_that_is_cut_again_meanwhile_prolongs_it(void **arg)
{
    struct world world;

    (void)arg;
    world_init(&world);
    set_behind(&world, 1);
    set_behind(&world, 0);
    set_behind(&world, 1);
    assert_false(loop_timer_is_running(&world.pause.caught_up));
    set_behind(&world, 0);
    loop_run(world.loop);
    assert_string_equal(world.log, "PG");
    world_done(&world);
}

static void whoever_follows_anew_has_no_pause(void **arg)
{
    struct world world;

    (void)arg;
    world_init(&world);
    set_behind(&world, 1);
    set_behind(&world, 0);
    follow_pause_clear(&world.pause);
    assert_false(world.pause.is_paused);
    assert_false(loop_timer_is_running(&world.pause.caught_up));
    assert_string_equal(world.log, "P");
    world_done(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pause_ends_a_moment_after_the_last_watch_is_open),
        cmocka_unit_test(a_watch_that_is_cut_again_meanwhile_prolongs_it),
        cmocka_unit_test(whoever_follows_anew_has_no_pause),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
