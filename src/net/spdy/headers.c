/* SPDX-License-Identifier: Apache-2.0 */
#include "net/spdy/headers.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "net/spdy/dictionary.h"

enum { NUMBER = 4, NONE_MAX = 64 };

static const char dictionary[] = SPDY_DICTIONARY;

struct spdy_headers {
    z_stream in, out;
    char text[SPDY_HEADERS_BYTES_MAX + 1];  // of the last block, with a NUL behind each name and value
    struct spdy_header rows[SPDY_HEADERS_MAX];
    char none[NONE_MAX];
};

struct spdy_headers *spdy_headers_new(void)
{
    struct spdy_headers *headers = xcalloc(1, sizeof *headers);

    /* zlib fails here for want of memory alone. */
    BUG_ON(inflateInit(&headers->in) != Z_OK || deflateInit(&headers->out, Z_BEST_SPEED) != Z_OK ||
           deflateSetDictionary(&headers->out, (const Bytef *)dictionary, SPDY_DICTIONARY_LEN) != Z_OK);
    return headers;
}

void spdy_headers_free(struct spdy_headers *headers)
{
    if (!headers)
        return;
    (void)inflateEnd(&headers->in);
    (void)deflateEnd(&headers->out);
    free(headers);
}

static uint32_t number(const char *bytes)
{
    const unsigned char *b = (const unsigned char *)bytes;

    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static int unpack(struct spdy_headers *headers, const char *bytes, size_t len, size_t *ret_len)
{
    z_stream *in = &headers->in;

    in->next_in = (Bytef *)(uintptr_t)bytes;
    in->avail_in = (uInt)len;
    in->next_out = (Bytef *)headers->text;
    in->avail_out = SPDY_HEADERS_BYTES_MAX;
    while (in->avail_in > 0 && in->avail_out > 0) {
        int r = inflate(in, Z_SYNC_FLUSH);

        if (r == Z_NEED_DICT)
            r = inflateSetDictionary(in, (const Bytef *)dictionary, SPDY_DICTIONARY_LEN);
        if (r != Z_OK)
            return -EPROTO;
    }
    /* What does not fit would be missing in the next block. */
    if (in->avail_out == 0)
        return -EPROTO;
    *ret_len = SPDY_HEADERS_BYTES_MAX - in->avail_out;
    return 0;
}

/* A name or value of the text, `*at` bytes into it. Its length, which has been read then, gives place to a NUL of the text before. */
static const char *take(struct spdy_headers *headers, size_t *at, size_t len)
{
    size_t left = len - *at;
    uint32_t bytes = left < NUMBER ? 0 : number(headers->text + *at);

    if (left < NUMBER || bytes > left - NUMBER)
        return NULL;
    char *text = headers->text + *at;
    memmove(text, text + NUMBER, bytes);
    text[bytes] = '\0';
    *at += NUMBER + bytes;
    return text;
}

int spdy_headers_read(struct spdy_headers *headers, const char *bytes, size_t len, const struct spdy_header **ret_rows,
                      size_t *ret_count, struct err *err)
{
    size_t text_len = 0, at = NUMBER;

    if (unpack(headers, bytes, len, &text_len) < 0)
        return err_set(err, -EPROTO, "SPDY: headers that cannot be unpacked");
    uint32_t count = text_len < NUMBER ? UINT32_MAX : number(headers->text);
    if (count > SPDY_HEADERS_MAX)
        return err_set(err, -EPROTO, "SPDY: too many headers");
    for (uint32_t i = 0; i < count; i++) {
        headers->rows[i].name = take(headers, &at, text_len);
        headers->rows[i].value = headers->rows[i].name ? take(headers, &at, text_len) : NULL;
        if (!headers->rows[i].value)
            return err_set(err, -EPROTO, "SPDY: a header is cut off");
    }
    *ret_rows = headers->rows;
    *ret_count = count;
    return 0;
}

const char *spdy_headers_none(struct spdy_headers *headers, size_t *ret_len)
{
    static const Bytef zero[NUMBER];
    z_stream *out = &headers->out;

    out->next_in = (Bytef *)(uintptr_t)zero;
    out->avail_in = NUMBER;
    out->next_out = (Bytef *)headers->none;
    out->avail_out = NONE_MAX;
    BUG_ON(deflate(out, Z_SYNC_FLUSH) != Z_OK || out->avail_in > 0 || out->avail_out == 0);
    *ret_len = NONE_MAX - out->avail_out;
    return headers->none;
}
