/* SPDX-License-Identifier: Apache-2.0 */

/*
 * libzip wants a file whole, and ours comes in pieces over some time: they are packed by zlib, and libzip gets what is
 * packed already, together with size and checksum, to put an archive around it.
 */
#include "text/zip/zip_write.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>
#include <zlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"

enum { LEVEL = 3, RAW_WINDOW_BITS = -15, MEMORY_LEVEL = 8, STEP = 64 * 1024 };

struct zip_writer {
    char *member;
    size_t max_bytes;
    z_stream stream;
    VEC(char) packed;
    size_t size;  // unpacked
    uLong sum;
    size_t read;  // by libzip
    bool is_full;
};

struct zip_writer *zip_writer_new(const char *member, size_t max_bytes)
{
    struct zip_writer *writer = xcalloc(1, sizeof *writer);

    writer->member = xstrdup(member);
    writer->max_bytes = max_bytes;
    writer->sum = crc32(0, NULL, 0);
    BUG_ON(deflateInit2(&writer->stream, LEVEL, Z_DEFLATED, RAW_WINDOW_BITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK);
    return writer;
}

void zip_writer_free(struct zip_writer *writer)
{
    if (!writer)
        return;
    (void)deflateEnd(&writer->stream);
    vec_done(&writer->packed);
    free(writer->member);
    free(writer);
}

static void pack(struct zip_writer *writer, int flush)
{
    z_stream *stream = &writer->stream;
    int r;

    do {
        uint32_t had = writer->packed.len;

        if (had > writer->max_bytes) {
            writer->is_full = true;
            return;
        }
        vec_resize(&writer->packed, had + STEP);
        stream->next_out = (Bytef *)writer->packed.items + had;
        stream->avail_out = STEP;
        r = deflate(stream, flush);
        writer->packed.len -= stream->avail_out;
    } while (flush == Z_FINISH ? r == Z_OK : stream->avail_in > 0 || stream->avail_out == 0);
}

void zip_writer_add(struct zip_writer *writer, const char *bytes, size_t len)
{
    if (writer->is_full || len == 0)
        return;
    writer->size += len;
    writer->sum = crc32_z(writer->sum, (const Bytef *)bytes, len);
    while (len > 0 && !writer->is_full) {
        uInt part = (uInt)MIN(len, (size_t)1 << 30);

        writer->stream.next_in = (Bytef *)(uintptr_t)bytes;
        writer->stream.avail_in = part;
        pack(writer, Z_NO_FLUSH);
        bytes += part;
        len -= part;
    }
}

static zip_int64_t read_packed(struct zip_writer *writer, void *data, zip_uint64_t len)
{
    size_t n = MIN((size_t)len, writer->packed.len - writer->read);

    memcpy(data, writer->packed.items + writer->read, n);
    writer->read += n;
    return (zip_int64_t)n;
}

/* Saying that it is packed keeps libzip from doing so again. */
static zip_int64_t tell(const struct zip_writer *writer, zip_stat_t *stat)
{
    zip_stat_init(stat);
    stat->valid = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_CRC | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    stat->size = writer->size;
    stat->comp_size = writer->packed.len;
    stat->crc = (zip_uint32_t)writer->sum;
    stat->comp_method = ZIP_CM_DEFLATE;
    stat->encryption_method = ZIP_EM_NONE;
    return sizeof *stat;
}

static zip_int64_t serve(void *arg, void *data, zip_uint64_t len, zip_source_cmd_t command)
{
    struct zip_writer *writer = arg;

    switch (command) {
    case ZIP_SOURCE_OPEN:
        writer->read = 0;
        return 0;
    case ZIP_SOURCE_READ:
        return read_packed(writer, data, len);
    case ZIP_SOURCE_STAT:
        return len < sizeof(zip_stat_t) ? -1 : tell(writer, data);
    case ZIP_SOURCE_SUPPORTS:
        return ZIP_SOURCE_SUPPORTS_READABLE;
    case ZIP_SOURCE_ERROR:
        memset(data, 0, MIN((size_t)len, 2 * sizeof(int)));
        return 2 * sizeof(int);
    default:
        return 0;
    }
}

/* The archive's bytes, taken back from libzip, which has written them to `into`. */
static int take(zip_source_t *into, char **ret_data, size_t *ret_len)
{
    zip_stat_t stat;

    if (zip_source_stat(into, &stat) < 0 || zip_source_open(into) < 0)
        return -EIO;
    char *data = xmalloc(stat.size + 1);
    zip_int64_t n = zip_source_read(into, data, stat.size);

    (void)zip_source_close(into);
    if (n != (zip_int64_t)stat.size) {
        free(data);
        return -EIO;
    }
    *ret_data = data;
    *ret_len = stat.size;
    return 0;
}

static int frame(struct zip_writer *writer, zip_source_t *into)
{
    zip_t *zip = zip_open_from_source(into, ZIP_CREATE | ZIP_TRUNCATE, NULL);
    zip_source_t *from = zip ? zip_source_function(zip, serve, writer) : NULL;
    zip_int64_t index = from ? zip_file_add(zip, writer->member, from, 0) : -1;

    if (index < 0 || zip_set_file_compression(zip, (zip_uint64_t)index, ZIP_CM_DEFLATE, 0) < 0 || zip_close(zip) < 0) {
        if (from && index < 0)
            zip_source_free(from);
        if (zip)
            zip_discard(zip);
        return -EIO;
    }
    return 0;
}

int zip_writer_finish(struct zip_writer *writer, char **ret_data, size_t *ret_len, struct err *err)
{
    zip_source_t *into;

    writer->stream.avail_in = 0;
    pack(writer, Z_FINISH);
    if (writer->is_full)
        return err_set(err, -EFBIG, "%s takes more than %zu MiB packed", writer->member, writer->max_bytes >> 20);
    into = zip_source_buffer_create(NULL, 0, 0, NULL);
    BUG_ON(!into);
    zip_source_keep(into);
    int r = frame(writer, into);
    if (r >= 0)
        r = take(into, ret_data, ret_len);
    zip_source_free(into);
    return r < 0 ? err_set(err, r, "%s cannot be added to an archive", writer->member) : 0;
}
