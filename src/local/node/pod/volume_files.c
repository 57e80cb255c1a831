/* SPDX-License-Identifier: Apache-2.0 */
#include "local/node/pod/volume_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "kube/client/meta.h"
#include "local/controllers/values.h"
#include "local/node/pod/fields.h"
#include "local/node/pod/sources.h"
#include "local/node/pod/users.h"
#include "local/server/files.h"

enum { MODE_DEFAULT = 0644, FILE_MAX = 2 << 20, HASH_TEXT = 32 };

#define DATA_LINK "..data"
#define NEW_LINK "..data_new"

/* A token is replaced when this part of its life is over, as a kubelet does. */
#define TOKEN_USED(seconds) ((seconds) * 8 / 10)

static bool leaves(const char *path)
{
    return strstr(path, "..") || *path == '/' || !*path;
}

int volume_hand_over(int fd, const struct user *user, mode_t mode)
{
    gid_t gid = user->volumes_gid != (gid_t)-1 ? user->volumes_gid : user->gid;

    if (geteuid() == 0 && fchown(fd, user->uid, gid) < 0)
        return -errno;
    return fchmod(fd, mode) < 0 ? -errno : 0;
}

int volume_make_folder(const char *path, const struct user *user, mode_t mode)
{
    if (mkdir(path, 0700) < 0)
        return -errno;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    int r = fd < 0 ? -errno : volume_hand_over(fd, user, mode);
    if (fd >= 0)
        (void)close(fd);
    return r;
}

/* Folders on the way to a file in the volume. */
static int make_parents(const struct filling *filling, const char *path)
{
    char part[PATH_MAX];

    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        if ((size_t)snprintf(part, sizeof part, "%s/%.*s", filling->folder, (int)(slash - path), path) >= sizeof part)
            return -ENAMETOOLONG;
        int r = volume_make_folder(part, filling->user, 0755);
        if (r < 0 && r != -EEXIST)
            return r;
    }
    return 0;
}

static int write_file(const struct filling *filling, const char *path, const char *bytes, size_t len, int64_t mode,
                      struct err *err)
{
    if (leaves(path))
        return err_set(err, -EINVAL, "path '%s' leaves the volume", path);
    /* Whoever has the group of the volumes can read them. */
    mode = (mode & 0777) | (filling->user->volumes_gid != (gid_t)-1 ? 0440 : 0);
    *filling->hash = hash_bytes(&mode, sizeof mode, hash_bytes(bytes, len, hash_str(path, *filling->hash)));
    if (!filling->folder)
        return 0;
    _cleanup_(freep) char *full = file_path(filling->folder, path);
    int r = make_parents(filling, path);
    int fd = r < 0 ? -1 : open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (r == 0 && fd < 0)
        r = -errno;
    if (r == 0 && write(fd, bytes, len) != (ssize_t)len)
        r = errno ? -errno : -EIO;
    if (r == 0)
        r = volume_hand_over(fd, filling->user, (mode_t)mode);
    if (fd >= 0)
        (void)close(fd);
    return r < 0 ? err_set(err, r, "%s: %s", full, strerror(-r)) : 0;
}

static int write_key(const struct filling *filling, yyjson_val *object, enum source_kind kind, const char *key,
                     const char *path, int64_t mode, bool is_optional, struct err *err)
{
    size_t len = 0;
    _cleanup_(freep) char *value = source_value(object, kind, key, &len);

    if (!value)
        return is_optional ? 0 : err_set(err, -ENOENT, "references non-existent config key: %s", key);
    return write_file(filling, path, value, len, mode, err);
}

/* A ConfigMap or Secret: the keys in `items`, or all of them. */
static int write_source(const struct filling *filling, yyjson_val *from, enum source_kind kind, const char *name,
                        struct err *err)
{
    yyjson_val *object = source_find(filling->sources, kind, name), *items = value_at(from, "items"), *item;
    bool is_optional = bool_at(from, "optional");
    size_t i, max;
    int r = 0;

    if (!object)
        return is_optional
                   ? 0
                   : err_set(err, -ENOENT, "%s \"%s\" not found", kind == SOURCE_SECRET ? "secret" : "configmap", name);
    yyjson_arr_foreach(items, i, max, item)
    {
        if (r == 0)
            r = write_key(filling, object, kind, kube_text(item, "key"), kube_text(item, "path"),
                          number_at(item, filling->mode, "mode"), is_optional, err);
    }
    const char *key;
    for (size_t at = 0; !items && r == 0 && (key = source_key(object, kind, &at));)
        r = write_key(filling, object, kind, key, key, filling->mode, true, err);
    return r;
}

static int write_downward(const struct filling *filling, yyjson_val *items, struct err *err)
{
    size_t i, max;
    yyjson_val *item;
    int r = 0;

    yyjson_arr_foreach(items, i, max, item)
    {
        yyjson_val *resource = value_at(item, "resourceFieldRef");
        struct strbuf text;

        strbuf_init(&text, FILE_MAX);
        if (r == 0)
            r = resource
                    ? resource_field_add(&text, filling->pod, NULL, resource, filling->machine, err)
                    : field_add(&text, filling->pod, kube_text(item, "fieldRef", "fieldPath"), filling->machine, err);
        if (r == 0)
            r = write_file(filling, kube_text(item, "path"), text.text, text.len,
                           number_at(item, filling->mode, "mode"), err);
        strbuf_done(&text);
    }
    return r;
}

/* Where a file has a token in it, that it has is what counts: a new one is no change. */
static int write_token(const struct filling *filling, yyjson_val *from, struct err *err)
{
    const char *path = kube_text(from, "path");

    if (!filling->folder)
        return write_file(filling, path, "", 0, filling->mode, err);
    yyjson_val *answer = source_find_token(filling->sources, kube_text(from, "audience"), token_seconds(from));
    const char *token = kube_text(answer, "status", "token");
    if (!*token)
        return err_set(err, -ENOKEY, "there is no token for %s", path);
    return write_file(filling, path, token, strlen(token), filling->mode, err);
}

static int write_projected(const struct filling *filling, yyjson_val *projected, struct err *err)
{
    size_t i, max;
    yyjson_val *source, *part;
    int r = 0;

    yyjson_arr_foreach(value_at(projected, "sources"), i, max, source)
    {
        if (r < 0)
            break;
        if ((part = value_at(source, "configMap")))
            r = write_source(filling, part, SOURCE_CONFIG_MAP, kube_text(part, "name"), err);
        else if ((part = value_at(source, "secret")))
            r = write_source(filling, part, SOURCE_SECRET, kube_text(part, "name"), err);
        else if ((part = value_at(source, "downwardAPI")))
            r = write_downward(filling, value_at(part, "items"), err);
        else if ((part = value_at(source, "serviceAccountToken")))
            r = write_token(filling, part, err);
        else
            r = err_set(err, -ENOTSUP, "trust bundles and certificates are not available here");
    }
    return r;
}

static int write_contents(const struct filling *filling, yyjson_val *volume, struct err *err)
{
    yyjson_val *part;

    if ((part = value_at(volume, "configMap")))
        return write_source(filling, part, SOURCE_CONFIG_MAP, kube_text(part, "name"), err);
    if ((part = value_at(volume, "secret")))
        return write_source(filling, part, SOURCE_SECRET, kube_text(part, "secretName"), err);
    if ((part = value_at(volume, "downwardAPI")))
        return write_downward(filling, value_at(part, "items"), err);
    return write_projected(filling, value_at(volume, "projected"), err);
}

/* Calls for each entry of a folder but those that begin with "..", of which there is none in a volume but ours. */
int folder_each(const char *folder, int (*call)(const char *volume, const char *name, const char *files),
                const char *volume, const char *files)
{
    DIR *dir = opendir(folder);
    int r = dir ? 0 : -errno;

    for (const struct dirent *entry; r == 0 && (entry = readdir(dir));) {
        if (strcmp(entry->d_name, ".") != 0 && strncmp(entry->d_name, "..", 2) != 0)
            r = call(volume, entry->d_name, files);
    }
    if (dir)
        (void)closedir(dir);
    return r;
}

/* The first part of each path gets a link to where the files are, so that all of them can be exchanged at once. */
static int link_entry(const char *volume, const char *name, const char *files)
{
    _cleanup_(freep) char *path = file_path(volume, name);
    char target[PATH_MAX];

    (void)files;
    (void)snprintf(target, sizeof target, DATA_LINK "/%s", name);
    return symlink(target, path) < 0 && errno != EEXIST ? -errno : 0;
}

static int unlink_stale(const char *volume, const char *name, const char *files)
{
    _cleanup_(freep) char *path = file_path(volume, name);
    _cleanup_(freep) char *wanted = file_path(files, name);

    return access(wanted, F_OK) < 0 && unlink(path) < 0 ? -errno : 0;
}

/* The name of the folder that has the files now; "" for none. */
static void current_folder(const char *volume, char name[static NAME_MAX + 1])
{
    _cleanup_(freep) char *data = file_path(volume, DATA_LINK);
    ssize_t len = readlink(data, name, NAME_MAX);

    name[len < 0 ? 0 : len] = '\0';
}

/* Lets the volume show the files of another folder, and removes those that it has shown so far. */
static int switch_to(const char *volume, const char *name, const char *files)
{
    _cleanup_(freep) char *data = file_path(volume, DATA_LINK);
    _cleanup_(freep) char *fresh = file_path(volume, NEW_LINK);
    char old[NAME_MAX + 1];

    current_folder(volume, old);
    if ((unlink(fresh) < 0 && errno != ENOENT) || symlink(name, fresh) < 0 || rename(fresh, data) < 0)
        return -errno;
    int r = folder_each(files, link_entry, volume, files);
    if (r == 0)
        r = folder_each(volume, unlink_stale, volume, files);
    if (r == 0 && *old && strcmp(old, name) != 0) {
        _cleanup_(freep) char *gone = file_path(volume, old);

        (void)folder_remove(gone);
    }
    return r;
}

/* The shortest life of a token in the volume; 0: there is none. */
static int64_t shortest_token(yyjson_val *volume)
{
    int64_t shortest = 0;
    size_t i, max;
    yyjson_val *source;

    yyjson_arr_foreach(value_at(volume, "projected", "sources"), i, max, source)
    {
        yyjson_val *token = value_at(source, "serviceAccountToken");

        if (token && (shortest == 0 || token_seconds(token) < shortest))
            shortest = token_seconds(token);
    }
    return shortest;
}

static const char *const filled_kinds[] = {"configMap", "secret", "downwardAPI", "projected"};

yyjson_val *volume_filled_part(yyjson_val *volume)
{
    for (size_t i = 0; i < ARRAY_LEN(filled_kinds); i++) {
        yyjson_val *part = value_at(volume, filled_kinds[i]);

        if (part)
            return part;
    }
    return NULL;
}

/* Whether the files of a folder, ..HASH.SECONDS, are those of a hash, and their tokens good for a while. */
static bool is_current(const char *name, uint64_t hash, int64_t token, int64_t now)
{
    char wanted[HASH_TEXT];
    char *end = NULL;
    int len = snprintf(wanted, sizeof wanted, "..%016llx.", (unsigned long long)hash);

    if (strncmp(name, wanted, (size_t)len) != 0)
        return false;
    int64_t since = strtoll(name + len, &end, 10);
    return token == 0 || (now >= since && now - since < TOKEN_USED(token));
}

static int write_files(const char *path, const char *name, yyjson_val *volume, struct filling *filling, struct err *err)
{
    filling->folder = file_path(path, name);
    (void)folder_remove(filling->folder);
    int r = volume_make_folder(filling->folder, filling->user, 0755);
    if (r < 0)
        (void)err_set(err, r, "%s: %s", filling->folder, strerror(-r));
    if (r == 0)
        r = write_contents(filling, volume, err);
    if (r == 0) {
        r = switch_to(path, name, filling->folder);
        if (r < 0)
            (void)err_set(err, r, "%s: %s", path, strerror(-r));
    }
    if (r < 0)
        (void)folder_remove(filling->folder);
    free(TAKE_PTR(filling->folder));
    return r;
}

/* Brings the files of a volume, whose folder is there, up to date. */
int volume_fill(const char *path, yyjson_val *volume, const struct filling *base, struct err *err)
{
    struct filling filling = *base;
    int64_t now = nsec_now_wall() / NSEC_PER_SEC;
    char name[NAME_MAX + 1];
    uint64_t hash = 0;

    filling.hash = &hash;
    filling.mode = number_at(volume_filled_part(volume), MODE_DEFAULT, "defaultMode");
    int r = write_contents(&filling, volume, err);
    if (r < 0)
        return r;
    current_folder(path, name);
    if (is_current(name, hash, shortest_token(volume), now))
        return 0;
    (void)snprintf(name, sizeof name, "..%016llx.%lld", (unsigned long long)hash, (long long)now);
    return write_files(path, name, volume, &filling, err);
}
