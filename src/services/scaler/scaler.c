/* SPDX-License-Identifier: Apache-2.0 */

/* The service: its flags, what it follows, and one request at a time, as the plan says. */
#include "services/scaler/scaler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frame/service.h"
#include "kube/client/condition.h"
#include "kube/client/meta.h"
#include "kube/client/verbs.h"
#include "kube/follow/follow.h"
#include "net/loop.h"
#include "objects/keys.h"
#include "services/scaler/plan.h"

/* Nodes that were asked for take their time: no scaling pod is created for so long after one was deleted. */
#define COOL_DOWN (60 * NSEC_PER_SEC)
#define RETRY (5 * NSEC_PER_SEC)

struct scaler_flags {
    struct plan_options plan;
    const char *scheduler_name;
};

struct scaler {
    struct service *service;
    const struct scaler_flags *flags;
    struct plan plan;
    struct follower *pods, *scaling_pods;
    struct loop_task adjust;
    struct loop_timer later;
    struct kube_call *call;
    char *creating;  // the name of the pod that is being created
    nsec_t quiet_until;
    bool is_stopping;
    struct meter_series *created, *deleted;
};

#define AT(member) FLAG_AT(struct scaler_flags, member)

static const struct flag flags[] = {
    {"scheduler-name", FLAG_STRING, AT(scheduler_name), KEY_SCHEDULER_NAME, "watch pods with this spec.schedulerName",
     0, 0},
    {"scale-adjust-namespace", FLAG_STRING, AT(plan.namespace), "kai-scale-adjust", "namespace of scaling pods", 0, 0},
    {"scaling-pod-image", FLAG_STRING, AT(plan.image), "muster",
     "image of scaling pods, whose program has to end at once", 0, 0},
    {"scaling-pod-app-label", FLAG_STRING, AT(plan.app), KEY_APP_SCALING, "label 'app' of scaling pods", 0, 0},
    {"scaling-pod-service-account", FLAG_STRING, AT(plan.service_account), "scaling-pod",
     "service account of scaling pods", 0, 0},
    {"gpu-memory-to-fraction-ratio", FLAG_DOUBLE, AT(plan.memory_ratio), "0.1",
     "part of a GPU that a request for GPU memory counts as", 0, 1},
};

static int configure(struct service *service, struct err *err)
{
    const struct scaler_flags *values = service->values;

    if (!*values->plan.namespace)
        return err_set(err, -EINVAL, "--scale-adjust-namespace: is empty");
    service->settings.lease_name = "7n7h49uc.kai.scheduler";
    service->settings.component = "node-scale-adjuster";
    return 0;
}

static bool is_synced(const struct scaler *scaler)
{
    return follower_is_synced(scaler->pods) && follower_is_synced(scaler->scaling_pods);
}

/* Requests. */

static void on_failed(struct scaler *scaler, const struct kube_answer *answer, const char *what)
{
    log_warn(scaler->service->log, what, log_error(&answer->err), log_duration("again_after", RETRY));
    loop_timer_start(&scaler->later, RETRY);
}

static void on_deleted(void *arg, const struct kube_answer *answer)
{
    struct scaler *scaler = arg;

    scaler->call = NULL;
    if (answer->err.code < 0 && answer->status != 404 && !kube_answer_is_conflict(answer))
        on_failed(scaler, answer, "a scaling pod could not be deleted; trying again later");
    else
        meter_add(scaler->deleted, 1);
    loop_task_queue(&scaler->adjust);
}

static void delete_pod(struct scaler *scaler, struct scaling_pod *pod)
{
    log_info(scaler->service->log, "deleting a scaling pod that is not needed", log_str("pod", pod->name));
    pod->is_leaving = true;
    scaler->quiet_until = nsec_now_monotonic() + COOL_DOWN;
    scaler->call = kube_delete(scaler->service->client, &(struct kube_delete_request){
                                                            .resource = kube_known(KUBE_PODS),
                                                            .namespace = scaler->flags->plan.namespace,
                                                            .name = pod->name,
                                                            .uid = pod->uid,
                                                            .grace_s = -1,
                                                            .on_done = on_deleted,
                                                            .arg = scaler,
                                                        });
}

static void on_marked(void *arg, const struct kube_answer *answer)
{
    struct scaler *scaler = arg;

    scaler->call = NULL;
    /* Whoever should place it finds out by itself, only later. */
    if (answer->err.code < 0)
        log_warn(scaler->service->log, "a scaling pod could not be marked as unschedulable", log_error(&answer->err));
    loop_task_queue(&scaler->adjust);
}

static void mark_unschedulable(struct scaler *scaler, const char *uid)
{
    yyjson_mut_doc *patch = kube_condition_patch(
        &(struct kube_condition){
            .uid = uid,
            .type = "PodScheduled",
            .status = "False",
            .reason = "Unschedulable",
            .message = "stands for a pod that waits for a part of a GPU",
        },
        nsec_now_wall());

    scaler->call = kube_send_doc(scaler->service->client,
                                 &(struct kube_request){
                                     .verb = KUBE_PATCH_STRATEGIC,
                                     .resource = kube_known(KUBE_PODS),
                                     .namespace = scaler->flags->plan.namespace,
                                     .name = scaler->creating,
                                     .subresource = "status",
                                     .is_repeatable = true,
                                     .on_done = on_marked,
                                     .arg = scaler,
                                 },
                                 patch);
    yyjson_mut_doc_free(patch);
}

static void on_created(void *arg, const struct kube_answer *answer)
{
    struct scaler *scaler = arg;
    yyjson_val *object = NULL;

    scaler->call = NULL;
    if (answer->err.code < 0) {
        plan_expect_not(&scaler->plan, scaler->creating);
        on_failed(scaler, answer, "a scaling pod could not be created; trying again later");
    } else if (kube_answer_object(answer, &object, NULL) == 0) {
        meter_add(scaler->created, 1);
        plan_put_scaling(&scaler->plan, object);
        mark_unschedulable(scaler, kube_text(object, "metadata", "uid"));
    }
    loop_task_queue(&scaler->adjust);
}

static void create_pod(struct scaler *scaler, const struct sharer *sharer)
{
    char name[SCALING_NAME_MAX + 1];

    scaling_name(sharer->namespace, sharer->name, name);
    free(scaler->creating);
    scaler->creating = xstrdup(name);
    log_info(scaler->service->log, "creating a scaling pod for a pod that waits for a part of a GPU",
             log_str("namespace", sharer->namespace), log_str("name", sharer->name));
    plan_expect(&scaler->plan, sharer);
    scaler->call = kube_send(scaler->service->client, &(struct kube_request){
                                                          .verb = KUBE_CREATE,
                                                          .resource = kube_known(KUBE_PODS),
                                                          .namespace = scaler->flags->plan.namespace,
                                                          .body = sharer->body,
                                                          .body_len = strlen(sharer->body),
                                                          .on_done = on_created,
                                                          .arg = scaler,
                                                      });
}

/* The next step. What is not needed goes first: it says that nodes have come. */
static void adjust(void *arg)
{
    struct scaler *scaler = arg;
    nsec_t quiet = scaler->quiet_until - nsec_now_monotonic();
    struct scaling_pod *unneeded;
    const struct sharer *missing;

    if (scaler->is_stopping && !scaler->call)
        service_stopped(scaler->service);
    if (scaler->call || scaler->is_stopping || !service_is_leading(scaler->service) || !is_synced(scaler) ||
        loop_timer_is_running(&scaler->later))
        return;
    if ((unneeded = plan_next_unneeded(&scaler->plan)))
        delete_pod(scaler, unneeded);
    else if (!(missing = plan_next_missing(&scaler->plan)))
        return;
    else if (quiet > 0)
        loop_timer_start(&scaler->later, quiet);
    else
        create_pod(scaler, missing);
}

/* Following. */

/* A cool-down is no reason to leave what is not needed. */
static void changed(struct scaler *scaler)
{
    if (plan_next_unneeded(&scaler->plan))
        loop_timer_stop(&scaler->later);
    loop_task_queue(&scaler->adjust);
}

static void on_pod(void *arg, const struct follow_event *event)
{
    struct scaler *scaler = arg;

    if (event->change == FOLLOW_DELETED)
        plan_drop_pod(&scaler->plan, event->namespace, event->name);
    else
        plan_put_pod(&scaler->plan, event->object);
    changed(scaler);
}

static void on_scaling_pod(void *arg, const struct follow_event *event)
{
    struct scaler *scaler = arg;

    if (event->change == FOLLOW_DELETED)
        plan_drop_scaling(&scaler->plan, event->name);
    else
        plan_put_scaling(&scaler->plan, event->object);
    changed(scaler);
}

static void on_synced(void *arg, bool is_first)
{
    struct scaler *scaler = arg;

    (void)is_first;
    if (is_synced(scaler))
        service_set_ready(scaler->service, true);
    loop_task_queue(&scaler->adjust);
}

static void on_problem(void *arg, const struct err *err, nsec_t wait)
{
    service_follow_problem(((struct scaler *)arg)->service, "pods", err, wait);
}

static struct follower *follow(struct scaler *scaler, const char *namespace, const char *fields,
                               follow_event_fn on_event)
{
    return follower_new(scaler->service->client, &(struct follow_options){
                                                     .resource = kube_known(KUBE_PODS),
                                                     .namespace = namespace,
                                                     .field_selector = fields,
                                                     .on_event = on_event,
                                                     .on_synced = on_synced,
                                                     .on_problem = on_problem,
                                                     .arg = scaler,
                                                 });
}

/* The service. */

static void on_later(void *arg)
{
    loop_task_queue(&((struct scaler *)arg)->adjust);
}

static struct meter_series *counter(struct service *service, const char *name, const char *help)
{
    return meter_series(metrics_counter(service->metrics, name, help, NULL), NULL);
}

static int open_scaler(struct service *service, struct err *err)
{
    struct scaler *scaler = xcalloc(1, sizeof *scaler);
    char fields[512];

    (void)err;
    service->state = scaler;
    scaler->service = service;
    scaler->flags = service->values;
    plan_init(&scaler->plan, &scaler->flags->plan);
    loop_task_init(&scaler->adjust, service->loop, adjust, scaler);
    loop_timer_init(&scaler->later, service->loop, on_later, scaler);
    scaler->created = counter(service, "scaler_pods_created_total", "Scaling pods that were created.");
    scaler->deleted = counter(service, "scaler_pods_deleted_total", "Scaling pods that were deleted.");
    (void)snprintf(fields, sizeof fields, "spec.schedulerName=%s", scaler->flags->scheduler_name);
    scaler->pods = follow(scaler, NULL, fields, on_pod);
    scaler->scaling_pods = follow(scaler, scaler->flags->plan.namespace, NULL, on_scaling_pod);
    return 0;
}

static void lead(struct service *service)
{
    loop_task_queue(&((struct scaler *)service->state)->adjust);
}

static void stop(struct service *service)
{
    struct scaler *scaler = service->state;

    scaler->is_stopping = true;
    loop_task_queue(&scaler->adjust);
}

static void close_scaler(struct service *service)
{
    struct scaler *scaler = service->state;

    if (scaler->call)
        kube_cancel(scaler->call);
    follower_free(scaler->pods);
    follower_free(scaler->scaling_pods);
    loop_task_cancel(&scaler->adjust);
    loop_timer_done(&scaler->later);
    plan_done(&scaler->plan);
    free(scaler->creating);
    free(scaler);
}

const struct service_kind scaler_service = {
    .name = "scaler",
    .flags = flags,
    .flag_count = ARRAY_LEN(flags),
    .values_size = sizeof(struct scaler_flags),
    .has_api = true,
    .can_elect = true,
    .configure = configure,
    .open = open_scaler,
    .lead = lead,
    .stop = stop,
    .close = close_scaler,
};
