/* SPDX-License-Identifier: Apache-2.0 */
#include "local/shim/pipes/log_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"

struct log_file {
    int fd;
    int folder;
    off_t size;
    char name[32];
    struct {
        size_t len;
        char bytes[LOG_LINE_MAX];
    } lines[_LOG_STREAM_MAX];  // that have no end yet
};

static const char *const stream_names[_LOG_STREAM_MAX] = {[LOG_STDOUT] = "stdout", [LOG_STDERR] = "stderr"};

static int open_file(struct log_file *file)
{
    struct stat found;

    file->fd = openat(file->folder, file->name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file->fd < 0)
        return -errno;
    file->size = fstat(file->fd, &found) == 0 ? found.st_size : 0;
    return 0;
}

int log_file_open(const char *folder, uint32_t number, struct log_file **ret_file, struct err *err)
{
    struct log_file *file = xcalloc(1, sizeof *file);
    int r = mkdir(folder, 0700) < 0 && errno != EEXIST ? -errno : 0;

    (void)snprintf(file->name, sizeof file->name, "%u.log", number);
    file->fd = -1;
    file->folder = r < 0 ? -1 : open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (r == 0)
        r = file->folder < 0 ? -errno : open_file(file);
    if (r < 0) {
        log_file_close(file);
        return err_set(err, r, "log file %s/%u.log: %s", folder, number, strerror(-r));
    }
    *ret_file = file;
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Removes all but the newest of the files that were renamed. Their names sort by time. */
static void drop_old(const struct log_file *file)
{
    VEC(char *) names = {0};
    size_t prefix = strlen(file->name);
    int fd = openat(file->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        if (strncmp(entry->d_name, file->name, prefix) == 0 && strlen(entry->d_name) == prefix + LOG_OLD_NAME_LEN)
            vec_push(&names, xstrdup(entry->d_name));
    }
    if (dir)
        (void)closedir(dir);
    else if (fd >= 0)
        (void)close(fd);
    if (names.len > 0)
        qsort(names.items, names.len, sizeof *names.items, compare_names);
    for (uint32_t i = 0; i < names.len; i++) {
        if (i + LOG_OLD_FILES_MAX < names.len)
            (void)unlinkat(file->folder, names.items[i], 0);
        free(names.items[i]);
    }
    vec_done(&names);
}

static void rotate(struct log_file *file, nsec_t now)
{
    time_t seconds = (time_t)(now / NSEC_PER_SEC);
    char time[LOG_OLD_NAME_LEN], name[sizeof file->name + LOG_OLD_NAME_LEN];
    struct tm parts;

    if (!gmtime_r(&seconds, &parts) || strftime(time, sizeof time, "%Y%m%d-%H%M%S", &parts) == 0)
        return;
    (void)snprintf(name, sizeof name, "%s.%s", file->name, time);
    /* Two in one second: the file grows a little longer. */
    if (faccessat(file->folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
        renameat(file->folder, file->name, file->folder, name) < 0)
        return;
    int old = file->fd;
    if (open_file(file) < 0)
        file->fd = old;
    else
        (void)close(old);
    drop_old(file);
}

static void write_line(struct log_file *file, enum log_stream stream, nsec_t now, bool is_whole)
{
    time_t seconds = (time_t)(now / NSEC_PER_SEC);
    char head[64];
    struct tm parts;
    size_t len = file->lines[stream].len;

    if (!gmtime_r(&seconds, &parts))
        return;
    size_t at = strftime(head, sizeof head, "%Y-%m-%dT%H:%M:%S", &parts);
    at += (size_t)snprintf(head + at, sizeof head - at, ".%09lldZ %s %c ", (long long)(now % NSEC_PER_SEC),
                           stream_names[stream], is_whole ? 'F' : 'P');
    char end = '\n';
    const struct iovec pieces[] = {{head, at}, {file->lines[stream].bytes, len}, {&end, 1}};
    ssize_t n = writev(file->fd, pieces, (int)ARRAY_LEN(pieces));

    file->lines[stream].len = 0;
    if (n > 0)
        file->size += n;
    if (file->size >= LOG_FILE_MAX)
        rotate(file, now);
}

void log_file_add(struct log_file *file, enum log_stream stream, nsec_t now, const char *bytes, size_t len)
{
    while (len > 0) {
        size_t room = LOG_LINE_MAX - file->lines[stream].len;
        const char *end = memchr(bytes, '\n', MIN(len, room));
        size_t piece = end ? (size_t)(end - bytes) : MIN(len, room);

        memcpy(file->lines[stream].bytes + file->lines[stream].len, bytes, piece);
        file->lines[stream].len += piece;
        if (end || file->lines[stream].len == LOG_LINE_MAX)
            write_line(file, stream, now, end);
        piece += end ? 1 : 0;
        bytes += piece;
        len -= piece;
    }
}

void log_file_close(struct log_file *file)
{
    if (!file)
        return;
    for (enum log_stream i = 0; i < _LOG_STREAM_MAX; i++) {
        if (file->lines[i].len > 0 && file->fd >= 0)
            write_line(file, i, nsec_now_wall(), false);
    }
    if (file->fd >= 0)
        (void)close(file->fd);
    if (file->folder >= 0)
        (void)close(file->folder);
    free(file);
}
