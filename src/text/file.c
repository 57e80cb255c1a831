/* SPDX-License-Identifier: Apache-2.0 */
#include "text/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/err.h"
#include "base/mem.h"

enum { FIRST_BYTES = 64 * 1024 };

/* Data that grows up to a limit. There is room for one byte more than `max`: a reader that fills it knows that its
 * input is too large, and otherwise it holds the final NUL. */
struct growing {
    char *data;
    size_t len;
    size_t cap;
    size_t max;
};

static void growing_done(struct growing *g)
{
    free(g->data);
}

/* Makes free space; false when the limit has been passed. */
static bool growing_room(struct growing *g)
{
    if (g->len > g->max)
        return false;
    if (g->len == g->cap) {
        g->cap = MIN(MAX(g->cap * 2, (size_t)FIRST_BYTES), g->max + 1);
        g->data = xrealloc(g->data, g->cap);
    }
    return true;
}

static int too_large(size_t max_bytes, struct err *err)
{
    return err_set(err, -EFBIG, "is larger than the limit of %zu bytes", max_bytes);
}

static void growing_take(struct growing *g, char **ret_data, size_t *ret_len)
{
    g->data = xrealloc(g->data, g->len + 1);
    g->data[g->len] = '\0';
    *ret_len = g->len;
    *ret_data = TAKE_PTR(g->data);
}

static void closep(const int *fd)
{
    if (*fd > STDERR_FILENO)
        (void)close(*fd);
}

static int read_all(int fd, size_t max_bytes, char **ret_data, size_t *ret_len, struct err *err)
{
    _cleanup_(growing_done) struct growing got = {.max = max_bytes};

    for (;;) {
        if (!growing_room(&got))
            return too_large(max_bytes, err);
        ssize_t count = read(fd, got.data + got.len, got.cap - got.len);

        if (count == 0)
            break;
        if (count < 0 && errno != EINTR)
            return err_set(err, -errno, "%s", strerror(errno));
        got.len += count > 0 ? (size_t)count : 0;
    }
    growing_take(&got, ret_data, ret_len);
    return 0;
}

static void inflate_done(z_stream *stream)
{
    (void)inflateEnd(stream);
}

/* Unpacks one member into `out` and leaves `stream` after it. */
static int inflate_member(z_stream *stream, struct growing *out, struct err *err)
{
    int status = Z_OK;

    while (status == Z_OK) {
        if (!growing_room(out))
            return too_large(out->max, err);
        uInt space = (uInt)MIN(out->cap - out->len, (size_t)UINT32_MAX);

        stream->next_out = (Bytef *)out->data + out->len;
        stream->avail_out = space;
        status = inflate(stream, Z_NO_FLUSH);
        out->len += space - stream->avail_out;
    }
    /* The last byte may have come together with the end. */
    if (out->len > out->max)
        return too_large(out->max, err);
    if (status == Z_BUF_ERROR)
        return err_set(err, -EBADMSG, "gzip data ends too early");
    if (status != Z_STREAM_END)
        return err_set(err, -EBADMSG, "damaged gzip data: %s", stream->msg ? stream->msg : "unknown format");
    return 0;
}

static bool is_gzip(const char *data, size_t len)
{
    return len >= 2 && (unsigned char)data[0] == 0x1f && (unsigned char)data[1] == 0x8b;
}

int file_gunzip(const void *data, size_t len, size_t max_bytes, char **ret_data, size_t *ret_len, struct err *err)
{
    enum { GZIP_ONLY = 16 };

    if (len > UINT32_MAX)
        return too_large(UINT32_MAX, err);

    _cleanup_(growing_done) struct growing out = {.max = max_bytes};
    _cleanup_(inflate_done) z_stream stream = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)len};
    if (inflateInit2(&stream, MAX_WBITS + GZIP_ONLY) != Z_OK)
        return err_set(err, -ENOMEM, "zlib cannot be initialized");

    do {
        int r = inflate_member(&stream, &out, err);
        if (r < 0)
            return r;
        (void)inflateReset(&stream);
    } while (is_gzip((const char *)stream.next_in, stream.avail_in));

    growing_take(&out, ret_data, ret_len);
    return 0;
}

const char *file_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

int file_read(const char *path, size_t max_bytes, char **ret_data, size_t *ret_len, struct err *err)
{
    _cleanup_(closep) int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    _cleanup_(freep) char *raw = NULL;
    size_t len = 0;

    if (fd < 0)
        return err_set(err, -errno, "%s: %s", file_name(path), strerror(errno));

    int r = read_all(fd, max_bytes, &raw, &len, err);
    if (r < 0)
        return err_wrap(err, r, "%s", file_name(path));
    if (is_gzip(raw, len)) {
        r = file_gunzip(raw, len, max_bytes, ret_data, ret_len, err);
        return r < 0 ? err_wrap(err, r, "%s", file_name(path)) : 0;
    }
    *ret_data = TAKE_PTR(raw);
    *ret_len = len;
    return 0;
}
