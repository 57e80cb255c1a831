/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "net/loop.h"

/*
 * A pause while what is known may be old: whoever decides by what several followers have told makes one while the watch of
 * any of them is cut. It ends a moment after the last one is open again, since what was missed comes right behind the
 * headers of a watch and has to be taken in first.
 */
struct follow_pause {
    bool (*is_behind)(void *arg);                  // one of the followers that matter is not FOLLOW_CURRENT
    void (*on_change)(void *arg, bool is_paused);  // the pause has begun, or is over
    void *arg;
    bool is_paused;  // to be read by anybody
    struct loop_timer caught_up;
};

/* Callbacks and `arg` are set by the caller. It is not paused at first. */
void follow_pause_init(struct follow_pause *pause, struct loop *loop);
void follow_pause_done(struct follow_pause *pause);

/* To be called when the standing of a follower has changed. */
void follow_pause_look(struct follow_pause *pause);

/* There is nobody to wait for any more: all are followed anew. Nothing is called back. */
void follow_pause_clear(struct follow_pause *pause);
