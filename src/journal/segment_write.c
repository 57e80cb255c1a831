/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/vec.h"
#include "journal/record.h"
#include "journal/segment.h"
#include "journal/segment_format.h"

#define NAME_END ".journal"
enum { NUMBER_DIGITS = 20, LEVEL = 3, RAW_WINDOW_BITS = -15, MEMORY_LEVEL = 8 };

struct segment_writer {
    char *path;
    int fd;
    z_stream stream;
    uint64_t size;  // of what is good
    uint64_t chunks;
    struct wire_bytes packed;  // a chunk with its head
};

char *segment_path(const char *folder, uint64_t number)
{
    char *path;

    BUG_ON(asprintf(&path, "%s/%0*" PRIu64 NAME_END, folder, NUMBER_DIGITS, number) < 0);
    return path;
}

uint64_t segment_number(const char *name)
{
    char *end;

    if (strlen(name) != NUMBER_DIGITS + strlen(NAME_END) || strspn(name, "0123456789") != NUMBER_DIGITS)
        return 0;
    uint64_t number = strtoull(name, &end, 10);

    return strcmp(end, NAME_END) == 0 ? number : 0;
}

uint64_t segment_sum(const uint8_t *bytes, size_t len, uint64_t seed)
{
    return hash_bytes(bytes, len, seed);
}

static int write_all(struct segment_writer *writer, const uint8_t *bytes, size_t len, struct err *err)
{
    size_t done = 0;

    while (done < len) {
        ssize_t n = write(writer->fd, bytes + done, len - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            int code = n < 0 ? -errno : -ENOSPC;

            /* What was begun would only be found to be cut; a file that cannot be cut back keeps it. */
            if (ftruncate(writer->fd, (off_t)writer->size) < 0)
                return err_set(err, code, "%s: %s; the last record is incomplete", writer->path, strerror(-code));
            return err_set(err, code, "%s: %s", writer->path, strerror(-code));
        }
        done += (size_t)n;
    }
    writer->size += len;
    return 0;
}

static int write_header(struct segment_writer *writer, nsec_t created, struct err *err)
{
    uint8_t header[HEADER_BYTES] = {0};

    memcpy(header, SEGMENT_MAGIC, MAGIC_BYTES);
    store_u32(header + VERSION_AT, SEGMENT_VERSION);
    store_u32(header + FORM_AT, RECORD_FORM);
    store_u64(header + FINGERPRINT_AT, record_fingerprint(RECORD_FORM));
    store_u64(header + CREATED_AT, (uint64_t)created);
    store_u64(header + HEADER_SUMMED, segment_sum(header, HEADER_SUMMED, 0));
    return write_all(writer, header, sizeof header, err);
}

int segment_create(const char *path, nsec_t created, struct segment_writer **ret, struct err *err)
{
    struct segment_writer *writer = xcalloc(1, sizeof *writer);

    writer->path = xstrdup(path);
    BUG_ON(deflateInit2(&writer->stream, LEVEL, Z_DEFLATED, RAW_WINDOW_BITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK);
    writer->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0640);
    int r = writer->fd < 0 ? err_set(err, -errno, "%s: %s", path, strerror(errno)) : write_header(writer, created, err);
    if (r < 0) {
        if (writer->fd >= 0)
            (void)unlink(path);
        segment_close(writer);
        return r;
    }
    *ret = writer;
    return 0;
}

static void pack(struct segment_writer *writer, const uint8_t *bytes, size_t len)
{
    z_stream *stream = &writer->stream;
    struct wire_bytes *packed = &writer->packed;

    vec_clear(packed);
    vec_resize(packed, CHUNK_HEAD_BYTES + deflateBound(stream, len) + 64);
    stream->next_in = (uint8_t *)(uintptr_t)bytes;
    stream->avail_in = (uInt)len;
    stream->next_out = packed->items + CHUNK_HEAD_BYTES;
    stream->avail_out = packed->len - CHUNK_HEAD_BYTES;
    BUG_ON(deflate(stream, Z_SYNC_FLUSH) != Z_OK || stream->avail_in > 0 || stream->avail_out == 0);
    packed->len -= stream->avail_out;
}

int segment_write(struct segment_writer *writer, const uint8_t *bytes, size_t len, struct err *err)
{
    if (len > SEGMENT_CHUNK_MAX)
        return err_set(err, -EFBIG, "%s: a chunk of %zu bytes is larger than the limit of %d", writer->path, len,
                       SEGMENT_CHUNK_MAX);
    pack(writer, bytes, len);

    uint8_t *head = writer->packed.items;
    uint32_t packed_len = writer->packed.len - CHUNK_HEAD_BYTES;

    store_u32(head, packed_len);
    store_u32(head + 4, (uint32_t)len);
    store_u32(head + 8, (uint32_t)segment_sum(head, 8, writer->chunks));
    store_u64(head + 12, segment_sum(head + CHUNK_HEAD_BYTES, packed_len, writer->chunks));
    writer->chunks++;
    return write_all(writer, head, writer->packed.len, err);
}

uint64_t segment_size(const struct segment_writer *writer)
{
    return writer->size;
}

void segment_close(struct segment_writer *writer)
{
    if (!writer)
        return;
    (void)deflateEnd(&writer->stream);
    if (writer->fd >= 0)
        (void)close(writer->fd);
    vec_done(&writer->packed);
    free(writer->path);
    free(writer);
}
