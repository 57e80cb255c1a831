/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "net/loop.h"
#include "store/disk.h"
#include "store/entry_internal.h"
#include "store/history.h"
#include "store/object_internal.h"
#include "store/ordered.h"
#include "store/store.h"

struct kind {
    char *name;
    struct strmap entries;   // by namespace and name
    struct ordered ordered;  // those that readers see
    struct list followers;
    bool is_stored;    // the disk knows it, or the transaction that is being written will tell it
    bool has_changed;  // since followers were woken
};

/* A change on its way to the disk. */
struct change {
    struct list_link in_queue;
    struct entry *entry;               // NULL: refused at once, with `refusal`
    const struct store_object *after;  // held
    bool is_removal;
    int refusal;
    store_done_fn done;
    void *arg;
};

struct backup {
    struct list_link in_queue;
    char *path;
    void (*done)(void *arg, int result, const struct err *err);
    void *arg;
};

/* What the disk is busy with, in the other thread. */
enum disk_job { DISK_IDLE, DISK_COMMITS, DISK_CHECKPOINTS, DISK_BACKS_UP };

struct store {
    struct loop *loop;
    struct store_settings settings;
    struct disk *disk;
    struct history history;
    VEC(struct kind *) kinds;
    struct strmap kind_numbers;  // by name: its number plus one
    struct strmap buckets;       // by "<kind>/<tag>" and value
    struct store_tags tags;      // of the object that is being made
    uint64_t shown_version;      // of what readers see
    uint64_t taken_version;      // of the newest change
    size_t object_bytes;

    struct list waiting;  // changes, oldest first
    struct list writing;  // those of the transaction that is being written
    struct list backups;
    struct disk_writes batch;   // the same, for the other thread
    VEC(uint32_t) batch_kinds;  // kinds that it tells the disk about
    uint64_t batch_version;
    enum disk_job job;
    int job_result;
    struct err job_err;
    struct loop_task next_job;
    bool is_broken;
    struct err broken_err;

    void (*closed)(void *arg);
    void *closed_arg;
    bool is_closing;
};

/* table.c: objects in memory */
struct kind *store_kind_of(const struct store *store, uint32_t kind);
MUST_CHECK int store_add_kind(struct store *store, const char *name, bool is_stored, uint32_t *ret_kind,
                              struct err *err);
struct entry *entry_find(const struct store *store, uint32_t kind, const char *namespace, const char *name);
struct entry *entry_make(struct store *store, uint32_t kind, const char *namespace, const char *name);
/* Frees an entry that has neither an object nor changes that wait. */
void entry_drop_unused(struct store *store, struct entry *entry);
/* Readers see `object` from now on; NULL: nothing. Keeps a reference. */
void entry_show(struct store *store, struct entry *entry, const struct store_object *object);
void store_free_tables(struct store *store);

/* commit.c: changes on their way to the disk */
void store_start_commits(struct store *store);
/* At once; nothing is under way or waits. Calls `closed`. */
void store_free(struct store *store);
