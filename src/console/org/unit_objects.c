/* SPDX-License-Identifier: Apache-2.0 */

/* What departments and projects are in the cluster: a Queue each in every node pool, and a namespace for a project. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "console/assets/assets.h"
#include "console/data/db.h"
#include "console/data/items.h"
#include "console/org/pools.h"
#include "console/org/quota.h"
#include "console/org/sync.h"
#include "console/org/wants.h"
#include "console/rest/handlers.h"
#include "console/workloads/workloads.h"

enum { QUEUE_NAME_MAX = 256 };

/* Pods in the namespace of a project go to the project's Queue. */
#define QUEUE_LABEL "runai/queue"

static const char *text_at(const struct sync_item *item, const char *pointer)
{
    const char *text = yyjson_get_str(yyjson_doc_ptr_get(item->doc, pointer));

    return text ? text : "";
}

static bool is_deleting(const struct sync_item *item)
{
    return strcmp(text_at(item, "/status/phase"), SYNC_DELETING) == 0;
}

/* --- what is wanted --- */

static void want_namespace(const struct sync_item *item, struct wants *wants)
{
    bool is_requested = *text_at(item, "/requestedNamespace");
    struct want *want = wants_add(wants, KUBE_NAMESPACES, is_requested ? WANT_ADOPTED : WANT_SAME, NULL,
                                  text_at(item, "/status/namespace"));
    yyjson_mut_val *object = want_begin(want, item, item->kind);

    put_text(want->doc, yyjson_mut_ptr_get(object, "/metadata/labels"), QUEUE_LABEL, text_at(item, "/name"));
}

/* "research" in the default pool, "research-gold" in the pool gold: where the grouper looks for the Queue of a project. */
static char *queue_name(const char *unit, const struct pool *pool)
{
    struct strbuf text;

    strbuf_init(&text, QUEUE_NAME_MAX);
    strbuf_addf(&text, pool->is_default ? "%s" : "%s-%s", unit, pool->name);
    return strbuf_take(&text);
}

static void want_queue(const struct sync_item *item, bool is_project, const struct pool *pool, yyjson_mut_val *row,
                       struct wants *wants)
{
    _cleanup_(freep) char *name = queue_name(text_at(item, "/name"), pool);
    _cleanup_(freep) char *parent = queue_name(text_at(item, "/parent/name"), pool);
    struct want *want = wants_add(wants, KUBE_QUEUES, WANT_SAME, NULL, name);
    yyjson_mut_val *object = want_begin(want, item, item->kind);
    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(want->doc, object, "spec");

    if (!pool->is_default)
        put_text(want->doc, yyjson_mut_ptr_get(object, "/metadata/labels"), POOL_LABEL, pool->name);
    put_text(want->doc, spec, "displayName", text_at(item, "/name"));
    if (is_project)
        put_text(want->doc, spec, "parentQueue", parent);
    (void)yyjson_mut_obj_add_val(want->doc, spec, "resources", quota_queue(want->doc, row));
}

static int want_queues(struct console *console, const struct sync_item *item, bool is_project, struct wants *wants,
                       struct err *err)
{
    struct pool_list pools = {0};
    int r = pools_load(console->db, &pools, err);

    if (r < 0)
        return r;
    yyjson_mut_doc *doc = yyjson_doc_mut_copy(item->doc, NULL);
    yyjson_mut_val *rows = quota_complete(doc, yyjson_mut_doc_ptr_get(doc, "/resources"), &pools);
    for (uint32_t i = 0; i < pools.len; i++)
        want_queue(item, is_project, &pools.items[i], yyjson_mut_arr_get(rows, i), wants);
    yyjson_mut_doc_free(doc);
    pools_done(&pools);
    return 0;
}

static int unit_wants(struct console *console, const struct sync_item *item, struct wants *wants, struct err *err)
{
    bool is_project = strcmp(item->kind, ITEM_PROJECT) == 0;

    if (!item->doc)
        return 0;
    wants->is_ordered = true;
    wants->is_listing = true;
    wants->resource = KUBE_QUEUES;
    if (is_deleting(item))
        return 0;
    if (is_project)
        want_namespace(item, wants);
    return want_queues(console, item, is_project, wants, err);
}

/* --- how far it is --- */

/* Sets the phase where the item is as it was when this began. */
static int write_phase(struct console *console, const struct sync_item *item, const char *phase, const char *message,
                       struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *now = NULL;
    int r = item_get(console->db, item->kind, item->id, &now, err);

    if (r < 0)
        return r == -ENOENT ? 0 : r;
    yyjson_mut_doc *doc = yyjson_doc_mut_copy(now, NULL);
    yyjson_mut_val *status = yyjson_mut_doc_ptr_get(doc, "/status");
    const char *old = yyjson_mut_get_str(yyjson_mut_obj_get(status, "phase"));
    const char *old_message = yyjson_mut_get_str(yyjson_mut_obj_get(status, "phaseMessage"));
    bool is_same = old && strcmp(old, phase) == 0 && strcmp(old_message ? old_message : "", message) == 0;
    bool has_changed = strcmp(yyjson_get_str(yyjson_doc_ptr_get(now, "/updatedAt")), text_at(item, "/updatedAt")) != 0;
    if (!is_same && !has_changed) {
        (void)yyjson_mut_obj_remove_key(status, "phase");
        (void)yyjson_mut_obj_remove_key(status, "phaseMessage");
        put_text(doc, status, "phase", phase);
        if (*message)
            put_text(doc, status, "phaseMessage", message);
        r = item_update(console->db, item->kind, item->id, yyjson_mut_doc_get_root(doc), err);
        if (r == 0)
            r = sync_note(console, item, "update", err);
    }
    yyjson_mut_doc_free(doc);
    return r;
}

static int remove_item(struct console *console, const struct sync_item *item, struct err *err)
{
    /* Their objects in the cluster go when the items have gone. */
    bool is_project = strcmp(item->kind, ITEM_PROJECT) == 0;
    int r = sync_add_content(console->sync, is_project ? item->id : NULL, err);
    if (r == 0)
        r = rules_delete_in(console, item->id, err);
    if (r == 0)
        r = assets_delete_in(console, item->kind, item->id, err);
    if (r == 0 && is_project)
        r = workloads_delete_in(console, item->id, err);
    if (r == 0)
        r = item_delete(console->db, item->kind, item->id, err);
    if (r == 0)
        r = sync_note(console, item, "delete", err);
    return r == -ENOENT ? 0 : r;
}

static int unit_end(struct console *console, const struct sync_item *item, const struct wants *wants,
                    const char *problem, struct err *err)
{
    (void)wants;
    if (!item->doc)
        return 0;
    if (is_deleting(item))
        return *problem ? 0 : remove_item(console, item, err);
    return write_phase(console, item, *problem ? "NotReady" : "Ready", problem, err);
}

const struct sync_kind unit_sync_kind = {.fill = unit_wants, .end = unit_end};
