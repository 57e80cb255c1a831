/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/macros.h"
#include "base/vec.h"
#include "console/identity/access.h"

struct console;
struct db;
struct err;

/*
 * Node pools: nodes with one label, a scheduler of their own, and quotas of departments and projects of their own. The pool
 * `default` has the nodes that are in no other one.
 */
#define ITEM_NODE_POOL "node-pool"
#define DEFAULT_POOL "default"  // its identifier and its name

/* The label of nodes, Queues and shards that says which pool they are in. */
#define POOL_LABEL "kai.scheduler/node-pool"

enum { POOL_NAME_MAX = 40 };

struct pool {
    char id[UUID_TEXT_MAX];
    char name[POOL_NAME_MAX + 1];
    char *label_key;
    char *label_value;
    bool is_default;
};
struct pool_list VEC_OF(struct pool);

/* All pools that are not being deleted: the default one first, then by name. To be given to pools_done(). */
MUST_CHECK int pools_load(struct db *db, struct pool_list *ret_pools, struct err *err);
void pools_done(struct pool_list *pools);

/* By identifier or name; NULL: there is none. */
const struct pool *pool_find(const struct pool_list *pools, const char *id_or_name);

/* Makes the default pool at the first start. */
MUST_CHECK int pool_make_default(struct console *console, struct err *err);
