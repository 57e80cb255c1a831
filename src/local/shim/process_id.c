/* SPDX-License-Identifier: Apache-2.0 */
#include "local/shim/process_id.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STAT_MAX = 2048, START_FIELD = 22, END_MS = 10000 };

static ssize_t read_small(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

    text[n < 0 ? 0 : n] = '\0';
    if (fd >= 0)
        (void)close(fd);
    return n;
}

unsigned long long process_start_time(pid_t pid)
{
    char path[64], text[STAT_MAX];

    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (pid <= 0 || read_small(path, text, sizeof text) <= 0)
        return 0;
    /* The second field is a name in parentheses that may hold anything, spaces and parentheses included. */
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < START_FIELD; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at + 1, NULL, 10) : 0;
}

const char *boot_id(char text[static BOOT_ID_MAX])
{
    (void)read_small("/proc/sys/kernel/random/boot_id", text, BOOT_ID_MAX);
    text[strcspn(text, "\n")] = '\0';
    return text;
}

void processes_kill_listed(const char *path)
{
    FILE *file = fopen(path, "re");
    char *word = NULL;
    size_t size = 0;

    while (file && getdelim(&word, &size, ' ', file) > 0) {
        /* Words may be separated by line ends as well. */
        for (char *at = word, *end; *at; at = end) {
            long pid = strtol(at, &end, 10);

            if (end == at)
                break;
            if (pid > 1 && pid <= INT_MAX)
                (void)kill((pid_t)pid, SIGKILL);
        }
    }
    free(word);
    if (file)
        (void)fclose(file);
}

void process_kill_same(pid_t pid, unsigned long long start_time)
{
    int fd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;

    if (fd < 0)
        return;
    /* The descriptor stands for one process; it is the right one if it is as old as ours was. */
    if (process_start_time(pid) == start_time) {
        struct pollfd gone = {.fd = fd, .events = POLLIN};

        (void)kill(-pid, SIGKILL);
        (void)syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
        (void)poll(&gone, 1, END_MS);
    }
    (void)close(fd);
}
