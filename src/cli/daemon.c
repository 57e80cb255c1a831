/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { PAUSE_USEC = 50000 };

int daemon_detach(const char *log, int how)
{
    int out = open(log, O_WRONLY | O_CREAT | O_NOFOLLOW | how, 0600);
    int in = open("/dev/null", O_RDONLY);

    (void)setsid();
    if (out < 0 || in < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
        return -errno;
    return close_range(STDERR_FILENO + 1, ~0u, 0) < 0 ? -errno : 0;
}

bool daemon_await(bool (*is_over)(void *arg), void *arg, nsec_t limit)
{
    nsec_t end = nsec_now_monotonic() + limit;

    while (!is_over(arg)) {
        if (nsec_now_monotonic() >= end)
            return false;
        (void)usleep(PAUSE_USEC);
    }
    return true;
}
