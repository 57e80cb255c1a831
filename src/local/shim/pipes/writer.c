/* SPDX-License-Identifier: Apache-2.0 */
#include "local/shim/pipes/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"

struct chunk {
    struct list_link in_writer;
    size_t len, at;
    char bytes[];
};

int writer_init(struct writer *writer, struct loop *loop, int fd, bool is_packets)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    int flags = own < 0 ? -1 : fcntl(own, F_GETFL);

    *writer = (struct writer){.fd = -1};
    if (flags < 0 || fcntl(own, F_SETFL, flags | O_NONBLOCK) < 0) {
        int r = -errno;

        if (own >= 0)
            (void)close(own);
        return r;
    }
    *writer = (struct writer){.loop = loop, .fd = own, .is_packets = is_packets};
    return 0;
}

static void drop_chunks(struct writer *writer)
{
    for (struct chunk *chunk; (chunk = list_first(&writer->chunks, struct chunk, in_writer));) {
        list_remove(&writer->chunks, &chunk->in_writer);
        free(chunk);
    }
    writer->waiting = 0;
}

void writer_done(struct writer *writer)
{
    loop_watch_done(&writer->watch);
    drop_chunks(writer);
    /* All zeros was never initialised, and has no descriptor. */
    if (writer->loop && writer->fd >= 0)
        (void)close(writer->fd);
    *writer = (struct writer){.fd = -1};
}

static ssize_t put(const struct writer *writer, const char *bytes, size_t len)
{
    return writer->is_packets ? send(writer->fd, bytes, len, MSG_NOSIGNAL) : write(writer->fd, bytes, len);
}

/* Returns whether the chunk is gone. */
static bool write_chunk(struct writer *writer, struct chunk *chunk)
{
    ssize_t n = put(writer, chunk->bytes + chunk->at, chunk->len - chunk->at);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n < 0) {
        writer->is_broken = true;
        drop_chunks(writer);
        return false;
    }
    writer->waiting -= (size_t)n;
    chunk->at += (size_t)n;
    if (chunk->at < chunk->len && !writer->is_packets)
        return false;
    list_remove(&writer->chunks, &chunk->in_writer);
    free(chunk);
    return true;
}

static void on_writable(void *arg)
{
    struct writer *writer = arg;
    struct chunk *chunk;

    while ((chunk = list_first(&writer->chunks, struct chunk, in_writer)) && write_chunk(writer, chunk)) {
    }
    if (writer->chunks.len > 0)
        return;
    loop_watch_done(&writer->watch);
    if (writer->is_closing)
        writer_done(writer);
    else if (writer->on_drain)
        writer->on_drain(writer->arg);
}

void writer_add(struct writer *writer, const char *bytes, size_t len)
{
    if (!writer->loop || writer->fd < 0 || writer->is_broken || writer->is_closing || len == 0)
        return;
    if (writer->chunks.len == 0) {
        ssize_t n = put(writer, bytes, len);

        if (n < 0 && errno != EAGAIN && errno != EINTR) {
            writer->is_broken = true;
            return;
        }
        if (n == (ssize_t)len || (n >= 0 && writer->is_packets))
            return;
        bytes += MAX(n, 0);
        len -= (size_t)MAX(n, 0);
    }
    struct chunk *chunk = xmalloc(sizeof *chunk + len);

    *chunk = (struct chunk){.len = len};
    memcpy(chunk->bytes, bytes, len);
    list_push(&writer->chunks, &chunk->in_writer);
    writer->waiting += len;
    if (!writer->watch.handle &&
        loop_watch_start_writing(&writer->watch, writer->loop, writer->fd, on_writable, writer) < 0) {
        writer->is_broken = true;
        drop_chunks(writer);
    }
}

void writer_end(struct writer *writer)
{
    if (writer->chunks.len > 0)
        writer->is_closing = true;
    else
        writer_done(writer);
}
