/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

struct err;

/*
 * Control groups, version 2. A machine has a tree of our own, below the group that we were started in:
 *
 *     BASE/daemon                        ourselves, where the group of a service is delegated to us
 *     BASE/muster-NAME/pods/UID/CONTAINER  a container, and everything that it has started
 *
 * Below a unit NAME.service of systemd BASE is the group of NAME-pods.service, where there is one: pods go on while the
 * unit is started again, and systemd cannot start anything in a group that has groups with limits below it.
 *
 * Without the right to make groups there are none: limits are not enforced, and processes are found by their session.
 */
struct cgroup_tree {
    char pods[4096];   // the folder of all pods' groups; "": there are no groups
    size_t mount_len;  // of its part up to where groups are mounted; what follows is the name that the kernel shows
    bool has_limits;   // CPU, memory and processes can be limited
    bool has_devices;  // and processes kept from the GPUs of others
    char why[256];     // when there are no limits: the reason
};

/* Finds or makes the tree. `name` tells installations on one machine apart. Moves the calling process where it must. */
void cgroup_tree_open(struct cgroup_tree *tree, const char *name);

/* Removes the groups of the tree that hold nothing. */
void cgroup_tree_close(const struct cgroup_tree *tree);

/* What a container may use; 0: as much as there is. */
struct cgroup_limits {
    int64_t cpu_milli;          // at most
    int64_t cpu_request_milli;  // its weight against others
    int64_t memory_bytes;
    int64_t processes;
};

/* Makes the group at `path`, of which the last two parts may be missing, and sets limits where `has_limits`. */
MUST_CHECK int cgroup_make(const char *path, bool has_limits, const struct cgroup_limits *limits, struct err *err);

/* A descriptor that a process writes "0" to, in order to enter; -errno. */
MUST_CHECK int cgroup_entrance(const char *path);

/* Kills everything in the group, without waiting. */
void cgroup_kill(const char *path);
bool cgroup_has_processes(const char *path);

/* How many processes were ended because memory ran out. */
int64_t cgroup_oom_kills(const char *path);

/* Removes an empty group. */
void cgroup_remove(const char *path);
