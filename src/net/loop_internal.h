/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <uv.h>

#include "base/vec.h"
#include "net/loop.h"

struct signal_handle;

struct loop {
    uv_loop_t uv;
    uv_idle_t idle;  // runs the tasks; active while there are some, so that the loop does not sleep
    struct list tasks;
    uint64_t round;  // of running tasks
    VEC(struct signal_handle *) signals;
};
