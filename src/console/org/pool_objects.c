/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a node pool is in the cluster: a SchedulingShard with its settings, which has a scheduler of its own, and a label on each
 * node that has the label of the pool.
 */
#include "console/org/pool_objects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "console/data/items.h"
#include "console/org/pools.h"
#include "console/org/sync.h"
#include "console/org/wants.h"
#include "console/rest/context.h"

static const char *text_at(const struct sync_item *item, const char *pointer)
{
    const char *text = yyjson_get_str(yyjson_doc_ptr_get(item->doc, pointer));

    return text ? text : "";
}

static bool is_default(const struct sync_item *item)
{
    return strcmp(item->id, DEFAULT_POOL) == 0;
}

/* --- durations --- */

/* Parts with one unit each: "5d" and "8h40m". */
int runtime_parse(const char *text, nsec_t *ret_duration, struct err *err)
{
    enum { RUNTIME_TEXT_MAX = 64 };
    const nsec_t longest = (nsec_t)36500 * 86400 * NSEC_PER_SEC;
    char part[RUNTIME_TEXT_MAX];
    nsec_t sum = 0;

    text += *text == '+';
    if (!*text || strlen(text) >= sizeof part)
        return err_set(err, -EINVAL, "expected a duration such as 5d8h40m");
    while (*text) {
        size_t digits = strspn(text, "0123456789.");
        size_t unit = strcspn(text + digits, "0123456789.");
        nsec_t duration = 0;

        memcpy(part, text, digits + unit);
        part[digits + unit] = '\0';
        if (digits == 0 || long_duration_parse(part, &duration, err) < 0 || duration > longest - sum)
            return err_set(err, -EINVAL, "expected a duration such as 5d8h40m");
        sum += duration;
        text += digits + unit;
    }
    *ret_duration = sum;
    return 0;
}

/* --- what is wanted --- */

static void want_shard(const struct sync_item *item, struct wants *wants)
{
    struct want *want = wants_add(wants, KUBE_SCHEDULING_SHARDS, is_default(item) ? WANT_ADOPTED : WANT_SAME, NULL,
                                  text_at(item, "/name"));
    yyjson_mut_val *root = want_begin(want, item, ITEM_NODE_POOL);
    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(want->doc, root, "spec");
    yyjson_mut_val *strategy = yyjson_mut_obj_add_obj(want->doc, spec, "placementStrategy");
    yyjson_mut_val *runtime = yyjson_mut_obj_add_obj(want->doc, spec, "minRuntime");
    char text[DURATION_TEXT_MAX];
    nsec_t duration = 0;

    if (!is_default(item))
        put_text(want->doc, spec, "partitionLabelValue", text_at(item, "/name"));
    put_text(want->doc, strategy, "gpu", text_at(item, "/gpu"));
    put_text(want->doc, strategy, "cpu", text_at(item, "/cpu"));
    if (*text_at(item, "/minGuaranteedRuntime"))
        BUG_ON(runtime_parse(text_at(item, "/minGuaranteedRuntime"), &duration, NULL) < 0);
    (void)duration_format(duration, text);
    put_text(want->doc, runtime, "preemptMinRuntime", text);
    put_text(want->doc, runtime, "reclaimMinRuntime", text);
}

struct choosing {
    const struct sync_item *item;
    const struct pool_list *pools;
    struct wants *wants;
};

static bool has_label(yyjson_val *labels, const char *key, const char *value)
{
    return yyjson_equals_str(yyjson_obj_get(labels, key), value);
}

/* A node that several pools claim is in the first of them by name. */
static const struct pool *pool_of(const struct pool_list *pools, yyjson_val *labels)
{
    vec_foreach (pools, pool) {
        if (!pool->is_default && has_label(labels, pool->label_key, pool->label_value))
            return pool;
    }
    return NULL;
}

static void choose_node(void *arg, const char *name, yyjson_val *labels)
{
    const struct choosing *choosing = arg;
    const struct pool *pool = pool_of(choosing->pools, labels);

    if (!pool || strcmp(pool->id, choosing->item->id) != 0)
        return;
    struct want *want = wants_add(choosing->wants, KUBE_NODES, WANT_LABELLED, NULL, name);
    yyjson_mut_val *root = want_begin(want, choosing->item, ITEM_NODE_POOL);
    put_text(want->doc, yyjson_mut_ptr_get(root, "/metadata/labels"), POOL_LABEL, pool->name);
    /* Whoever labels the nodes with the pool itself keeps the label. */
    if (strcmp(pool->label_key, POOL_LABEL) == 0)
        want->is_done = true;
}

static int pool_wants(struct console *console, const struct sync_item *item, struct wants *wants, struct err *err)
{
    struct pool_list pools = {0};
    bool is_deleting = strcmp(text_at(item, "/phase"), SYNC_DELETING) == 0;

    if (!item->doc)
        return 0;
    if (is_default(item)) {
        if (strcmp(text_at(item, "/updatedBy"), "system") != 0)
            want_shard(item, wants);
        return 0;
    }
    wants->is_listing = true;
    wants->resource = KUBE_NODES;
    if (is_deleting) {
        (void)wants_add(wants, KUBE_SCHEDULING_SHARDS, WANT_GONE, NULL, text_at(item, "/name"));
        return 0;
    }
    int r = pools_load(console->db, &pools, err);
    if (r < 0)
        return r;
    want_shard(item, wants);
    sync_each_node(console->sync, choose_node, &(struct choosing){item, &pools, wants});
    pools_done(&pools);
    return 0;
}

/* --- how far it is --- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void set_nodes(yyjson_mut_doc *doc, yyjson_mut_val *item, const struct wants *wants)
{
    yyjson_mut_val *nodes = yyjson_mut_arr(doc);
    VEC(const char *) names = {0};

    vec_foreach (&wants->list, want) {
        if (want->resource == KUBE_NODES && want->mode == WANT_LABELLED)
            vec_push(&names, want->name);
    }
    if (names.len > 1)
        qsort(names.items, names.len, sizeof *names.items, by_text);
    vec_foreach (&names, name)
        (void)yyjson_mut_arr_add_strcpy(doc, nodes, *name);
    vec_done(&names);
    (void)yyjson_mut_obj_remove_key(item, "nodes");
    (void)yyjson_mut_obj_add_val(doc, item, "nodes", nodes);
}

static int write_phase(struct console *console, const struct sync_item *item, yyjson_doc *now,
                       const struct wants *wants, const char *problem, struct err *err)
{
    yyjson_mut_doc *doc = yyjson_doc_mut_copy(now, NULL);
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    int r = 0;

    set_nodes(doc, root, wants);
    bool is_empty = !is_default(item) && yyjson_mut_arr_size(yyjson_mut_obj_get(root, "nodes")) == 0;
    (void)yyjson_mut_obj_remove_key(root, "phase");
    (void)yyjson_mut_obj_remove_key(root, "phaseMessage");
    put_text(doc, root, "phase", *problem ? "Unschedulable" : is_empty ? "Empty" : "Ready");
    if (*problem)
        put_text(doc, root, "phaseMessage", problem);
    yyjson_mut_doc *before = yyjson_doc_mut_copy(now, NULL);
    bool is_changed = !yyjson_mut_equals(yyjson_mut_doc_get_root(before), root);
    if (is_changed)
        r = item_update(console->db, item->kind, item->id, root, err);
    if (r == 0 && is_changed)
        r = sync_note(console, item, "update", err);
    yyjson_mut_doc_free(before);
    yyjson_mut_doc_free(doc);
    return r;
}

static int remove_item(struct console *console, const struct sync_item *item, struct err *err)
{
    int r = item_delete(console->db, item->kind, item->id, err);

    return r < 0 ? r : sync_note(console, item, "delete", err);
}

static int pool_end(struct console *console, const struct sync_item *item, const struct wants *wants,
                    const char *problem, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *now = NULL;

    if (!item->doc)
        return 0;
    if (strcmp(text_at(item, "/phase"), SYNC_DELETING) == 0)
        return *problem ? 0 : remove_item(console, item, err);
    int r = item_get(console->db, item->kind, item->id, &now, err);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    const char *updated = yyjson_get_str(yyjson_doc_ptr_get(now, "/updatedAt"));
    if (!updated || strcmp(updated, text_at(item, "/updatedAt")) != 0)
        return 0;
    return write_phase(console, item, now, wants, problem, err);
}

const struct sync_kind pool_sync_kind = {.fill = pool_wants, .end = pool_end};
