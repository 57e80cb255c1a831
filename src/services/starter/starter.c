/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The service. Every change of a Job leads to one sweep over all of them, soon, which finds those that need a request. All
 * that a request says is decided when it is sent, since the world may have changed while the Job waited for its turn.
 */
#include "services/starter/starter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frame/service.h"
#include "frame/work.h"
#include "kube/access/config.h"
#include "kube/client/meta.h"
#include "kube/client/verbs.h"
#include "kube/follow/follow.h"
#include "net/loop.h"
#include "objects/keys.h"
#include "services/starter/lineup.h"
#include "services/starter/numbers.h"
#include "text/json.h"

enum { WORKERS = 16 };

struct starter_flags {
    const char *namespace;
};

struct starter {
    struct service *service;
    struct follower *jobs;
    struct lineup lineup;
    struct numbers *numbers;
    struct work *work;
    struct loop_task sweep;
    struct loop_timer later;
};

#define AT(member) FLAG_AT(struct starter_flags, member)

static const struct flag flags[] = {
    {"numbers-namespace", FLAG_STRING, AT(namespace), "",
     "namespace of the ConfigMap with the next job number (default: that of the pod or context)", 0, 0},
};

static struct waiter *waiter_of(struct work_item *item)
{
    return list_item(&item->in_work, struct waiter, work.in_work);
}

static bool is_needed(const struct waiter_plan *plan, const struct waiter *job)
{
    return plan->needs_number || plan->starts || plan->is_deleted ||
           (job->is_waiting && strcmp(plan->reason, job->wait_reason) != 0);
}

/* --- requests --- */

static void put_numbers(yyjson_mut_doc *doc, yyjson_mut_val *metadata, const struct waiter *job)
{
    yyjson_mut_val *labels = yyjson_mut_obj_add_obj(doc, metadata, "labels");
    char number[24];

    (void)snprintf(number, sizeof number, "%lld", (long long)job->taken);
    (void)yyjson_mut_obj_add_strcpy(doc, labels, KEY_JOB_ID, number);
    if (!job->array)
        return;
    (void)snprintf(number, sizeof number, "%lld", (long long)job->array->number);
    (void)yyjson_mut_obj_add_strcpy(doc, labels, KEY_ARRAY_ID, number);
}

static yyjson_mut_doc *patch_of(const struct waiter *job, const struct waiter_plan *plan)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);
    yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(doc, root, "metadata");
    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(doc, root, "spec");
    yyjson_mut_val *annotations = yyjson_mut_obj_add_obj(doc, metadata, "annotations");

    (void)yyjson_mut_obj_add_str(doc, metadata, "uid", job->uid);
    if (plan->needs_number) {
        put_numbers(doc, metadata, job);
        /* The template of a Job that has run is as it is. */
        if (job->tells_pods && job->is_suspended && !job->has_started) {
            yyjson_mut_val *template = yyjson_mut_obj_add_obj(doc, spec, "template");

            put_numbers(doc, yyjson_mut_obj_add_obj(doc, template, "metadata"), job);
        }
    }
    if (plan->starts) {
        (void)yyjson_mut_obj_add_bool(doc, spec, "suspend", false);
        (void)yyjson_mut_obj_add_null(doc, annotations, KEY_START);
        (void)yyjson_mut_obj_add_null(doc, annotations, KEY_WAIT_REASON);
    } else if (*plan->reason) {
        (void)yyjson_mut_obj_add_str(doc, annotations, KEY_WAIT_REASON, plan->reason);
    }
    return doc;
}

static void on_done(void *arg, const struct kube_answer *answer)
{
    struct waiter *job = arg;
    struct starter *starter = job->owner;
    struct err err = answer->err;
    yyjson_val *object = NULL;

    job->call = NULL;
    if (answer->status == 404 || kube_answer_is_conflict(answer)) {
        /* It is gone or another; the watch tells. */
        err.code = 0;
    } else if (err.code == 0 && kube_answer_object(answer, &object, NULL) == 0 &&
               strcmp(kube_text(object, "kind"), "Job") == 0) {
        (void)lineup_put(&starter->lineup, object);
    }
    if (answer->err.code < 0)
        job->is_starting = false;
    if (err.code < 0)
        log_warn(starter->service->log, "a Job could not be changed; trying again later",
                 log_str("namespace", job->namespace), log_str("name", job->name), log_error(&err));
    loop_task_queue(&starter->sweep);
    work_done(starter->work, &job->work, &err);
}

static void delete_job(struct starter *starter, struct waiter *job)
{
    job->call = kube_delete(starter->service->client, &(struct kube_delete_request){
                                                          .resource = kube_known(KUBE_JOBS),
                                                          .namespace = job->namespace,
                                                          .name = job->name,
                                                          .uid = job->uid,
                                                          .propagation = "Background",
                                                          .grace_s = -1,
                                                          .on_done = on_done,
                                                          .arg = job,
                                                      });
}

/* A number that was taken stays with the Job until the server has it. */
static bool has_number(struct starter *starter, struct waiter *job)
{
    if (job->taken == 0)
        job->taken = numbers_take(starter->numbers, starter->lineup.highest);
    if (job->taken == 0)
        return false;
    starter->lineup.highest = MAX(starter->lineup.highest, job->taken);
    if (job->array && job->array->number == 0)
        job->array->number = job->taken;
    return true;
}

static void start(void *arg, struct work_item *item)
{
    struct starter *starter = arg;
    struct waiter *job = waiter_of(item);
    struct waiter_plan plan = lineup_plan(&starter->lineup, job, nsec_now_wall());
    struct err fine = {0};

    if (plan.is_deleted) {
        delete_job(starter, job);
        return;
    }
    /* It waits for on_numbers(), which leads to a sweep. */
    if (!is_needed(&plan, job) || (plan.needs_number && !has_number(starter, job))) {
        work_done(starter->work, item, &fine);
        return;
    }
    if (plan.starts)
        waiter_starts(job);
    yyjson_mut_doc *patch = patch_of(job, &plan);
    job->call = kube_send_doc(starter->service->client,
                              &(struct kube_request){
                                  .verb = KUBE_PATCH_MERGE,
                                  .resource = kube_known(KUBE_JOBS),
                                  .namespace = job->namespace,
                                  .name = job->name,
                                  .is_repeatable = true,
                                  .on_done = on_done,
                                  .arg = job,
                              },
                              patch);
    yyjson_mut_doc_free(patch);
}

/* --- the sweep --- */

static int by_sequence(const void *a, const void *b)
{
    const struct waiter *one = *(struct waiter *const *)a;
    const struct waiter *other = *(struct waiter *const *)b;

    return (one->sequence > other->sequence) - (one->sequence < other->sequence);
}

/* In the order in which they came, so that numbers follow it. */
static void sweep(void *arg)
{
    struct starter *starter = arg;
    VEC(struct waiter *) needed = {0};
    nsec_t now = nsec_now_wall();
    nsec_t next = 0;
    size_t cursor = 0;

    if (!service_is_leading(starter->service) || !follower_is_synced(starter->jobs))
        return;
    lineup_tally(&starter->lineup);
    for (struct waiter *job; (job = strmap_next(&starter->lineup.jobs, &cursor));) {
        struct waiter_plan plan = lineup_plan(&starter->lineup, job, now);

        if (plan.look_again && (next == 0 || plan.look_again < next))
            next = plan.look_again;
        if (is_needed(&plan, job) && job->work.state == WORK_IDLE)
            vec_push(&needed, job);
    }
    if (needed.len > 0)
        qsort(needed.items, needed.len, sizeof *needed.items, by_sequence);
    vec_foreach (&needed, job)
        work_add(starter->work, &(*job)->work);
    vec_done(&needed);
    if (next)
        loop_timer_start(&starter->later, next - now);
}

static void on_later(void *arg)
{
    struct starter *starter = arg;

    loop_task_queue(&starter->sweep);
}

static void on_number_problem(void *arg, const struct err *err)
{
    struct starter *starter = arg;

    log_warn(starter->service->log, "no job numbers could be reserved; trying again later", log_error(err));
}

/* --- what is followed --- */

static void drop(struct starter *starter, struct waiter *job)
{
    if (!job)
        return;
    if (job->call)
        kube_cancel(job->call);
    work_drop(starter->work, &job->work);
    waiter_free(job);
}

static void on_event(void *arg, const struct follow_event *event)
{
    struct starter *starter = arg;

    if (event->change == FOLLOW_DELETED) {
        drop(starter, lineup_remove(&starter->lineup, event->namespace, event->name));
    } else {
        struct waiter *job = lineup_put(&starter->lineup, event->object);

        job->owner = starter;
    }
    loop_task_queue(&starter->sweep);
}

static void on_synced(void *arg, bool is_first)
{
    struct starter *starter = arg;

    if (is_first)
        service_set_ready(starter->service, true);
    loop_task_queue(&starter->sweep);
}

static void on_problem(void *arg, const struct err *err, nsec_t wait)
{
    struct starter *starter = arg;

    service_follow_problem(starter->service, "Jobs", err, wait);
}

static bool may_start(void *arg)
{
    const struct starter *starter = arg;

    return follower_is_synced(starter->jobs);
}

static int open_starter(struct service *service, struct err *err)
{
    const struct starter_flags *values = service->values;
    const char *here = kube_client_config(service->client)->namespace;
    struct starter *starter = xcalloc(1, sizeof *starter);

    (void)err;
    service->state = starter;
    starter->service = service;
    loop_task_init(&starter->sweep, service->loop, sweep, starter);
    loop_timer_init(&starter->later, service->loop, on_later, starter);
    starter->numbers = numbers_new(&(struct numbers_options){
        .client = service->client,
        .namespace = *values->namespace ? values->namespace
                     : here && *here    ? here
                                        : "default",
        .on_ready = on_later,
        .on_problem = on_number_problem,
        .arg = starter,
    });
    starter->work = work_new(&(struct work_options){
        .service = service,
        .controller = "starter",
        .workers = WORKERS,
        .may_start = may_start,
        .start = start,
        .arg = starter,
    });
    starter->jobs = follower_new(service->client, &(struct follow_options){
                                                      .resource = kube_known(KUBE_JOBS),
                                                      .label_selector = KEY_JOB_ID,
                                                      .on_event = on_event,
                                                      .on_synced = on_synced,
                                                      .on_problem = on_problem,
                                                      .arg = starter,
                                                  });
    return 0;
}

static void lead(struct service *service)
{
    struct starter *starter = service->state;

    loop_task_queue(&starter->sweep);
    work_pump(starter->work);
}

static void stop(struct service *service)
{
    struct starter *starter = service->state;

    work_stop(starter->work);
}

static void close_starter(struct service *service)
{
    struct starter *starter = service->state;
    size_t cursor = 0;

    follower_free(starter->jobs);
    for (struct waiter *job; (job = strmap_next(&starter->lineup.jobs, &cursor));) {
        if (job->call)
            kube_cancel(job->call);
    }
    work_free(starter->work);
    numbers_free(starter->numbers);
    loop_task_cancel(&starter->sweep);
    loop_timer_done(&starter->later);
    lineup_done(&starter->lineup);
    free(starter);
}

const struct service_kind starter_service = {
    .name = "starter",
    .flags = flags,
    .flag_count = ARRAY_LEN(flags),
    .values_size = sizeof(struct starter_flags),
    .has_api = true,
    .can_elect = true,
    .open = open_starter,
    .lead = lead,
    .stop = stop,
    .close = close_starter,
};
