/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <yyjson.h>

#include "kube/client/client.h"
#include "kube/client/modify.h"
#include "services/scheduler/keys.h"

struct loop;
struct state;
struct traffic;

/*
 * Writes that may wait: conditions, annotations, labels. They come after binds and evictions, a few at a time. Of several
 * for one object only the last is made. What the server refuses because the object is gone or has changed is dropped:
 * the next event of the object brings what is right by then.
 */
struct writes;

enum write_kind {
    WRITE_POD_CONDITION,
    WRITE_POD_BOUND,
    WRITE_POD_POOL,
    WRITE_GANG_TIMES,
    WRITE_GANG_STATUS,
    _WRITE_KIND_MAX
};

struct write {
    enum write_kind kind;
    object_key key;
    enum kube_verb verb;
    const struct kube_resource *resource;
    const char *subresource;    // NULL: none
    const yyjson_mut_doc *doc;  // the patch; with `change`: what that is given
    /* Read, change and write instead of a patch; `change` gets the root of `doc`. Returns as kube_modify_fn does. */
    int (*change)(yyjson_val *wanted, yyjson_mut_doc *doc, yyjson_mut_val *object);
    /* The server has refused it: what we believed to be there is not. May be NULL. */
    void (*on_failed)(void *arg, object_key key);
    void *arg;
};

/* Borrows all. `at_once` of each sort are under way at most. */
struct writes *writes_new(const struct state *state, struct kube_client *client, struct loop *loop,
                          struct traffic *traffic, uint32_t at_once);
void writes_free(struct writes *writes);

/* Copies the write. */
void writes_put(struct writes *writes, const struct write *write);

/* It is not worth writing any more; one that is under way goes on. */
void writes_cancel(struct writes *writes, enum write_kind kind, object_key key);

/* Waits to be written or is being written. */
bool writes_has(const struct writes *writes, enum write_kind kind, object_key key);

size_t writes_len(const struct writes *writes);

/* Starts what may be started: something that went before it is over. */
void writes_pump(struct writes *writes);
