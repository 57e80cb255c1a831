/* SPDX-License-Identifier: Apache-2.0 */

/* The service: its flags, what it follows, and the writing of statuses. The sums are the tree's. */
#include "services/queues/queues.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "frame/service.h"
#include "frame/work.h"
#include "kube/follow/follow.h"
#include "net/loop.h"
#include "services/queues/meters.h"
#include "services/queues/tree.h"

/* Statuses that are written at the same time. */
enum { WORKERS = 10 };

/* PodGroups of a queue change together, and so do queues of a tree. */
#define WRITE_DELAY (200 * NSEC_PER_MSEC)

/* While pods come and go, every write of a PodGroup's status is a change of all queues above it. */
#define WRITE_INTERVAL NSEC_PER_SEC

struct queues_flags {
    const char *metrics_address;
    const char *metrics_namespace;
    struct flag_pairs labels;
    struct flag_pairs label_defaults;
};

struct queues {
    struct service *service;
    const struct queues_flags *flags;
    struct tree *tree;
    struct work *work;
    struct loop_task settle;
    struct follower *queues, *pod_groups;
    bool is_synced;
    struct meter_series *written;
};

#define AT(member) FLAG_AT(struct queues_flags, member)

static const struct flag flags[] = {
    {"metrics-listen-address", FLAG_STRING, AT(metrics_address), "", "the same as --metrics-bind-address", 0, 0},
    {"metrics-namespace", FLAG_STRING, AT(metrics_namespace), "kai", "prefix of the names of metrics", 0, 0},
    {"queue-label-to-metric-label", FLAG_PAIRS, AT(labels), NULL,
     "labels of queues to show as labels of their metrics: label=name,...", 0, 0},
    {"queue-label-to-default-metric-value", FLAG_PAIRS, AT(label_defaults), NULL,
     "values for queues without these labels: label=value,...", 0, 0},
    {"enable-webhook", FLAG_IGNORED, 0, "true", "accepted and ignored: muster admission has the webhook", 0, 0},
    {"enable-quota-validation", FLAG_IGNORED, 0, "false", "accepted and ignored: muster admission has the webhook", 0,
     0},
    {"skip-controller-name-validation", FLAG_IGNORED, 0, "false", "accepted and ignored", 0, 0},
};

static int configure(struct service *service, struct err *err)
{
    const struct queues_flags *values = service->values;

    if (*values->metrics_address)
        service->common->metrics_address = values->metrics_address;
    service->settings.metrics_prefix = values->metrics_namespace;
    service->settings.lease_name = "ov3xj497.kai.scheduler";
    service->settings.component = "queue-controller";
    return queue_meters_check(&values->labels, err);
}

/* Writing. */

static void on_written(void *arg, const struct kube_answer *answer)
{
    struct queue *queue = arg;
    struct queues *queues = queue->owner;
    struct err err = answer->err;
    yyjson_val *object = NULL;

    queue->call = NULL;
    /* Gone, or another one of that name: the watch says so. */
    if (answer->status == 404 || kube_answer_is_conflict(answer))
        err.code = 0;
    if (err.code < 0)
        log_warn(queues->service->log, "the status of a queue could not be written; trying again later",
                 log_str("queue", queue->name), log_error(&err));
    work_done(queues->work, &queue->work, &err);
    if (answer->err.code < 0)
        return;
    meter_add(queues->written, 1);
    if (kube_answer_object(answer, &object, NULL) == 0)
        tree_put_queue(queues->tree, object);
}

static void start_write(void *arg, struct work_item *item)
{
    struct queues *queues = arg;
    struct queue *queue = list_item(&item->in_work, struct queue, work.in_work);
    size_t len = 0;

    tree_settle(queues->tree);
    _cleanup_(freep) char *patch = tree_patch(queues->tree, queue, &len);
    if (!patch) {
        work_done(queues->work, item, NULL);
        return;
    }
    queue->call = kube_send(queues->service->client, &(struct kube_request){
                                                         .verb = KUBE_PATCH_MERGE,
                                                         .resource = kube_known(KUBE_QUEUES),
                                                         .name = queue->name,
                                                         .subresource = "status",
                                                         .body = patch,
                                                         .body_len = len,
                                                         .is_repeatable = true,
                                                         .on_done = on_written,
                                                         .arg = queue,
                                                     });
}

static void on_differs(void *arg, struct queue *queue)
{
    work_add(((struct queues *)arg)->work, &queue->work);
}

static void on_gone(void *arg, struct queue *queue)
{
    struct queues *queues = arg;

    if (queue->call)
        kube_cancel(TAKE_PTR(queue->call));
    work_drop(queues->work, &queue->work);
}

static void on_unsettled(void *arg)
{
    loop_task_queue(&((struct queues *)arg)->settle);
}

static void settle(void *arg)
{
    tree_settle(((struct queues *)arg)->tree);
}

static bool may_start(void *arg)
{
    return ((const struct queues *)arg)->is_synced;
}

/* Following. */

static void on_queue(void *arg, const struct follow_event *event)
{
    struct queues *queues = arg;

    if (event->change == FOLLOW_DELETED)
        tree_drop_queue(queues->tree, event->name);
    else
        tree_put_queue(queues->tree, event->object);
}

static void on_pod_group(void *arg, const struct follow_event *event)
{
    struct queues *queues = arg;

    if (event->change == FOLLOW_DELETED)
        tree_drop_group(queues->tree, event->uid);
    else
        tree_put_group(queues->tree, event->uid, event->object);
}

static void on_synced(void *arg, bool is_first)
{
    struct queues *queues = arg;

    if (!is_first || !follower_is_synced(queues->queues) || !follower_is_synced(queues->pod_groups))
        return;
    queues->is_synced = true;
    log_info(queues->service->log, "synced", log_int("queues", (int64_t)follower_len(queues->queues)),
             log_int("pod_groups", (int64_t)follower_len(queues->pod_groups)));
    service_set_ready(queues->service, true);
    work_pump(queues->work);
}

static void on_problem(void *arg, const struct err *err, nsec_t wait)
{
    service_follow_problem(((struct queues *)arg)->service, "objects", err, wait);
}

static struct follower *follow(struct queues *queues, enum kube_known known, follow_event_fn on_event)
{
    return follower_new(queues->service->client, &(struct follow_options){
                                                     .resource = kube_known(known),
                                                     .on_event = on_event,
                                                     .on_synced = on_synced,
                                                     .on_problem = on_problem,
                                                     .arg = queues,
                                                 });
}

/* The service. */

/* Of several replicas only the one that acts shows queues, or whoever adds up series would count them twice. */
static void collect(void *arg, struct metrics *metrics)
{
    struct queues *queues = arg;
    bool is_shown = queues->is_synced && service_is_leading(queues->service);

    tree_settle(queues->tree);
    queue_meters_show(metrics, &queues->flags->labels, is_shown ? queues->tree : NULL);
}

static int open_queues(struct service *service, struct err *err)
{
    struct queues *queues = xcalloc(1, sizeof *queues);

    (void)err;
    service->state = queues;
    queues->service = service;
    queues->flags = service->values;
    loop_task_init(&queues->settle, service->loop, settle, queues);
    queues->tree = tree_new(&(struct tree_options){
        .labels = &queues->flags->labels,
        .label_defaults = &queues->flags->label_defaults,
        .on_differs = on_differs,
        .on_gone = on_gone,
        .on_unsettled = on_unsettled,
        .arg = queues,
    });
    queues->work = work_new(&(struct work_options){
        .service = service,
        .controller = "queue",
        .workers = WORKERS,
        .delay = WRITE_DELAY,
        .interval = WRITE_INTERVAL,
        .may_start = may_start,
        .start = start_write,
        .arg = queues,
    });
    queues->written = meter_series(metrics_counter(service->metrics, "queue_statuses_written_total",
                                                   "Statuses of queues that were written.", NULL),
                                   NULL);
    metrics_on_collect(service->metrics, collect, queues);
    queues->queues = follow(queues, KUBE_QUEUES, on_queue);
    queues->pod_groups = follow(queues, KUBE_POD_GROUPS, on_pod_group);
    return 0;
}

static void lead(struct service *service)
{
    work_pump(((struct queues *)service->state)->work);
}

static void stop(struct service *service)
{
    work_stop(((struct queues *)service->state)->work);
}

static void close_queues(struct service *service)
{
    struct queues *queues = service->state;

    follower_free(queues->queues);
    follower_free(queues->pod_groups);
    loop_task_cancel(&queues->settle);
    work_free(queues->work);
    tree_free(queues->tree);
    free(queues);
}

const struct service_kind queues_service = {
    .name = "queues",
    .flags = flags,
    .flag_count = ARRAY_LEN(flags),
    .values_size = sizeof(struct queues_flags),
    .has_api = true,
    .can_elect = true,
    .configure = configure,
    .open = open_queues,
    .lead = lead,
    .stop = stop,
    .close = close_queues,
};
