/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "base/macros.h"
#include "base/time.h"

struct api_kind;
struct err;
struct schema;
struct strbuf;

/*
 * Server-side apply: who owns which field of an object, in metadata.managedFields, and the merging of what a manager
 * applies. Pure: documents in, documents out.
 *
 * Ownership is tracked from the creation of an object on. After a client has reset it, nothing is tracked up to the next
 * apply; everything that is there then belongs to a manager called before-first-apply.
 */
struct apply_request {
    const struct api_kind *kind;  // the version that the request speaks
    const struct schema *schema;  // of a custom kind; NULL: built in
    const char *manager;          // fieldManager, or what stands in for it
    const char *subresource;      // "" for the object itself
    bool force;
    bool is_new;  // apply_track(): the object has just been made, and `old` is what an empty one has
    /* apply_patch(): what an object of the kind has without any member that a client has set; NULL: nothing. */
    yyjson_mut_doc *empty;
    nsec_t now;
};

enum apply_result {
    APPLY_DONE,
    APPLY_UNCHANGED,  // the object is as it was: nothing to write
    APPLY_MALFORMED,  // 400
    APPLY_CONFLICT,   // 409: other managers own fields with other values
    APPLY_INVALID,    // 500 at the API server: duplicate keys in a list, fields that are not declared
};

/* A field that another manager owns, and the cause of the Status that says so. */
struct apply_conflict {
    char *field;    // ".spec.replicas"
    char *message;  // conflict with "kubectl" using apps/v1
};

struct apply_conflicts {
    struct apply_conflict *list;
    size_t count;
    char *message;  // of the Status: "Apply failed with 1 conflict: ..."
};

void apply_conflicts_done(struct apply_conflicts *conflicts);

/*
 * Applies `body`, the configuration of request->manager, to `live`; NULL when the object does not exist, which creates it.
 * Gives a new document with its managedFields; it still has to be pruned, defaulted, validated and stamped.
 * `conflicts` is filled for APPLY_CONFLICT, `err` for the other failures.
 */
MUST_CHECK enum apply_result apply_patch(const struct apply_request *request, yyjson_mut_doc *live, yyjson_val *body,
                                         yyjson_mut_doc **ret_doc, struct apply_conflicts *conflicts, struct err *err);

/*
 * Tracks any other write: `doc` is about to replace `old`, after defaults and admission. Fields that differ go to
 * request->manager with the operation Update. Nothing is tracked for an object whose owners were forgotten. A client may write
 * managedFields itself: [{}] forgets all owners, an empty list means those of `old`, anything else that can be read is
 * taken. An object of a custom kind that is new has no `old`.
 */
void apply_track(const struct apply_request *request, yyjson_mut_doc *old, yyjson_mut_doc *doc);

/* The same for a write of the replicas through /scale. `place` is an object that has them alone: {"spec":{"replicas":1}}. */
void apply_track_scale(const struct apply_request *request, yyjson_mut_val *place, yyjson_mut_doc *old,
                       yyjson_mut_doc *doc);

/* Whether an object of a custom kind, as a client has sent it, has the types that its schema says. One that has not, and is
 * stored all the same as the wrong part does not count, has no owners from then on. */
bool apply_has_types(const struct api_kind *kind, const struct schema *schema, yyjson_mut_doc *doc);

/* The manager of a request without fieldManager: the User-Agent up to its first "/", "unknown" without one; at most 128
 * bytes. */
void apply_default_manager(const char *user_agent, struct strbuf *ret_manager);
