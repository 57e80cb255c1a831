/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a store, and following it. */
#include "store/store.h"

#include <errno.h>

#include "base/mem.h"
#include "store/store_internal.h"

static int load_kind(void *arg, uint32_t kind, const char *name, struct err *err)
{
    struct store *store = arg;
    uint32_t number = 0;

    if (kind != store->kinds.len)
        return err_set(err, -EBADMSG, "kind %u is missing", store->kinds.len);
    return store_add_kind(store, name, true, &number, err);
}

static int load_object(void *arg, const struct object_parts *found, struct err *err)
{
    struct store *store = arg;

    if (found->kind >= store->kinds.len)
        return err_set(err, -EBADMSG, "object %s has an unknown kind", found->name);
    store_tags_clear(&store->tags);
    if (store->settings.tag)
        store->settings.tag(store->settings.arg, store_kind_name(store, found->kind), found->body, found->body_len,
                            &store->tags);
    struct store_object *object = object_new(found, &store->tags);
    entry_show(store, entry_make(store, found->kind, found->namespace, found->name), object);
    store_object_unref(object);
    return 0;
}

int store_open(struct loop *loop, const struct store_settings *settings, struct store **ret_store, struct err *err)
{
    struct disk *disk = NULL;
    int r = disk_open(settings->folder, &disk, err);

    if (r < 0)
        return r;
    struct store *store = xcalloc(1, sizeof *store);
    store->loop = loop;
    store->settings = *settings;
    store->settings.folder = xstrdup(settings->folder);
    store->disk = disk;
    store_tags_init(&store->tags);
    store_start_commits(store);
    r = disk_read(disk, &(struct disk_reader){.kind = load_kind, .object = load_object, .arg = store},
                  &store->shown_version, err);
    store->taken_version = store->shown_version;
    history_init(&store->history, settings->history_max ? settings->history_max : STORE_HISTORY_MAX,
                 store->shown_version);
    if (r < 0) {
        store_free(store);
        return r;
    }
    *ret_store = store;
    return 0;
}

uint64_t store_version(const struct store *store)
{
    return store->shown_version;
}

void store_follow(struct store *store, struct store_follower *follower, uint32_t kind, void (*wake)(void *arg),
                  void *arg)
{
    *follower = (struct store_follower){.wake = wake, .arg = arg, .kind = kind, .is_in_kind = true};
    list_push(&store_kind_of(store, kind)->followers, &follower->in_kind);
}

void store_unfollow(struct store *store, struct store_follower *follower)
{
    if (!follower->is_in_kind)
        return;
    list_remove(&store_kind_of(store, follower->kind)->followers, &follower->in_kind);
    follower->is_in_kind = false;
}

int store_position(const struct store *store, uint64_t version, uint64_t *ret_position)
{
    return history_position(&store->history, version, ret_position);
}

int store_next_change(const struct store *store, uint32_t kind, uint64_t *position,
                      const struct store_change **ret_change)
{
    return history_next(&store->history, kind, position, ret_change);
}

int store_restore(const char *folder, const char *backup, struct err *err)
{
    return disk_restore(folder, backup, err);
}
