/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/macros.h"
#include "store/object.h"

struct err;
struct loop;

/*
 * The objects of one machine. Memory serves, SQLite remembers: all objects are in memory, so that reading never waits, and
 * a change is shown to readers, to followers and to its writer only after it is on the disk. Changes that come while one
 * transaction is being written go into the next one together.
 *
 * Every change takes the next version, a number that is never used twice. The last changes are kept in memory, so that
 * whoever has seen a version can be told what came after it; whoever is further behind has to read everything again.
 *
 * Everything here belongs to the loop's thread; the disk is written in another one.
 */
struct store;

/* Takes tags out of a body. Called when an object is written, and for each object when a store is opened. */
typedef void (*store_tag_fn)(void *arg, const char *kind, const char *body, size_t len, struct store_tags *tags);

/* The disk can no longer be trusted, for example because syncing has failed. Nothing is stored any more, and the process
 * has to end: what the disk holds is known only when it is read again. */
typedef void (*store_broken_fn)(void *arg, const struct err *err);

struct store_settings {
    const char *folder;  // made with mode 0700 where it is missing; files have 0600
    store_tag_fn tag;    // may be NULL
    store_broken_fn broken;
    void *arg;             // of both
    uint32_t history_max;  // changes kept for followers; 0: STORE_HISTORY_MAX
};

enum {
    STORE_HISTORY_MAX = 20000,           // changes
    STORE_HISTORY_BYTES_MAX = 64 << 20,  // and their bytes
    STORE_KINDS_MAX = 4096,
    STORE_NAME_MAX = 512,      // bytes of a namespace, a name or a kind
    STORE_BODY_MAX = 4 << 20,  // bytes of one object
};

/*
 * Opens the store in a folder, or makes a new one. Returns 0; -EBUSY when another process has it open; -ENOTSUP for a
 * folder on a network file system, where locks cannot be relied on, and for a store of a newer release; -EIO or -EBADMSG
 * when what is there is damaged; another negative errno for other failures.
 */
MUST_CHECK int store_open(struct loop *loop, const struct store_settings *settings, struct store **ret_store,
                          struct err *err);

/*
 * Takes no more changes, finishes those that wait, and frees the store; then calls `done`, which may be NULL. Followers and
 * cursors must not be used any more. Loop callbacks go on meanwhile.
 */
void store_close(struct store *store, void (*done)(void *arg), void *arg);

/* The number of a kind, such as "apps/deployments"; a name gets its number the first time it is asked for, and keeps it. */
MUST_CHECK int store_kind(struct store *store, const char *name, uint32_t *ret_kind, struct err *err);
const char *store_kind_name(const struct store *store, uint32_t kind);

/* --- Reading --- */

/* The version of the newest change that is on the disk. */
uint64_t store_version(const struct store *store);

/* The object, NULL without one. It is the caller's until the next turn of the loop; store_object_ref() keeps it. */
const struct store_object *store_get(const struct store *store, uint32_t kind, const char *namespace, const char *name);

/* How many objects of a kind there are. */
size_t store_count(const struct store *store, uint32_t kind);

/* Bytes of memory held by objects, indices and history, roughly. */
size_t store_bytes(const struct store *store);

/*
 * Walks over the objects of a kind in the order of namespace and name, bytes compared. A walk may be interrupted: it goes
 * on behind the last object that it gave, whatever has happened meanwhile. To go on in another call, begin with `namespace`
 * and `name` of the last one as the place to start behind.
 *
 *     struct store_cursor cursor;
 *     store_cursor_init(&cursor, store, kind, "", "");
 *     while ((object = store_cursor_next(&cursor)))
 */
struct store_cursor {
    const struct store *store;
    const struct store_object *last;  // held; NULL before the first one
    const char *after_namespace;
    const char *after_name;
    uint32_t kind;
    uint32_t leaf, index;  // where the next one is, while `generation` holds
    uint64_t generation;
};

/* Both texts are borrowed until the first object was given. */
void store_cursor_init(struct store_cursor *cursor, const struct store *store, uint32_t kind,
                       const char *after_namespace, const char *after_name);
void store_cursor_done(struct store_cursor *cursor);
const struct store_object *store_cursor_next(struct store_cursor *cursor);

/* Calls `fn` for each object of a kind with an indexed tag, in the order in which they got it. `fn` changes nothing. */
typedef void (*store_each_fn)(void *arg, const struct store_object *object);
void store_tagged(const struct store *store, uint32_t kind, const char *tag, const char *value, store_each_fn fn,
                  void *arg);

/* --- Changing --- */

/* The object as it will be when all changes that wait are on the disk: what a new change has to be checked against. */
const struct store_object *store_latest(const struct store *store, uint32_t kind, const char *namespace,
                                        const char *name);

/* The version that the next change will take, so that it can be written into the body. */
uint64_t store_next_version(const struct store *store);

/*
 * What became of a change: 0 and the object, or a negative errno: -ENOSPC when the disk is full, -ECANCELED when the store
 * is closing, -EIO when it is broken, -E2BIG when the object is larger or has more tags than is allowed. When one change
 * fails, all that came after it fail as well, because they may have been made from it.
 */
typedef void (*store_done_fn)(void *arg, int result, const struct store_object *object, const struct err *err);

struct store_change_request {
    uint32_t kind;
    const char *namespace;
    const char *name;
    const char *body;  // the object as it will be; the last state of one that is removed
    size_t body_len;
    int64_t expires;
    bool is_removal;
};

/* Adds, replaces or removes an object; everything is copied. `done` is called from the loop, never from within this. */
void store_change(struct store *store, const struct store_change_request *request, store_done_fn done, void *arg);

/* --- Following --- */

/* A change as followers see it. */
struct store_change {
    uint64_t version;
    uint32_t kind;
    bool is_removal;
    const struct store_object *before;  // NULL for an object that is new
    const struct store_object *after;   // of a removal: the last state, with the version of the removal
    uint64_t next_of_kind;              // the store's own: where the next change of this kind is
};

/* Is told that there are changes of a kind to be read. It reads them whenever it wants to. */
struct store_follower {
    struct list_link in_kind;
    void (*wake)(void *arg);
    void *arg;
    uint32_t kind;
    bool is_in_kind;
};

/* `wake` is called after changes of this kind, once for several that came together; it must not add or remove followers
 * of the same kind, but may queue a task that does. */
void store_follow(struct store *store, struct store_follower *follower, uint32_t kind, void (*wake)(void *arg),
                  void *arg);
void store_unfollow(struct store *store, struct store_follower *follower);

/*
 * Where the changes behind a version begin. Returns 0; -ESTALE when they are no longer known, so that everything has to be
 * read again; -ERANGE for a version that has not come yet.
 */
MUST_CHECK int store_position(const struct store *store, uint64_t version, uint64_t *ret_position);

/*
 * The next change of a kind at or behind `*position`, which moves behind it. Returns 1; 0 when there is none yet; -ESTALE
 * when the history has moved on past the position. The change is the caller's until the next turn of the loop.
 */
MUST_CHECK int store_next_change(const struct store *store, uint32_t kind, uint64_t *position,
                                 const struct store_change **ret_change);

/* --- Keeping --- */

/*
 * Writes a copy of everything that is on the disk to a new file, while work goes on. `done` gets 0 or a negative errno.
 * -EEXIST when the file is there.
 */
void store_backup(struct store *store, const char *path, void (*done)(void *arg, int result, const struct err *err),
                  void *arg);

/* Puts a backup in the place of the store in a folder, which no process may have open. The old one is kept beside it as
 * "objects.db.before-restore". Versions go on behind those of both, so that clients notice. Returns 0 or a negative errno as store_open() does. */
MUST_CHECK int store_restore(const char *folder, const char *backup, struct err *err);
