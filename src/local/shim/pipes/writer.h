/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "base/macros.h"
#include "net/watch.h"

/*
 * Writes to a descriptor without waiting: bytes that it does not take yet are kept and written when it does. On a packet
 * socket each call of writer_add() is one packet.
 */
struct writer {
    struct loop *loop;
    int fd;  // a duplicate of the caller's, so that it can be watched beside it; -1: none
    bool is_packets;
    bool is_broken;   // the other side is gone: what is added is dropped
    bool is_closing;  // closes when everything has been written
    size_t waiting;   // bytes
    struct list chunks;
    struct loop_watch watch;
    void (*on_drain)(void *arg);  // everything has been written; may be NULL
    void *arg;
};

/* `fd` stays the caller's. All zeros, and a writer that is done, take nothing. */
MUST_CHECK int writer_init(struct writer *writer, struct loop *loop, int fd, bool is_packets);
void writer_done(struct writer *writer);

void writer_add(struct writer *writer, const char *bytes, size_t len);

/* No more comes: closes the writer's own descriptor after the last byte. */
void writer_end(struct writer *writer);
