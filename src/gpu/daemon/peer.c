/* SPDX-License-Identifier: Apache-2.0 */

/* A pidfd that comes with the socket is of the very process that connected; one that is opened by number might be of a
 * later one, which is why the beginning of the process is looked at before and after. */
#include "gpu/daemon/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "gpu/daemon/book.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

int peer_pidfd(pid_t pid, uint64_t started)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);

    if (fd < 0)
        return -errno;
    if (process_started(pid) != started) {
        (void)close(fd);
        return -ESRCH;
    }
    return fd;
}

int peer_living(uint32_t number, nsec_t before, struct peer *ret_peer)
{
    struct timespec boot;

    if (number <= 1 || number > INT32_MAX || (pid_t)number == getpid())
        return -EINVAL;
    int fd = (int)syscall(SYS_pidfd_open, (pid_t)number, 0);
    if (fd < 0)
        return -errno;
    uint64_t started = process_started((pid_t)number);
    bool has_ended = started == 0 || poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 0) != 0;
    /* The kernel says when a process began by another clock, in ticks. */
    (void)clock_gettime(CLOCK_BOOTTIME, &boot);
    nsec_t age = (nsec_t)boot.tv_sec * NSEC_PER_SEC + boot.tv_nsec -
                 (nsec_t)started * (NSEC_PER_SEC / (nsec_t)sysconf(_SC_CLK_TCK));
    if (has_ended || nsec_now_monotonic() - age > before) {
        (void)close(fd);
        return -ESRCH;
    }
    *ret_peer = (struct peer){.pid = (pid_t)number, .pidfd = fd, .started = started};
    return 0;
}

int peer_of(int socket, struct peer *ret_peer)
{
    struct ucred credentials;
    socklen_t len = sizeof credentials;
    int pidfd = -1;

    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &len) < 0)
        return -errno;
    uint64_t started = process_started(credentials.pid);
    if (credentials.pid <= 0 || started == 0)
        return -ESRCH;
    len = sizeof pidfd;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len) < 0)
        pidfd = peer_pidfd(credentials.pid, started);
    if (pidfd < 0)
        return pidfd == -1 ? -ESRCH : pidfd;
    *ret_peer = (struct peer){.pid = credentials.pid, .uid = credentials.uid, .pidfd = pidfd, .started = started};
    return 0;
}

bool peer_cgroup(pid_t pid, char *text, size_t size)
{
    char path[48];
    char buffer[4096];
    ssize_t len;

    (void)snprintf(path, sizeof path, "/proc/%d/cgroup", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    len = read(fd, buffer, sizeof buffer - 1);
    (void)close(fd);
    if (len <= 0)
        return false;
    buffer[len] = '\0';
    /* The unified hierarchy is "0::/path"; where there is none, the first line serves. */
    const char *line = strstr(buffer, "0::/");
    const char *begin = line == buffer || (line && line[-1] == '\n') ? line + 3 : strchr(buffer, '/');
    if (!begin)
        return false;
    size_t count = strcspn(begin, "\n");
    if (count >= size)
        return false;
    memcpy(text, begin, count);
    text[count] = '\0';
    return true;
}

bool peer_is_in_cgroup(pid_t pid, const char *cgroup)
{
    char found[1024];
    size_t len = strlen(cgroup);

    if (!peer_cgroup(pid, found, sizeof found))
        return false;
    while (len > 1 && cgroup[len - 1] == '/')
        len--;
    return strncmp(found, cgroup, len) == 0 && (found[len] == '\0' || found[len] == '/' || len == 1);
}
