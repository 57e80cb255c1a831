/* SPDX-License-Identifier: Apache-2.0 */
#include "console/org/sync_queue.h"

#include <stdio.h>
#include <string.h>

#include "console/data/items.h"
#include "console/org/pools.h"

enum { DOUBLINGS_MAX = 4 };

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

static void push(struct sync_queue *queue, const struct sync_entry *entry)
{
    vec_foreach (&queue->waiting, waiting) {
        if (strcmp(waiting->id, entry->id) == 0)
            return;
    }
    vec_push(&queue->waiting, *entry);
}

void sync_queue_add(struct sync_queue *queue, const char *kind, const char *id)
{
    struct sync_entry entry = {0};

    (void)snprintf(entry.kind, sizeof entry.kind, "%s", kind);
    (void)snprintf(entry.id, sizeof entry.id, "%s", id);
    push(queue, &entry);
}

bool sync_queue_take(struct sync_queue *queue, bool units_only, struct sync_entry *ret_entry)
{
    for (uint32_t i = 0; i < queue->waiting.len; i++) {
        const struct sync_entry *entry = &queue->waiting.items[i];

        if (units_only && (sync_entry_is_asset(entry) || sync_entry_is_pool(entry) || sync_entry_is_workload(entry)))
            continue;
        *ret_entry = *entry;
        vec_remove_at(&queue->waiting, i);
        return true;
    }
    return false;
}

void sync_queue_fail(struct sync_queue *queue, const struct sync_entry *entry, nsec_t now)
{
    struct sync_entry failed = *entry;

    failed.due = now + (SYNC_RETRY_FIRST << (entry->tries < DOUBLINGS_MAX ? entry->tries : DOUBLINGS_MAX));
    failed.tries++;
    for (uint32_t i = 0; i < queue->failed.len; i++) {
        if (strcmp(queue->failed.items[i].id, failed.id) == 0) {
            queue->failed.items[i] = failed;
            return;
        }
    }
    vec_push(&queue->failed, failed);
}

nsec_t sync_queue_due(const struct sync_queue *queue)
{
    nsec_t first = 0;

    vec_foreach (&queue->failed, entry)
        first = first == 0 || entry->due < first ? entry->due : first;
    return first;
}

void sync_queue_retry(struct sync_queue *queue, nsec_t now)
{
    for (uint32_t i = queue->failed.len; i-- > 0;) {
        if (queue->failed.items[i].due <= now) {
            push(queue, &queue->failed.items[i]);
            vec_swap_remove(&queue->failed, i);
        }
    }
}

void sync_queue_done(struct sync_queue *queue)
{
    vec_done(&queue->waiting);
    vec_done(&queue->failed);
}
