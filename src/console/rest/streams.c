/* SPDX-License-Identifier: Apache-2.0 */
#include "console/rest/streams.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "console/assets/kinds.h"
#include "console/changes/change_feed.h"
#include "console/data/items.h"
#include "console/live/listener.h"
#include "console/org/pools.h"
#include "console/rest/handlers.h"
#include "console/workloads/kinds.h"
#include "frame/service.h"
#include "net/loop.h"
#include "net/rest/event_stream.h"

enum { LISTENERS_MAX = 768, LISTENERS_OF_ONE_MAX = 64, EVENTS_AT_ONCE = 128, CHECKS_AT_ONCE = 32 };
enum { FRAME_MAX = 1 << 20, ROWS_MAX = 256 << 20 };

/* So often each listener gets a beat, and its token or session is looked at. */
#define BEAT_EACH (15 * NSEC_PER_SEC)

enum topic {
    TOPIC_ORG_UNITS,
    TOPIC_NODE_POOLS,
    TOPIC_ASSETS,
    TOPIC_POLICIES,
    TOPIC_WORKLOADS,
    TOPIC_ACCESS,
    TOPIC_AUDIT,
    _TOPIC_MAX
};

static const char *const topic_names[_TOPIC_MAX] = {
    [TOPIC_ORG_UNITS] = "org-units", [TOPIC_NODE_POOLS] = "node-pools", [TOPIC_ASSETS] = "assets",
    [TOPIC_POLICIES] = "policies",   [TOPIC_WORKLOADS] = "workloads",   [TOPIC_ACCESS] = "access",
    [TOPIC_AUDIT] = "audit",
};

/* What a type of changes is about, and the permission to read it. Assets and workloads have their own tables. */
static const struct subject {
    const char *type;
    enum topic topic;
    enum resource_type resource;
} subjects[] = {
    {ITEM_DEPARTMENT, TOPIC_ORG_UNITS, RESOURCE_DEPARTMENT},
    {ITEM_PROJECT, TOPIC_ORG_UNITS, RESOURCE_PROJECT},
    {ITEM_NODE_POOL, TOPIC_NODE_POOLS, RESOURCE_NODE_POOLS},
    {"policy", TOPIC_POLICIES, RESOURCE_POLICIES},
    {ITEM_USER, TOPIC_ACCESS, RESOURCE_USERS},
    {ITEM_SERVICE_ACCOUNT, TOPIC_ACCESS, RESOURCE_SERVICE_ACCOUNT},
    {"application", TOPIC_ACCESS, RESOURCE_APPS},
    {ITEM_ACCESS_KEY, TOPIC_ACCESS, RESOURCE_ACCESS_KEYS},
    {ITEM_RULE, TOPIC_ACCESS, RESOURCE_ACCESS_RULES},
    {ITEM_ROLE, TOPIC_ACCESS, RESOURCE_ROLES},
    {ITEM_IDP, TOPIC_ACCESS, RESOURCE_SECURITY_SETTINGS},
};

struct streams {
    struct console *console;
    struct list listeners;
    struct loop_timer beat;
    struct loop_timer late;  // for rows that came too soon after others
    struct loop_task wake;
    char epoch[9];
};

struct listener {
    struct list_link in_streams;
    struct streams *streams;
    struct http_exchange *exchange;
    struct caller *caller;  // the exchange's
    uint32_t topics;        // as bits
    int64_t sequence;       // that it has got; -1: it has to begin anew
    bool is_stale;          // what it may see has to be read again before it gets anything
    bool has_other_rights;  // it may be able to see rows that it could not see before
    struct live_listener live;
};

static const char *text_of(yyjson_val *doc, const char *key)
{
    const char *text = yyjson_get_str(yyjson_obj_get(doc, key));

    return text ? text : "";
}

static void listener_end(struct listener *listener)
{
    struct streams *streams = listener->streams;

    list_remove(&streams->listeners, &listener->in_streams);
    live_listener_end(&listener->live);
    http_reply_end(listener->exchange);
    free(listener);
}

static void on_cancel(void *arg)
{
    listener_end(arg);
}

/* --- what a listener may see --- */

static bool find_subject(const char *type, struct subject *ret_subject)
{
    const struct asset_kind *kind;

    if (workload_kind_find(type)) {
        *ret_subject = (struct subject){type, TOPIC_WORKLOADS, RESOURCE_WORKLOADS};
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(subjects); i++) {
        if (strcmp(subjects[i].type, type) == 0) {
            *ret_subject = subjects[i];
            return true;
        }
    }
    kind = asset_kind_find(type);
    if (kind)
        *ret_subject = (struct subject){kind->name, TOPIC_ASSETS, kind->type};
    return kind != NULL;
}

/* As the reading of the thing itself decides. */
static int may_see(const struct listener *listener, const struct subject *subject, yyjson_val *change, bool *ret_may,
                   struct err *err)
{
    const struct access *access = &listener->caller->access;
    const struct request request = {.console = listener->streams->console, .caller = listener->caller};
    const char *project = text_of(change, "project");
    const char *owner = text_of(change, "owner");
    struct place place;

    *ret_may = false;
    if (*owner && strcmp(owner, listener->caller->id) != 0)
        return 0;
    if (subject->topic == TOPIC_ORG_UNITS || subject->topic == TOPIC_WORKLOADS) {
        *ret_may = access_covers(access, subject->resource, ACTION_READ, text_of(change, "department"),
                                 *project ? project : NULL);
        return 0;
    }
    if (subject->topic == TOPIC_ASSETS || subject->topic == TOPIC_POLICIES) {
        place_load(change, &place);
        return place_is_visible(&request, subject->resource, &place, ret_may, err);
    }
    *ret_may = access_has_everywhere(access, subject->resource, ACTION_READ);
    return 0;
}

/* The topics of a change that the listener has asked for and may see. */
static int topics_of(const struct listener *listener, yyjson_val *change, uint32_t *ret_topics, struct err *err)
{
    struct subject subject;
    bool may = false;
    int r = 0;

    *ret_topics = 0;
    if ((listener->topics & (1u << TOPIC_AUDIT)) && yyjson_get_bool(yyjson_obj_get(change, "isAudited")) &&
        access_has_everywhere(&listener->caller->access, RESOURCE_EVENTS_HISTORY, ACTION_READ))
        *ret_topics |= 1u << TOPIC_AUDIT;
    if (find_subject(text_of(change, "type"), &subject) && (listener->topics & (1u << subject.topic)))
        r = may_see(listener, &subject, change, &may, err);
    if (may)
        *ret_topics |= 1u << subject.topic;
    return r;
}

/* --- events --- */

static void write_event(const struct listener *listener, int64_t seq, yyjson_val *change, uint32_t topics,
                        struct strbuf *frame)
{
    static const char *const members[] = {"time", "type", "action", "id", "name"};
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "topics");

    for (size_t i = 0; i < _TOPIC_MAX; i++) {
        if (topics & (1u << i))
            (void)yyjson_mut_arr_add_str(doc, list, topic_names[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        put_text(doc, root, members[i], text_of(change, members[i]));
    if (topics & (1u << TOPIC_AUDIT))
        put_text(doc, root, "subject", text_of(change, "subject"));
    char *text = yyjson_mut_write(doc, 0, NULL);
    BUG_ON(!text);
    strbuf_addf(frame, "event: change\nid: %s-%lld", listener->streams->epoch, (long long)seq);
    live_listener_add_id(&listener->live, frame);
    strbuf_addf(frame, "\ndata: %s\n\n", text);
    free(text);
    yyjson_mut_doc_free(doc);
}

static void write_reset(struct listener *listener, struct strbuf *frame)
{
    char time[TIME_TEXT_MAX];

    listener->sequence = change_feed_last(listener->streams->console->feed);
    live_listener_catch_up(&listener->live);
    strbuf_addf(frame, "event: reset\nid: %s-%lld", listener->streams->epoch, (long long)listener->sequence);
    live_listener_add_id(&listener->live, frame);
    strbuf_addf(frame, "\ndata: {\"time\":\"%s\"", time_format(nsec_now_wall(), time));
    live_listener_add_version(&listener->live, frame);
    strbuf_addstr(frame, "}\n\n");
}

/* Rows of the cluster that have changed. Those that the caller may not see are no event. */
static int write_rows(struct listener *listener, struct strbuf *frame, struct err *err)
{
    struct strbuf rows;
    char time[TIME_TEXT_MAX];
    bool has_rows = false;

    strbuf_init(&rows, ROWS_MAX);
    int r = live_listener_write(&listener->live, listener->caller, &has_rows, &rows, err);
    if (r == 0 && has_rows) {
        strbuf_addf(frame, "event: rows\nid: %s-%lld", listener->streams->epoch, (long long)listener->sequence);
        live_listener_add_id(&listener->live, frame);
        strbuf_addf(frame, "\ndata: {\"time\":\"%s\"", time_format(nsec_now_wall(), time));
        strbuf_add(frame, rows.text, rows.len);
        strbuf_addstr(frame, "}\n\n");
    }
    strbuf_done(&rows);
    return r;
}

/* The next events that the listener has not got. What cannot be decided ends the stream: the client comes back. */
static int write_events(struct listener *listener, struct strbuf *frame, struct err *err)
{
    const struct change_feed *feed = listener->streams->console->feed;
    uint32_t topics;

    if (listener->sequence < change_feed_first(feed) || listener->sequence > change_feed_last(feed)) {
        write_reset(listener, frame);
        return 0;
    }
    for (int count = 0; listener->sequence < change_feed_last(feed) && count < EVENTS_AT_ONCE;) {
        yyjson_val *change = change_feed_at(feed, listener->sequence + 1);
        int r = topics_of(listener, change, &topics, err);

        if (r < 0)
            return r;
        listener->sequence++;
        if (topics == 0)
            continue;
        write_event(listener, listener->sequence, change, topics, frame);
        count++;
    }
    return 0;
}

/* Rows, unless some were told a moment ago: those wait for the timer. */
static int tell_rows(struct listener *listener, struct strbuf *frame, struct err *err)
{
    struct streams *streams = listener->streams;
    nsec_t wait = 0;

    if (!live_listener_is_behind(&listener->live, nsec_now_monotonic(), &wait))
        return 0;
    if (wait > 0) {
        if (!loop_timer_is_running(&streams->late))
            loop_timer_start(&streams->late, wait);
        return 0;
    }
    if (!live_listener_is_lost(&listener->live))
        return write_rows(listener, frame, err);
    write_reset(listener, frame);
    return 0;
}

/* Whoever has not taken the last events gets the next ones later. */
static void listener_wake(struct listener *listener)
{
    const struct change_feed *feed = listener->streams->console->feed;
    struct err err = {0};
    struct strbuf frame;
    int r = 0;

    if (listener->is_stale || http_reply_unsent(listener->exchange) > 0)
        return;
    strbuf_init(&frame, ROWS_MAX);
    if (listener->sequence != change_feed_last(feed))
        r = write_events(listener, &frame, &err);
    if (r == 0)
        r = tell_rows(listener, &frame, &err);
    if (frame.len > 0)
        http_reply_write(listener->exchange, frame.text, frame.len);
    bool is_cut = frame.is_cut;
    strbuf_done(&frame);
    if (r < 0 || is_cut)
        listener_end(listener);
    else if (listener->sequence < change_feed_last(feed))
        loop_task_queue(&listener->streams->wake);
}

static void on_drain(void *arg)
{
    listener_wake(arg);
}

/* --- all listeners --- */

/* Each listener's rights are a few statements: a part of them at once, and the others in the next round. */
static void on_wake(void *arg)
{
    struct streams *streams = arg;
    uint32_t checks = 0;

    for (struct list_link *link = streams->listeners.first, *next; link; link = next) {
        struct listener *listener = list_item(link, struct listener, in_streams);
        struct err err = {0};

        next = link->next;
        if (listener->is_stale && checks++ < CHECKS_AT_ONCE) {
            int r = caller_refresh(streams->console, listener->caller, &err);
            if (r < 0) {
                listener_end(listener);
                continue;
            }
            listener->is_stale = false;
            if (listener->has_other_rights)
                live_listener_forget(&listener->live);
            listener->has_other_rights = false;
        }
        listener_wake(listener);
    }
    if (checks > CHECKS_AT_ONCE)
        loop_task_queue(&streams->wake);
}

static void make_stale(struct streams *streams, bool have_changed)
{
    for (struct list_link *link = streams->listeners.first; link; link = link->next) {
        struct listener *listener = list_item(link, struct listener, in_streams);

        listener->is_stale = true;
        listener->has_other_rights = listener->has_other_rights || have_changed;
    }
    loop_task_queue(&streams->wake);
}

static void on_late(void *arg)
{
    struct streams *streams = arg;

    loop_task_queue(&streams->wake);
}

static void on_beat(void *arg)
{
    struct streams *streams = arg;

    for (struct list_link *link = streams->listeners.first, *next; link; link = next) {
        next = link->next;
        event_stream_beat(list_item(link, struct listener, in_streams)->exchange);
    }
    make_stale(streams, false);
    loop_timer_start(&streams->beat, BEAT_EACH);
}

void change_streams_note(struct console *console, yyjson_val *change)
{
    struct subject subject;

    if (find_subject(text_of(change, "type"), &subject) && subject.topic == TOPIC_ACCESS &&
        strcmp(text_of(change, "action"), "sign-in") != 0)
        make_stale(console->streams, true);
}

void change_streams_wake(struct console *console)
{
    loop_task_queue(&console->streams->wake);
}

void change_streams_reset(struct console *console)
{
    for (struct list_link *link = console->streams->listeners.first; link; link = link->next)
        list_item(link, struct listener, in_streams)->sequence = -1;
    change_streams_wake(console);
}

struct streams *change_streams_new(struct console *console)
{
    struct streams *streams = xcalloc(1, sizeof *streams);

    streams->console = console;
    (void)snprintf(streams->epoch, sizeof streams->epoch, "%.8s", console->cluster_id);
    loop_timer_init(&streams->beat, console->service->loop, on_beat, streams);
    loop_timer_init(&streams->late, console->service->loop, on_late, streams);
    loop_task_init(&streams->wake, console->service->loop, on_wake, streams);
    loop_timer_start(&streams->beat, BEAT_EACH);
    return streams;
}

void change_streams_free(struct streams *streams)
{
    if (!streams)
        return;
    loop_timer_done(&streams->beat);
    loop_timer_done(&streams->late);
    loop_task_cancel(&streams->wake);
    free(streams);
}

/* --- a listener --- */

static int read_topics(const char *text, uint32_t *ret_topics, uint32_t *ret_parts, struct err *err)
{
    *ret_parts = 0;
    *ret_topics = text ? 0 : (1u << _TOPIC_MAX) - 1;
    while (text && *text) {
        size_t len = strcspn(text, ",");
        size_t topic = 0;

        while (topic < _TOPIC_MAX && (strlen(topic_names[topic]) != len || strncmp(topic_names[topic], text, len) != 0))
            topic++;
        uint32_t parts = live_topic_parts(text, len);

        if (topic == _TOPIC_MAX && parts == 0)
            return err_set(err, -EINVAL, "topics: there is no topic '%.*s'", (int)MIN(len, (size_t)50), text);
        *ret_topics |= topic < _TOPIC_MAX ? 1u << topic : 0;
        *ret_parts |= parts;
        text += len + (text[len] == ',');
    }
    return *ret_topics || *ret_parts ? 0 : err_set(err, -EINVAL, "topics: expected names with commas between them");
}

static int check_room(const struct streams *streams, const struct caller *caller, struct err *err)
{
    uint32_t own = 0;

    for (struct list_link *link = streams->listeners.first; link; link = link->next)
        own += strcmp(list_item(link, struct listener, in_streams)->caller->id, caller->id) == 0;
    if (own >= LISTENERS_OF_ONE_MAX)
        return err_set(err, -EAGAIN, "'%.100s' has %u streams already: close one first", caller->name, own);
    if (streams->listeners.len >= LISTENERS_MAX)
        return err_set(err, -EAGAIN, "too many streams: try again later");
    return 0;
}

void handle_stream(void *arg, struct http_exchange *exchange)
{
    struct console *console = arg;
    struct streams *streams = console->streams;
    struct caller *caller = rest_attached(exchange);
    struct err err = {0};
    uint32_t topics = 0;
    uint32_t parts = 0;
    int r = caller->must_change_password ? err_set(&err, -EACCES, "change the password first: POST /api/v1/me/password")
                                         : read_topics(rest_query(exchange, "topics"), &topics, &parts, &err);

    if (r < 0 || check_room(streams, caller, &err) < 0) {
        rest_fail_err(exchange, &err);
        return;
    }
    uint64_t seen = event_stream_seen(exchange, streams->epoch);
    struct listener *listener = xcalloc(1, sizeof *listener);
    *listener = (struct listener){
        .streams = streams,
        .exchange = exchange,
        .caller = caller,
        .topics = topics,
        .sequence = seen > 0 && seen <= INT64_MAX ? (int64_t)seen
                    : topics                      ? -1
                                                  : change_feed_last(console->feed),
    };
    live_listener_begin(&listener->live, console->live, parts, exchange);
    list_push(&streams->listeners, &listener->in_streams);
    event_stream_begin(exchange);
    http_on_cancel(exchange, on_cancel, listener);
    http_on_drain(exchange, on_drain, listener);
    loop_task_queue(&streams->wake);
}
