/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/list.h"
#include "base/vec.h"
#include "frame/work.h"
#include "kube/client/client.h"

struct collector;
struct kube_modify;

/*
 * Who owns whom, of all objects, by uid. An owner that was not seen has a place here as soon as an object refers to it. All
 * of it is metadata; the objects themselves are not kept.
 */
#define FINALIZER_FOREGROUND "foregroundDeletion"
#define FINALIZER_ORPHAN "orphan"

struct thing;

/* One entry of metadata.ownerReferences. */
struct ownership {
    struct list_link in_owner;
    struct thing *owner, *dependent;
    char *api_version, *kind, *name;
    bool is_blocking;  // the owner waits for the dependent when it is deleted in the foreground
};

struct thing {
    struct work_item work;
    char *uid;
    const struct kube_resource *resource;  // NULL: not seen
    char *namespace, *name;
    VEC(struct ownership *) owners;
    struct list dependents;
    bool is_seen;
    bool is_absent;  // the server has said that there is no such object; that stays so
    bool is_ending, is_foreground, is_orphaning;
    uint64_t visit;  // the search that came by here last

    /* Of the collector; NULL at first. */
    struct collector *collector;
    struct thing *asked;  // the owner that `call` asks for
    struct kube_call *call;
    struct kube_modify *modify;
};

struct graph;

struct graph *graph_new(void);
void graph_free(struct graph *graph, void (*on_gone)(struct thing *thing));

struct thing *graph_find(const struct graph *graph, const char *uid);

/* Takes in what an object says of itself; the thing is created. */
struct thing *graph_put(struct graph *graph, const struct kube_resource *resource, yyjson_val *object);

/* The object is gone. `on_gone` is called before the thing is freed, which is when nobody refers to it. */
void graph_drop(struct graph *graph, struct thing *thing, void (*on_gone)(struct thing *thing));

/* Walks over all things; `*cursor` starts at 0. The graph must not change on the way. */
struct thing *graph_next(const struct graph *graph, size_t *cursor);

/* Whether the dependent owns its owner in turn, directly or by way of others that are all deleted in the foreground: each would
 * wait for the next one, and none of them would go. */
bool ownership_is_circle(struct graph *graph, const struct ownership *ownership);

/* Whether the owner is where it can own this dependent: in its namespace, or in none. */
bool ownership_is_local(const struct ownership *ownership);
