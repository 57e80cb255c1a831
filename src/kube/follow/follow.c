/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One thing is under way at a time: a list, a watch, or the wait for the next attempt. Where a watch ends decides what
 * follows: at its usual end it is renewed at once from the last version; after a failure the same, but backing off; and
 * when that version is too old, with a new list. The version moves on with every event and bookmark, so that a watch
 * that was cut in the middle of an object repeats that object and nothing else.
 */
#include "kube/follow/follow.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "kube/client/meta.h"
#include "kube/follow/follow_internal.h"

/* Longer versions are not kept, and cost a new list. */
enum { VERSION_MAX = 256 };

/* Attempts in a row that are made because the server says that it is ready; a kind that it refuses for good backs off. */
enum { QUICK_TRIES = 20 };

/* A watch that ends sooner and brings nothing counts as failed, or a broken proxy would make us spin. */
#define SHORT_WATCH NSEC_PER_SEC

static const struct follow_options defaults = {
    .page_size = 500,
    .watch_s = 300,
    .idle_timeout = 10 * NSEC_PER_MIN,
    .backoff_first = 200 * NSEC_PER_MSEC,
    .backoff_max = 30 * NSEC_PER_SEC,
};

static void destroy(struct follower *follower)
{
    loop_timer_done(&follower->timer);
    seen_done(&follower->seen);
    strbuf_done(&follower->version);
    free(follower->namespace);
    free(follower->label_selector);
    free(follower->field_selector);
    free(follower);
}

static void enter(struct follower *follower)
{
    follower->busy++;
}

static void leave(struct follower *follower)
{
    if (--follower->busy == 0 && follower->is_freed)
        destroy(follower);
}

static void set_standing(struct follower *follower, enum follow_standing standing)
{
    if (follower->standing == standing || follower->is_freed)
        return;
    follower->standing = standing;
    if (standing == FOLLOW_CURRENT)
        follower->quick_left = QUICK_TRIES;
    if (follower->options.on_standing)
        follower->options.on_standing(follower->options.arg, standing);
}

static void start_again(struct follower *follower, nsec_t wait)
{
    if (!follower->is_freed)
        loop_timer_start(&follower->timer, wait);
}

/* Reports the failure and tries again later. */
static void fail(struct follower *follower, const struct err *err)
{
    set_standing(follower, FOLLOW_CUT);
    nsec_t wait = backoff_next(&follower->backoff, chance_next(kube_client_chance(follower->client)));

    follower_report(follower, err, wait);
    start_again(follower, wait);
    /* A kind that the server does not have is not there the sooner for that. */
    if (!follower->is_freed && follower->quick_left > 0 && err->code != -ENOENT)
        kube_await_server(follower->client, &follower->back);
}

static void on_server_back(void *arg)
{
    struct follower *follower = arg;

    if (!loop_timer_is_running(&follower->timer))
        return;
    follower->quick_left--;
    backoff_reset(&follower->backoff);
    start_again(follower, 0);
}

/* The version is too old: at once to a new list, unless that is what has just been done. */
static void expire(struct follower *follower, const struct err *err)
{
    follower->needs_list = true;
    set_standing(follower, FOLLOW_CUT);
    if (follower->was_expired) {
        fail(follower, err);
        return;
    }
    follower->was_expired = true;
    follower_report(follower, err, 0);
    start_again(follower, 0);
}

static void set_version(struct follower *follower, const char *version)
{
    if (!version[0])
        return;
    strbuf_clear(&follower->version);
    strbuf_addstr(&follower->version, version);
    if (follower->version.is_cut)
        strbuf_clear(&follower->version);
}

/* Versions that count, as Kubernetes' do, can be compared; others tell nothing. */
static bool is_older(const char *version, const char *seen)
{
    uint64_t is = seen_version(version), was = seen_version(seen);

    return version[0] && seen[0] && !(is >> 63) && !(was >> 63) && is < was;
}

static void look_at_version(struct follower *follower, const char *version)
{
    if (is_older(version, follower->version.text) && follower->options.on_older)
        follower->options.on_older(follower->options.arg, follower->version.text, version);
}

/* A list is complete, however it came. */
static void end_list(struct follower *follower)
{
    bool is_first = !follower->is_synced;

    follower->is_listing = false;
    follower->needs_list = false;
    follower->lists++;
    follower_sweep(follower);
    if (follower->is_freed)
        return;
    follower->is_synced = true;
    if (follower->options.on_synced)
        follower->options.on_synced(follower->options.arg, is_first);
    set_standing(follower, FOLLOW_CURRENT);
}

static int on_object(void *arg, yyjson_val *object)
{
    struct follower *follower = arg;

    enter(follower);
    follower_note(follower, object);
    leave(follower);
    return 0;
}

static void on_list_problem(void *arg, const struct err *err)
{
    follower_report(arg, err, 0);
}

static void on_listed(void *arg, const struct kube_answer *answer, const char *resource_version)
{
    struct follower *follower = arg;

    follower->list = NULL;
    enter(follower);
    if (answer->err.code < 0) {
        if (kube_answer_is_expired(answer))
            expire(follower, &answer->err);
        else
            fail(follower, &answer->err);
    } else {
        look_at_version(follower, resource_version);
        set_version(follower, resource_version);
        end_list(follower);
        if (resource_version[0])
            start_again(follower, 0);
        else
            fail(follower, &(struct err){.code = -EBADMSG, .text = "the list has no version to go on from"});
    }
    leave(follower);
}

static void take_event(struct follower *follower, const struct kube_event *event)
{
    follower->has_news = true;
    if (event->change == KUBE_ADDED || event->change == KUBE_MODIFIED)
        follower_note(follower, event->object);
    else if (event->change == KUBE_DELETED)
        follower_note_gone(follower, event->object);
    if (follower->is_freed)
        return;
    /* Before all is told, there is nothing to go on from. */
    if (follower->is_listing && !event->is_initial_end)
        return;
    if (event->is_initial_end)
        look_at_version(follower, event->resource_version);
    set_version(follower, event->resource_version);
    if (event->is_initial_end && follower->is_listing)
        end_list(follower);
    follower->was_expired = false;
    backoff_reset(&follower->backoff);
}

static void on_begun(void *arg)
{
    struct follower *follower = arg;

    enter(follower);
    if (!follower->is_listing)
        set_standing(follower, FOLLOW_CURRENT);
    leave(follower);
}

static int on_event(void *arg, const struct kube_event *event, const struct err *err)
{
    struct follower *follower = arg;

    enter(follower);
    if (event)
        take_event(follower, event);
    else
        follower_report(follower, err, 0);
    leave(follower);
    return 0;
}

/* The stream that should have been a list was not even begun: this server does not know how. */
static bool cannot_stream(const struct follower *follower, const struct kube_watch_end *end)
{
    return follower->is_listing && end->is_refused && (end->status == 400 || end->status == 422);
}

static void on_watched(void *arg, const struct kube_watch_end *end)
{
    struct follower *follower = arg;
    bool is_short = !follower->has_news && nsec_now_monotonic() - follower->watch_started < SHORT_WATCH;
    struct err err = end->err;

    follower->watch = NULL;
    enter(follower);
    /* One that lasted was good, though nothing may have happened meanwhile. */
    if (nsec_now_monotonic() - follower->watch_started >= SHORT_WATCH && !end->is_refused) {
        follower->was_expired = false;
        backoff_reset(&follower->backoff);
    }
    if (end->err.code == 0 && is_short)
        (void)err_set(&err, -EAGAIN, "watch %s: the server closed the watch at once",
                      follower->options.resource->plural);
    if (cannot_stream(follower, end)) {
        follower->can_stream = false;
        start_again(follower, 0);
    } else if (end->is_expired || end->is_ahead) {
        expire(follower, &err);
    } else if (err.code < 0) {
        fail(follower, &err);
    } else {
        set_standing(follower, FOLLOW_RENEWING);
        start_again(follower, 0);
    }
    leave(follower);
}

static void start_list(struct follower *follower)
{
    const struct follow_options *options = &follower->options;

    follower->list = kube_list_start(follower->client, &(struct kube_list_request){
                                                           .resource = options->resource,
                                                           .namespace = follower->namespace,
                                                           .label_selector = follower->label_selector,
                                                           .field_selector = follower->field_selector,
                                                           .page_size = options->page_size,
                                                           .is_metadata_only = options->is_metadata_only,
                                                           .on_object = on_object,
                                                           .on_problem = on_list_problem,
                                                           .on_done = on_listed,
                                                           .arg = follower,
                                                       });
}

static void start_watch(struct follower *follower)
{
    const struct follow_options *options = &follower->options;
    uint64_t jitter = chance_next(kube_client_chance(follower->client)) % options->watch_s;

    follower->has_news = false;
    follower->watch_started = nsec_now_monotonic();
    follower->watch =
        kube_watch_start(follower->client, &(struct kube_watch_request){
                                               .resource = options->resource,
                                               .namespace = follower->namespace,
                                               .label_selector = follower->label_selector,
                                               .field_selector = follower->field_selector,
                                               .resource_version = follower->is_listing ? NULL : follower->version.text,
                                               .wants_initial_events = follower->is_listing,
                                               .is_metadata_only = options->is_metadata_only,
                                               .timeout_s = options->watch_s + (uint32_t)jitter,
                                               .idle_timeout = options->idle_timeout,
                                               .on_begun = on_begun,
                                               .on_event = on_event,
                                               .on_done = on_watched,
                                               .arg = follower,
                                           });
}

static void on_start(void *arg)
{
    struct follower *follower = arg;

    follower->is_listing = follower->needs_list || follower->version.len == 0;
    if (follower->is_listing)
        follower->round++;
    if (follower->is_listing && !(follower->options.streams_lists && follower->can_stream))
        start_list(follower);
    else
        start_watch(follower);
}

static char *copy(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

struct follower *follower_new(struct kube_client *client, const struct follow_options *options)
{
    struct follower *follower = xcalloc(1, sizeof *follower);
    struct follow_options *own = &follower->options;

    follower->client = client;
    *own = *options;
    own->page_size = options->page_size ? options->page_size : defaults.page_size;
    own->watch_s = options->watch_s ? options->watch_s : defaults.watch_s;
    own->idle_timeout = options->idle_timeout ? options->idle_timeout : defaults.idle_timeout;
    follower->backoff = (struct backoff){
        .first = options->backoff_first ? options->backoff_first : defaults.backoff_first,
        .max = options->backoff_max ? options->backoff_max : defaults.backoff_max,
    };
    follower->namespace = copy(options->namespace);
    follower->label_selector = copy(options->label_selector);
    follower->field_selector = copy(options->field_selector);
    follower->needs_list = follower->can_stream = true;
    follower->standing = FOLLOW_CUT;
    follower->quick_left = QUICK_TRIES;
    follower->back = (struct kube_wait){.on_back = on_server_back, .arg = follower};
    seen_init(&follower->seen);
    strbuf_init(&follower->version, VERSION_MAX);
    loop_timer_init(&follower->timer, kube_client_loop(client), on_start, follower);
    loop_timer_start(&follower->timer, 0);
    return follower;
}

void follower_free(struct follower *follower)
{
    if (!follower || follower->is_freed)
        return;
    follower->is_freed = true;
    loop_timer_stop(&follower->timer);
    kube_wait_cancel(follower->client, &follower->back);
    kube_list_cancel(TAKE_PTR(follower->list));
    kube_watch_cancel(TAKE_PTR(follower->watch));
    enter(follower);
    leave(follower);
}

enum follow_standing follower_standing(const struct follower *follower)
{
    return follower->standing;
}

bool follower_is_synced(const struct follower *follower)
{
    return follower->is_synced;
}

size_t follower_len(const struct follower *follower)
{
    return follower->seen.len;
}

size_t follower_bytes(const struct follower *follower)
{
    return sizeof *follower + seen_bytes(&follower->seen) + follower->version.cap;
}

uint64_t follower_lists(const struct follower *follower)
{
    return follower->lists;
}

const char *follower_version(const struct follower *follower)
{
    return follower->version.text;
}
