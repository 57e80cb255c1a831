/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A tenant's side of the protocol, as plain as can be: what the tests drive the daemon with. */
#include <stdbool.h>
#include <stdint.h>

#include "gpu/protocol/message.h"
#include "gpu/protocol/pages.h"

struct client {
    const char *path;
    int fd, events;
    uint64_t session;
    uint32_t gpu_count;
    const struct gpu_control_page *control;
    struct gpu_tenant_page *page;
    _Atomic uint32_t allowed;
    uint32_t asked, yielded;
    uint32_t sequence;
};

/* Connects without a word. Returns false when nobody listens. */
bool client_connect(struct client *c, const char *path);

/* HELLO to WELCOME; with `returns`, ATTACH for the first GPU as well. False when refused. */
bool client_hello(struct client *c, bool returns, uint64_t used);

bool client_send(int fd, const struct gpu_message *message);

/* The next message, within a time; false when there is none or the connection has ended. */
bool client_receive(int fd, struct gpu_message *ret_message, int timeout_ms);

/* RESERVE to its answer; true when granted, with what was granted. */
bool client_reserve(struct client *c, enum gpu_memory_kind kind, uint64_t bytes, uint64_t *ret_bytes);
void client_release(struct client *c, enum gpu_memory_kind kind, uint64_t bytes);

/* The slow way of the gate: returns when a launch may be made. False when the daemon is gone. */
bool client_enter(struct client *c);
void client_close(struct client *c);
uint64_t client_now(void);
