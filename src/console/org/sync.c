/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One item at a time: it says what objects it wants, what there is of them is listed or read, what differs is written, then the item says how
 * far it is. The queue of items lives in memory: a start begins with all of them.
 */
#include "console/org/sync.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "console/assets/assets.h"
#include "console/changes/change_feed.h"
#include "console/data/db.h"
#include "console/data/items.h"
#include "console/org/pools.h"
#include "console/org/sync_queue.h"
#include "console/org/wants.h"
#include "console/org/watch.h"
#include "console/rest/context.h"
#include "console/workloads/workloads.h"
#include "frame/service.h"
#include "kube/client/verbs.h"
#include "net/loop.h"

enum { PROBLEM_MAX = 512 };

enum step { STEP_LIST, STEP_READ, STEP_WRITE };

struct sync {
    struct console *console;
    struct watch *watch;
    struct sync_queue queue;
    bool is_busy;
    struct sync_entry entry;  // the one under way, and all of it
    yyjson_doc *item;
    struct wants wants;
    uint32_t at;  // the want under way
    enum step step;
    struct kube_call *call;
    struct loop_timer retry;
    struct loop_task next;
    bool adds_all;    // before the next item: many events may ask for it
    bool adds_pools;  // likewise
    bool is_connected;
    bool is_leading;
};

static const struct sync_kind *kind_of(const struct sync *sync)
{
    return sync_entry_is_asset(&sync->entry)      ? &asset_sync_kind
           : sync_entry_is_pool(&sync->entry)     ? &pool_sync_kind
           : sync_entry_is_workload(&sync->entry) ? &workload_sync_kind
                                                  : &unit_sync_kind;
}

static struct sync_item item_of(const struct sync *sync)
{
    return (struct sync_item){sync->entry.kind, sync->entry.id, sync->item};
}

/* --- the queue --- */

static void start_retry(struct sync *sync)
{
    nsec_t now = nsec_now_monotonic();
    nsec_t due = sync_queue_due(&sync->queue);

    if (due > 0)
        loop_timer_start(&sync->retry, due > now ? due - now : 0);
}

static void on_retry(void *arg)
{
    struct sync *sync = arg;

    sync_queue_retry(&sync->queue, nsec_now_monotonic());
    start_retry(sync);
    loop_task_queue(&sync->next);
}

/* An item that waits already is read when its turn comes. */
void sync_add(struct sync *sync, const char *kind, const char *id)
{
    if (!sync->is_leading)
        return;
    sync_queue_add(&sync->queue, kind, id);
    loop_task_queue(&sync->next);
}

/* --- one item --- */

/* The first problem, and how many more there are. */
static void describe(const struct wants *wants, char problem[static PROBLEM_MAX])
{
    uint32_t count = 0;
    const char *first = "";

    vec_foreach (&wants->list, want) {
        if (want->issue && count++ == 0)
            first = want->issue;
    }
    if (count > 1)
        (void)snprintf(problem, PROBLEM_MAX, "%.400s, and %u more problems", first, count - 1);
    else
        (void)snprintf(problem, PROBLEM_MAX, "%.400s", first);
}

/* In one transaction, since another console may change the item at the same time. */
static int write_end(struct sync *sync, const struct sync_item *item, const char *problem, struct err *err)
{
    struct console *console = sync->console;
    int r = db_begin(console->db, err);

    if (r < 0)
        return r;
    r = kind_of(sync)->end(console, item, &sync->wants, problem, err);
    if (r == 0)
        r = db_commit(console->db, err);
    else
        db_rollback(console->db);
    if (r == 0)
        change_feed_wake(console->feed);
    return r;
}

/* Done with the item, one way or the other. `failure` is a problem of the whole; NULL: none. */
static void end_item(struct sync *sync, const char *failure)
{
    struct sync_item item = item_of(sync);
    struct err err = {0};
    char problem[PROBLEM_MAX];

    if (failure)
        (void)snprintf(problem, sizeof problem, "%s", failure);
    else
        describe(&sync->wants, problem);
    if (*problem)
        log_warn(sync->console->service->log, "changes could not be applied to the cluster", log_str("kind", item.kind),
                 log_str("id", item.id), log_str("problem", problem));
    int r = write_end(sync, &item, problem, &err);
    if (r < 0)
        log_warn(sync->console->service->log, "the phase of an item could not be written; trying again later",
                 log_error(&err));
    if ((*problem || r < 0) && sync->is_leading) {
        sync_queue_fail(&sync->queue, &sync->entry, nsec_now_monotonic());
        start_retry(sync);
    }
    wants_done(&sync->wants);
    yyjson_doc_free(sync->item);
    sync->item = NULL;
    sync->is_busy = false;
    loop_task_queue(&sync->next);
}

static bool is_ours(const struct sync *sync, yyjson_val *object)
{
    yyjson_val *labels = yyjson_ptr_get(object, "/metadata/labels");

    return yyjson_equals_str(yyjson_obj_get(labels, OBJECT_LABEL_ID), sync->entry.id);
}

static void on_answer(void *arg, const struct kube_answer *answer);

static int on_listed(void *arg, const char *text, size_t len)
{
    struct sync *sync = arg;
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct err err = {0};

    if (text && json_parse(text, len, "an object", &doc, &err) == 0)
        wants_see(&sync->wants, yyjson_doc_get_root(doc));
    return 0;
}

static void send_list(struct sync *sync)
{
    char selector[sizeof OBJECT_LABEL_ID + UUID_TEXT_MAX];

    (void)snprintf(selector, sizeof selector, OBJECT_LABEL_ID "=%s", sync->entry.id);
    sync->step = STEP_LIST;
    sync->call = kube_send(sync->console->service->client, &(struct kube_request){
                                                               .verb = KUBE_LIST,
                                                               .resource = kube_known(sync->wants.resource),
                                                               .label_selector = selector,
                                                               .on_item = on_listed,
                                                               .on_done = on_answer,
                                                               .arg = sync,
                                                               .tries = 2,
                                                           });
}

static bool lists_more(const struct sync *sync)
{
    return sync->wants.others && *sync->wants.others != _KUBE_KNOWN_MAX;
}

static void list_more(struct sync *sync)
{
    sync->wants.resource = *sync->wants.others++;
    send_list(sync);
}

static void send(struct sync *sync, enum step step, enum kube_verb verb)
{
    const struct want *want = &sync->wants.list.items[sync->at];
    bool has_doc = verb == KUBE_CREATE || verb == KUBE_UPDATE || verb == KUBE_PATCH_MERGE;
    struct kube_request request = {
        .verb = verb,
        .resource = kube_known(want->resource),
        .namespace = want->namespace,
        .name = verb == KUBE_CREATE ? NULL : want->name,
        .on_done = on_answer,
        .arg = sync,
        .tries = 2,
    };

    const yyjson_mut_doc *doc = verb == KUBE_PATCH_MERGE && want->kept ? want->kept : want->doc;

    sync->step = step;
    sync->call = has_doc ? kube_send_doc(sync->console->service->client, &request, doc)
                         : kube_send(sync->console->service->client, &request);
}

/* With what belongs to it: without being asked, the API keeps the pods of a Job. */
static void send_delete(struct sync *sync)
{
    const struct want *want = &sync->wants.list.items[sync->at];

    sync->step = STEP_WRITE;
    sync->call = kube_delete(sync->console->service->client, &(struct kube_delete_request){
                                                                 .resource = kube_known(want->resource),
                                                                 .namespace = want->namespace,
                                                                 .name = want->name,
                                                                 .propagation = "Background",
                                                                 .grace_s = -1,
                                                                 .on_done = on_answer,
                                                                 .arg = sync,
                                                             });
}

static enum kube_verb change_of(const struct want *want)
{
    return want->is_replaced ? KUBE_UPDATE : KUBE_PATCH_MERGE;
}

/* The next want that is not done. What a list has shown is written at once, everything else is read first. */
static void go_on(struct sync *sync)
{
    while (sync->at < sync->wants.list.len && sync->wants.list.items[sync->at].is_done)
        sync->at++;
    if (sync->at == sync->wants.list.len) {
        end_item(sync, NULL);
        return;
    }
    const struct want *want = &sync->wants.list.items[sync->at];
    bool is_known = sync->wants.is_listing && want->resource == sync->wants.resource && want->mode != WANT_THERE;
    if (!is_known)
        send(sync, STEP_READ, KUBE_GET);
    else if (want->resource == KUBE_NODES)
        send(sync, STEP_WRITE, KUBE_PATCH_MERGE);
    else if (want->mode == WANT_GONE)
        send_delete(sync);
    else
        send(sync, STEP_WRITE, !want->is_listed ? KUBE_CREATE : change_of(want));
}

static void end_want(struct sync *sync, const char *issue)
{
    struct want *want = &sync->wants.list.items[sync->at];

    want->is_done = true;
    if (issue && !want->issue)
        want->issue = xstrdup(issue);
    if (issue && sync->wants.is_ordered)
        end_item(sync, NULL);
    else
        go_on(sync);
}

/* Somebody else's object has the name. */
static void end_foreign(struct sync *sync)
{
    const struct want *want = &sync->wants.list.items[sync->at];
    struct strbuf text;

    strbuf_init(&text, PROBLEM_MAX);
    strbuf_addf(&text, "the cluster has a %s of the name '%.200s' that the console did not create%s",
                kube_known(want->resource)->kind, want->name,
                want->resource == KUBE_NAMESPACES ? ": ask for it by requestedNamespace" : "");
    _cleanup_(freep) char *issue = strbuf_take(&text);
    end_want(sync, want->mode == WANT_MADE || want->mode == WANT_GONE ? NULL : issue);
}

static void end_missing(struct sync *sync)
{
    const struct want *want = &sync->wants.list.items[sync->at];
    struct strbuf text;

    strbuf_init(&text, PROBLEM_MAX);
    strbuf_addf(&text, "the namespace '%s' has no %s '%.200s'", want->namespace, kube_known(want->resource)->kind,
                want->name);
    _cleanup_(freep) char *issue = strbuf_take(&text);
    end_want(sync, issue);
}

static void on_read(struct sync *sync, const struct kube_answer *answer)
{
    const struct want *want = &sync->wants.list.items[sync->at];
    yyjson_val *object = NULL;
    struct err err = {0};

    if (answer->status == 404) {
        if (want->mode == WANT_THERE)
            end_missing(sync);
        else if (want->mode == WANT_GONE || want->mode == WANT_LABELLED)
            end_want(sync, NULL);
        else
            send(sync, STEP_WRITE, KUBE_CREATE);
        return;
    }
    if (answer->err.code < 0 || kube_answer_object(answer, &object, &err) < 0) {
        end_want(sync, answer->err.code < 0 ? answer->err.text : err.text);
        return;
    }
    if (!is_ours(sync, object) && want->mode != WANT_ADOPTED && want->mode != WANT_THERE)
        end_foreign(sync);
    else if (want->mode == WANT_GONE)
        send_delete(sync);
    else if (want_is_met(want, object))
        end_want(sync, NULL);
    else
        send(sync, STEP_WRITE, change_of(want));
}

static void on_written(struct sync *sync, const struct kube_answer *answer)
{
    const struct want *want = &sync->wants.list.items[sync->at];
    bool is_gone = answer->status == 404 && (want->mode == WANT_GONE || want->mode == WANT_LABELLED);

    if (answer->status == 409 && strcmp(answer->reason, "AlreadyExists") == 0)
        end_foreign(sync);
    else
        end_want(sync, answer->err.code < 0 && !is_gone ? answer->err.text : NULL);
}

static void on_answer(void *arg, const struct kube_answer *answer)
{
    struct sync *sync = arg;

    sync->call = NULL;
    sync->is_connected = answer->status != 0;
    if (answer->status == 0 || (sync->step == STEP_LIST && answer->err.code < 0))
        end_item(sync, answer->err.text);
    else if (sync->step == STEP_READ)
        on_read(sync, answer);
    else if (sync->step == STEP_WRITE)
        on_written(sync, answer);
    else if (sync->step == STEP_LIST && lists_more(sync))
        list_more(sync);
    else
        go_on(sync);
}

/* --- all items --- */

struct filling {
    struct sync *sync;
    const char *kind;
};

static int add_item(void *arg, yyjson_val *item)
{
    struct filling *filling = arg;

    sync_add(filling->sync, filling->kind, yyjson_get_str(yyjson_obj_get(item, "id")));
    return 0;
}

static void add_asset(void *arg, const char *kind, const char *id)
{
    sync_add(arg, kind, id);
}

static void add_workload(void *arg, const char *id)
{
    sync_add(arg, ITEM_WORKLOAD, id);
}

int sync_add_content(struct sync *sync, const char *project, struct err *err)
{
    if (!sync->is_leading)
        return 0;
    int r = assets_each_object(sync->console->db, project, add_asset, sync, err);

    return r < 0 ? r : workloads_each(sync->console->db, project, add_workload, sync, err);
}

static int add_pools(struct sync *sync, struct err *err)
{
    struct filling filling = {sync, ITEM_NODE_POOL};

    return items_each(sync->console->db, ITEM_NODE_POOL, NULL, add_item, &filling, err);
}

static int add_all(struct sync *sync, struct err *err)
{
    struct db *db = sync->console->db;
    struct filling filling = {sync, ITEM_DEPARTMENT};
    int r = items_each(db, ITEM_DEPARTMENT, NULL, add_item, &filling, err);

    filling.kind = ITEM_PROJECT;
    if (r == 0)
        r = items_each(db, ITEM_PROJECT, NULL, add_item, &filling, err);
    if (r == 0)
        r = add_pools(sync, err);
    return r < 0 ? r : sync_add_content(sync, NULL, err);
}

/* What events have asked for. A database that cannot be read is asked again later. */
static void add_due(struct sync *sync)
{
    struct err err = {0};
    int r = sync->adds_all ? add_all(sync, &err) : sync->adds_pools ? add_pools(sync, &err) : 0;

    if (r < 0) {
        log_warn(sync->console->service->log, "items could not be read; trying again later", log_error(&err));
        loop_timer_start(&sync->retry, SYNC_RETRY_FIRST);
        return;
    }
    sync->adds_all = sync->adds_pools = false;
}

/* --- the next item --- */

/* Assets and workloads wait until the namespaces are known, and pools until the nodes are: without any, nothing would be wanted. */
static void begin_next(void *arg)
{
    struct sync *sync = arg;
    struct err err = {0};

    if (!sync->is_leading)
        return;
    add_due(sync);
    if (sync->is_busy || !sync_queue_take(&sync->queue, !watch_is_synced(sync->watch), &sync->entry))
        return;
    sync->is_busy = true;
    sync->at = 0;
    int r = item_get(sync->console->db, sync->entry.kind, sync->entry.id, &sync->item, &err);
    struct sync_item item = item_of(sync);
    if (r == 0 || r == -ENOENT)
        r = kind_of(sync)->fill(sync->console, &item, &sync->wants, &err);
    if (r < 0)
        end_item(sync, err.text);
    else if (sync->wants.is_listing)
        send_list(sync);
    else
        go_on(sync);
}

void sync_add_all(struct sync *sync)
{
    sync->adds_all = true;
    loop_task_queue(&sync->next);
}

void sync_add_pools(struct sync *sync)
{
    sync->adds_pools = true;
    loop_task_queue(&sync->next);
}

struct sync *sync_new(struct console *console)
{
    struct sync *sync = xcalloc(1, sizeof *sync);

    sync->console = console;
    loop_timer_init(&sync->retry, console->service->loop, on_retry, sync);
    loop_task_init(&sync->next, console->service->loop, begin_next, sync);
    sync->watch = watch_new(console);
    return sync;
}

/* What is under way ends as it would. */
bool sync_is_leading(const struct sync *sync)
{
    return sync->is_leading;
}

void sync_set_leading(struct sync *sync, bool is_leading)
{
    if (sync->is_leading == is_leading)
        return;
    sync->is_leading = is_leading;
    log_info(sync->console->service->log, is_leading ? "this console is now the leader and writes to the cluster"
                                                     : "this console is no longer the leader");
    if (is_leading)
        sync_add_all(sync);
    else
        sync_queue_done(&sync->queue);
}

void sync_free(struct sync *sync)
{
    if (!sync)
        return;
    if (sync->call)
        kube_cancel(sync->call);
    watch_free(sync->watch);
    loop_task_cancel(&sync->next);
    loop_timer_done(&sync->retry);
    wants_done(&sync->wants);
    yyjson_doc_free(sync->item);
    sync_queue_done(&sync->queue);
    free(sync);
}

bool sync_is_connected(const struct sync *sync)
{
    return sync->is_leading ? sync->is_connected : watch_is_synced(sync->watch);
}

bool sync_has_namespace(const struct sync *sync, const char *namespace, const char *project)
{
    return watch_has_namespace(sync->watch, namespace, project);
}

void sync_each_node(const struct sync *sync, sync_node_fn fn, void *arg)
{
    watch_each_node(sync->watch, fn, arg);
}
