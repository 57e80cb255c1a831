/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Which pod is dealt with next. Pods with owners go first, since the rest of their gang waits for them; pods without
 * are scheduled without our help. A pod that failed waits for its turn to be tried again, longer each time.
 */
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"
#include "kube/events.h"
#include "objects/object.h"
#include "services/grouper/grouper_internal.h"
#include "services/grouper/pod_text.h"

#define RETRY_FIRST NSEC_PER_SEC
#define RETRY_MAX (60 * NSEC_PER_SEC)
/* Retries that are due at nearly the same time are made together. */
#define RETRY_STEP (50 * NSEC_PER_MSEC)

static void fifo_init(struct pod_fifo *fifo)
{
    fifo->first = NULL;
    fifo->last = &fifo->first;
}

static void fifo_push(struct pod_fifo *fifo, struct pod_record *pod)
{
    pod->next = NULL;
    *fifo->last = pod;
    fifo->last = &pod->next;
    fifo->len++;
}

static struct pod_record *fifo_pop(struct pod_fifo *fifo)
{
    struct pod_record *pod = fifo->first;

    if (!pod)
        return NULL;
    fifo->first = pod->next;
    if (!fifo->first)
        fifo->last = &fifo->first;
    fifo->len--;
    return pod;
}

static void fifo_remove(struct pod_fifo *fifo, struct pod_record *pod)
{
    for (struct pod_record **at = &fifo->first; *at; at = &(*at)->next) {
        if (*at != pod)
            continue;
        *at = pod->next;
        if (!*at)
            fifo->last = at;
        fifo->len--;
        return;
    }
}

static void on_pump(void *arg)
{
    queue_pump(arg);
}

static void plan_retries(struct grouper *grouper)
{
    nsec_t first = NSEC_MAX;

    vec_foreach (&grouper->waiting, pod)
        first = MIN(first, (*pod)->due);
    if (first < NSEC_MAX)
        loop_timer_start(&grouper->retry_timer, MAX(first - nsec_now_monotonic(), RETRY_STEP));
}

static void enqueue(struct grouper *grouper, struct pod_record *pod)
{
    pod->state = POD_QUEUED;
    fifo_push(pod->has_owner ? &grouper->gangs : &grouper->singles, pod);
    loop_task_queue(&grouper->pump);
}

static void on_retry(void *arg)
{
    struct grouper *grouper = arg;
    nsec_t now = nsec_now_monotonic();

    for (uint32_t i = 0; i < grouper->waiting.len;) {
        struct pod_record *pod = grouper->waiting.items[i];

        if (pod->due > now) {
            i++;
            continue;
        }
        vec_swap_remove(&grouper->waiting, i);
        enqueue(grouper, pod);
    }
    plan_retries(grouper);
}

void queue_init(struct grouper *grouper)
{
    fifo_init(&grouper->gangs);
    fifo_init(&grouper->singles);
    loop_timer_init(&grouper->retry_timer, grouper->service->loop, on_retry, grouper);
    loop_task_init(&grouper->pump, grouper->service->loop, on_pump, grouper);
}

static void pod_free(struct pod_record *pod)
{
    free(pod->text);
    free(pod);
}

void queue_done(struct grouper *grouper)
{
    uint64_t key, value;

    vec_foreach (&grouper->running, work)
        reconcile_cancel(*work);
    for (size_t cursor = 0; map64_next(&grouper->by_uid, &cursor, &key, &value);)
        pod_free((struct pod_record *)(uintptr_t)value);
    map64_done(&grouper->by_uid);
    vec_done(&grouper->running);
    vec_done(&grouper->parked);
    vec_done(&grouper->waiting);
    loop_task_cancel(&grouper->pump);
    loop_timer_done(&grouper->retry_timer);
}

static struct pod_record *find_pod(const struct grouper *grouper, const char *uid)
{
    uint64_t found;

    return map64_get(&grouper->by_uid, XXH3_64bits(uid, strlen(uid)), &found) ? (struct pod_record *)(uintptr_t)found
                                                                              : NULL;
}

static void stop_waiting(struct grouper *grouper, struct pod_record *pod)
{
    for (uint32_t i = 0; i < grouper->waiting.len; i++) {
        if (grouper->waiting.items[i] == pod) {
            vec_swap_remove(&grouper->waiting, i);
            return;
        }
    }
}

void queue_add(struct grouper *grouper, const char *uid, yyjson_val *object)
{
    struct pod_text text = pod_text_of(object);
    struct pod_record *pod = find_pod(grouper, uid);

    if (!pod) {
        pod = xcalloc(1, sizeof *pod);
        pod->key = XXH3_64bits(uid, strlen(uid));
        pod->backoff = (struct backoff){.first = RETRY_FIRST, .max = RETRY_MAX};
        map64_put(&grouper->by_uid, pod->key, (uintptr_t)pod);
    }
    if (pod->state != POD_RUNNING && pod->done_digest == text.digest) {
        free(text.text);
        return;
    }
    free(pod->text);
    /* yyjson's block is as large as it thinks fit; ours is as large as it has to be. */
    pod->text = xrealloc(text.text, text.len + 1);
    pod->text_len = (uint32_t)text.len;
    pod->digest = text.digest;
    pod->has_owner = text.has_owner;
    if (pod->state == POD_WAITING) {
        stop_waiting(grouper, pod);
        backoff_reset(&pod->backoff);
        pod->state = POD_IDLE;
    }
    if (pod->state == POD_IDLE)
        enqueue(grouper, pod);
}

static void forget_running(struct grouper *grouper, struct reconcile *work)
{
    for (uint32_t i = 0; i < grouper->running.len; i++) {
        if (grouper->running.items[i] == work) {
            vec_swap_remove(&grouper->running, i);
            break;
        }
    }
    for (uint32_t i = 0; i < grouper->parked.len; i++) {
        if (grouper->parked.items[i] == work) {
            vec_remove_at(&grouper->parked, i);
            break;
        }
    }
}

void queue_drop(struct grouper *grouper, const char *uid)
{
    struct pod_record *pod = find_pod(grouper, uid);

    if (!pod)
        return;
    if (pod->state == POD_QUEUED) {
        fifo_remove(&grouper->gangs, pod);
        fifo_remove(&grouper->singles, pod);
    }
    if (pod->state == POD_WAITING)
        stop_waiting(grouper, pod);
    if (pod->work) {
        forget_running(grouper, pod->work);
        reconcile_cancel(pod->work);
        loop_task_queue(&grouper->pump);
    }
    (void)map64_remove(&grouper->by_uid, pod->key);
    pod_free(pod);
}

void queue_pump(struct grouper *grouper)
{
    struct service *service = grouper->service;

    grouper_unpark(grouper);
    while (service_is_leading(service) && follow_is_synced(grouper) &&
           grouper->running.len < (uint32_t)grouper->flags->workers) {
        struct pod_record *pod = fifo_pop(&grouper->gangs);

        if (!pod)
            pod = fifo_pop(&grouper->singles);
        if (!pod)
            break;
        pod->state = POD_RUNNING;
        reconcile_start(grouper, pod);
    }
    if (grouper->is_stopping && grouper->running.len == 0)
        service_stopped(service);
}

bool grouper_is_writing(const struct grouper *grouper, const struct reconcile *except, uint64_t group_key)
{
    vec_foreach (&grouper->running, work) {
        if (*work != except && reconcile_writes(*work) == group_key)
            return true;
    }
    return false;
}

void grouper_unpark(struct grouper *grouper)
{
    uint32_t count = grouper->parked.len;

    /* One that still has to wait parks itself again, behind the others. */
    for (uint32_t i = 0; i < count; i++) {
        struct reconcile *work = grouper->parked.items[0];

        vec_remove_at(&grouper->parked, 0);
        reconcile_resume(work);
    }
}

static void tell(struct grouper *grouper, const struct object *pod, const struct err *err)
{
    meter_add(grouper->failed, 1);
    log_warn(grouper->service->log, "pod could not be grouped", log_str("namespace", pod ? pod->namespace : ""),
             log_str("pod", pod ? pod->name : ""), log_error(err));
    if (!pod)
        return;
    recorder_record(grouper->service->recorder, &(struct event){
                                                    .api_version = "v1",
                                                    .kind = "Pod",
                                                    .namespace = pod->namespace,
                                                    .name = pod->name,
                                                    .uid = pod->uid,
                                                    .type = "Warning",
                                                    .reason = "PodGrouperWarning",
                                                    .message = err->text,
                                                });
}

void grouper_done(struct grouper *grouper, struct reconcile *work, struct pod_record *pod, uint64_t digest,
                  const struct err *err)
{
    forget_running(grouper, work);
    pod->work = NULL;
    pod->state = POD_IDLE;
    if (err) {
        tell(grouper, reconcile_object(work), err);
        if (!pod->text)
            pod->text = reconcile_take_text(work);
        pod->state = POD_WAITING;
        pod->due = nsec_now_monotonic() +
                   backoff_next(&pod->backoff, chance_next(kube_client_chance(grouper->service->client)));
        vec_push(&grouper->waiting, pod);
        plan_retries(grouper);
    } else {
        pod->done_digest = digest;
        backoff_reset(&pod->backoff);
        if (pod->text && pod->digest != digest) {
            enqueue(grouper, pod);
        } else {
            free(pod->text);
            pod->text = NULL;
        }
    }
    loop_task_queue(&grouper->pump);
}
