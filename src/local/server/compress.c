/* SPDX-License-Identifier: Apache-2.0 */
#include "local/server/compress.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "base/macros.h"
#include "base/mem.h"
#include "net/http_server.h"

/* Smaller answers are sent sooner than they are compressed; larger ones would hold up all other clients. */
enum { BODY_MIN = 128 << 10, BODY_MAX = 64 << 20 };

/* Objects as text are full of repetitions, which the fastest level finds as well. */
enum { LEVEL = 1, GZIP_WINDOW_BITS = MAX_WBITS + 16, MEMORY_LEVEL = 8 };

/* Whether what stands behind the name of an encoding refuses it: ";q=0". */
static bool is_refused(const char *at, const char *end)
{
    const char *weight = memchr(at, '=', (size_t)(end - at));

    return weight && strtod(weight + 1, NULL) <= 0;
}

/* The header is a list: "gzip, deflate;q=0.5". */
static bool accepts_gzip(const struct http_exchange *exchange)
{
    const char *header = http_exchange_header(exchange, "Accept-Encoding");

    if (!header)
        return false;
    for (const char *at = header; *at;) {
        at += strspn(at, ", \t");
        size_t len = strcspn(at, ",; \t");
        const char *end = at + strcspn(at, ",");
        if (len == strlen("gzip") && strncasecmp(at, "gzip", len) == 0)
            return !is_refused(at + len, end);
        at = end;
    }
    return false;
}

/* NULL without the memory for it. */
static char *compress_body(const char *body, size_t len, size_t *ret_len)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)body, .avail_in = (uInt)len};

    if (deflateInit2(&stream, LEVEL, Z_DEFLATED, GZIP_WINDOW_BITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return NULL;
    uLong bound = deflateBound(&stream, (uLong)len);
    char *packed = xmalloc(bound);

    stream.next_out = (Bytef *)packed;
    stream.avail_out = (uInt)bound;
    BUG_ON(deflate(&stream, Z_FINISH) != Z_STREAM_END);
    *ret_len = stream.total_out;
    (void)deflateEnd(&stream);
    return packed;
}

void reply_compressed(struct http_exchange *exchange, int status, const char *type, const char *body, size_t len)
{
    size_t packed_len = 0;
    char *packed = NULL;

    if (len >= BODY_MIN && len <= BODY_MAX) {
        http_reply_header(exchange, "Vary", "Accept-Encoding");
        if (accepts_gzip(exchange))
            packed = compress_body(body, len, &packed_len);
    }
    if (packed) {
        http_reply_header(exchange, "Content-Encoding", "gzip");
        http_reply(exchange, status, type, packed, packed_len);
    } else {
        http_reply(exchange, status, type, body, len);
    }
    free(packed);
}
