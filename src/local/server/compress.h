/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

struct http_exchange;

/* http_reply(), with a large body in gzip for clients that accept it. Watches and logs, whose clients read them piece by
 * piece, are not answered so. */
void reply_compressed(struct http_exchange *exchange, int status, const char *type, const char *body, size_t len);
