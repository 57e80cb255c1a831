/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "base/macros.h"
#include "base/vec.h"
#include "kube/client/resource.h"

struct console;
struct err;

/*
 * What the cluster should have because of one item: a list of objects. sync.c compares it with what the cluster has. Objects of
 * the console carry the identifier and the kind of their item as labels; those of others are never changed or deleted.
 */
#define OBJECT_LABEL_ID "console.muster/id"
#define OBJECT_LABEL_KIND "console.muster/kind"
#define OBJECT_HASH "console.muster/hash"  // annotation

enum want_mode {
    WANT_SAME,      // made where it is missing, and changed to be as the document says
    WANT_ADOPTED,   // the same, also where somebody else has made it
    WANT_MADE,      // made where it is missing; from then on it is its users'
    WANT_THERE,     // somebody else makes it: it is only checked
    WANT_LABELLED,  // gets what the document says where it is there: labels of nodes
    WANT_GONE,      // deleted when it is ours
};

struct want {
    enum kube_known resource;
    enum want_mode mode;
    char *namespace;  // NULL: the kind has none
    char *name;
    char *project;         // whose namespace it is; NULL: none
    yyjson_mut_doc *doc;   // NULL for those that are only checked or deleted
    yyjson_mut_doc *kept;  // the part of it that can be changed later, which alone is compared and changed; NULL: all
    bool is_replaced;      // written as a whole: what the document has no more goes
    bool is_listed;        // there is one with our labels
    bool is_done;
    char *issue;  // why the cluster does not follow; NULL: it does
};

struct wants {
    VEC(struct want) list;
    /*
     * All objects of one kind with the labels of the item are listed first: those that are not wanted are deleted; nodes lose
     * the labels.
     */
    bool is_listing;
    enum kube_known resource;
    const enum kube_known *others;  // then those of these kinds, up to _KUBE_KNOWN_MAX; NULL: of no other
    bool is_ordered;                // an object that fails ends all
};

/* The item; `doc` is NULL when it is deleted. */
struct sync_item {
    const char *kind;
    const char *id;
    yyjson_doc *doc;
};

/* A new want with copies of the texts. */
struct want *wants_add(struct wants *wants, enum kube_known resource, enum want_mode mode, const char *namespace,
                       const char *name);

/* The document of a want with its metadata and the labels of the item; returns its root. */
yyjson_mut_val *want_begin(struct want *want, const struct sync_item *item, const char *label_kind);

/*
 * The document is whole, and the object is written as a whole. What it has more is told by an annotation with a hash of the
 * document that it was made from.
 */
void want_replaces(struct want *want);

/* An object with our labels that a list has shown. */
void wants_see(struct wants *wants, yyjson_val *object);

/* Whether an object of the cluster has all that the document of the want says. */
bool want_is_met(const struct want *want, yyjson_val *object);

void wants_done(struct wants *wants);

/*
 * What the kinds of items say: `fill` says what is wanted, and `end` writes down how far the cluster follows. `problem` is
 * why it does not, and "" when it does.
 */
struct sync_kind {
    int (*fill)(struct console *console, const struct sync_item *item, struct wants *wants, struct err *err);
    int (*end)(struct console *console, const struct sync_item *item, const struct wants *wants, const char *problem,
               struct err *err);
};

/* Notes that the item was written by an `end`, for those who follow changes. */
MUST_CHECK int sync_note(struct console *console, const struct sync_item *item, const char *action, struct err *err);

extern const struct sync_kind pool_sync_kind;   // node pools
extern const struct sync_kind unit_sync_kind;   // departments and projects
extern const struct sync_kind asset_sync_kind;  // those that have objects
extern const struct sync_kind workload_sync_kind;
