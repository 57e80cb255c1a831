/* SPDX-License-Identifier: Apache-2.0 */
#include "console/changes/change_feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "console/audit/audit.h"
#include "console/changes/changes.h"
#include "console/data/db.h"
#include "console/org/sync.h"
#include "console/rest/context.h"
#include "console/rest/streams.h"
#include "frame/service.h"
#include "net/loop.h"

enum { READ_AT_ONCE = 256 };

/* Other consoles' changes are looked for so often; less often while the database cannot be reached. */
#define POLL_EACH (NSEC_PER_SEC / 2)
#define POLL_AFTER_FAILURE (5 * NSEC_PER_SEC)

struct change_feed {
    struct console *console;
    struct loop_timer poll;
    struct loop_task read;
    yyjson_doc *ring[CHANGES_KEPT];  // by the number, modulo its size
    int64_t first, last;             // those in (first, last] are there
    bool has_foreign;                // among those that were just read
    bool is_broken;                  // a number was missing: rows were dropped before we read them
};

int64_t change_feed_last(const struct change_feed *feed)
{
    return feed->last;
}

int64_t change_feed_first(const struct change_feed *feed)
{
    return feed->first;
}

yyjson_val *change_feed_at(const struct change_feed *feed, int64_t seq)
{
    BUG_ON(seq <= feed->first || seq > feed->last);
    return yyjson_doc_get_root(feed->ring[seq % CHANGES_KEPT]);
}

static const char *text_of(yyjson_val *doc, const char *key)
{
    const char *text = yyjson_get_str(yyjson_obj_get(doc, key));

    return text ? text : "";
}

static int keep(void *arg, int64_t seq, yyjson_val *doc)
{
    struct change_feed *feed = arg;
    yyjson_mut_doc *copy = yyjson_mut_doc_new(NULL);

    if (feed->last > 0 && seq != feed->last + 1)
        feed->is_broken = true;
    yyjson_mut_doc_set_root(copy, yyjson_val_mut_copy(copy, doc));
    yyjson_doc_free(feed->ring[seq % CHANGES_KEPT]);
    feed->ring[seq % CHANGES_KEPT] = yyjson_mut_doc_imut_copy(copy, NULL);
    BUG_ON(!feed->ring[seq % CHANGES_KEPT]);
    yyjson_mut_doc_free(copy);
    if (feed->last == 0 || feed->is_broken)
        feed->first = seq - 1;
    feed->last = seq;
    if (feed->last - feed->first > CHANGES_KEPT)
        feed->first = feed->last - CHANGES_KEPT;
    return 0;
}

static int take(void *arg, int64_t seq, yyjson_val *doc)
{
    struct change_feed *feed = arg;
    struct console *console = feed->console;
    const char *kind = text_of(doc, "sync");
    int r = keep(feed, seq, doc);

    if (strcmp(text_of(doc, "from"), console->process) != 0)
        feed->has_foreign = true;
    if (*kind)
        sync_add(console->sync, kind, text_of(doc, "id"));
    if (yyjson_get_bool(yyjson_obj_get(doc, "syncsAll")))
        sync_add_all(console->sync);
    change_streams_note(console, doc);
    return r;
}

/* The log of this process: the cause is in the database's own. */
static void note_failure(struct change_feed *feed, const char *what, const struct err *err)
{
    log_warn(feed->console->service->log, what, log_error(err));
}

static int read_new(struct change_feed *feed, struct err *err)
{
    struct console *console = feed->console;
    int64_t before;
    int r;

    do {
        before = feed->last;
        r = changes_each(console->db, before, READ_AT_ONCE, take, feed, err);
    } while (r == 0 && feed->last - before >= READ_AT_ONCE);
    if (feed->is_broken)
        sync_add_all(console->sync);
    if (feed->has_foreign && r == 0)
        r = audit_write_head(console->db, console->head_path, err);
    feed->is_broken = feed->has_foreign = false;
    change_streams_wake(console);
    return r;
}

static void on_read(void *arg)
{
    struct change_feed *feed = arg;
    struct err err = {0};

    if (read_new(feed, &err) < 0)
        note_failure(feed, "changes were not read", &err);
}

void change_feed_wake(struct change_feed *feed)
{
    if (feed)
        loop_task_queue(&feed->read);
}

/* A database that was put back to an older state counts the same numbers again. */
static int begin_again(struct change_feed *feed, struct err *err)
{
    int64_t last = 0;
    int r = changes_last(feed->console->db, &last, err);

    if (r < 0)
        return r;
    feed->first = feed->last = last;
    sync_add_all(feed->console->sync);
    change_streams_reset(feed->console);
    return 0;
}

static int poll(struct change_feed *feed, struct err *err)
{
    struct console *console = feed->console;
    bool leads = false;
    int64_t last = 0;
    int r = db_lead(console->db, &leads, err);

    sync_set_leading(console->sync, r == 0 && leads);
    if (r == 0)
        r = changes_last(console->db, &last, err);
    if (r < 0)
        return r;
    if (last < feed->last)
        return begin_again(feed, err);
    return last > feed->last ? read_new(feed, err) : 0;
}

static void on_poll(void *arg)
{
    struct change_feed *feed = arg;
    struct err err = {0};
    int r = poll(feed, &err);

    if (r < 0)
        note_failure(feed, "the database could not be asked for changes", &err);
    loop_timer_start(&feed->poll, r < 0 ? POLL_AFTER_FAILURE : POLL_EACH);
}

int change_feed_new(struct console *console, struct change_feed **ret_feed, struct err *err)
{
    struct change_feed *feed = xcalloc(1, sizeof *feed);
    int r;

    feed->console = console;
    loop_timer_init(&feed->poll, console->service->loop, on_poll, feed);
    loop_task_init(&feed->read, console->service->loop, on_read, feed);
    r = changes_each(console->db, 0, 2 * (int64_t)CHANGES_KEPT, keep, feed, err);
    if (r < 0) {
        change_feed_free(feed);
        return r;
    }
    loop_timer_start(&feed->poll, 0);
    *ret_feed = feed;
    return 0;
}

void change_feed_free(struct change_feed *feed)
{
    if (!feed)
        return;
    loop_timer_done(&feed->poll);
    loop_task_cancel(&feed->read);
    for (size_t i = 0; i < ARRAY_LEN(feed->ring); i++)
        yyjson_doc_free(feed->ring[i]);
    free(feed);
}
