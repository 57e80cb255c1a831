/* SPDX-License-Identifier: Apache-2.0 */
#include "console/org/sync_queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "console/data/items.h"
#include "console/org/pools.h"

struct queued {
    struct sync_entry entry;
    struct list *list;  // the one that it is in
    struct list_link link;
    uint64_t turn;  // of one that waits: orders both lists as one
};

bool sync_entry_is_asset(const struct sync_entry *entry)
{
    return strncmp(entry->kind, "asset:", strlen("asset:")) == 0;
}

bool sync_entry_is_pool(const struct sync_entry *entry)
{
    return strcmp(entry->kind, ITEM_NODE_POOL) == 0;
}

bool sync_entry_is_workload(const struct sync_entry *entry)
{
    return strcmp(entry->kind, ITEM_WORKLOAD) == 0;
}

static struct list *waiting_list(struct sync_queue *queue, const struct sync_entry *entry)
{
    bool is_other = sync_entry_is_asset(entry) || sync_entry_is_pool(entry) || sync_entry_is_workload(entry);

    return is_other ? &queue->others : &queue->units;
}

static bool is_waiting(const struct sync_queue *queue, const struct queued *queued)
{
    return queued->list == &queue->units || queued->list == &queue->others;
}

static void move(struct queued *queued, struct list *list)
{
    if (queued->list)
        list_remove(queued->list, &queued->link);
    queued->list = list;
    list_push(list, &queued->link);
}

static void let_wait(struct sync_queue *queue, struct queued *queued)
{
    queued->turn = queue->turns++;
    move(queued, waiting_list(queue, &queued->entry));
}

static struct queued *put(struct sync_queue *queue, const struct sync_entry *entry)
{
    struct queued *queued = xcalloc(1, sizeof *queued);

    queued->entry = *entry;
    (void)strmap_put(&queue->entries, queued->entry.kind, queued->entry.id, queued);
    return queued;
}

void sync_queue_add(struct sync_queue *queue, const char *kind, const char *id)
{
    struct queued *queued = strmap_get(&queue->entries, kind, id);
    struct sync_entry entry = {0};

    if (queued && is_waiting(queue, queued))
        return;
    if (!queued) {
        (void)snprintf(entry.kind, sizeof entry.kind, "%s", kind);
        (void)snprintf(entry.id, sizeof entry.id, "%s", id);
        queued = put(queue, &entry);
    }
    queued->entry.tries = 0;
    let_wait(queue, queued);
}

static struct queued *first_of(const struct sync_queue *queue, bool units_only)
{
    struct queued *unit = list_first(&queue->units, struct queued, link);
    struct queued *other = units_only ? NULL : list_first(&queue->others, struct queued, link);

    return !unit ? other : !other || unit->turn < other->turn ? unit : other;
}

bool sync_queue_take(struct sync_queue *queue, bool units_only, struct sync_entry *ret_entry)
{
    struct queued *queued = first_of(queue, units_only);

    if (!queued)
        return false;
    *ret_entry = queued->entry;
    list_remove(queued->list, &queued->link);
    (void)strmap_remove(&queue->entries, queued->entry.kind, queued->entry.id);
    free(queued);
    return true;
}

void sync_queue_fail(struct sync_queue *queue, const struct sync_entry *entry, nsec_t now)
{
    struct queued *queued = strmap_get(&queue->entries, entry->kind, entry->id);
    uint32_t delay = MIN(entry->tries, (uint32_t)SYNC_DELAYS - 1);

    queued = queued ? queued : put(queue, entry);
    queued->entry.tries = entry->tries + 1;
    if (queued->list && is_waiting(queue, queued))
        return;
    queued->entry.due = now + (SYNC_RETRY_FIRST << delay);
    move(queued, &queue->failed[delay]);
}

nsec_t sync_queue_due(const struct sync_queue *queue)
{
    nsec_t first = 0;

    for (size_t i = 0; i < SYNC_DELAYS; i++) {
        const struct queued *queued = list_first(&queue->failed[i], struct queued, link);

        if (queued && (first == 0 || queued->entry.due < first))
            first = queued->entry.due;
    }
    return first;
}

void sync_queue_retry(struct sync_queue *queue, nsec_t now)
{
    for (size_t i = 0; i < SYNC_DELAYS; i++) {
        struct queued *queued;

        while ((queued = list_first(&queue->failed[i], struct queued, link)) && queued->entry.due <= now)
            let_wait(queue, queued);
    }
}

void sync_queue_done(struct sync_queue *queue)
{
    struct queued *queued;

    for (size_t cursor = 0; (queued = strmap_next(&queue->entries, &cursor));)
        free(queued);
    strmap_done(&queue->entries);
    *queue = (struct sync_queue){0};
}
