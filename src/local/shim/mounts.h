/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"

struct err;

/* A folder or file of the machine that a container sees at another path. */
struct mount_plan {
    const char *from;
    const char *sub;  // a folder or file in it, which cannot be left by links; made where it is missing. "": all of it
    const char *to;
    bool is_read_only;
    bool is_users;  // it was named by the user: it is opened with the user's rights, without following links
};

/*
 * Gives the calling process a view of the file system of its own, with the mounts in it; everything else is as on the
 * machine. A path that the machine does not have is made in this view alone: its nearest folder is replaced by one in
 * memory that shows the same entries. The launch has an empty folder for that. Needs the rights of root. The process should
 * execute another program soon.
 *
 * With an image its folder becomes the root instead, with the machine's /dev, /proc and /sys in it. Nothing is ever written
 * to the folder: changes go to another one, which the launch names.
 */
struct launch;
MUST_CHECK int mounts_enter(const struct launch *launch, struct err *err);
