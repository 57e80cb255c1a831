/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Watches: the objects that are there, when the client wants them, and then every change as it comes. A client that reads
 * slowly makes its watch wait, and one that falls behind the history of the store is told to list again.
 */
#include <errno.h>
#include <inttypes.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/api/problems.h"
#include "local/builtin/builtin.h"
#include "local/builtin/event_forms.h"
#include "local/custom/definitions.h"
#include "local/server/object_text.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"
#include "local/server/table.h"
#include "local/verbs/selection_internal.h"
#include "local/verbs/version_wait_internal.h"
#include "net/http_server.h"
#include "text/json.h"

#define BOOKMARK_INTERVAL NSEC_PER_MIN
#define TIMEOUT_MIN (30 * NSEC_PER_MIN)

enum {
    UNSENT_MAX = 1 << 20,   // bytes that a slow client is given ahead
    BATCH_MAX = 256 << 10,  // bytes that are written at once
    EVENT_BYTES_MAX = 64 << 20,
};

struct watcher {
    struct list_link in_custom;
    struct request *request;
    struct server *server;
    struct selection selection;
    struct store_follower follower;
    struct page_objects initial;  // that were there at the beginning, each held
    uint32_t initial_at;
    uint64_t initial_version;
    uint64_t since;     // changes up to this version are not told
    uint64_t position;  // in the history
    bool wants_initial_bookmark;
    bool wants_bookmarks;
    bool has_columns;  // the first table has told them
    struct strbuf batch;
    struct loop_task pump;
    struct loop_timer bookmark_timer;
    struct loop_timer end_timer;
};

static void watcher_free(struct watcher *watcher)
{
    if (watcher->request->is_custom)
        list_remove(&watcher->server->custom_watches, &watcher->in_custom);
    store_unfollow(watcher->server->store, &watcher->follower);
    loop_task_cancel(&watcher->pump);
    loop_timer_done(&watcher->bookmark_timer);
    loop_timer_done(&watcher->end_timer);
    for (uint32_t i = watcher->initial_at; i < watcher->initial.len; i++)
        store_object_unref(watcher->initial.items[i]);
    vec_done(&watcher->initial);
    selection_done(&watcher->selection);
    strbuf_done(&watcher->batch);
    request_end(watcher->request);
    free(watcher);
}

static void flush(struct watcher *watcher)
{
    if (watcher->batch.len == 0)
        return;
    http_reply_write(watcher->request->exchange, watcher->batch.text, watcher->batch.len);
    strbuf_clear(&watcher->batch);
}

static void end_watch(struct watcher *watcher)
{
    struct http_exchange *exchange = watcher->request->exchange;

    flush(watcher);
    watcher_free(watcher);
    http_reply_end(exchange);
}

/* --- Events --- */

static bool is_table(const struct watcher *watcher)
{
    return watcher->request->form == ACCEPT_TABLE || watcher->request->form == ACCEPT_TABLE_BETA;
}

static void add_event(struct watcher *watcher, const char *type, const char *body, size_t len)
{
    struct strbuf *text = &watcher->batch;

    /* Each change is told to each watcher: what is formatted here would be most of the work of a thousand of them. */
    strbuf_addstr(text, "{\"type\":\"");
    strbuf_addstr(text, type);
    strbuf_addstr(text, "\",\"object\":");
    if (is_table(watcher)) {
        table_write_row(text, watcher->request, body, len, !watcher->has_columns);
        watcher->has_columns = true;
    } else {
        object_add(text, watcher->request->kind, watcher->request->form, body, len);
    }
    strbuf_addstr(text, "}\n");
}

/* An object that does not match any more is told as deleted: as it was, at the version of the change. */
static void add_departure(struct watcher *watcher, const struct store_object *before, uint64_t version)
{
    yyjson_mut_doc *doc = object_doc(before);
    size_t len = 0;

    meta_set_version(doc, version);
    char *body = object_text(doc, &len);

    add_event(watcher, "DELETED", body, len);
    free(body);
    yyjson_mut_doc_free(doc);
}

static void add_change(struct watcher *watcher, const struct store_change *change)
{
    const struct selection *selection = &watcher->selection;
    bool was_there = change->before && selection_has(selection, change->before);
    bool is_there = !change->is_removal && selection_has(selection, change->after);

    if (change->version <= watcher->since)
        return;
    if (is_there)
        add_event(watcher, was_there ? "MODIFIED" : "ADDED", change->after->body, change->after->body_len);
    else if (was_there && change->is_removal)
        add_event(watcher, "DELETED", change->after->body, change->after->body_len);
    else if (was_there)
        add_departure(watcher, change->before, change->version);
}

/* Of a built-in kind, as an object without contents. */
static void add_bookmark(struct watcher *watcher, uint64_t version, bool is_initial)
{
    const struct api_kind *kind = watcher->request->kind;
    yyjson_mut_doc *doc = builtin_empty(kind);
    size_t len = 0;

    if (!doc)
        doc = json_new_object(NULL);
    /* Go has the number itself inside of these, and a place for none outside. */
    if (strcmp(kind->group, "apps") == 0 && kind_list_has("deployments replicasets statefulsets", kind->plural))
        (void)yyjson_mut_obj_add_int(doc, yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "spec"), "replicas", 0);
    meta_stamp_type(doc, kind);
    meta_set_version(doc, version);
    if (is_initial)
        meta_set_annotation(doc, "k8s.io/initial-events-end", "true");
    event_form_store(kind, doc);
    char *body = object_text(doc, &len);

    add_event(watcher, "BOOKMARK", body, len);
    free(body);
    yyjson_mut_doc_free(doc);
}

static void add_expired(struct watcher *watcher)
{
    strbuf_addf(&watcher->batch,
                "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
                "\"status\":\"Failure\",\"message\":\"too old resource version: %" PRIu64 " (%" PRIu64 ")\","
                "\"reason\":\"Expired\",\"code\":410}}\n",
                watcher->since, store_version(watcher->server->store));
}

/* --- The flow of events --- */

static bool may_write(const struct watcher *watcher)
{
    return http_reply_unsent(watcher->request->exchange) < UNSENT_MAX && watcher->batch.len < BATCH_MAX;
}

/* Objects that were there. Returns whether all have been told. */
static bool add_initial(struct watcher *watcher)
{
    while (watcher->initial_at < watcher->initial.len && may_write(watcher)) {
        const struct store_object *object = watcher->initial.items[watcher->initial_at++];
        add_event(watcher, "ADDED", object->body, object->body_len);
        store_object_unref(object);
    }
    if (watcher->initial_at < watcher->initial.len)
        return false;
    if (watcher->wants_initial_bookmark)
        add_bookmark(watcher, watcher->initial_version, true);
    watcher->wants_initial_bookmark = false;
    return true;
}

/* Returns 1 when there may be more, 0 when all changes have been told, -ESTALE when some can no longer be. */
static int add_changes(struct watcher *watcher)
{
    const struct store_change *change = NULL;
    int r = 1;

    while (may_write(watcher)) {
        r = store_next_change(watcher->server->store, watcher->request->number, &watcher->position, &change);
        if (r <= 0)
            break;
        add_change(watcher, change);
    }
    return r;
}

static void pump(void *arg)
{
    struct watcher *watcher = arg;
    int r = add_initial(watcher) ? add_changes(watcher) : 1;

    if (r < 0) {
        add_expired(watcher);
        end_watch(watcher);
        return;
    }
    flush(watcher);
    /* A client that has all bytes is given the next ones; another one is when it has taken them. */
    if (r > 0 && http_reply_unsent(watcher->request->exchange) < UNSENT_MAX)
        loop_task_queue(&watcher->pump);
}

static void on_change(void *arg)
{
    struct watcher *watcher = arg;

    loop_task_queue(&watcher->pump);
}

static void on_drained(void *arg)
{
    on_change(arg);
}

static void on_cancel(void *arg)
{
    end_watch(arg);
}

/* Whether everything has been told up to the newest version, so that a bookmark may say so. */
static bool is_up_to_date(struct watcher *watcher)
{
    return add_initial(watcher) && add_changes(watcher) == 0;
}

static void on_bookmark(void *arg)
{
    struct watcher *watcher = arg;

    if (is_up_to_date(watcher))
        add_bookmark(watcher, store_version(watcher->server->store), false);
    flush(watcher);
    loop_timer_start(&watcher->bookmark_timer, BOOKMARK_INTERVAL);
}

static void on_timeout(void *arg)
{
    struct watcher *watcher = arg;

    if (is_up_to_date(watcher) && watcher->wants_bookmarks)
        add_bookmark(watcher, store_version(watcher->server->store), false);
    end_watch(watcher);
}

/* --- The beginning --- */

/* So that the watches of all clients do not end together. */
static nsec_t random_timeout(void)
{
    uint32_t random = 0;

    BUG_ON(RAND_bytes((unsigned char *)&random, sizeof random) != 1);
    return TIMEOUT_MIN + random % (TIMEOUT_MIN / NSEC_PER_MSEC) * NSEC_PER_MSEC;
}

static nsec_t timeout_of(const struct request *request)
{
    long long seconds = strtoll(request_query(request, "timeoutSeconds"), NULL, 10);

    if (seconds <= 0)
        return random_timeout();
    return MIN(seconds, INT64_C(86400)) * NSEC_PER_SEC;
}

/* Sets where the watch begins. Returns 0, or -ESTALE when changes behind its version are no longer known. */
static int seek(struct watcher *watcher)
{
    struct store *store = watcher->server->store;
    const char *version = request_query(watcher->request, "resourceVersion");
    const char *initial = request_query(watcher->request, "sendInitialEvents");
    bool is_unset = !*version || strcmp(version, "0") == 0;
    bool wants_initial = *initial ? request_query_is_true(watcher->request, "sendInitialEvents") : is_unset;
    uint64_t newest = store_version(store);

    if (wants_initial)
        selection_collect(&watcher->selection, watcher->request, "", "", &watcher->initial);
    watcher->initial_version = newest;
    watcher->since = wants_initial || is_unset ? newest : strtoull(version, NULL, 10);
    watcher->wants_initial_bookmark = wants_initial && watcher->wants_bookmarks;
    return store_position(store, MIN(watcher->since, newest), &watcher->position);
}

static void begin(struct request *request)
{
    struct watcher *watcher;
    struct selection selection;

    if (!selection_read(request, &selection))
        return;
    watcher = xcalloc(1, sizeof *watcher);
    *watcher = (struct watcher){
        .request = request,
        .server = request->server,
        .selection = selection,
        .wants_bookmarks = request_query_is_true(request, "allowWatchBookmarks"),
    };
    if (request->is_custom)
        list_push(&request->server->custom_watches, &watcher->in_custom);
    strbuf_init(&watcher->batch, EVENT_BYTES_MAX);
    loop_task_init(&watcher->pump, watcher->server->loop, pump, watcher);
    loop_timer_init(&watcher->bookmark_timer, watcher->server->loop, on_bookmark, watcher);
    loop_timer_init(&watcher->end_timer, watcher->server->loop, on_timeout, watcher);
    store_follow(watcher->server->store, &watcher->follower, request->number, on_change, watcher);
    http_reply_header(request->exchange, "Cache-Control", "no-cache, private");
    http_reply_begin(request->exchange, 200, "application/json");
    http_on_cancel(request->exchange, on_cancel, watcher);
    http_on_drain(request->exchange, on_drained, watcher);
    if (seek(watcher) < 0) {
        add_expired(watcher);
        end_watch(watcher);
        return;
    }
    loop_timer_start(&watcher->end_timer, timeout_of(request));
    if (watcher->wants_bookmarks)
        loop_timer_start(&watcher->bookmark_timer, BOOKMARK_INTERVAL);
    loop_task_queue(&watcher->pump);
}

void custom_watches_end(struct server *server, const char *definition)
{
    struct list_link *next;

    for (struct list_link *link = server->custom_watches.first; link; link = next) {
        struct watcher *watcher = list_item(link, struct watcher, in_custom);
        next = link->next;
        if (strcmp(custom_kind_of(watcher->request->kind)->definition, definition) == 0)
            end_watch(watcher);
    }
}

/* False after an answer. */
static bool check_query(struct request *request)
{
    const struct field match_field = field_member(NULL, "resourceVersionMatch");
    const char *initial = request_query(request, "sendInitialEvents");
    const char *match = request_query(request, "resourceVersionMatch");
    struct problems problems = {0};

    if (*initial && strcmp(match, "NotOlderThan") != 0)
        problem_forbidden(&problems, &match_field,
                          "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    if (!*initial && *match)
        problem_forbidden(&problems, &match_field,
                          "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    if (!problems_any(&problems))
        return true;
    fail_invalid_type(request, "meta.k8s.io", "ListOptions", "", &problems);
    problems_done(&problems);
    return false;
}

void verb_watch(struct request *request)
{
    uint64_t version = 0;

    if (!request_check_number(request, "timeoutSeconds") || !selection_check(request))
        return;
    if (!check_query(request) || !selection_check_fields(request) ||
        !version_read(request, request_query(request, "resourceVersion"), &version))
        return;
    /* Who wants what is there at least as new as a version waits for it; who wants changes waits for them anyway. */
    if (request_query_is_true(request, "sendInitialEvents"))
        version_wait(request, version, begin);
    else
        begin(request);
}
