/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/macros.h"

struct err;

/*
 * What `muster gpu top` shows, drawn from the daemon's answer: GPUs with what is used of them, who holds them and who
 * waits; groups, and their processes where they are asked for. Knows nothing of terminals and clocks.
 */
enum gpu_sort { GPU_SORT_NAME, GPU_SORT_MEMORY, GPU_SORT_COMPUTE, GPU_SORT_WAITING, GPU_SORT_COUNT_ };

struct gpu_screen {
    uint32_t width;   // in columns; 0: any
    uint32_t height;  // in lines; 0: any, and no line of keys
    bool has_colour;
    enum gpu_sort sort;
    bool is_reversed;
    bool shows_processes;
    bool shows_help;
    bool is_paused;
    uint32_t first;       // of the groups' lines that are shown
    const char *problem;  // why there is nothing newer; NULL: there is
};

/* What a key (cli/keys.h) changes. Returns false when it ends the program. */
bool gpu_screen_key(struct gpu_screen *screen, int key);

/* Prints the lines, no more of them than fit, each ended. Corrects `first` where there is no such line. Returns 0, or -EINVAL
 * when `status` is not what the daemon says. */
MUST_CHECK int gpu_screen_draw(struct gpu_screen *screen, const char *status, FILE *out, struct err *err);
