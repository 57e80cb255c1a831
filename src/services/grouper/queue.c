/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Which pod is dealt with next. Pods with owners go first, since the rest of their gang waits for them; pods without
 * are scheduled without our help. A pod that failed waits for its turn to be tried again, longer each time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "kube/events/events.h"
#include "objects/object.h"
#include "services/grouper/grouper_internal.h"
#include "services/grouper/pod_text.h"

#define RETRY_FIRST NSEC_PER_SEC
#define RETRY_MAX (60 * NSEC_PER_SEC)
/* How long the scheduler has for a pod that needs no group. */
#define YOUTH (2 * NSEC_PER_SEC)
/* Retries that are due at nearly the same time are made together. */
#define RETRY_STEP (50 * NSEC_PER_MSEC)

static void plan_retries(struct grouper *grouper)
{
    nsec_t first = NSEC_MAX;

    vec_foreach (&grouper->waiting, pod)
        first = MIN(first, (*pod)->due);
    if (first < NSEC_MAX)
        loop_timer_start(&grouper->retry_timer, MAX(first - nsec_now_monotonic(), RETRY_STEP));
}

static enum pod_lane lane_of(const struct grouper *grouper, const struct pod_record *pod, nsec_t now)
{
    const struct pod_stand *stand = &pod->stand;

    if (stand->has_owner)
        return LANE_GANGS;
    if (!grouper->binds_alone)
        return LANE_SINGLES;
    if (stand->is_bound)
        return LANE_BOUND;
    return stand->is_unschedulable || now - pod->since >= YOUTH ? LANE_SINGLES : LANE_YOUNG;
}

static void change_lane(struct grouper *grouper, struct pod_record *pod)
{
    pod->state = POD_QUEUED;
    pod->lane = lane_of(grouper, pod, nsec_now_monotonic());
    list_push(&grouper->lanes[pod->lane], &pod->in_lane);
    loop_task_queue(&grouper->pump);
}

static void enqueue(struct grouper *grouper, struct pod_record *pod)
{
    pod->entered = nsec_now_monotonic();
    work_meters_added(&grouper->meters);
    change_lane(grouper, pod);
}

static void dequeue(struct grouper *grouper, struct pod_record *pod)
{
    list_remove(&grouper->lanes[pod->lane], &pod->in_lane);
    pod->state = POD_IDLE;
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
    loop_timer_done(&grouper->lane_timer);
}

static struct pod_record *find_pod(const struct grouper *grouper, const char *uid)
{
    uint64_t found;

    return map64_get(&grouper->by_uid, hash_str(uid, 0), &found) ? (struct pod_record *)(uintptr_t)found : NULL;
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

static struct pod_record *add_pod(struct grouper *grouper, const char *uid, yyjson_val *object)
{
    struct pod_record *pod = xcalloc(1, sizeof *pod);

    pod->key = hash_str(uid, 0);
    pod->backoff = (struct backoff){.first = RETRY_FIRST, .max = RETRY_MAX};
    pod->since = nsec_now_monotonic();
    pod->stand = pod_stand_of(object);
    map64_put(&grouper->by_uid, pod->key, (uintptr_t)pod);
    return pod;
}

/* Takes in where the pod stands: it may change lanes. */
static void note_stand(struct grouper *grouper, struct pod_record *pod, yyjson_val *object)
{
    bool was_bound = pod->stand.is_bound;

    pod->stand = pod_stand_of(object);
    if (!was_bound && !pod->stand.is_unschedulable)
        rush_note(&grouper->rush, nsec_now_monotonic());
    if (pod->state != POD_QUEUED || pod->lane == lane_of(grouper, pod, nsec_now_monotonic()))
        return;
    dequeue(grouper, pod);
    change_lane(grouper, pod);
}

static void set_text(struct pod_record *pod, yyjson_val *object, uint64_t digest)
{
    struct pod_text text = pod_text_of(object);

    free(pod->text);
    /* yyjson's block is as large as it thinks fit; ours is as large as it has to be. */
    pod->text = xrealloc(text.text, text.len + 1);
    pod->text_len = (uint32_t)text.len;
    pod->digest = digest;
}

void queue_add(struct grouper *grouper, const char *uid, yyjson_val *object)
{
    uint64_t digest = pod_digest_of(object);
    struct pod_record *pod = find_pod(grouper, uid);

    if (!pod)
        pod = add_pod(grouper, uid, object);
    note_stand(grouper, pod, object);
    if (pod->state != POD_RUNNING && pod->done_digest == digest)
        return;
    if (pod->state == POD_IDLE && !pod->stand.has_owner && pod->stand.has_group &&
        !grouper_has_lost_group(grouper, object)) {
        /* Whoever gave it one knows better: nothing is to be done, now or after a restart. */
        pod->done_digest = digest;
        return;
    }
    if (!pod->text || pod->digest != digest)
        set_text(pod, object, digest);
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
            grouper->bound_running -= reconcile_pod(work)->lane == LANE_BOUND;
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
    if (pod->state == POD_QUEUED)
        dequeue(grouper, pod);
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

static struct pod_record *first_of(const struct grouper *grouper, enum pod_lane lane)
{
    return list_first(&grouper->lanes[lane], struct pod_record, in_lane);
}

/* Those that have been young for long enough are like the others. */
static nsec_t let_grow_up(struct grouper *grouper, nsec_t now)
{
    struct pod_record *pod;

    while ((pod = first_of(grouper, LANE_YOUNG))) {
        if (now - pod->since < YOUTH)
            return pod->since + YOUTH - now;
        dequeue(grouper, pod);
        change_lane(grouper, pod);
    }
    return NSEC_MAX;
}

/* The pod to deal with, or none, and when to look again. */
static struct pod_record *next_pod(struct grouper *grouper)
{
    nsec_t now = nsec_now_monotonic();
    nsec_t wait = let_grow_up(grouper, now);
    struct pod_record *pod = first_of(grouper, LANE_GANGS);

    if (!pod)
        pod = first_of(grouper, LANE_SINGLES);
    if (!pod && (pod = first_of(grouper, LANE_BOUND))) {
        nsec_t later = rush_wait(&grouper->rush, now, pod->since, grouper->bound_running);

        if (later > 0)
            pod = NULL;
        wait = MIN(wait, later);
    }
    if (pod) {
        list_remove(&grouper->lanes[pod->lane], &pod->in_lane);
        grouper->bound_running += pod->lane == LANE_BOUND;
    } else if (wait < NSEC_MAX) {
        loop_timer_start(&grouper->lane_timer, wait);
    }
    return pod;
}

static void on_pump(void *arg)
{
    struct grouper *grouper = arg;
    struct service *service = grouper->service;

    grouper_unpark(grouper);
    while (service_is_leading(service) && follow_is_current(grouper) &&
           grouper->running.len < (uint32_t)grouper->flags->workers) {
        struct pod_record *pod = next_pod(grouper);

        if (!pod)
            break;
        nsec_t now = nsec_now_monotonic();
        work_meters_started(&grouper->meters, now - pod->entered);
        pod->entered = now;
        pod->state = POD_RUNNING;
        reconcile_start(grouper, pod);
    }
    if (grouper->is_stopping && grouper->running.len == 0)
        service_stopped(service);
}

void queue_init(struct grouper *grouper)
{
    for (int lane = 0; lane < _LANE_MAX; lane++)
        grouper->lanes[lane] = (struct list){0};
    grouper->bound_running = 0;
    loop_timer_init(&grouper->lane_timer, grouper->service->loop, on_pump, grouper);
    loop_timer_init(&grouper->retry_timer, grouper->service->loop, on_retry, grouper);
    loop_task_init(&grouper->pump, grouper->service->loop, on_pump, grouper);
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
    work_meters_ended(&grouper->meters, nsec_now_monotonic() - pod->entered, !err);
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
