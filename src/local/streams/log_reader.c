/* SPDX-License-Identifier: Apache-2.0 */

#include "local/streams/log_reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "local/server/files.h"
#include "local/shim/pipes/log_file.h"
#include "local/streams/log_lines.h"
#include "local/streams/target.h"
#include "net/watch.h"

enum { UNSENT_MAX = 256 << 10, READ_BYTES = 64 << 10, LINE_BYTES_MAX = LOG_LINE_MAX + 128, NAME_BYTES = 64 };

struct log_files VEC_OF(char *);  // paths, the oldest first

struct log_reader {
    struct loop *loop;
    struct log_sink sink;
    struct log_options options;
    char *folder, *container, *pod_folder;
    unsigned run;
    struct log_files files;
    uint32_t next;       // of the files
    int fd;              // that is read; -1: none
    struct strbuf rest;  // of a line whose end has not been read
    bool is_in_line;     // the last piece was no whole line
    int64_t skip;        // lines to leave out, for the tail
    int64_t left;        // bytes that may be sent; -1: all
    int notify;
    struct loop_watch watch;
};

void log_reader_free(struct log_reader *stream)
{
    loop_watch_done(&stream->watch);
    if (stream->fd >= 0)
        (void)close(stream->fd);
    if (stream->notify >= 0)
        (void)close(stream->notify);
    vec_foreach (&stream->files, file)
        free(*file);
    vec_done(&stream->files);
    strbuf_done(&stream->rest);
    free(stream->folder);
    free(stream->container);
    free(stream->pod_folder);
    free(stream);
}

static void end(struct log_reader *stream)
{
    struct log_sink sink = stream->sink;

    log_reader_free(stream);
    sink.end(sink.arg);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* N.log.TIME in the order of time, then N.log. */
static void find_files(struct log_reader *stream)
{
    char name[NAME_BYTES];
    DIR *dir = opendir(stream->folder);

    (void)snprintf(name, sizeof name, "%u.log.", stream->run);
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        if (strncmp(entry->d_name, name, strlen(name)) == 0)
            vec_push(&stream->files, file_path(stream->folder, entry->d_name));
    }
    if (dir)
        (void)closedir(dir);
    if (stream->files.len > 0)
        qsort(stream->files.items, stream->files.len, sizeof *stream->files.items, compare_names);
    name[strlen(name) - 1] = '\0';
    vec_push(&stream->files, file_path(stream->folder, name));
}

/* --- lines --- */

static void send(struct log_reader *stream, const char *bytes, size_t len)
{
    if (stream->left >= 0) {
        len = (size_t)MIN((int64_t)len, stream->left);
        stream->left -= (int64_t)len;
    }
    if (len > 0)
        stream->sink.write(stream->sink.arg, bytes, len);
}

static void take_line(struct log_reader *stream, const char *bytes, size_t len)
{
    struct log_line line;

    if (!log_line_parse(bytes, len, &line) || !log_line_is_wanted(&line, &stream->options))
        return;
    if (stream->skip > 0) {
        stream->skip -= line.is_whole;
        return;
    }
    if (stream->options.has_times && !stream->is_in_line) {
        send(stream, line.time_text, line.time_len);
        send(stream, " ", 1);
    }
    send(stream, line.text, line.len);
    if (line.is_whole)
        send(stream, "\n", 1);
    stream->is_in_line = !line.is_whole;
}

static void count_line(struct log_reader *stream, const char *bytes, size_t len)
{
    struct log_line line;

    if (log_line_parse(bytes, len, &line) && log_line_is_wanted(&line, &stream->options))
        stream->skip += line.is_whole;
}

/* Cuts bytes into lines. */
static void take_bytes(struct log_reader *stream, const char *bytes, size_t len,
                       void (*take)(struct log_reader *stream, const char *bytes, size_t len))
{
    while (len > 0) {
        const char *newline = memchr(bytes, '\n', len);
        size_t part = newline ? (size_t)(newline - bytes) : len;

        if (!newline || stream->rest.len > 0)
            strbuf_add(&stream->rest, bytes, part);
        if (newline) {
            if (stream->rest.len > 0)
                take(stream, stream->rest.text, stream->rest.len);
            else
                take(stream, bytes, part);
            strbuf_clear(&stream->rest);
        }
        part += newline ? 1 : 0;
        bytes += part;
        len -= part;
    }
}

/* How many lines come before the last `tail` ones. */
static void count_skipped(struct log_reader *stream)
{
    char bytes[READ_BYTES];

    for (uint32_t i = 0; stream->options.tail >= 0 && i < stream->files.len; i++) {
        int fd = open(stream->files.items[i], O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        ssize_t n;

        while (fd >= 0 && (n = read(fd, bytes, sizeof bytes)) > 0)
            take_bytes(stream, bytes, (size_t)n, count_line);
        if (fd >= 0)
            (void)close(fd);
    }
    /* A last line that has not ended is one, too. */
    strbuf_clear(&stream->rest);
    stream->skip = stream->options.tail < 0 ? 0 : MAX(stream->skip - stream->options.tail, 0);
}

/* --- files --- */

/* Whether the file that is read is not the newest any more. */
static bool is_replaced(const struct log_reader *stream)
{
    struct stat open_one, newest;

    return fstat(stream->fd, &open_one) == 0 && stat(vec_last(&stream->files), &newest) == 0 &&
           (open_one.st_ino != newest.st_ino || open_one.st_dev != newest.st_dev);
}

static bool open_next(struct log_reader *stream)
{
    if (stream->fd >= 0)
        (void)close(stream->fd);
    stream->fd = -1;
    while (stream->fd < 0 && stream->next < stream->files.len)
        stream->fd = open(stream->files.items[stream->next++], O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    return stream->fd >= 0;
}

/* Returns false at the end of what there is. */
static bool read_some(struct log_reader *stream)
{
    char bytes[READ_BYTES];
    ssize_t n = stream->fd < 0 ? 0 : read(stream->fd, bytes, sizeof bytes);

    if (n > 0) {
        take_bytes(stream, bytes, (size_t)n, take_line);
        return true;
    }
    if (stream->next < stream->files.len)
        return open_next(stream);
    /* The writer renames a file when it has written its last line. */
    if (stream->fd >= 0 && is_replaced(stream)) {
        stream->next = stream->files.len - 1;
        return open_next(stream);
    }
    return false;
}

static bool is_over(const struct log_reader *stream)
{
    const struct target_run run = target_run(stream->pod_folder, stream->container);

    return !run.is_known || run.restarts != stream->run || !run.is_running;
}

void log_reader_pump(struct log_reader *stream)
{
    bool was_over = !stream->options.is_following || is_over(stream);

    while (stream->sink.unsent(stream->sink.arg) < UNSENT_MAX && stream->left != 0) {
        if (read_some(stream))
            continue;
        /* The state was read before the file: nothing comes after that end. */
        if (was_over)
            end(stream);
        return;
    }
    if (stream->left == 0)
        end(stream);
}

static void on_notice(void *arg)
{
    struct log_reader *stream = arg;
    char events[READ_BYTES];

    while (read(stream->notify, events, sizeof events) > 0) {
    }
    log_reader_pump(stream);
}

static void follow(struct log_reader *stream)
{
    stream->notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (stream->notify < 0 ||
        inotify_add_watch(stream->notify, stream->folder, IN_MODIFY | IN_CREATE | IN_MOVED_TO) < 0 ||
        inotify_add_watch(stream->notify, stream->pod_folder, IN_MOVED_TO | IN_DELETE_SELF) < 0 ||
        loop_watch_start(&stream->watch, stream->loop, stream->notify, on_notice, stream) < 0)
        stream->options.is_following = false;
}

/* --- opening --- */

int log_run_find(const struct log_place *place, const struct log_options *options, unsigned *ret_run, struct err *err)
{
    const struct target_run run = target_run(place->folder, place->container);

    if (!run.is_known && access(place->folder, F_OK) < 0)
        return err_set(err, -EINVAL,
                       "container \"%s\" in pod \"%s\" is waiting to start: it has no process on this machine",
                       place->container, place->pod);
    if (options->is_previous && (!run.has_run || run.restarts == 0))
        return err_set(err, -EINVAL, "previous terminated container \"%s\" in pod \"%s\" not found", place->container,
                       place->pod);
    if (!run.has_run)
        return err_set(err, -EINVAL, "container \"%s\" in pod \"%s\" is waiting to start: %s", place->container,
                       place->pod, *run.waiting ? run.waiting : "ContainerCreating");
    /* While it waits for a restart, the last run is the previous one as well. */
    *ret_run = options->is_previous && (run.is_running || !*run.waiting) ? run.restarts - 1 : run.restarts;
    return 0;
}

struct log_reader *log_reader_new(struct loop *loop, const struct log_place *place, const struct log_options *options,
                                  unsigned run, const struct log_sink *sink)
{
    struct log_reader *stream = xcalloc(1, sizeof *stream);

    *stream = (struct log_reader){
        .loop = loop,
        .sink = *sink,
        .options = *options,
        .folder = file_path(place->folder, place->container),
        .container = xstrdup(place->container),
        .pod_folder = xstrdup(place->folder),
        .run = run,
        .fd = -1,
        .left = options->limit,
        .notify = -1,
    };
    strbuf_init(&stream->rest, LINE_BYTES_MAX);
    find_files(stream);
    count_skipped(stream);
    if (options->is_following)
        follow(stream);
    return stream;
}
