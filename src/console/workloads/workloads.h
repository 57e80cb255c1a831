/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "base/macros.h"
#include "console/identity/access.h"
#include "console/identity/roles.h"

struct console;
struct db;
struct err;
struct json_at;
struct place;
struct request;
struct workload_kind;

/*
 * Workloads: items with what was asked for, from which a Job each follows in the namespace of the project. An item has
 *
 *     id, name, requestedName, type, projectId, projectName, departmentId, departmentName, namespace, nodePool,
 *     priorityClassName, priority, preemptible, category, createdBy, createdAt, updatedAt, spec,
 *     desired    what somebody wants of it (phase.h)
 *     status     {phase, phaseUpdatedAt, completedAt, message, phases}: what follow.c has seen, why the cluster does not
 *                follow, and the newest phases as {time, phase, message}
 */

/* Calls `fn` with each workload of a project; NULL: of all. */
typedef void (*workload_fn)(void *arg, const char *id);
MUST_CHECK int workloads_each(struct db *db, const char *project, workload_fn fn, void *arg, struct err *err);

/* Removes the items of a project that is no more. */
MUST_CHECK int workloads_delete_in(struct console *console, const char *project, struct err *err);

/* --- parts that handlers share --- */

/* The place of a workload's project. */
void workload_place(yyjson_val *item, struct place *ret_place);

/*
 * The item that the path names, of the kind that it names (any, for /workloads/{workloadId}), when the caller may do this to
 * it; fills in what the audit says. -ENOENT when the caller may not read it, -EACCES when it may not do the rest.
 */
MUST_CHECK int workload_take(struct request *request, enum action action, yyjson_doc **ret_doc, struct err *err);

/* A new workload of a kind, from the body of a submission; answers with it. */
MUST_CHECK int workload_submit(struct request *request, const struct workload_kind *kind, const struct json_at *given,
                               struct err *err);

/* The spec of an item, and the members that follow from it: its node pool, priority and category. */
MUST_CHECK int workload_put_spec(struct request *request, const struct workload_kind *kind, yyjson_mut_val *spec,
                                 yyjson_mut_val *item, struct err *err);

/* The answer about one workload of its kind, by its item. */
void workload_answer(struct request *request, yyjson_val *item);

/* Sets the phase in the status of an item, now, and adds it to those that it has had. */
void workload_set_phase(yyjson_mut_doc *doc, yyjson_mut_val *status, const char *phase, const char *message);

/* Deletes a workload whose time after its end is over; the cluster is not told yet. */
MUST_CHECK int workload_expire(struct console *console, yyjson_val *item, struct err *err);

/* Notes that the cluster has changed the item, for those who follow changes; in the transaction that is under way. */
MUST_CHECK int workload_note_change(struct console *console, yyjson_val *item, const char *action, struct err *err);

/* Whether the caller may read what lists say about the workload. */
bool workload_is_listed(const struct access *access, yyjson_val *item);

/* What can be done to a workload: "delete", "suspend", "resume". NULL: there is no such verb. */
struct workload_verb {
    const char *name;
    enum action action;
    const char *audited;  // the audit log has few actions; its entry has the address of the request
    const char *desired;
};
const struct workload_verb *workload_verb_find(const char *name);

/*
 * Does it to one workload; `kind` NULL: of any kind. The request has what the audit says of it; the cluster is not told yet.
 * -ENOENT for what the caller may not read, -EACCES for what it may not change, -EINVAL for what has ended.
 */
MUST_CHECK int workload_change(struct request *request, const struct workload_kind *kind, const char *id,
                               const struct workload_verb *verb, struct err *err);
