/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "base/macros.h"

struct console;
struct err;
struct request;

/*
 * Makes the cluster follow the database: a Queue for each department and project, a namespace for each project, a
 * SchedulingShard for each node pool, the Secrets and claims of assets in the namespaces of the projects below their scopes, and
 * a Job for each workload. What could not be done is tried again for as long as it takes; the item says how far it is. Objects of
 * the console that somebody deletes are made again. Objects that the console has not made are left alone.
 */
struct sync;

/* The phase of an item whose Queue goes first; the item follows. */
#define SYNC_DELETING "Deleting"

/* The department of projects that name none. */
#define SYNC_DEFAULT_DEPARTMENT "default"

/* Knows the cluster from the start, and writes to it while it leads. */
struct sync *sync_new(struct console *console);
void sync_free(struct sync *sync);

/* One console of a database leads; a new leader begins with all items that there are. */
void sync_set_leading(struct sync *sync, bool is_leading);

bool sync_is_leading(const struct sync *sync);

/* An item has changed; and all items may have. Only a leader's sync takes note. */
void sync_add(struct sync *sync, const char *kind, const char *id);
void sync_add_all(struct sync *sync);

/* The assets with objects in the namespace of a project, and its workloads, have changed; NULL: all. */
MUST_CHECK int sync_add_content(struct sync *sync, const char *project, struct err *err);

/* Nodes or node pools have changed. */
void sync_add_pools(struct sync *sync);

/* The namespace is there, and is the project's. */
bool sync_has_namespace(const struct sync *sync, const char *namespace, const char *project);

/* Calls `fn` with each node and its labels. */
typedef void (*sync_node_fn)(void *arg, const char *name, yyjson_val *labels);
void sync_each_node(const struct sync *sync, sync_node_fn fn, void *arg);

/* The last request to the cluster was answered; for one that does not lead: the cluster has listed its objects. */
bool sync_is_connected(const struct sync *sync);

/* A new department or project from the members of the request's body; for the request of a caller, and for the first start. */
MUST_CHECK int unit_create(struct request *request, bool is_project, const char *name, const char *created_by,
                           struct err *err);
