/* SPDX-License-Identifier: Apache-2.0 */

/* The folder of the images, and who uses them. */
#include "local/node/image/store.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "local/node/image/mounted.h"
#include "local/node/image/store_internal.h"
#include "local/server/files.h"

char *image_store_folder(const struct image_store *store, const char *id)
{
    return file_path(store->folder, id);
}

char *image_store_config(const struct image_store *store, const char *id)
{
    char name[PODMAN_ID_MAX + sizeof ".json"];

    (void)snprintf(name, sizeof name, "%s.json", id);
    return file_path(store->folder, name);
}

const char *image_store_id(const struct image_store *store, const char *folder)
{
    size_t len = strlen(store->folder);

    if (strncmp(folder, store->folder, len) != 0 || folder[len] != '/' || !podman_is_id(folder + len + 1))
        return NULL;
    return folder + len + 1;
}

bool image_store_is_mounted(const struct image_store *store, const char *id)
{
    _cleanup_(freep) char *folder = image_store_folder(store, id);
    _cleanup_(freep) char *config = image_store_config(store, id);

    return mounted_is(folder) && access(config, F_OK) == 0;
}

struct image_use *image_store_use(struct image_store *store, const char *id)
{
    struct image_use *use = strmap_get(&store->uses, "", id);

    if (!use) {
        use = xcalloc(1, sizeof *use);
        (void)snprintf(use->id, sizeof use->id, "%s", id);
        (void)strmap_put(&store->uses, "", use->id, use);
    }
    return use;
}

void image_store_end_unused(struct image_store *store, struct image_use *use)
{
    _cleanup_(freep) char *folder = image_store_folder(store, use->id);
    _cleanup_(freep) char *config = image_store_config(store, use->id);

    if (use->count > 0)
        return;
    (void)unlink(config);
    mounted_end(folder);
    (void)strmap_remove(&store->uses, "", use->id);
    free(use);
}

void image_store_hold(struct image_store *store, const char *id)
{
    image_store_use(store, id)->count++;
}

void image_store_release(struct image_store *store, const char *id)
{
    struct image_use *use = strmap_get(&store->uses, "", id);

    if (!use || use->count == 0)
        return;
    use->count--;
    image_store_end_unused(store, use);
}

void image_store_sweep(struct image_store *store)
{
    struct image_use *use;

    for (size_t cursor = 0; (use = strmap_next(&store->uses, &cursor));) {
        if (use->count == 0) {
            image_store_end_unused(store, use);
            cursor = 0;
        }
    }
}

int image_store_open(struct loop *loop, const char *folder, struct image_store **ret_store, struct err *err)
{
    /* Folders are options of a mount, where these characters have a meaning. */
    if (strpbrk(folder, ",:\\"))
        return err_set(err, -EINVAL, "images need a state folder without commas, colons and backslashes: %s", folder);
    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        return err_set(err, -errno, "%s: %s", folder, strerror(errno));
    DIR *dir = opendir(folder);
    if (!dir)
        return err_set(err, -errno, "%s: %s", folder, strerror(errno));
    struct image_store *store = xcalloc(1, sizeof *store);
    *store = (struct image_store){.loop = loop, .folder = xstrdup(folder)};
    loop_task_init(&store->turn, loop, image_store_take_turn, store);
    for (const struct dirent *entry; (entry = readdir(dir));) {
        char id[PODMAN_ID_MAX];

        /* A configuration without its folder was left by an interrupted start, and goes as one. */
        (void)snprintf(id, sizeof id, "%.*s", PODMAN_ID_MAX - 1, entry->d_name);
        if (podman_is_id(id))
            (void)image_store_use(store, id);
    }
    (void)closedir(dir);
    *ret_store = store;
    return 0;
}

void image_store_free(struct image_store *store)
{
    struct image_use *use;

    if (!store)
        return;
    loop_task_cancel(&store->turn);
    image_store_end_jobs(store);
    for (size_t cursor = 0; (use = strmap_next(&store->uses, &cursor));)
        free(use);
    strmap_done(&store->uses);
    free(store->folder);
    free(store);
}
