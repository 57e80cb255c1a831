/* SPDX-License-Identifier: Apache-2.0 */
#include "net/spdy/spdy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

/* A frame has a head of eight bytes: whose it is, flags in one byte, the length of the rest in three. */
enum { HEAD = 8, ID = 4, DATA_MAX = (1 << 24) - 1, VERSION = 3, FLAG_LAST = 1, STATUS_CANCEL = 5 };

#define STREAM_MASK UINT32_C(0x7fffffff)
#define CONTROL UINT32_C(0x80000000)

enum frame_type {
    SYN_STREAM = 1,
    SYN_REPLY = 2,
    RST_STREAM = 3,
    PING = 6,
    HEADERS = 8,
};

struct spdy {
    struct spdy_handler handler;
    struct spdy_headers *headers;
    char head[HEAD];
    size_t head_len;
    size_t left;  // bytes of the frame that have not come yet
    char body[SPDY_CONTROL_MAX];
    size_t body_len;
    uint32_t last_stream;
};

struct spdy *spdy_new(const struct spdy_handler *handler)
{
    struct spdy *spdy = xcalloc(1, sizeof *spdy);

    spdy->handler = *handler;
    spdy->headers = spdy_headers_new();
    return spdy;
}

void spdy_free(struct spdy *spdy)
{
    if (!spdy)
        return;
    spdy_headers_free(spdy->headers);
    free(spdy);
}

static uint32_t get(const char *bytes)
{
    const unsigned char *b = (const unsigned char *)bytes;

    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static void put(char *bytes, uint32_t value)
{
    for (int i = 0; i < ID; i++)
        bytes[i] = (char)(value >> (24 - 8 * i) & 0xff);
}

/* --- to the client --- */

static void write_frame(struct spdy *spdy, uint32_t first, unsigned flags, size_t len)
{
    char head[HEAD];

    put(head, first);
    put(head + ID, (uint32_t)flags << 24 | (uint32_t)len);
    spdy->handler.write(spdy->handler.arg, head, sizeof head);
}

static void write_control(struct spdy *spdy, enum frame_type type, size_t len)
{
    write_frame(spdy, CONTROL | (uint32_t)VERSION << 16 | type, 0, len);
}

static void write_id(struct spdy *spdy, uint32_t id)
{
    char bytes[ID];

    put(bytes, id);
    spdy->handler.write(spdy->handler.arg, bytes, sizeof bytes);
}

void spdy_accept(struct spdy *spdy, uint32_t stream)
{
    size_t len = 0;
    const char *none = spdy_headers_none(spdy->headers, &len);

    write_control(spdy, SYN_REPLY, ID + len);
    write_id(spdy, stream);
    spdy->handler.write(spdy->handler.arg, none, len);
}

void spdy_send(struct spdy *spdy, uint32_t stream, const char *bytes, size_t len, bool is_last)
{
    do {
        size_t part = MIN(len, (size_t)DATA_MAX);

        write_frame(spdy, stream, is_last && part == len ? FLAG_LAST : 0, part);
        if (part > 0)
            spdy->handler.write(spdy->handler.arg, bytes, part);
        bytes += part;
        len -= part;
    } while (len > 0);
}

void spdy_reset(struct spdy *spdy, uint32_t stream)
{
    write_control(spdy, RST_STREAM, 2 * ID);
    write_id(spdy, stream);
    write_id(spdy, STATUS_CANCEL);
}

/* --- from the client --- */

static int broken(struct err *err, const char *what)
{
    return err_set(err, -EPROTO, "SPDY: %s", what);
}

static int open_stream(struct spdy *spdy, struct err *err)
{
    const size_t skipped = 2 * ID + 2;  // its number, that of another, its priority and slot
    const struct spdy_header *rows = NULL;
    size_t count = 0;

    if (spdy->body_len < skipped)
        return broken(err, "a stream is opened by a frame that is too short");
    uint32_t stream = get(spdy->body) & STREAM_MASK;
    int r = spdy_headers_read(spdy->headers, spdy->body + skipped, spdy->body_len - skipped, &rows, &count, err);
    if (r < 0)
        return r;
    /* Streams of clients have odd numbers, each higher than those before. */
    if (stream % 2 == 0 || stream <= spdy->last_stream)
        return broken(err, "the number of a stream is wrong");
    spdy->last_stream = stream;
    spdy->handler.on_open(spdy->handler.arg, stream, rows, count, spdy->head[ID] & FLAG_LAST);
    return 0;
}

/* Headers that come later are read, and nobody wants them. */
static int read_more_headers(struct spdy *spdy, struct err *err)
{
    const struct spdy_header *rows = NULL;
    size_t count = 0;

    if (spdy->body_len < ID)
        return broken(err, "a frame with headers is too short");
    int r = spdy_headers_read(spdy->headers, spdy->body + ID, spdy->body_len - ID, &rows, &count, err);
    if (r == 0 && spdy->head[ID] & FLAG_LAST)
        spdy->handler.on_data(spdy->handler.arg, get(spdy->body) & STREAM_MASK, "", 0, true);
    return r;
}

static int take_control(struct spdy *spdy, struct err *err)
{
    uint32_t first = get(spdy->head);

    if ((first >> 16 & 0x7fff) != VERSION)
        return broken(err, "the client uses another version of SPDY");
    switch (first & 0xffff) {
    case SYN_STREAM:
        return open_stream(spdy, err);
    case SYN_REPLY:
    case HEADERS:
        return read_more_headers(spdy, err);
    case RST_STREAM:
        if (spdy->body_len < ID)
            return broken(err, "a stream is reset by a frame that is too short");
        spdy->handler.on_reset(spdy->handler.arg, get(spdy->body) & STREAM_MASK);
        return 0;
    case PING:
        if (spdy->body_len != ID)
            return broken(err, "a ping is too short");
        write_control(spdy, PING, ID);
        write_id(spdy, get(spdy->body));
        return 0;
    default:
        /* Settings, windows, and that the client goes: nothing depends on them. */
        return 0;
    }
}

static bool is_control(const struct spdy *spdy)
{
    return spdy->head[0] & 0x80;
}

static int begin_frame(struct spdy *spdy, struct err *err)
{
    spdy->left = get(spdy->head + ID) & DATA_MAX;
    spdy->body_len = 0;
    return is_control(spdy) && spdy->left > SPDY_CONTROL_MAX ? broken(err, "a frame is too long") : 0;
}

static void take_data(struct spdy *spdy, const char *bytes, size_t len)
{
    bool is_last = spdy->left == 0 && spdy->head[ID] & FLAG_LAST;

    if (len > 0 || is_last)
        spdy->handler.on_data(spdy->handler.arg, get(spdy->head) & STREAM_MASK, bytes, len, is_last);
}

/* Some of the frame's body; what is not data is kept until it is whole. */
static int take_body(struct spdy *spdy, const char *bytes, size_t len, struct err *err)
{
    int r = 0;

    spdy->left -= len;
    if (is_control(spdy)) {
        memcpy(spdy->body + spdy->body_len, bytes, len);
        spdy->body_len += len;
        r = spdy->left == 0 ? take_control(spdy, err) : 0;
    } else {
        take_data(spdy, bytes, len);
    }
    if (spdy->left == 0)
        spdy->head_len = 0;
    return r;
}

int spdy_read(struct spdy *spdy, const char *bytes, size_t len, struct err *err)
{
    int r = 0;

    while (r == 0 && len > 0) {
        if (spdy->head_len < HEAD) {
            spdy->head[spdy->head_len++] = *bytes++;
            len--;
            if (spdy->head_len < HEAD)
                continue;
            r = begin_frame(spdy, err);
            if (r < 0 || spdy->left > 0)
                continue;
        }
        size_t part = MIN(spdy->left, len);

        r = take_body(spdy, bytes, part, err);
        bytes += part;
        len -= part;
    }
    return r;
}
