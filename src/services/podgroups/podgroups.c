/* SPDX-License-Identifier: Apache-2.0 */

/* The service: its flags, what it follows, and the writing of statuses. The sums are the book's. */
#include "services/podgroups/podgroups.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "frame/rush.h"
#include "frame/service.h"
#include "frame/work.h"
#include "kube/follow/follow.h"
#include "net/loop.h"
#include "objects/keys.h"
#include "services/podgroups/book.h"
#include "services/podgroups/facts.h"

/* A pod that is bound as soon as it is made costs one write, and so does one that is bound while many are. */
#define WRITE_DELAY (200 * NSEC_PER_MSEC)

/* A PodGroup mostly goes with the last of its pods, and then its status need not be written. */
#define EMPTY_DELAY (2 * NSEC_PER_SEC)

struct podgroups_flags {
    const char *scheduler_name;
    int64_t workers;
    int64_t log_level;
};

enum podgroups_kind { KIND_PODS, KIND_GROUPS, KIND_CLASSES, KIND_NODES, KIND_CLAIMS, _KIND_MAX };

struct podgroups;

struct watched {
    struct podgroups *podgroups;
    struct follower *follower;
    bool is_missing;  // the API server does not have the kind
};

struct podgroups {
    struct service *service;
    const struct podgroups_flags *flags;
    struct book *book;
    struct work *work;
    struct rush rush;
    struct watched kinds[_KIND_MAX];
    uint32_t device_version;
    struct loop_task next_version;
    bool is_synced;
    struct meter_series *written;
};

#define AT(member) FLAG_AT(struct podgroups_flags, member)

static const struct flag flags[] = {
    {"scheduler-name", FLAG_STRING, AT(scheduler_name), KEY_SCHEDULER_NAME, "count pods with this spec.schedulerName",
     0, 0},
    {"max-concurrent-reconciles", FLAG_INT, AT(workers), "10", "statuses written at the same time", 1, 1000},
    {"log-level", FLAG_INT, AT(log_level), "-1", "as --v; -1: --v decides", -1, 10},
    {"enable-podgroup-webhook", FLAG_IGNORED, 0, "true", "accepted and ignored: muster admission has the webhook", 0,
     0},
    {"skip-controller-name-validation", FLAG_IGNORED, 0, "false", "accepted and ignored", 0, 0},
};

static int configure(struct service *service, struct err *err)
{
    const struct podgroups_flags *values = service->values;

    if (!*values->scheduler_name)
        return err_set(err, -EINVAL, "--scheduler-name: is empty");
    if (values->log_level >= 0)
        service->common->verbosity = values->log_level;
    service->settings.lease_name = "o1x22tjj.kai.scheduler";
    service->settings.component = "podgroup-controller";
    return 0;
}

/* Writing. */

static void on_written(void *arg, const struct kube_answer *answer)
{
    struct group *group = arg;
    struct podgroups *podgroups = group->owner;
    struct err err = answer->err;
    yyjson_val *object = NULL;

    group->call = NULL;
    /* Gone, or another one of that name: the watch says so. */
    if (answer->status == 404 || kube_answer_is_conflict(answer))
        err.code = 0;
    if (err.code < 0)
        log_warn(podgroups->service->log, "the status of a PodGroup could not be written; trying again later",
                 log_str("namespace", group->namespace), log_str("name", group->name), log_error(&err));
    work_done(podgroups->work, &group->work, &err);
    if (answer->err.code < 0)
        return;
    meter_add(podgroups->written, 1);
    if (kube_answer_object(answer, &object, NULL) == 0)
        book_put_group(podgroups->book, object);
}

static void start_write(void *arg, struct work_item *item)
{
    struct podgroups *podgroups = arg;
    struct group *group = list_item(&item->in_work, struct group, work.in_work);
    size_t len = 0;
    _cleanup_(freep) char *patch = book_patch(podgroups->book, group, &len);

    if (!patch) {
        work_done(podgroups->work, item, NULL);
        return;
    }
    group->call = kube_send(podgroups->service->client, &(struct kube_request){
                                                            .verb = KUBE_PATCH_MERGE,
                                                            .resource = kube_known(KUBE_POD_GROUPS),
                                                            .namespace = group->namespace,
                                                            .name = group->name,
                                                            .subresource = "status",
                                                            .body = patch,
                                                            .body_len = len,
                                                            .is_repeatable = true,
                                                            .on_done = on_written,
                                                            .arg = group,
                                                        });
}

static void on_differs(void *arg, struct group *group)
{
    struct podgroups *podgroups = arg;

    if (group->pods > 0)
        work_add(podgroups->work, &group->work);
    else
        work_add_later(podgroups->work, &group->work, EMPTY_DELAY);
}

static void on_gone(void *arg, struct group *group)
{
    struct podgroups *podgroups = arg;

    if (group->call)
        kube_cancel(TAKE_PTR(group->call));
    work_drop(podgroups->work, &group->work);
}

static bool may_start(void *arg)
{
    return ((const struct podgroups *)arg)->is_synced;
}

/* Following. */

static void on_pod(void *arg, const struct follow_event *event)
{
    struct podgroups *podgroups = ((const struct watched *)arg)->podgroups;

    if (event->change == FOLLOW_DELETED) {
        book_drop_pod(podgroups->book, event->uid);
        return;
    }
    if (pod_is_on_its_way(event->object))
        rush_note(&podgroups->rush, nsec_now_monotonic());
    const char *problem = book_put_pod(podgroups->book, event->uid, event->object);
    if (problem)
        log_warn(podgroups->service->log, "a request of a pod cannot be read and is not counted",
                 log_str("namespace", event->namespace), log_str("pod", event->name), log_str("request", problem));
}

static void on_group(void *arg, const struct follow_event *event)
{
    struct book *book = ((const struct watched *)arg)->podgroups->book;

    if (event->change == FOLLOW_DELETED)
        book_drop_group(book, event->namespace, event->name);
    else
        book_put_group(book, event->object);
}

static void on_class(void *arg, const struct follow_event *event)
{
    struct book *book = ((const struct watched *)arg)->podgroups->book;

    if (event->change == FOLLOW_DELETED)
        book_drop_class(book, event->name);
    else
        book_put_class(book, event->name, event->object);
}

static void on_node(void *arg, const struct follow_event *event)
{
    struct book *book = ((const struct watched *)arg)->podgroups->book;

    if (event->change == FOLLOW_DELETED)
        book_drop_node(book, event->name);
    else
        book_put_node(book, event->name, event->object);
}

static void on_claim(void *arg, const struct follow_event *event)
{
    struct book *book = ((const struct watched *)arg)->podgroups->book;

    if (event->change == FOLLOW_DELETED)
        book_drop_claim(book, event->namespace, event->name);
    else
        book_put_claim(book, event->object);
}

static void look_at_sync(struct podgroups *podgroups)
{
    for (int kind = 0; kind < _KIND_MAX; kind++) {
        const struct watched *watched = &podgroups->kinds[kind];

        if (!watched->is_missing && !follower_is_synced(watched->follower))
            return;
    }
    if (podgroups->is_synced)
        return;
    podgroups->is_synced = true;
    log_info(podgroups->service->log, "synced", log_int("pods", (int64_t)book_pods(podgroups->book)),
             log_int("pod_groups", (int64_t)follower_len(podgroups->kinds[KIND_GROUPS].follower)));
    service_set_ready(podgroups->service, true);
    work_pump(podgroups->work);
}

static void on_synced(void *arg, bool is_first)
{
    struct watched *watched = arg;

    (void)is_first;
    watched->is_missing = false;
    look_at_sync(watched->podgroups);
}

static void on_problem(void *arg, const struct err *err, nsec_t wait)
{
    struct watched *watched = arg;
    struct podgroups *podgroups = watched->podgroups;

    /* Servers without device claims, or with an older version of them, are good servers. */
    if (watched == &podgroups->kinds[KIND_CLAIMS] && err->code == -ENOENT && !follower_is_synced(watched->follower)) {
        if (!watched->is_missing && podgroups->device_version + 1 < KUBE_DEVICE_VERSIONS) {
            loop_task_queue(&podgroups->next_version);
            return;
        }
        watched->is_missing = true;
        look_at_sync(podgroups);
        return;
    }
    service_follow_problem(podgroups->service, "objects", err, wait);
}

static void follow(struct podgroups *podgroups, enum podgroups_kind kind, struct follow_options options)
{
    struct watched *watched = &podgroups->kinds[kind];

    options.on_synced = on_synced;
    options.on_problem = on_problem;
    options.arg = watched;
    watched->follower = follower_new(podgroups->service->client, &options);
}

static void follow_claims(struct podgroups *podgroups)
{
    follow(podgroups, KIND_CLAIMS,
           (struct follow_options){.resource = kube_known_of(KUBE_RESOURCE_CLAIMS, podgroups->device_version),
                                   .on_event = on_claim});
}

static void try_next_version(void *arg)
{
    struct podgroups *podgroups = arg;

    podgroups->device_version++;
    follower_free(podgroups->kinds[KIND_CLAIMS].follower);
    follow_claims(podgroups);
}

static void follow_all(struct podgroups *podgroups)
{
    char fields[512];

    (void)snprintf(fields, sizeof fields, "spec.schedulerName=%s", podgroups->flags->scheduler_name);
    follow(podgroups, KIND_CLASSES,
           (struct follow_options){.resource = kube_known(KUBE_PRIORITY_CLASSES), .on_event = on_class});
    follow(podgroups, KIND_NODES,
           (struct follow_options){.resource = kube_known(KUBE_NODES), .is_metadata_only = true, .on_event = on_node});
    follow_claims(podgroups);
    follow(podgroups, KIND_GROUPS,
           (struct follow_options){.resource = kube_known(KUBE_POD_GROUPS), .on_event = on_group});
    follow(podgroups, KIND_PODS,
           (struct follow_options){.resource = kube_known(KUBE_PODS), .field_selector = fields, .on_event = on_pod});
}

/* The service. */

static int open_podgroups(struct service *service, struct err *err)
{
    struct podgroups *podgroups = xcalloc(1, sizeof *podgroups);

    (void)err;
    service->state = podgroups;
    podgroups->service = service;
    podgroups->flags = service->values;
    podgroups->book = book_new(&(struct book_options){.on_differs = on_differs, .on_gone = on_gone, .arg = podgroups});
    podgroups->work = work_new(&(struct work_options){
        .service = service,
        .controller = "podgroup",
        .workers = (uint32_t)podgroups->flags->workers,
        .delay = WRITE_DELAY,
        .rush = &podgroups->rush,
        .may_start = may_start,
        .start = start_write,
        .arg = podgroups,
    });
    podgroups->written = meter_series(metrics_counter(service->metrics, "podgroups_statuses_written_total",
                                                      "Statuses of PodGroups that were written.", NULL),
                                      NULL);
    loop_task_init(&podgroups->next_version, service->loop, try_next_version, podgroups);
    for (int kind = 0; kind < _KIND_MAX; kind++)
        podgroups->kinds[kind].podgroups = podgroups;
    follow_all(podgroups);
    return 0;
}

static void lead(struct service *service)
{
    work_pump(((struct podgroups *)service->state)->work);
}

static void stop(struct service *service)
{
    work_stop(((struct podgroups *)service->state)->work);
}

static void close_podgroups(struct service *service)
{
    struct podgroups *podgroups = service->state;

    loop_task_cancel(&podgroups->next_version);
    for (int kind = 0; kind < _KIND_MAX; kind++)
        follower_free(podgroups->kinds[kind].follower);
    work_free(podgroups->work);
    book_free(podgroups->book);
    free(podgroups);
}

const struct service_kind podgroups_service = {
    .name = "podgroups",
    .flags = flags,
    .flag_count = ARRAY_LEN(flags),
    .values_size = sizeof(struct podgroups_flags),
    .has_api = true,
    .can_elect = true,
    .configure = configure,
    .open = open_podgroups,
    .lead = lead,
    .stop = stop,
    .close = close_podgroups,
};
