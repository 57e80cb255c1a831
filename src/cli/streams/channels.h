/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/macros.h"

/*
 * The messages of Kubernetes' remote commands, versions 4 and 5: a byte with the channel, then bytes. Version 5 can close a
 * channel: 255 and the channel.
 */
enum channel {
    CHANNEL_INPUT,
    CHANNEL_OUTPUT,
    CHANNEL_PROBLEMS,
    CHANNEL_END,   // a Status, when all is over
    CHANNEL_SIZE,  // of the terminal
    CHANNEL_CLOSING = 255,
};

#define CHANNEL_PROTOCOLS "v5.channel.k8s.io, v4.channel.k8s.io"
#define CHANNEL_PROTOCOL_CLOSING "v5.channel.k8s.io"

/* A message of the server. */
struct channel_message {
    enum channel channel;
    const char *bytes;
    size_t len;
};

/* Takes a message apart. False for one that is none of these: empty, or of a channel that is not known. */
MUST_CHECK bool channel_read(const char *bytes, size_t len, struct channel_message *ret);

/*
 * The exit status that the Status at the end stands for. Returns 0 with 0 to 255; or, when the command could not be run, the
 * server's reason as -EINVAL, and -EPROTO for what is no Status.
 */
MUST_CHECK int channel_exit_status(const char *text, size_t len, int *ret_status, struct err *err);

/* The message with the size of a terminal. Returns its length. */
enum { CHANNEL_SIZE_BYTES = 64 };
size_t channel_size_message(unsigned columns, unsigned lines, char message[static CHANNEL_SIZE_BYTES]);
