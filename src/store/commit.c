/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes on their way to the disk. One transaction is written at a time, in another thread; what comes meanwhile waits and
 * goes into the next one, so that an idle store writes at once and a busy one writes many changes with one sync.
 *
 * `latest` of an entry is what it will be when all its changes are written. Readers see `shown`, which moves only after the
 * transaction is on the disk.
 */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "store/store_internal.h"

enum { BATCH_CHANGES_MAX = 256, BATCH_BYTES_MAX = 4 << 20 };

/* --- Taking a change --- */

static int refuse_request(const struct store *store, const struct store_change_request *request)
{
    if (store->is_closing)
        return -ECANCELED;
    if (store->is_broken)
        return -EIO;
    if (strlen(request->namespace) > STORE_NAME_MAX || strlen(request->name) > STORE_NAME_MAX ||
        request->body_len > STORE_BODY_MAX || store->tags.is_full)
        return -E2BIG;
    return 0;
}

static void entry_set_latest(struct entry *entry, const struct change *change)
{
    entry->waiting++;
    entry->latest = change->is_removal ? NULL : change->after;
}

void store_change(struct store *store, const struct store_change_request *request, store_done_fn done, void *arg)
{
    struct change *change = xcalloc(1, sizeof *change);

    change->is_removal = request->is_removal;
    change->done = done;
    change->arg = arg;
    store_tags_clear(&store->tags);
    if (store->settings.tag && !request->is_removal)
        store->settings.tag(store->settings.arg, store_kind_name(store, request->kind), request->body,
                            request->body_len, &store->tags);
    change->refusal = refuse_request(store, request);
    if (change->refusal == 0) {
        change->after = object_new(
            &(struct object_parts){
                .kind = request->kind,
                .version = ++store->taken_version,
                .expires = request->expires,
                .namespace = request->namespace,
                .name = request->name,
                .body = request->body,
                .body_len = request->body_len,
            },
            &store->tags);
        change->entry = entry_make(store, request->kind, request->namespace, request->name);
        entry_set_latest(change->entry, change);
    }
    list_push(&store->waiting, &change->in_queue);
    loop_task_queue(&store->next_job);
}

uint64_t store_next_version(const struct store *store)
{
    return store->taken_version + 1;
}

/* --- Ending a change --- */

/* `change` has left its queue. */
static void change_end(struct store *store, struct change *change, int result, const struct err *err)
{
    if (change->entry) {
        change->entry->waiting--;
        entry_drop_unused(store, change->entry);
    }
    if (change->done)
        change->done(change->arg, result, result < 0 ? NULL : change->after, err);
    store_object_unref(change->after);
    free(change);
}

static struct change *take_first(struct list *queue)
{
    struct change *change = list_first(queue, struct change, in_queue);

    if (change)
        list_remove(queue, &change->in_queue);
    return change;
}

static void move_all(struct list *from, struct list *to)
{
    for (struct change *change; (change = take_first(from));)
        list_push(to, &change->in_queue);
}

/* Whatever waits may have been made from what failed. New changes that the callbacks make are not among them. */
static void fail_all(struct store *store, int result, const struct err *err)
{
    struct list failed = {0};

    move_all(&store->writing, &failed);
    move_all(&store->waiting, &failed);
    for (struct list_link *at = failed.first; at; at = at->next) {
        struct entry *entry = list_item(at, struct change, in_queue)->entry;
        if (entry)
            entry->latest = entry->shown;
    }
    for (struct change *change; (change = take_first(&failed));)
        change_end(store, change, change->refusal ? change->refusal : result, err);
}

/* --- Showing what is on the disk --- */

static void show(struct store *store, const struct change *change)
{
    struct entry *entry = change->entry;
    struct store_change seen = {
        .version = change->after->version,
        .kind = entry->kind,
        .is_removal = change->is_removal,
        .before = entry->shown,
        .after = change->after,
    };

    history_add(&store->history, seen);
    entry_show(store, entry, change->is_removal ? NULL : change->after);
    store_kind_of(store, entry->kind)->has_changed = true;
    store->shown_version = change->after->version;
}

static void wake_followers(struct store *store)
{
    for (uint32_t i = 0; i < store->kinds.len; i++) {
        struct kind *kind = store->kinds.items[i];
        if (!kind->has_changed)
            continue;
        kind->has_changed = false;
        for (struct list_link *at = kind->followers.first, *next; at; at = next) {
            struct store_follower *follower = list_item(at, struct store_follower, in_kind);
            next = at->next;
            follower->wake(follower->arg);
        }
    }
}

static void show_all(struct store *store)
{
    struct list written = {0};

    move_all(&store->writing, &written);
    for (struct list_link *at = written.first; at; at = at->next)
        show(store, list_item(at, struct change, in_queue));
    wake_followers(store);
    for (struct change *change; (change = take_first(&written));)
        change_end(store, change, 0, NULL);
}

/* --- The other thread --- */

static void work(void *arg)
{
    struct store *store = arg;

    switch (store->job) {
    case DISK_COMMITS:
        store->job_result = disk_commit(store->disk, &store->batch, store->batch_version, &store->job_err);
        return;
    case DISK_CHECKPOINTS:
        disk_checkpoint(store->disk);
        return;
    case DISK_BACKS_UP:
        store->job_result =
            disk_backup(store->disk, list_first(&store->backups, struct backup, in_queue)->path, &store->job_err);
        return;
    case DISK_IDLE:
        return;
    }
}

static void forget_batch(struct store *store)
{
    vec_clear(&store->batch);
    vec_clear(&store->batch_kinds);
}

static void commit_done(struct store *store)
{
    if (store->job_result == 0) {
        forget_batch(store);
        show_all(store);
        return;
    }
    vec_foreach (&store->batch_kinds, kind)
        store_kind_of(store, *kind)->is_stored = false;
    forget_batch(store);
    if (store->job_result != -ENOSPC) {
        store->is_broken = true;
        store->broken_err = store->job_err;
    }
    struct err err = store->job_err;
    int result = store->job_result;
    fail_all(store, result, &err);
    if (store->is_broken && store->settings.broken)
        store->settings.broken(store->settings.arg, &store->broken_err);
}

static void backup_end(struct store *store, int result, const struct err *err)
{
    struct backup *backup = list_first(&store->backups, struct backup, in_queue);

    list_remove(&store->backups, &backup->in_queue);
    backup->done(backup->arg, result, result < 0 ? err : NULL);
    free(backup->path);
    free(backup);
}

static void work_done(void *arg)
{
    struct store *store = arg;
    enum disk_job job = store->job;

    store->job = DISK_IDLE;
    if (job == DISK_COMMITS)
        commit_done(store);
    else if (job == DISK_BACKS_UP)
        backup_end(store, store->job_result, &store->job_err);
    loop_task_queue(&store->next_job);
}

static void start(struct store *store, enum disk_job job)
{
    store->job = job;
    store->job_result = 0;
    store->job_err = (struct err){0};
    loop_work(store->loop, work, work_done, store);
}

/* --- What the disk does next --- */

/* With all kinds before it, which nobody may have written yet: numbers on the disk have no gaps. */
static void tell_kinds(struct store *store, uint32_t last)
{
    if (store_kind_of(store, last)->is_stored)
        return;
    for (uint32_t number = 0; number <= last; number++) {
        struct kind *kind = store_kind_of(store, number);

        if (kind->is_stored)
            continue;
        kind->is_stored = true;
        vec_push(&store->batch_kinds, number);
        vec_push(&store->batch, (struct disk_write){.kind = number, .kind_name = kind->name});
    }
}

/* Moves the oldest changes from the queue into the next transaction. False when there are none. */
static bool fill_batch(struct store *store)
{
    size_t bytes = 0;

    /* Callbacks of changes that are refused may make new ones: those have to wait for their turn. */
    for (size_t left = store->waiting.len;
         left > 0 && store->writing.len < BATCH_CHANGES_MAX && bytes < BATCH_BYTES_MAX; left--) {
        struct change *change = take_first(&store->waiting);
        if (change->refusal) {
            struct err err = {0};
            if (store->is_broken)
                err = store->broken_err;
            else
                err_set(&err, change->refusal, "%s", strerror(-change->refusal));
            change_end(store, change, change->refusal, &err);
            continue;
        }
        tell_kinds(store, change->entry->kind);
        vec_push(&store->batch, (struct disk_write){
                                    .kind = change->entry->kind,
                                    .object = change->after,
                                    .is_removal = change->is_removal,
                                });
        store->batch_version = change->after->version;
        bytes += change->after->body_len;
        list_push(&store->writing, &change->in_queue);
    }
    return store->writing.len > 0;
}

void store_free(struct store *store)
{
    void (*closed)(void *arg) = store->closed;
    void *arg = store->closed_arg;

    loop_task_cancel(&store->next_job);
    disk_close(store->disk);
    history_done(&store->history);
    store_free_tables(store);
    store_tags_done(&store->tags);
    vec_done(&store->batch);
    vec_done(&store->batch_kinds);
    free((char *)store->settings.folder);
    free(store);
    if (closed)
        closed(arg);
}

static void next_job(void *arg)
{
    struct store *store = arg;

    if (store->job != DISK_IDLE)
        return;
    if (fill_batch(store))
        start(store, DISK_COMMITS);
    else if (store->backups.len && store->is_broken)
        backup_end(store, -EIO, &store->broken_err);
    else if (store->backups.len)
        start(store, DISK_BACKS_UP);
    else if (store->waiting.len)
        loop_task_queue(&store->next_job);
    else if (store->is_closing)
        store_free(store);
    else if (!store->is_broken && disk_wants_checkpoint(store->disk))
        start(store, DISK_CHECKPOINTS);
}

void store_start_commits(struct store *store)
{
    loop_task_init(&store->next_job, store->loop, next_job, store);
}

void store_backup(struct store *store, const char *path, void (*done)(void *arg, int result, const struct err *err),
                  void *arg)
{
    struct backup *backup = xcalloc(1, sizeof *backup);

    backup->path = xstrdup(path);
    backup->done = done;
    backup->arg = arg;
    list_push(&store->backups, &backup->in_queue);
    loop_task_queue(&store->next_job);
}

void store_close(struct store *store, void (*done)(void *arg), void *arg)
{
    store->is_closing = true;
    store->closed = done;
    store->closed_arg = arg;
    loop_task_queue(&store->next_job);
}
