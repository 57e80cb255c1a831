/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One thing is under way at a time: a list, a watch, or the wait for the next attempt. Where a watch ends decides what
 * follows: at its usual end it is renewed at once from the last version; after a failure the same, but backing off; and
 * when that version is too old, with a new list. The version moves on with every event and bookmark, so that a watch
 * that was cut in the middle of an object repeats that object and nothing else.
 */
#include "kube/follow/feed_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "kube/client/meta.h"

/* Longer versions are not kept, and cost a new list. */
enum { VERSION_MAX = 256 };

/* Attempts in a row that are made because the server says that it is ready; a kind that it refuses for good backs off. */
enum { QUICK_TRIES = 20 };

/* A watch that ends sooner and brings nothing counts as failed, or a broken proxy would make us spin. */
#define SHORT_WATCH NSEC_PER_SEC

static const struct feed_options defaults = {
    .page_size = 500,
    .watch_s = 300,
    .idle_timeout = 10 * NSEC_PER_MIN,
    .backoff_first = 200 * NSEC_PER_MSEC,
    .backoff_max = 30 * NSEC_PER_SEC,
};

static void destroy(struct feed *feed)
{
    loop_timer_done(&feed->timer);
    seen_done(&feed->seen);
    strbuf_done(&feed->version);
    free(feed->namespace);
    free(feed->label_selector);
    free(feed->field_selector);
    free(feed);
}

static void enter(struct feed *feed)
{
    feed->busy++;
}

static void leave(struct feed *feed)
{
    if (--feed->busy == 0 && feed->is_freed)
        destroy(feed);
}

static void set_standing(struct feed *feed, enum follow_standing standing)
{
    if (feed->standing == standing || feed->is_freed)
        return;
    feed->standing = standing;
    if (standing == FOLLOW_CURRENT)
        feed->quick_left = QUICK_TRIES;
    feed_tell_standing(feed);
}

static void start_again(struct feed *feed, nsec_t wait)
{
    if (!feed->is_freed)
        loop_timer_start(&feed->timer, wait);
}

/* Reports the failure and tries again later. */
static void fail(struct feed *feed, const struct err *err)
{
    set_standing(feed, FOLLOW_CUT);
    nsec_t wait = backoff_next(&feed->backoff, chance_next(kube_client_chance(feed->client)));

    feed_report(feed, err, wait);
    start_again(feed, wait);
    /* A kind that the server does not have is not there the sooner for that. */
    if (!feed->is_freed && feed->quick_left > 0 && err->code != -ENOENT)
        kube_await_server(feed->client, &feed->back);
}

static void on_server_back(void *arg)
{
    struct feed *feed = arg;

    if (!loop_timer_is_running(&feed->timer))
        return;
    feed->quick_left--;
    backoff_reset(&feed->backoff);
    start_again(feed, 0);
}

/* The version is too old: at once to a new list, unless that is what has just been done. */
static void expire(struct feed *feed, const struct err *err)
{
    feed->needs_list = true;
    set_standing(feed, FOLLOW_CUT);
    if (feed->was_expired) {
        fail(feed, err);
        return;
    }
    feed->was_expired = true;
    feed_report(feed, err, 0);
    start_again(feed, 0);
}

static void set_version(struct feed *feed, const char *version)
{
    if (!version[0])
        return;
    strbuf_clear(&feed->version);
    strbuf_addstr(&feed->version, version);
    if (feed->version.is_cut)
        strbuf_clear(&feed->version);
}

/* Versions that count, as Kubernetes' do, can be compared; others tell nothing. */
static bool is_older(const char *version, const char *seen)
{
    uint64_t is = seen_version(version), was = seen_version(seen);

    return version[0] && seen[0] && !(is >> 63) && !(was >> 63) && is < was;
}

static void look_at_version(struct feed *feed, const char *version)
{
    if (is_older(version, feed->version.text))
        feed_tell_older(feed, feed->version.text, version);
}

/* A list is complete, however it came. */
static void end_list(struct feed *feed)
{
    feed->is_listing = false;
    feed->needs_list = false;
    feed->lists++;
    feed_sweep(feed);
    if (feed->is_freed)
        return;
    feed_tell_synced(feed);
    if (feed->is_freed)
        return;
    /* Who came while the list was under way has missed its beginning. */
    feed->needs_list = feed_has_newcomers(feed);
    set_standing(feed, feed->needs_list ? FOLLOW_RENEWING : FOLLOW_CURRENT);
}

static int on_object(void *arg, yyjson_val *object)
{
    struct feed *feed = arg;

    enter(feed);
    feed_note(feed, object);
    leave(feed);
    return 0;
}

static void on_list_problem(void *arg, const struct err *err)
{
    feed_report(arg, err, 0);
}

static void on_listed(void *arg, const struct kube_answer *answer, const char *resource_version)
{
    struct feed *feed = arg;

    feed->list = NULL;
    enter(feed);
    if (answer->err.code < 0) {
        if (kube_answer_is_expired(answer))
            expire(feed, &answer->err);
        else
            fail(feed, &answer->err);
    } else {
        look_at_version(feed, resource_version);
        set_version(feed, resource_version);
        end_list(feed);
        if (resource_version[0])
            start_again(feed, 0);
        else
            fail(feed, &(struct err){.code = -EBADMSG, .text = "the list has no resourceVersion to watch from"});
    }
    leave(feed);
}

static void take_event(struct feed *feed, const struct kube_event *event)
{
    feed->has_news = true;
    if (event->change == KUBE_ADDED || event->change == KUBE_MODIFIED)
        feed_note(feed, event->object);
    else if (event->change == KUBE_DELETED)
        feed_note_gone(feed, event->object);
    if (feed->is_freed)
        return;
    /* Before all is told, there is nothing to go on from. */
    if (feed->is_listing && !event->is_initial_end)
        return;
    if (event->is_initial_end)
        look_at_version(feed, event->resource_version);
    set_version(feed, event->resource_version);
    if (event->is_initial_end && feed->is_listing)
        end_list(feed);
    feed->was_expired = false;
    backoff_reset(&feed->backoff);
}

static void on_begun(void *arg)
{
    struct feed *feed = arg;

    enter(feed);
    if (!feed->is_listing)
        set_standing(feed, FOLLOW_CURRENT);
    leave(feed);
}

static int on_event(void *arg, const struct kube_event *event, const struct err *err)
{
    struct feed *feed = arg;

    enter(feed);
    if (event)
        take_event(feed, event);
    else
        feed_report(feed, err, 0);
    leave(feed);
    return 0;
}

/* The stream that should have been a list was not even begun: this server does not know how. */
static bool cannot_stream(const struct feed *feed, const struct kube_watch_end *end)
{
    return feed->is_listing && end->is_refused && (end->status == 400 || end->status == 422);
}

static void on_watched(void *arg, const struct kube_watch_end *end)
{
    struct feed *feed = arg;
    bool is_short = !feed->has_news && nsec_now_monotonic() - feed->watch_started < SHORT_WATCH;
    struct err err = end->err;

    feed->watch = NULL;
    enter(feed);
    /* One that lasted was good, though nothing may have happened meanwhile. */
    if (nsec_now_monotonic() - feed->watch_started >= SHORT_WATCH && !end->is_refused) {
        feed->was_expired = false;
        backoff_reset(&feed->backoff);
    }
    if (end->err.code == 0 && is_short)
        (void)err_set(&err, -EAGAIN, "watch %s: the server closed the watch at once", feed->options.resource->plural);
    if (cannot_stream(feed, end)) {
        feed->can_stream = false;
        start_again(feed, 0);
    } else if (end->is_expired || end->is_ahead) {
        expire(feed, &err);
    } else if (err.code < 0) {
        fail(feed, &err);
    } else {
        set_standing(feed, FOLLOW_RENEWING);
        start_again(feed, 0);
    }
    leave(feed);
}

static void start_list(struct feed *feed)
{
    const struct feed_options *options = &feed->options;

    feed->list = kube_list_start(feed->client, &(struct kube_list_request){
                                                   .resource = options->resource,
                                                   .namespace = feed->namespace,
                                                   .label_selector = feed->label_selector,
                                                   .field_selector = feed->field_selector,
                                                   .page_size = options->page_size,
                                                   .is_metadata_only = options->is_metadata_only,
                                                   .on_object = on_object,
                                                   .on_problem = on_list_problem,
                                                   .on_done = on_listed,
                                                   .arg = feed,
                                               });
}

static void start_watch(struct feed *feed)
{
    const struct feed_options *options = &feed->options;
    uint64_t jitter = chance_next(kube_client_chance(feed->client)) % options->watch_s;

    feed->has_news = false;
    feed->watch_started = nsec_now_monotonic();
    feed->watch = kube_watch_start(feed->client, &(struct kube_watch_request){
                                                     .resource = options->resource,
                                                     .namespace = feed->namespace,
                                                     .label_selector = feed->label_selector,
                                                     .field_selector = feed->field_selector,
                                                     .resource_version = feed->is_listing ? NULL : feed->version.text,
                                                     .wants_initial_events = feed->is_listing,
                                                     .is_metadata_only = options->is_metadata_only,
                                                     .timeout_s = options->watch_s + (uint32_t)jitter,
                                                     .idle_timeout = options->idle_timeout,
                                                     .on_begun = on_begun,
                                                     .on_event = on_event,
                                                     .on_done = on_watched,
                                                     .arg = feed,
                                                 });
}

static void on_start(void *arg)
{
    struct feed *feed = arg;

    feed->is_listing = feed->needs_list || feed->version.len == 0;
    if (feed->is_listing)
        feed->round++;
    if (feed->is_listing && !(feed->options.streams_lists && feed->can_stream))
        start_list(feed);
    else
        start_watch(feed);
}

static char *copy(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

struct feed *feed_new(struct kube_client *client, const struct feed_options *options)
{
    struct feed *feed = xcalloc(1, sizeof *feed);
    struct feed_options *own = &feed->options;

    feed->client = client;
    *own = *options;
    own->page_size = options->page_size ? options->page_size : defaults.page_size;
    own->watch_s = options->watch_s ? options->watch_s : defaults.watch_s;
    own->idle_timeout = options->idle_timeout ? options->idle_timeout : defaults.idle_timeout;
    feed->backoff = (struct backoff){
        .first = options->backoff_first ? options->backoff_first : defaults.backoff_first,
        .max = options->backoff_max ? options->backoff_max : defaults.backoff_max,
    };
    feed->namespace = copy(options->namespace);
    feed->label_selector = copy(options->label_selector);
    feed->field_selector = copy(options->field_selector);
    feed->needs_list = feed->can_stream = true;
    feed->standing = FOLLOW_CUT;
    feed->quick_left = QUICK_TRIES;
    feed->back = (struct kube_wait){.on_back = on_server_back, .arg = feed};
    seen_init(&feed->seen);
    strbuf_init(&feed->version, VERSION_MAX);
    loop_timer_init(&feed->timer, kube_client_loop(client), on_start, feed);
    loop_timer_start(&feed->timer, 0);
    return feed;
}

void feed_free(struct feed *feed)
{
    if (!feed || feed->is_freed)
        return;
    feed->is_freed = true;
    loop_timer_stop(&feed->timer);
    kube_wait_cancel(feed->client, &feed->back);
    kube_list_cancel(TAKE_PTR(feed->list));
    kube_watch_cancel(TAKE_PTR(feed->watch));
    enter(feed);
    leave(feed);
}

void feed_list_again(struct feed *feed)
{
    feed->needs_list = true;
    /* A list that is under way is followed by another; an attempt that waits for its time makes it. */
    if (!feed->watch || feed->is_listing)
        return;
    kube_watch_cancel(TAKE_PTR(feed->watch));
    set_standing(feed, FOLLOW_RENEWING);
    start_again(feed, 0);
}
