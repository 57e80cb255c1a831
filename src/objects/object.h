/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/intern.h"
#include "base/macros.h"
#include "base/time.h"
#include "base/vec.h"
#include "text/json.h"

struct err;
struct object_kind;
struct object_notes;
struct yaml_doc;

/* Where documents came from, for messages. */
struct object_source {
    const char *name;             // of the file
    const struct yaml_doc *yaml;  // NULL for JSON, which keeps no lines
    bool is_snapshot;             // of a whole cluster, where every controller has been at work
    bool is_from_folder;          // nobody named the file: what in it is no object is left out, with a warning
};

/*
 * One Kubernetes object of the input. The JSON is borrowed from its document. Without a UID an object has its namespace
 * and name as one; without a creation time, its place in the input decides: earlier is older.
 */
struct object {
    const struct object_kind *kind;
    struct json_at root;
    const char *api_version;
    const char *namespace;  // "" for kinds that have none
    const char *name;
    const char *uid;
    bool has_uid;     // it was given
    bool is_partial;  // only the metadata is here
    nsec_t created;
    uint64_t place;  // in the input
    const struct object_source *source;
    const struct object *maker;  // the workload that it was made for, NULL when it was read
    struct object *next;         // of its kind, in the order of the input
    bool is_replaced;            // the input holds a later one of that name
    bool has_children;           // some object of the input names it as its owner
    const char *gang;            // pods: set by grouping, NULL: as annotated
    const char *pod_set;
};

/* Rows that the table of kinds may have. */
enum { OBJECT_KINDS_MAX = 96 };

/* All objects of the input. Objects never move. */
struct object_set {
    struct arena arena;
    VEC(struct object *) objects;  // in the order of the input, then those that were made
    VEC(yyjson_doc *) made_docs;
    struct intern keys;  // "<kind>/<namespace>/<name>"
    VEC(struct object *) by_key;
    struct object *first_of_kind[OBJECT_KINDS_MAX];
    struct object *last_of_kind[OBJECT_KINDS_MAX];
    struct intern uids;
    VEC(struct object *) by_uid;
    uint32_t read_count;  // objects that were read, not made
    uint32_t made_count;
    uint32_t made_max;     // see OBJECTS_MADE_MAX
    uint64_t made_values;  // of their documents
    nsec_t undated_from;   // the creation time of the first object that has none
    struct object_notes *notes;
};

/*
 * Workloads of one input become at most this many pods, of so many JSON values each on average, so that a parallelism
 * of a billion is a message.
 */
enum { OBJECTS_MADE_MAX = 200000, OBJECT_VALUES_MAX = 100 };

void object_set_init(struct object_set *set, struct object_notes *notes);
void object_set_done(struct object_set *set);

/*
 * Adds the objects of a document, whose `root` has to outlive the set: one object, a List, a typed list such as
 * PodList, or an array. Kinds that are not known are counted in the notes. An object of the same kind, namespace and
 * name replaces the earlier one. Returns 0 or -EINVAL.
 */
MUST_CHECK int object_set_add(struct object_set *set, yyjson_val *root, const struct object_source *source,
                              struct err *err);

/* Adds one object of a known kind, whatever its own kind and apiVersion say, as in a KAI snapshot. */
MUST_CHECK int object_set_add_as(struct object_set *set, const struct object_kind *kind, yyjson_val *val,
                                 const struct object_source *source, struct err *err);

/* Adds an object that was made for a workload; takes ownership of the document. */
MUST_CHECK int object_set_add_made(struct object_set *set, yyjson_doc *doc, const struct object *maker,
                                   struct err *err);

/* The object, or NULL. `namespace` is "" for kinds that have none. */
struct object *object_set_find(const struct object_set *set, const struct object_kind *kind, const char *namespace,
                               const char *name);
struct object *object_set_find_uid(const struct object_set *set, const char *uid);

/* The first object of a kind, or NULL; `next` leads to the others. */
struct object *object_set_first(const struct object_set *set, const struct object_kind *kind);

/* Puts "file:line:column: Kind namespace/name: " in front of what is wrong with the object. Returns `code`. */
int object_wrap(const struct object *object, int code, struct err *err);

/* Its labels or annotations, as a place. `meta` is scratch space that has to live as long. */
struct json_at object_labels(const struct object *object, struct json_at *meta);
struct json_at object_annotations(const struct object *object, struct json_at *meta);

/* The value of a label or an annotation, NULL when it is not there. */
const char *object_label(const struct object *object, const char *key);
const char *object_annotation(const struct object *object, const char *key);
