/* SPDX-License-Identifier: Apache-2.0 */

/* The BindRequests: which there are, which of them are due, and how many may be under way at once. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "kube/client/meta.h"
#include "services/binder/binder_internal.h"
#include "services/binder/meters.h"

static struct item *find(const struct items *items, const char *namespace, const char *name)
{
    return strmap_get(&items->by_name, namespace, name);
}

/* Counts the groups of an active request; two that share a hash are both kept a little longer. */
static void count_groups(struct items *items, const struct request *request, bool is_more)
{
    if (request->phase != REQUEST_ACTIVE)
        return;
    vec_foreach (&request->groups, group) {
        uint64_t hash = hash_str(*group, 0);
        uint64_t count = 0;

        (void)map64_get(&items->wanted, hash, &count);
        BUG_ON(!is_more && count == 0);
        count = is_more ? count + 1 : count - 1;
        if (count)
            map64_put(&items->wanted, hash, count);
        else
            (void)map64_remove(&items->wanted, hash);
    }
}

bool binder_wants_group(const struct binder *binder, const char *id)
{
    return map64_get(&binder->items.wanted, hash_str(id, 0), NULL);
}

static void set_state(struct item *item, enum item_state state)
{
    struct items *items = &item->binder->items;

    if (item->state == ITEM_DUE)
        list_remove(&items->due, &item->in_due);
    if (item->state == ITEM_RESTING)
        loop_timer_stop(&item->timer);
    items->running -= item->state == ITEM_RUNNING;
    items->running += state == ITEM_RUNNING;
    if (state == ITEM_RUNNING)
        meters_started(item->binder->meters, nsec_now_monotonic() - item->due_since);
    item->state = state;
    if (state != ITEM_DUE)
        return;
    item->due_since = nsec_now_monotonic();
    meters_added(item->binder->meters);
    list_push(&items->due, &item->in_due);
    loop_task_queue(&item->binder->pump);
}

static void item_free(struct item *item)
{
    binder_later_drop(item);
    loop_timer_done(&item->timer);
    request_free(item->request);
    free(item);
}

void items_init(struct items *items)
{
    *items = (struct items){0};
    strmap_init(&items->by_name);
    map64_init(&items->wanted);
}

static void free_with_job(struct item *item)
{
    job_free(item->job);
    item_free(item);
}

void items_done(struct items *items)
{
    struct item *item;

    for (size_t cursor = 0; (item = strmap_next(&items->by_name, &cursor));)
        free_with_job(item);
    while (items->going.len > 0) {
        item = list_first(&items->going, struct item, in_going);
        list_remove(&items->going, &item->in_going);
        free_with_job(item);
    }
    strmap_done(&items->by_name);
    map64_done(&items->wanted);
}

static void on_rested(void *arg)
{
    set_state(arg, ITEM_DUE);
}

static void rest(struct item *item, nsec_t time)
{
    if (!item->timer.handle)
        loop_timer_init(&item->timer, item->binder->loop, on_rested, item);
    set_state(item, ITEM_RESTING);
    loop_timer_start(&item->timer, time);
}

/* What a request that was seen asks for. */
static void consider(struct item *item)
{
    nsec_t wait = request_retry_after(item->request);

    if (item->request->phase == REQUEST_ACTIVE)
        set_state(item, ITEM_DUE);
    else if (wait > 0)
        rest(item, wait);
    else
        set_state(item, ITEM_IDLE);
}

static void item_add(struct binder *binder, struct request *request)
{
    struct item *item = xcalloc(1, sizeof *item);

    *item = (struct item){.binder = binder, .request = request};
    (void)strmap_put(&binder->items.by_name, request->namespace, request->name, item);
    binder->items.len++;
    count_groups(&binder->items, request, true);
    consider(item);
}

void binder_request_seen(struct binder *binder, yyjson_val *object)
{
    struct request *request = request_new(object);
    bool is_going = kube_text(object, "metadata", "deletionTimestamp")[0];

    if (!request)
        return;
    struct item *item = find(&binder->items, request->namespace, request->name);
    if (is_going) {
        request_free(request);
        return;
    }
    if (!item) {
        item_add(binder, request);
        return;
    }
    /* A running job has the newer view, and its spec does not change. */
    if (item->state == ITEM_RUNNING || request->version <= item->request->version) {
        request_free(request);
        return;
    }
    count_groups(&binder->items, item->request, false);
    /* The key is the request's own: the new one takes its place before the old one goes. */
    (void)strmap_put(&binder->items.by_name, request->namespace, request->name, item);
    request_free(item->request);
    item->request = request;
    count_groups(&binder->items, request, true);
    if (item->state != ITEM_RESTING || request->phase != REQUEST_FAILED)
        consider(item);
}

void binder_request_gone(struct binder *binder, const char *namespace, const char *name)
{
    struct item *item = find(&binder->items, namespace, name);

    if (!item)
        return;
    count_groups(&binder->items, item->request, false);
    item->is_gone = true;
    if (request_is_fraction(item->request))
        vec_foreach (&item->request->groups, group)
            binder_sync_group(binder, *group);
    (void)strmap_remove(&binder->items.by_name, namespace, name);
    /* A job that is under way finds out at its next step; its name may be taken again meanwhile. */
    if (item->state == ITEM_RUNNING) {
        list_push(&binder->items.going, &item->in_going);
        return;
    }
    set_state(item, ITEM_IDLE);
    binder->items.len--;
    item_free(item);
}

void item_set_phase(struct item *item, enum request_phase phase, int64_t failed_attempts, uint64_t version)
{
    struct request *request = item->request;

    if (!item->is_gone)
        count_groups(&item->binder->items, request, false);
    request->phase = phase;
    request->failed_attempts = failed_attempts;
    request->version = MAX(request->version, version);
    if (phase == REQUEST_SUCCEEDED) {
        yyjson_mut_doc_free(request->plan);
        request->plan = NULL;
    }
    if (!item->is_gone)
        count_groups(&item->binder->items, request, true);
}

void item_ended(struct item *item, nsec_t time)
{
    struct binder *binder = item->binder;

    item->job = NULL;
    if (item->is_gone) {
        set_state(item, ITEM_IDLE);
        list_remove(&binder->items.going, &item->in_going);
        binder->items.len--;
        item_free(item);
    } else if (time > 0) {
        rest(item, time);
    } else {
        set_state(item, ITEM_IDLE);
    }
    loop_task_queue(&binder->pump);
}

/* The jobs that run, one after the other: of requests that are there, and of those that are gone. */
static struct job *next_job(const struct items *items, size_t *cursor, struct list_link **going)
{
    struct item *item;

    while ((item = strmap_next(&items->by_name, cursor)))
        if (item->job)
            return item->job;
    while (*going) {
        item = list_item(*going, struct item, in_going);
        *going = (*going)->next;
        if (item->job)
            return item->job;
    }
    return NULL;
}

bool binder_is_binding(const struct binder *binder)
{
    struct list_link *going = binder->items.going.first;
    const struct job *job;

    for (size_t cursor = 0; (job = next_job(&binder->items, &cursor, &going));)
        if (job->bind)
            return true;
    return false;
}

struct items_work items_work(const struct items *items, nsec_t now)
{
    struct list_link *going = items->going.first;
    struct items_work work = {0};
    const struct job *job;

    for (size_t cursor = 0; (job = next_job(items, &cursor, &going));) {
        work.sum += now - job->started;
        work.longest = MAX(work.longest, now - job->started);
    }
    return work;
}

static struct job *find_held(const struct items *items)
{
    struct list_link *going = items->going.first;
    struct job *job;

    for (size_t cursor = 0; (job = next_job(items, &cursor, &going));)
        if (job->is_held)
            return job;
    return NULL;
}

/* From the first step on, since each of them may have been undone meanwhile. */
static void begin_anew(struct item *item)
{
    job_free(TAKE_PTR(item->job));
    set_state(item, ITEM_DUE);
}

void binder_resume_jobs(struct binder *binder)
{
    struct job *job;

    /* A job that goes on may end, and take its item with it: so each is looked for anew. There are a few at a time. */
    while ((job = find_held(&binder->items))) {
        job->is_held = false;
        if (job->item->is_gone)
            job_next(job);
        else
            begin_anew(job->item);
    }
}

void binder_pump(void *arg)
{
    struct binder *binder = arg;
    struct items *items = &binder->items;

    binder_check_stopped(binder);
    if (binder->is_stopping)
        binder_later_pump(binder);
    if (!binder->is_ready || binder->is_stopping || binder_is_held(binder))
        return;
    while (items->due.len > 0 &&
           items->running - items->later.len - items->telling < (size_t)binder->flags->reconciles_max) {
        struct item *item = list_first(&items->due, struct item, in_due);

        rush_note(&binder->rush, nsec_now_monotonic());
        set_state(item, ITEM_RUNNING);
        job_start(item);
    }
    binder_later_pump(binder);
}
