/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/macros.h"
#include "console/org/place.h"

struct asset_kind;
struct console;
struct db;
struct err;
struct request;

/* Whether there is a data source that the caller sees and that is there in the whole place. -EINVAL when there is none. */
MUST_CHECK int asset_check_source(struct request *request, const char *id, const struct place *place, struct err *err);

/* Removes the assets, policies and templates of workloads of a department or project that is no more. */
MUST_CHECK int assets_delete_in(struct console *console, const char *scope, const char *id, struct err *err);

/* --- objects of the cluster (objects.c) --- */

/* Calls `fn` with each asset that has objects in the namespace of a project; NULL: in that of any. */
typedef void (*asset_object_fn)(void *arg, const char *item_kind, const char *id);
MUST_CHECK int assets_each_object(struct db *db, const char *project, asset_object_fn fn, void *arg, struct err *err);

/* Whether assets of the kind are objects of the cluster, or name such. */
bool asset_has_objects(const struct asset_kind *kind);

/* The name of the objects that an asset becomes, to be freed; NULL when it becomes none. */
char *asset_object_name(const struct asset_kind *kind, yyjson_val *item);
