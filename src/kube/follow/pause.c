/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/follow/pause.h"

#include "base/time.h"

#define CATCH_UP_TIME (20 * NSEC_PER_MSEC)

static void on_caught_up(void *arg)
{
    struct follow_pause *pause = arg;

    if (pause->is_behind(pause->arg))
        return;
    pause->is_paused = false;
    pause->on_change(pause->arg, false);
}

void follow_pause_init(struct follow_pause *pause, struct loop *loop)
{
    pause->is_paused = false;
    loop_timer_init(&pause->caught_up, loop, on_caught_up, pause);
}

void follow_pause_done(struct follow_pause *pause)
{
    loop_timer_done(&pause->caught_up);
}

void follow_pause_look(struct follow_pause *pause)
{
    if (!pause->is_behind(pause->arg)) {
        if (pause->is_paused)
            loop_timer_start(&pause->caught_up, CATCH_UP_TIME);
        return;
    }
    loop_timer_stop(&pause->caught_up);
    if (pause->is_paused)
        return;
    pause->is_paused = true;
    pause->on_change(pause->arg, true);
}

void follow_pause_clear(struct follow_pause *pause)
{
    loop_timer_stop(&pause->caught_up);
    pause->is_paused = false;
}
