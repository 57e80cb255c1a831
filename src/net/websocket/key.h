/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/macros.h"

/* The key that a client sends with its request, and the text by which the server shows that it has read it. */
enum { WEBSOCKET_KEY_LEN = 24, WEBSOCKET_ACCEPT_BYTES = 64 };

/* A new key. False when the system has no random bytes. */
MUST_CHECK bool websocket_key_make(char key[static WEBSOCKET_KEY_LEN + 1]);

/* The answer to a key. */
MUST_CHECK bool websocket_key_answer(const char *key, char text[static WEBSOCKET_ACCEPT_BYTES]);
