/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "base/vec.h"

/*
 * The users of this machine, as the system's databases have them (passwd, LDAP and so on). What was read is kept for a
 * minute, because a database on the network answers slowly and the loop waits for it.
 */
struct user {
    uint32_t uid;
    char *name;  // "uid:1234" for a uid without a name, or with a colon in it
    char *home;  // "" without one
    VEC(uint32_t) gids;
    VEC(char *) groups;  // the names of those that have one without a colon
    nsec_t read;         // monotonic
};

struct users {
    VEC(struct user *) all;
};

void users_done(struct users *users);

/* Never NULL. Borrowed until the next call. */
const struct user *users_get(struct users *users, uint32_t uid, nsec_t now);

bool user_is_in_group(const struct user *user, int64_t gid);
