/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/macros.h"
#include "base/time.h"

/* Who is at the other end of a unix socket, as the kernel says. */
struct peer {
    pid_t pid;
    uid_t uid;
    int pidfd;         // readable when the process has ended; to be closed by the caller
    uint64_t started;  // see process_started()
};

/* Returns 0 or a negative errno, also when the process has ended meanwhile. */
MUST_CHECK int peer_of(int socket, struct peer *ret_peer);

/* A pidfd of a process that began at that time; -ESRCH when there is none, or another one has its number. */
MUST_CHECK int peer_pidfd(pid_t pid, uint64_t started);

/* The process that has a number which somebody else found, at `before` on the monotonic clock: -ESRCH when it has ended or
 * began later, -EINVAL when no process of others can have the number. Its user is not filled in. */
MUST_CHECK int peer_living(uint32_t number, nsec_t before, struct peer *ret_peer);

/* Whether the process is in a cgroup, or in one below it. */
bool peer_is_in_cgroup(pid_t pid, const char *cgroup);

/* The cgroup of the process; false when it cannot be read. */
bool peer_cgroup(pid_t pid, char *text, size_t size);
