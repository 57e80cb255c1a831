/* SPDX-License-Identifier: Apache-2.0 */

/* Ends the pod of a joined machine when the lease of its node is over. The timer counts the time for which the machine was
 * suspended: a machine that wakes up ends its pods at once. */
#include <errno.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "kube/client/meta.h"
#include "local/shim/node_lease.h"
#include "local/shim/shim_internal.h"

static void give_up(struct shim *shim, nsec_t grace)
{
    shim->reason = "NodeLost";
    shim->message = "The node had no contact with the control machine for the time of its lease";
    shim_stop(shim, grace);
}

static bool arm(const struct shim *shim, nsec_t until)
{
    const struct itimerspec when = {.it_value = {.tv_sec = until / NSEC_PER_SEC, .tv_nsec = until % NSEC_PER_SEC}};

    return timerfd_settime(shim->lease_fd, TFD_TIMER_ABSTIME, &when, NULL) == 0;
}

/* The agent may have renewed it. */
static void on_due(void *arg)
{
    struct shim *shim = arg;
    struct node_lease lease = {0};
    uint64_t count;

    if (read(shim->lease_fd, &count, sizeof count) < 0 && errno == EAGAIN)
        return;
    if (node_lease_read(kube_text(shim->plan, "lease"), &lease) && arm(shim, lease.until)) {
        shim->lease_grace = lease.grace;
        return;
    }
    loop_watch_done(&shim->lease_watch);
    give_up(shim, shim->lease_grace);
}

void lease_watch_open(struct shim *shim)
{
    const char *path = kube_text(shim->plan, "lease");
    struct node_lease lease = {0};

    shim->lease_fd = -1;
    if (!*path)
        return;
    if (!node_lease_read(path, &lease)) {
        give_up(shim, 0);
        return;
    }
    shim->lease_grace = lease.grace;
    shim->lease_fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (shim->lease_fd < 0 || !arm(shim, lease.until) ||
        loop_watch_start(&shim->lease_watch, shim->loop, shim->lease_fd, on_due, shim) < 0)
        give_up(shim, 0);
}

void lease_watch_close(struct shim *shim)
{
    loop_watch_done(&shim->lease_watch);
    if (shim->lease_fd >= 0)
        (void)close(shim->lease_fd);
}
