/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <sys/types.h>
#include <yyjson.h>

#include "base/macros.h"

struct err;
struct image;

/* Who a container runs as. */
enum { USER_GROUPS_MAX = 256, USER_TEXT_MAX = 256 };

struct user {
    uid_t uid;
    gid_t gid;
    gid_t groups[USER_GROUPS_MAX];
    size_t group_count;
    gid_t volumes_gid;  // fsGroup; (gid_t)-1: none
    char name[USER_TEXT_MAX];
    char home[4096];
};

/* What holds on a machine that has joined another one: users are those of the same name and uid on both. */
struct user_rules {
    uint32_t owner;          // of the other machine's daemon: the user of pods that name none
    const char *owner_name;  // borrowed
    bool allows_root;
};

/*
 * The user of a container: whoever has submitted the pod, or whom the securityContext names as far as that is allowed.
 * Only root may choose somebody else, and a daemon without root's rights starts processes of its own user alone. Returns
 * 0 or -EPERM. In an image (NULL or without a folder: none) the machine's accounts say nothing: pods of root run as the image
 * says, and a uid has no groups but those that the pod names. `rules` is NULL on a machine that has not joined another one.
 */
MUST_CHECK int user_of(struct user *user, yyjson_val *pod, yyjson_val *container, const struct image *image,
                       const struct user_rules *rules, struct err *err);
