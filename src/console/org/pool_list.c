/* SPDX-License-Identifier: Apache-2.0 */

/* Node pools as others see them: quotas, and the objects of the cluster. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "console/data/items.h"
#include "console/org/pools.h"
#include "console/org/sync.h"
#include "console/rest/context.h"

static const char *text_in(yyjson_val *object, const char *key)
{
    const char *text = yyjson_get_str(yyjson_obj_get(object, key));

    return text ? text : "";
}

static int add_pool(void *arg, yyjson_val *item)
{
    struct pool_list *pools = arg;
    struct pool pool = {.is_default = yyjson_get_bool(yyjson_obj_get(item, "isDefault"))};

    if (strcmp(text_in(item, "phase"), SYNC_DELETING) == 0)
        return 0;
    (void)snprintf(pool.id, sizeof pool.id, "%s", text_in(item, "id"));
    (void)snprintf(pool.name, sizeof pool.name, "%s", text_in(item, "name"));
    pool.label_key = xstrdup(text_in(item, "labelKey"));
    pool.label_value = xstrdup(text_in(item, "labelValue"));
    if (pool.is_default)
        vec_insert_at(pools, 0, pool);
    else
        vec_push(pools, pool);
    return 0;
}

int pools_load(struct db *db, struct pool_list *ret_pools, struct err *err)
{
    struct pool_list pools = {0};
    int r = items_each(db, ITEM_NODE_POOL, NULL, add_pool, &pools, err);

    if (r < 0) {
        pools_done(&pools);
        return r;
    }
    *ret_pools = pools;
    return 0;
}

void pools_done(struct pool_list *pools)
{
    vec_foreach (pools, pool) {
        free(pool->label_key);
        free(pool->label_value);
    }
    vec_done(pools);
}

const struct pool *pool_find(const struct pool_list *pools, const char *id_or_name)
{
    vec_foreach (pools, pool) {
        if (strcmp(pool->id, id_or_name) == 0 || strcmp(pool->name, id_or_name) == 0)
            return pool;
    }
    return NULL;
}

int pool_make_default(struct console *console, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *found = NULL;
    int r = item_get(console->db, ITEM_NODE_POOL, DEFAULT_POOL, &found, err);

    if (r != -ENOENT)
        return r;
    yyjson_mut_val *item;
    yyjson_mut_doc *doc = json_new_object(&item);
    put_text(doc, item, "id", DEFAULT_POOL);
    put_text(doc, item, "name", DEFAULT_POOL);
    put_text(doc, item, "labelKey", POOL_LABEL);
    put_text(doc, item, "labelValue", DEFAULT_POOL);
    put_text(doc, item, "gpu", "binpack");
    put_text(doc, item, "cpu", "binpack");
    put_text(doc, item, "phase", "Ready");
    (void)yyjson_mut_obj_add_bool(doc, item, "isDefault", true);
    put_text(doc, item, "createdBy", "system");
    put_text(doc, item, "updatedBy", "system");
    put_text(doc, item, "createdAt", console->cluster_since);
    put_text(doc, item, "updatedAt", console->cluster_since);
    r = item_insert(console->db, &(struct item_key){ITEM_NODE_POOL, DEFAULT_POOL, console->cluster_id, DEFAULT_POOL},
                    item, err);
    yyjson_mut_doc_free(doc);
    return r;
}
