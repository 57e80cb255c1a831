/* SPDX-License-Identifier: Apache-2.0 */
#include "local/rights/users.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { GROUPS_MAX = 4096, GROUPS_FIRST = 64, NAME_TEXT_MAX = 32 };

#define USERS_FRESH (60 * NSEC_PER_SEC)

static void user_clear(struct user *user)
{
    vec_foreach (&user->groups, group)
        free(*group);
    vec_done(&user->groups);
    vec_done(&user->gids);
    free(user->name);
    free(user->home);
}

void users_done(struct users *users)
{
    vec_foreach (&users->all, user) {
        user_clear(*user);
        free(*user);
    }
    vec_done(&users->all);
}

static void read_groups(struct user *user, const struct passwd *entry)
{
    int count = GROUPS_FIRST;
    gid_t *gids = xcalloc((size_t)count, sizeof *gids);

    while (getgrouplist(entry->pw_name, entry->pw_gid, gids, &count) < 0 && count <= GROUPS_MAX) {
        free(gids);
        gids = xcalloc((size_t)count, sizeof *gids);
    }
    for (int i = 0; i < count && count <= GROUPS_MAX; i++) {
        const struct group *group = getgrgid(gids[i]);

        vec_push(&user->gids, (uint32_t)gids[i]);
        if (group && !strchr(group->gr_name, ':'))
            vec_push(&user->groups, xstrdup(group->gr_name));
    }
    free(gids);
}

static void user_read(struct user *user, uint32_t uid, nsec_t now)
{
    const struct passwd *entry = getpwuid((uid_t)uid);
    char text[NAME_TEXT_MAX];

    (void)snprintf(text, sizeof text, "uid:%u", uid);
    *user = (struct user){.uid = uid, .read = now};
    /* Names with a colon are Kubernetes' own, such as those of accounts. Databases other than passwd may have them. */
    bool has_name = entry && *entry->pw_name && !strchr(entry->pw_name, ':');

    user->name = xstrdup(has_name ? entry->pw_name : text);
    user->home = xstrdup(entry ? entry->pw_dir : "");
    /* The entry is the library's, and another call overwrites it. */
    if (has_name) {
        const struct passwd copy = {.pw_name = user->name, .pw_gid = entry->pw_gid};
        read_groups(user, &copy);
    }
}

const struct user *users_get(struct users *users, uint32_t uid, nsec_t now)
{
    struct user *found = NULL;

    vec_foreach (&users->all, at) {
        if ((*at)->uid == uid)
            found = *at;
    }
    if (found && now - found->read < USERS_FRESH)
        return found;
    if (found) {
        user_clear(found);
    } else {
        found = xcalloc(1, sizeof *found);
        vec_push(&users->all, found);
    }
    user_read(found, uid, now);
    return found;
}

bool user_is_in_group(const struct user *user, int64_t gid)
{
    vec_foreach (&user->gids, own) {
        if (*own == gid)
            return true;
    }
    return false;
}
