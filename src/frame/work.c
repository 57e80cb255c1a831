/* SPDX-License-Identifier: Apache-2.0 */
#include "frame/work.h"

#include <stdlib.h>

#include "base/mem.h"
#include "frame/process_internal.h"
#include "frame/rush.h"
#include "frame/service.h"
#include "frame/work_meters.h"
#include "kube/client/chance.h"
#include "net/loop.h"

#define RETRY_FIRST NSEC_PER_SEC
#define RETRY_MAX (60 * NSEC_PER_SEC)

struct work {
    struct work_options options;
    struct list queued, running, waiting;
    struct loop_task pump;
    struct loop_timer retry, delay;
    struct work_meters meters;
    bool is_stopping;
};

static struct work_item *first_of(const struct list *list)
{
    return list_first(list, struct work_item, in_work);
}

static struct list *list_of(struct work *work, enum work_state state)
{
    return state == WORK_QUEUED ? &work->queued : state == WORK_RUNNING ? &work->running : &work->waiting;
}

static void move(struct work *work, struct work_item *item, enum work_state state)
{
    if (item->state != WORK_IDLE)
        list_remove(list_of(work, item->state), &item->in_work);
    item->state = state;
    item->since = nsec_now_monotonic();
    if (state != WORK_IDLE)
        list_push(list_of(work, state), &item->in_work);
}

static void wait_until(struct work *work, struct work_item *item, nsec_t due)
{
    move(work, item, WORK_WAITING);
    item->due = due;
    loop_timer_start(&work->retry, 0);
}

static void enqueue(struct work *work, struct work_item *item)
{
    nsec_t soonest = item->began + work->options.interval - work->options.delay;

    if (item->began > 0 && soonest > nsec_now_monotonic()) {
        wait_until(work, item, soonest);
        return;
    }
    move(work, item, WORK_QUEUED);
    work_meters_added(&work->meters);
    loop_task_queue(&work->pump);
}

/* The next item whose time has come; the timer waits for the first that has to wait. */
static struct work_item *next_item(struct work *work)
{
    struct work_item *item = first_of(&work->queued);
    nsec_t now = nsec_now_monotonic();
    nsec_t left = item ? item->since + work->options.delay - now : 0;

    if (item && left <= 0 && work->options.rush)
        left = rush_wait(work->options.rush, now, item->since, (uint32_t)work->running.len);
    if (left <= 0)
        return item;
    /* Without an end of its own, the wait ends with work that is under way. */
    if (left < NSEC_MAX && !loop_timer_is_running(&work->delay))
        loop_timer_start(&work->delay, left);
    return NULL;
}

static void pump(void *arg)
{
    struct work *work = arg;
    struct work_item *item;

    if (work->is_stopping && work->running.len == 0)
        service_stopped(work->options.service);
    if (work->is_stopping || !service_is_leading(work->options.service) || !work->options.may_start(work->options.arg))
        return;
    while (work->running.len < work->options.workers && (item = next_item(work))) {
        work_meters_started(&work->meters, nsec_now_monotonic() - item->since);
        item->is_again = false;
        move(work, item, WORK_RUNNING);
        item->began = item->since;
        work->options.start(work->options.arg, item);
    }
}

/* Those that are due go back into the queue; the timer waits for the next one. */
static void on_retry(void *arg)
{
    struct work *work = arg;
    nsec_t now = nsec_now_monotonic(), next = 0;

    for (struct list_link *link = work->waiting.first, *after; link; link = after) {
        struct work_item *item = list_item(link, struct work_item, in_work);

        after = link->next;
        if (item->due <= now)
            enqueue(work, item);
        else if (next == 0 || item->due < next)
            next = item->due;
    }
    if (next > 0)
        loop_timer_start(&work->retry, next - now);
}

static void retry_later(struct work *work, struct work_item *item)
{
    uint64_t random = chance_next(kube_client_chance(work->options.service->client));

    item->backoff.first = RETRY_FIRST;
    item->backoff.max = RETRY_MAX;
    wait_until(work, item, nsec_now_monotonic() + backoff_next(&item->backoff, random));
}

void work_add(struct work *work, struct work_item *item)
{
    if (item->state == WORK_RUNNING)
        item->is_again = true;
    else if (item->state == WORK_IDLE)
        enqueue(work, item);
}

void work_add_later(struct work *work, struct work_item *item, nsec_t time)
{
    if (item->state == WORK_IDLE)
        wait_until(work, item, nsec_now_monotonic() + time);
    else
        work_add(work, item);
}

void work_done(struct work *work, struct work_item *item, const struct err *err)
{
    bool is_good = !err || err->code == 0;

    BUG_ON(item->state != WORK_RUNNING);
    work_meters_ended(&work->meters, nsec_now_monotonic() - item->since, is_good);
    if (is_good)
        backoff_reset(&item->backoff);
    if (!is_good)
        retry_later(work, item);
    else if (item->is_again)
        enqueue(work, item);
    else
        move(work, item, WORK_IDLE);
    loop_task_queue(&work->pump);
}

void work_drop(struct work *work, struct work_item *item)
{
    move(work, item, WORK_IDLE);
    loop_task_queue(&work->pump);
}

void work_pump(struct work *work)
{
    loop_task_queue(&work->pump);
}

void work_stop(struct work *work)
{
    work->is_stopping = true;
    loop_task_queue(&work->pump);
}

uint64_t work_len(const struct work *work)
{
    return work->queued.len + work->running.len + work->waiting.len;
}

static void collect(void *arg, struct metrics *metrics)
{
    struct work *work = arg;
    nsec_t now = nsec_now_monotonic(), unfinished = 0, longest = 0;

    (void)metrics;
    for (struct list_link *link = work->running.first; link; link = link->next) {
        nsec_t worked = now - list_item(link, struct work_item, in_work)->since;

        unfinished += worked;
        longest = MAX(longest, worked);
    }
    work_meters_show(&work->meters, work->queued.len, work->running.len, unfinished, longest);
}

struct work *work_new(const struct work_options *options)
{
    struct work *work = xcalloc(1, sizeof *work);

    work->options = *options;
    work_meters_init(&work->meters, options->service, options->controller, options->workers);
    metrics_on_collect(service_registry(options->service, ""), collect, work);
    loop_task_init(&work->pump, options->service->loop, pump, work);
    loop_timer_init(&work->retry, options->service->loop, on_retry, work);
    loop_timer_init(&work->delay, options->service->loop, pump, work);
    return work;
}

void work_free(struct work *work)
{
    if (!work)
        return;
    loop_task_cancel(&work->pump);
    loop_timer_done(&work->retry);
    loop_timer_done(&work->delay);
    free(work);
}
