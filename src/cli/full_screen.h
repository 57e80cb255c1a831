/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

/*
 * The whole terminal, for commands that draw it again and again. It is given back as it was, however the program ends or is
 * stopped. One at a time in a process.
 */
void full_screen_take(void);
void full_screen_give_back(void);

/* Whether the window has another size since this was asked the last time. */
bool full_screen_was_resized(void);

/* Shows the lines, as many as there is room for. Every line overwrites what was there, so that nothing flickers. */
void full_screen_show(const char *lines, uint32_t height);

enum full_screen_event {
    SCREEN_IS_DUE,   // the time has come
    SCREEN_CHANGED,  // a key was pressed, or the window has changed
    SCREEN_ENDS      // the key function said so, or whoever typed is gone
};

/* Waits until `until`, or for keys, which `on_key` gets (those of cli/keys.h); it returns false to end. */
enum full_screen_event full_screen_wait(nsec_t until, bool (*on_key)(void *arg, int key), void *arg);
