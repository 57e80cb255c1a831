/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "journal/record.h"
#include "journal/segment.h"
#include "journal/segment_format.h"

enum { RAW_WINDOW_BITS = -15 };

struct segment_reader {
    char *path;
    FILE *file;
    uint64_t size;  // of the file
    uint64_t at;    // behind what was read
    uint64_t chunks;
    z_stream stream;
    nsec_t created;
    uint32_t form;
    bool is_cut;
    struct wire_bytes packed;
    struct wire_bytes unpacked;
};

static int read_header(struct segment_reader *reader, struct err *err)
{
    uint8_t header[HEADER_BYTES];
    size_t n = fread(header, 1, sizeof header, reader->file);

    if (n < sizeof header || memcmp(header, SEGMENT_MAGIC, MAGIC_BYTES) != 0)
        return err_set(err, -EINVAL, "%s: is not a journal", reader->path);
    if (load_u64(header + HEADER_SUMMED) != segment_sum(header, HEADER_SUMMED, 0))
        return err_set(err, -EINVAL, "%s: the header is damaged", reader->path);
    if (load_u32(header + VERSION_AT) > SEGMENT_VERSION || load_u32(header + FORM_AT) > RECORD_FORM)
        return err_set(err, -EINVAL,
                       "%s: was written by a newer version of Muster; replay it with that version or a later one",
                       reader->path);
    reader->form = record_form(load_u64(header + FINGERPRINT_AT));
    if (load_u32(header + VERSION_AT) != SEGMENT_VERSION || reader->form == 0)
        return err_set(err, -EINVAL,
                       "%s: was written by a version of Muster that this one does not know; replay it with the version "
                       "that wrote it",
                       reader->path);
    reader->created = (nsec_t)load_u64(header + CREATED_AT);
    reader->at = sizeof header;
    return 0;
}

int segment_open(const char *path, struct segment_reader **ret, struct err *err)
{
    struct segment_reader *reader = xcalloc(1, sizeof *reader);
    struct stat stat_buf;
    int r = 0;

    reader->path = xstrdup(path);
    BUG_ON(inflateInit2(&reader->stream, RAW_WINDOW_BITS) != Z_OK);
    reader->file = fopen(path, "re");
    if (!reader->file || fstat(fileno(reader->file), &stat_buf) < 0) {
        r = err_set(err, -errno, "%s: %s", path, strerror(errno));
    } else {
        reader->size = (uint64_t)stat_buf.st_size;
        r = read_header(reader, err);
    }
    if (r < 0) {
        segment_reader_free(reader);
        return r;
    }
    *ret = reader;
    return 0;
}

nsec_t segment_created(const struct segment_reader *reader)
{
    return reader->created;
}

uint32_t segment_form(const struct segment_reader *reader)
{
    return reader->form;
}

bool segment_is_cut(const struct segment_reader *reader)
{
    return reader->is_cut;
}

static int end_cut(struct segment_reader *reader)
{
    reader->is_cut = true;
    reader->at = reader->size;
    return 0;
}

static int damaged(struct segment_reader *reader, struct err *err)
{
    uint64_t at = reader->at;

    reader->at = reader->size;
    return err_set(err, -EBADMSG, "%s: is damaged at byte %llu; the rest of the file is ignored", reader->path,
                   (unsigned long long)at);
}

/* A machine that loses its power may leave a file that has grown but was not written: zeros to its end. */
static int bad_head(struct segment_reader *reader, const uint8_t head[static CHUNK_HEAD_BYTES], struct err *err)
{
    bool is_empty = true;

    for (size_t i = 0; i < CHUNK_HEAD_BYTES; i++)
        is_empty &= head[i] == 0;
    for (int byte; is_empty && (byte = fgetc(reader->file)) != EOF;)
        is_empty = byte == 0;
    return is_empty ? end_cut(reader) : damaged(reader, err);
}

static bool unpack(struct segment_reader *reader, uint32_t len)
{
    z_stream *stream = &reader->stream;

    vec_resize(&reader->unpacked, len + 1);
    stream->next_in = reader->packed.items;
    stream->avail_in = reader->packed.len;
    stream->next_out = reader->unpacked.items;
    stream->avail_out = len;
    if (len > 0 && inflate(stream, Z_SYNC_FLUSH) != Z_OK)
        return false;
    /* The mark at the end of a flush comes out as nothing. */
    if (stream->avail_in > 0) {
        stream->next_out = reader->unpacked.items + len;
        stream->avail_out = 1;
        int r = inflate(stream, Z_SYNC_FLUSH);

        return stream->avail_in == 0 && stream->avail_out == 1 && (r == Z_OK || r == Z_BUF_ERROR);
    }
    return stream->avail_out == 0;
}

int segment_read(struct segment_reader *reader, const uint8_t **ret_bytes, size_t *ret_len, struct err *err)
{
    uint8_t head[CHUNK_HEAD_BYTES];
    uint64_t left = reader->size - MIN(reader->at, reader->size);

    if (left == 0)
        return 0;
    if (left < sizeof head || fread(head, 1, sizeof head, reader->file) != sizeof head)
        return end_cut(reader);
    uint32_t packed = load_u32(head);
    uint32_t unpacked = load_u32(head + 4);
    uint64_t end = reader->at + sizeof head + packed;

    if (load_u32(head + 8) != (uint32_t)segment_sum(head, 8, reader->chunks) || unpacked > SEGMENT_CHUNK_MAX ||
        packed > 2 * SEGMENT_CHUNK_MAX)
        return bad_head(reader, head, err);
    if (end > reader->size)
        return end_cut(reader);
    vec_resize(&reader->packed, packed);
    if (packed > 0 && fread(reader->packed.items, 1, packed, reader->file) != packed)
        return end_cut(reader);
    /* A bad chunk that ends the file was not written to its end; one that others follow was good once. */
    if (load_u64(head + 12) != segment_sum(reader->packed.items, packed, reader->chunks) || !unpack(reader, unpacked))
        return end == reader->size ? end_cut(reader) : damaged(reader, err);
    reader->chunks++;
    reader->at = end;
    *ret_bytes = reader->unpacked.items;
    *ret_len = unpacked;
    return 1;
}

void segment_reader_free(struct segment_reader *reader)
{
    if (!reader)
        return;
    (void)inflateEnd(&reader->stream);
    if (reader->file)
        (void)fclose(reader->file);
    vec_done(&reader->packed);
    vec_done(&reader->unpacked);
    free(reader->path);
    free(reader);
}
