/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/strmap.h"
#include "base/time.h"
#include "console/identity/access.h"

/*
 * Items that the cluster has to follow: those that wait, and those that failed and are tried again later. Each is there
 * once, and no call walks over the others, since a large organisation is added as a whole. All zeros is an empty queue.
 */
struct sync_entry {
    char kind[32];
    char id[UUID_TEXT_MAX];
    uint32_t tries;  // that failed
    nsec_t due;      // of one that failed
};

enum { SYNC_DELAYS = 5 };

struct sync_queue {
    struct list units;                // that wait: departments and projects
    struct list others;               // that wait, too
    struct list failed[SYNC_DELAYS];  // by how long they are left alone, so that each list is ordered by time
    struct strmap entries;            // all of them, by kind and identifier
    uint64_t turns;
};

/* An item is tried again after so long, then after twice as long, and so on up to sixteen times. */
#define SYNC_RETRY_FIRST (3 * NSEC_PER_SEC)

bool sync_entry_is_asset(const struct sync_entry *entry);
bool sync_entry_is_pool(const struct sync_entry *entry);
bool sync_entry_is_workload(const struct sync_entry *entry);

/* An item that had failed waits no longer. */
void sync_queue_add(struct sync_queue *queue, const char *kind, const char *id);

/* Takes the one that came first; of departments and projects alone when `units_only`. False when there is none. */
bool sync_queue_take(struct sync_queue *queue, bool units_only, struct sync_entry *ret_entry);

/* The entry, which was taken, has failed at `now`. One that was added again meanwhile keeps its place. */
void sync_queue_fail(struct sync_queue *queue, const struct sync_entry *entry, nsec_t now);

/* When the next one is tried again; 0: none is. And lets those wait that are due. */
nsec_t sync_queue_due(const struct sync_queue *queue);
void sync_queue_retry(struct sync_queue *queue, nsec_t now);

void sync_queue_done(struct sync_queue *queue);
