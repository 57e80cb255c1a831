/* SPDX-License-Identifier: Apache-2.0 */
#include "console/workloads/expiry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strmap.h"
#include "base/time.h"
#include "console/changes/change_feed.h"
#include "console/data/db.h"
#include "console/data/items.h"
#include "console/org/sync.h"
#include "console/rest/context.h"
#include "console/workloads/phase.h"
#include "console/workloads/workloads.h"
#include "frame/service.h"
#include "kube/client/meta.h"
#include "net/loop.h"

/* A deletion that could not be written is tried again. */
#define RETRY (30 * NSEC_PER_SEC)

struct due {
    struct expiry *expiry;
    char id[UUID_TEXT_MAX];
    struct loop_timer timer;
};

struct expiry {
    struct console *console;
    struct strmap entries;  // struct due, by identifier
};

/* When it is over; 0: never. */
static nsec_t end_of(yyjson_val *item)
{
    yyjson_val *seconds = yyjson_ptr_get(item, "/spec/autoDeletionTimeAfterCompletionSeconds");
    nsec_t completed = 0;

    if (!seconds || !phase_is_end(kube_text(item, "status", "phase")) ||
        strcmp(kube_text(item, "desired"), DESIRED_DELETED) == 0 ||
        time_parse(kube_text(item, "status", "completedAt"), &completed, NULL) < 0)
        return 0;
    return completed + yyjson_get_sint(seconds) * NSEC_PER_SEC;
}

static void due_free(struct due *due)
{
    loop_timer_done(&due->timer);
    free(due);
}

static int delete_now(struct console *console, const char *id, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *found = NULL;
    int r = item_get(console->db, ITEM_WORKLOAD, id, &found, err);

    if (r < 0)
        return r == -ENOENT ? 0 : r;
    yyjson_val *item = yyjson_doc_get_root(found);
    nsec_t end = end_of(item);
    if (end == 0 || end > nsec_now_wall())
        return 0;
    return workload_expire(console, item, err);
}

static int delete_alone(struct console *console, const char *id, struct err *err)
{
    int r = db_begin(console->db, err);

    if (r < 0)
        return r;
    r = delete_now(console, id, err);
    if (r == 0)
        return db_commit(console->db, err);
    db_rollback(console->db);
    return r;
}

static void on_due(void *arg)
{
    struct due *due = arg;
    struct expiry *expiry = due->expiry;
    struct console *console = expiry->console;
    struct err err = {0};

    if (sync_is_leading(console->sync) && delete_alone(console, due->id, &err) < 0) {
        log_warn(console->service->log, "a workload whose time is over could not be deleted; trying again later",
                 log_error(&err));
        loop_timer_start(&due->timer, RETRY);
        return;
    }
    change_feed_wake(console->feed);
    sync_add(console->sync, ITEM_WORKLOAD, due->id);
    (void)strmap_remove(&expiry->entries, "", due->id);
    due_free(due);
}

void expiry_note(struct expiry *expiry, yyjson_val *item)
{
    nsec_t end = end_of(item);
    nsec_t now = nsec_now_wall();
    const char *id = kube_text(item, "id");

    if (end == 0 || strmap_get(&expiry->entries, "", id))
        return;
    struct due *due = xcalloc(1, sizeof *due);
    due->expiry = expiry;
    (void)snprintf(due->id, sizeof due->id, "%s", id);
    loop_timer_init(&due->timer, expiry->console->service->loop, on_due, due);
    loop_timer_start(&due->timer, end > now ? end - now : 0);
    (void)strmap_put(&expiry->entries, "", due->id, due);
}

struct expiry *expiry_new(struct console *console)
{
    struct expiry *expiry = xcalloc(1, sizeof *expiry);

    expiry->console = console;
    strmap_init(&expiry->entries);
    return expiry;
}

void expiry_free(struct expiry *expiry)
{
    struct due *due;

    if (!expiry)
        return;
    for (size_t cursor = 0; (due = strmap_next(&expiry->entries, &cursor));)
        due_free(due);
    strmap_done(&expiry->entries);
    free(expiry);
}
