/* SPDX-License-Identifier: Apache-2.0 */
#include "services/scheduler/pace.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/macros.h"
#include "base/mem.h"
#include "net/loop.h"

/* Between cycles at least: what comes meanwhile is decided together. */
#define SETTLE_TIME (2 * NSEC_PER_MSEC)

/* Of the time, cycles that take long get one part in so many. */
enum { SPACING = 4 };

struct pace {
    struct loop_timer timer;
    nsec_t longest;
    pace_run_fn run;
    void *arg;
    uint32_t holds;        // a bit for each enum pace_hold
    bool is_woken;         // a cycle is due because of a change
    nsec_t last_end;       // of a cycle, monotonic
    nsec_t last_duration;  // of a cycle
};

static void start_timer(struct pace *pace, nsec_t after)
{
    if (pace->holds == 0)
        loop_timer_start(&pace->timer, after);
}

static void on_timer(void *arg)
{
    struct pace *pace = arg;
    nsec_t began = nsec_now_monotonic();

    pace->is_woken = false;
    if (pace->holds != 0 || !pace->run)
        return;
    nsec_t again = pace->run(pace->arg);
    pace->last_end = nsec_now_monotonic();
    pace->last_duration = pace->last_end - began;
    if (!pace->is_woken && again > 0)
        start_timer(pace, MAX(again, SETTLE_TIME));
}

struct pace *pace_new(struct loop *loop, nsec_t longest)
{
    struct pace *pace = xcalloc(1, sizeof *pace);

    pace->longest = longest;
    pace->holds = 1U << HOLD_LISTING | 1U << HOLD_STANDBY;
    loop_timer_init(&pace->timer, loop, on_timer, pace);
    return pace;
}

void pace_free(struct pace *pace)
{
    if (!pace)
        return;
    loop_timer_done(&pace->timer);
    free(pace);
}

void pace_set_run(struct pace *pace, pace_run_fn run, void *arg)
{
    pace->run = run;
    pace->arg = arg;
}

void pace_wake(struct pace *pace)
{
    nsec_t since = nsec_now_monotonic() - pace->last_end;
    nsec_t spacing = CLAMP(pace->last_duration * SPACING, SETTLE_TIME, MAX(pace->longest, SETTLE_TIME));

    if (pace->is_woken)
        return;
    pace->is_woken = true;
    start_timer(pace, MAX(spacing - since, (nsec_t)0));
}

void pace_hold(struct pace *pace, enum pace_hold hold)
{
    pace->holds |= 1U << hold;
}

void pace_release(struct pace *pace, enum pace_hold hold)
{
    pace->holds &= ~(1U << hold);
    /* Whatever woke us meanwhile has started no timer. */
    pace->is_woken = false;
    pace_wake(pace);
}

bool pace_is_held(const struct pace *pace, enum pace_hold hold)
{
    return pace->holds & 1U << hold;
}

enum kube_repeat pace_may_repeat(const struct pace *pace)
{
    if (pace_is_held(pace, HOLD_LISTING))
        return KUBE_REPEAT_NEVER;
    return pace_is_held(pace, HOLD_BEHIND) ? KUBE_REPEAT_LATER : KUBE_REPEAT_NOW;
}
