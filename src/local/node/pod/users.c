/* SPDX-License-Identifier: Apache-2.0 */
#include "local/node/pod/users.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "kube/client/meta.h"
#include "local/api/owner_keys.h"
#include "local/controllers/values.h"
#include "local/node/pod/images.h"

enum { PASSWD_BYTES = 16 << 10, ID_MAX = 0x7fffffff };

/* A member of the container's securityContext, or of the pod's; -1: in neither. */
static int64_t id_of(yyjson_val *pod, yyjson_val *container, const char *member)
{
    int64_t own = number_at(container, -1, "securityContext", member);

    return own >= 0 ? own : number_at(pod, -1, "spec", "securityContext", member);
}

static void add_group(struct user *user, gid_t gid)
{
    for (size_t i = 0; i < user->group_count; i++) {
        if (user->groups[i] == gid)
            return;
    }
    if (user->group_count < USER_GROUPS_MAX)
        user->groups[user->group_count++] = gid;
}

static void look_up(struct user *user)
{
    char text[PASSWD_BYTES];
    struct passwd entry, *found = NULL;
    int count = USER_GROUPS_MAX;

    if (getpwuid_r(user->uid, &entry, text, sizeof text, &found) != 0 || !found) {
        /* Nobody's name: neither a home nor groups that somebody else is in. */
        user->gid = user->uid;
        (void)snprintf(user->name, sizeof user->name, "%u", (unsigned)user->uid);
        (void)snprintf(user->home, sizeof user->home, "/");
        add_group(user, user->gid);
        return;
    }
    user->gid = found->pw_gid;
    (void)snprintf(user->name, sizeof user->name, "%s", found->pw_name);
    (void)snprintf(user->home, sizeof user->home, "%s", *found->pw_dir ? found->pw_dir : "/");
    if (getgrouplist(found->pw_name, found->pw_gid, user->groups, &count) < 0)
        count = USER_GROUPS_MAX;
    user->group_count = (size_t)count;
}

/* The pod's user must be the same one here: another name under that uid is another person. */
static int check_same(const struct user *user, uint32_t owner, yyjson_val *pod, const struct user_rules *rules,
                      struct err *err)
{
    const char *noted = kube_text(pod, "metadata", "annotations", KEY_SUBMITTER_NAME);
    const char *name = *noted ? noted : rules->owner_name;

    if ((owner == 0 || user->uid == 0) && !rules->allows_root)
        return err_set(err, -EPERM, "pods of root do not run on this machine: it has joined without --allow-root");
    if (owner != 0 && owner == user->uid && strcmp(user->name, name) != 0)
        return err_set(err, -EPERM, "user %s with uid %u, who has submitted the pod, is not a user of this machine",
                       name, owner);
    return 0;
}

/* In an image a uid has neither a name nor groups, and its home is where images have it. */
static void look_up_in_image(struct user *user, int64_t gid)
{
    user->gid = gid >= 0 ? (gid_t)gid : 0;
    (void)snprintf(user->name, sizeof user->name, "%u", (unsigned)user->uid);
    (void)snprintf(user->home, sizeof user->home, "%s", user->uid == 0 ? "/root" : "/");
    add_group(user, user->gid);
}

int user_of(struct user *user, yyjson_val *pod, yyjson_val *container, const struct image *image,
            const struct user_rules *rules, struct err *err)
{
    int64_t image_uid = -1, image_gid = -1;
    int64_t wanted = id_of(pod, container, "runAsUser"), group = id_of(pod, container, "runAsGroup");
    int64_t volumes = number_at(pod, -1, "spec", "securityContext", "fsGroup");
    yyjson_val *non_root = value_at(container, "securityContext", "runAsNonRoot");
    bool is_admins;
    uint32_t owner = 0;
    size_t i, max;
    yyjson_val *extra;
    int r = owner_uid(pod, rules ? rules->owner : (uint32_t)geteuid(), &owner, err);

    if (r < 0)
        return r;
    *user = (struct user){.uid = owner, .volumes_gid = (gid_t)-1};
    is_admins = owner == 0 && geteuid() == 0;
    if (wanted > ID_MAX || group > ID_MAX || volumes > ID_MAX)
        return err_set(err, -EPERM, "securityContext: an id is too large");
    if (wanted >= 0 && (uid_t)wanted != owner && !is_admins)
        return err_set(err, -EPERM, "runAsUser %lld: pods run as the user who submits them, uid %u", (long long)wanted,
                       owner);
    if (owner != geteuid() && geteuid() != 0)
        return err_set(err, -EPERM, "only a daemon that runs as root can start processes of uid %u", owner);
    if (image && image->folder && is_admins && wanted < 0) {
        r = image_user(image, &image_uid, &image_gid, err);
        if (r < 0)
            return r;
        wanted = image_uid;
    }
    if (wanted >= 0)
        user->uid = (uid_t)wanted;
    if (image && image->folder && is_admins)
        look_up_in_image(user, image_gid);
    else
        look_up(user);
    if (rules)
        r = check_same(user, owner, pod, rules, err);
    if (r < 0)
        return r;
    /* Groups of others are root's to give. */
    if (group >= 0 && is_admins)
        user->gid = (gid_t)group;
    else if (group >= 0 && (gid_t)group != user->gid)
        return err_set(err, -EPERM, "runAsGroup %lld: pods run in the groups of the user who submits them",
                       (long long)group);
    yyjson_arr_foreach(value_at(pod, "spec", "securityContext", "supplementalGroups"), i, max, extra)
    {
        if (is_admins)
            add_group(user, (gid_t)number_of(extra, 0));
    }
    if (volumes >= 0 && is_admins) {
        user->volumes_gid = (gid_t)volumes;
        add_group(user, (gid_t)volumes);
    }
    if (!non_root)
        non_root = value_at(pod, "spec", "securityContext", "runAsNonRoot");
    if (yyjson_is_true(non_root) && user->uid == 0)
        return err_set(err, -EPERM, "container has runAsNonRoot and would run as root");
    return 0;
}
