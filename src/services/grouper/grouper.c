/* SPDX-License-Identifier: Apache-2.0 */

/* The service: its flags, and its parts put together. */
#include "services/grouper/grouper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/client/discovery.h"
#include "objects/keys.h"
#include "services/grouper/getter.h"
#include "services/grouper/grouper_internal.h"
#include "services/grouper/values.h"

#define AT(member) FLAG_AT(struct grouper_flags, member)

static const struct flag flags[] = {
    {"scheduler-name", FLAG_STRING, AT(scheduler_name), KEY_SCHEDULER_NAME, "group pods with this spec.schedulerName",
     0, 0},
    {"queue-label-key", FLAG_STRING, AT(queue_label_key), KEY_QUEUE, "pod label with the name of the queue", 0, 0},
    {"nodepool-label-key", FLAG_STRING, AT(nodepool_label_key), KEY_NODE_POOL, "label with the name of the node pool",
     0, 0},
    {"pod-label-selector", FLAG_PAIRS, AT(pod_selector), NULL, "only pods with these labels", 0, 0},
    {"namespace-label-selector", FLAG_PAIRS, AT(namespace_selector), NULL, "only pods of namespaces with these labels",
     0, 0},
    {"max-concurrent-reconciles", FLAG_INT, AT(workers), "10", "pods processed at the same time", 1, 1000},
    {"bind-requests", FLAG_STRING, AT(bind_requests), "auto",
     "as for the scheduler; auto: group pods without owners after the bind", 0, 0},
    {"search-legacy-pg", FLAG_BOOL, AT(searches_legacy), "true", "keep PodGroups with the names of older releases", 0,
     0},
    {"knative-gang-schedule", FLAG_BOOL, AT(gangs_knative), "true", "group the pods of a Knative revision as a gang", 0,
     0},
    {"generic-karta-fallback", FLAG_BOOL, AT(uses_kartas), "true", "follow Kartas for kinds without rules of their own",
     0, 0},
    {"default-priorities-configmap-name", FLAG_STRING, AT(defaults_name), "",
     "ConfigMap with a priority and preemptibility for kinds of owners", 0, 0},
    {"default-priorities-configmap-namespace", FLAG_STRING, AT(defaults_namespace), "", "namespace of that ConfigMap",
     0, 0},
};

static int configure(struct service *service, struct err *err)
{
    const struct grouper_flags *values = service->values;

    if (!*values->scheduler_name)
        return err_set(err, -EINVAL, "--scheduler-name: is empty");
    if (strcmp(values->bind_requests, "auto") != 0 && strcmp(values->bind_requests, "always") != 0)
        return err_set(err, -EINVAL, "--bind-requests: '%s' is neither auto nor always", values->bind_requests);
    if (!*values->defaults_name != !*values->defaults_namespace)
        return err_set(err, -EINVAL, "--default-priorities-configmap-name and -namespace must be set together");
    service->settings.lease_name = "54dff599.kai.scheduler";
    service->settings.component = "pod-grouper";
    return 0;
}

static struct meter_series *counter(struct service *service, const char *name, const char *help)
{
    return meter_series(metrics_counter(service->metrics, name, help, NULL), NULL);
}

static void show_work(struct grouper *grouper, size_t queued)
{
    nsec_t now = nsec_now_monotonic(), unfinished = 0, longest = 0;

    vec_foreach (&grouper->running, work) {
        nsec_t worked = now - reconcile_pod(*work)->entered;

        unfinished += worked;
        longest = MAX(longest, worked);
    }
    work_meters_show(&grouper->meters, queued, grouper->running.len, unfinished, longest);
}

static void collect(void *arg, struct metrics *metrics)
{
    struct grouper *grouper = arg;
    size_t queued = 0;

    for (int lane = 0; lane < _LANE_MAX; lane++)
        queued += grouper->lanes[lane].len;
    show_work(grouper, queued);
    size_t waiting = grouper->waiting.len + queued;
    meter_set(meter_series(metrics_gauge(metrics, "grouper_waiting", "Pods that wait to be grouped.", NULL), NULL),
              (double)waiting);
    meter_set(meter_series(metrics_gauge(metrics, "grouper_running", "Pods that are being grouped.", NULL), NULL),
              (double)grouper->running.len);
}

static int open_grouper(struct service *service, struct err *err)
{
    struct grouper *grouper = xcalloc(1, sizeof *grouper);

    (void)err;
    service->state = grouper;
    grouper->service = service;
    grouper->flags = service->values;
    object_options_init(&grouper->options);
    grouper->binds_alone = strcmp(grouper->flags->bind_requests, "auto") == 0;
    grouper->options.scheduler_name = grouper->flags->scheduler_name;
    grouper->options.queue_label = grouper->flags->queue_label_key;
    grouper->options.node_pool_label = grouper->flags->nodepool_label_key;
    grouper->grouped = counter(service, "grouper_pods_total", "Pods that were grouped.");
    grouper->created = counter(service, "grouper_groups_created_total", "Pod groups that were created.");
    grouper->updated = counter(service, "grouper_groups_updated_total", "Pod groups that were changed.");
    grouper->patched = counter(service, "grouper_pods_patched_total", "Pods that were annotated with their group.");
    grouper->failed = counter(service, "grouper_failures_total", "Attempts to group a pod that failed.");
    work_meters_init(&grouper->meters, service, "pod", (uint32_t)grouper->flags->workers);
    metrics_on_collect(service->metrics, collect, grouper);
    known_init(&grouper->known);
    grouper->discovery = discovery_new(service->client);
    grouper->getter = getter_new(service->client, grouper->discovery);
    grouper->values = values_new(service->loop, "/proc/self/exe");
    queue_init(grouper);
    follow_init(grouper);
    follow_all(grouper);
    return 0;
}

static void lead(struct service *service)
{
    struct grouper *grouper = service->state;

    loop_task_queue(&grouper->pump);
}

static void stop(struct service *service)
{
    struct grouper *grouper = service->state;

    grouper->is_stopping = true;
    loop_task_queue(&grouper->pump);
}

static void close_grouper(struct service *service)
{
    struct grouper *grouper = service->state;

    follow_done(grouper);
    queue_done(grouper);
    values_free(grouper->values);
    getter_free(grouper->getter);
    discovery_free(grouper->discovery);
    known_done(&grouper->known);
    free(grouper);
}

const struct service_kind grouper_service = {
    .name = "grouper",
    .flags = flags,
    .flag_count = ARRAY_LEN(flags),
    .values_size = sizeof(struct grouper_flags),
    .has_api = true,
    .can_elect = true,
    .configure = configure,
    .open = open_grouper,
    .lead = lead,
    .stop = stop,
    .close = close_grouper,
};
