/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "base/macros.h"

struct err;

/*
 * Headers of SPDY/3, compressed. Each direction of a session has one stream of zlib over all its headers, so every block has
 * to be read, in order, whether somebody wants it or not.
 */
enum { SPDY_HEADERS_BYTES_MAX = 64 << 10, SPDY_HEADERS_MAX = 128 };

struct spdy_header {
    const char *name, *value;
};

struct spdy_headers;
struct spdy_headers *spdy_headers_new(void);
void spdy_headers_free(struct spdy_headers *headers);

/* Reads a block. The headers are borrowed until the next call. Returns 0, or -EPROTO for one that is broken or too large. */
MUST_CHECK int spdy_headers_read(struct spdy_headers *headers, const char *bytes, size_t len,
                                 const struct spdy_header **ret_rows, size_t *ret_count, struct err *err);

/* A block without headers, which is all that servers of Kubernetes answer with; borrowed until the next call. */
const char *spdy_headers_none(struct spdy_headers *headers, size_t *ret_len);
