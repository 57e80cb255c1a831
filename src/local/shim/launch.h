/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/macros.h"

struct err;
struct mount_plan;

/* A program to be started in a container: its first one, or another beside it. */
struct launch {
    const char *const *argv;  // up to a NULL
    const char *const *env;   // "NAME=value", up to a NULL: all of it
    const char *folder;       // to run in
    uid_t uid;
    gid_t gid;
    const gid_t *groups;
    size_t group_count;
    const struct mount_plan *mounts;
    size_t mount_count;
    const char *staging;   // an empty folder, where there are mounts
    const char *root;      // folder of the image; NULL: the file system of the machine
    const char *changes;   // folder for what the container changes in it, with the empty folders upper and work
    const char *hostname;  // in an image
    bool is_root_read_only;
    uint64_t capabilities;  // that root has in an image, a bit each
    pid_t beside;           // a process whose view of the file system it gets instead; 0: none
    int group;              // from cgroup_entrance(); -1: none
    int in, out, err;       // standard descriptors; with a terminal all are its slave
    bool is_terminal;
};

/*
 * Starts the program in a session of its own, as the user, without the means to gain rights and without any descriptor of
 * ours. It is killed when we die. Returns 0 when the program runs; otherwise a negative errno and the reason: -ENOENT
 * and its like when the program cannot be executed.
 */
MUST_CHECK int launch(const struct launch *launch, pid_t *ret_pid, struct err *err);
