/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <llhttp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "net/websocket/key.h"

/* What a server answers to the request for a WebSocket: 101, or a refusal with a body. Not for use outside of this folder. */
struct websocket_answer {
    llhttp_t parser;
    llhttp_settings_t settings;
    struct strbuf name, value;  // of the header that is read
    struct strbuf body;         // of a refusal
    size_t head_len;
    int status;      // 0: not read yet
    bool has_ended;  // whole
    bool is_upgrade;
    char accept[WEBSOCKET_ACCEPT_BYTES];
    char protocol[64];  // that the server has chosen; "": none
};

void websocket_answer_init(struct websocket_answer *answer);
void websocket_answer_done(struct websocket_answer *answer);

/* Reads bytes that have come. Returns how many of them belong to the answer, or -EPROTO when this is none or is too long.
 * After `has_ended` the bytes belong to the WebSocket. */
MUST_CHECK ssize_t websocket_answer_read(struct websocket_answer *answer, const char *bytes, size_t len);
