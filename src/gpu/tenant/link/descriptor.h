/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* File descriptors in a process that is not ours: a program may close those that it does not know, and open others under
 * the same numbers. So each is remembered with what it was, and checked before it is used. */

#include <stdbool.h>
#include <stdint.h>

struct descriptor {
    int fd;  // -1 when there is none
    uint64_t inode;
};

#define DESCRIPTOR_NONE {.fd = -1}

/* Takes `fd` over and moves it out of the way of programs that count on small numbers. */
void descriptor_put(struct descriptor *descriptor, int fd);

bool descriptor_is_ours(const struct descriptor *descriptor);

/* Closes it, if it is still ours. */
void descriptor_drop(struct descriptor *descriptor);
