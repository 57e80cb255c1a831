/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/macros.h"
#include "gpu/protocol/pages.h"

/* The daemon's side of the shared pages. */
struct shared_page {
    int fd;
    void *mem;
    uint32_t size;
};

/* A page that others can map for reading only, and one that they may write; neither can be resized. Returns 0 or a
 * negative errno. */
MUST_CHECK int shared_page_new(struct shared_page *page, const char *name, uint32_t size, bool is_read_only);
void shared_page_free(struct shared_page *page);

/* Changes a gate's word and wakes whoever waits for that. */
void gate_set(struct gpu_control_line *line, enum gpu_gate_state state);

/* Wakes up one that waits, although nothing has changed yet: it will be its turn shortly. */
void gate_rouse(struct gpu_control_line *line);
