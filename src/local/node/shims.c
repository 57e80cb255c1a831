/* SPDX-License-Identifier: Apache-2.0 */
#include "local/node/shims.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

void shims_init(struct shims *shims)
{
    *shims = (struct shims){.fd = -1};
}

static void disconnect(struct shims *shims)
{
    if (shims->fd >= 0)
        (void)close(shims->fd);
    shims->fd = -1;
}

void shims_done(struct shims *shims)
{
    disconnect(shims);
}

void shims_reap(struct shims *shims)
{
    if (shims->pid > 0 && waitpid(shims->pid, NULL, WNOHANG) != 0) {
        shims->pid = 0;
        disconnect(shims);
    }
}

/* Its standard input is our socket, and its log is ours. */
static int spawn(struct shims *shims, int input)
{
    char name[] = "muster", command[] = "pod-shim", from[] = "-";
    char *const argv[] = {name, command, from, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;

    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawnattr_init(&attributes);
    (void)posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    (void)posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setsigdefault(&attributes, &all);
    /* A session of its own: what ends ours does not reach it. */
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int r = posix_spawn(&shims->pid, "/proc/self/exe", &actions, &attributes, argv, environ);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (r != 0)
        shims->pid = 0;
    return -r;
}

static int connect_to_new(struct shims *shims)
{
    int fds[2];

    shims_reap(shims);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
        return -errno;
    int r = spawn(shims, fds[1]);
    (void)close(fds[1]);
    if (r < 0)
        (void)close(fds[0]);
    else
        shims->fd = fds[0];
    return r;
}

int shims_start(struct shims *shims, const char *folder)
{
    size_t len = strlen(folder);

    for (int tries = 0; tries < 2; tries++) {
        int r = shims->fd < 0 ? connect_to_new(shims) : 0;

        if (r < 0)
            return r;
        BUG_ON(shims->fd < 0);
        ssize_t sent = send(shims->fd, folder, len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent == (ssize_t)len)
            return 0;
        if (sent < 0 && errno == EAGAIN)
            return -EAGAIN;
        disconnect(shims);
    }
    return -EPIPE;
}
