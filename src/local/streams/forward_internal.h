/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

struct http_exchange;
struct loop;

/* A port by its number. Returns 0 or -EINVAL. */
MUST_CHECK int forward_port(const char *text, uint16_t *ret_port);

/* forward.c: streams of SPDY in a WebSocket, or after an upgrade of their own. Answers the exchange. */
void forward_spdy(struct http_exchange *exchange, struct loop *loop, bool is_tunnelled);

/* forward_channels.c: channels of a WebSocket, two for each of the ports. Answers the exchange. */
enum { FORWARD_PORTS_MAX = 64 };
void forward_channels(struct http_exchange *exchange, struct loop *loop, const char *protocol, const uint16_t *ports,
                      size_t count);
