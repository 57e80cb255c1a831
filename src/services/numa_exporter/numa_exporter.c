/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The service. A round asks the kubelet for the placements of all pods, and writes those that the API server does not have. What
 * it has is known from our own writes, and, from time to time and at the start, from a list of the node's pods: somebody
 * may have removed the annotation, and a pod may have come back under its old name.
 */
#include "services/numa_exporter/numa_exporter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strmap.h"
#include "frame/service.h"
#include "kube/client/meta.h"
#include "kube/client/verbs.h"
#include "kube/follow/list.h"
#include "net/grpc.h"
#include "net/loop.h"
#include "objects/keys.h"
#include "services/numa_exporter/cpu_zones.h"
#include "services/numa_exporter/placement.h"
#include "text/json.h"

#define ANSWER_TIMEOUT (10 * NSEC_PER_SEC)
/* As much as the kubelet's own clients take. */
enum { ANSWER_MAX = 16 << 20, PAGE_SIZE = 500 };

struct exporter_flags {
    const char *node;
    const char *socket;
    const char *sysfs_root;
    nsec_t poll_interval;
    nsec_t resync_interval;
};

/* A pod of the node that has a placement. */
struct entry {
    struct exporter *exporter;
    char *namespace, *name;
    char *wanted;   // what the kubelet says
    char *sent;     // of the request under way
    char *written;  // what the API server has, as far as we know; NULL: nothing
    struct kube_call *call;
    bool is_current;  // the last answer of the kubelet names it
    bool is_gone;     // the API server does not know it
};

struct exporter {
    struct service *service;
    const struct exporter_flags *flags;
    struct cpu_zones zones;
    struct strmap entries;
    struct http_client *http;
    struct grpc_call *poll;
    struct kube_list *list;
    struct loop_timer timer;
    nsec_t next_resync;
    bool is_kubelet_silent;  // and the log says so
    struct meter_series *written, *failures, *kubelet_up;
};

#define AT(member) FLAG_AT(struct exporter_flags, member)

static const struct flag flags[] = {
    {"node-name", FLAG_STRING, AT(node), "", "the node that it runs on (empty: $NODE_NAME)", 0, 0},
    {"podresources-socket", FLAG_STRING, AT(socket), "/var/lib/kubelet/pod-resources/kubelet.sock",
     "socket of the kubelet's API", 0, 0},
    {"sysfs-root", FLAG_STRING, AT(sysfs_root), "/sys", "where the machine's sysfs is mounted", 0, 0},
    {"poll-interval", FLAG_DURATION, AT(poll_interval), "1s", "how often the kubelet is polled", 0, 0},
    {"drift-resync-interval", FLAG_DURATION, AT(resync_interval), "60s",
     "how often annotations are compared with those of the API server (0: never)", 0, 0},
};

static int configure(struct service *service, struct err *err)
{
    struct exporter_flags *values = service->values;
    const char *node = getenv("NODE_NAME");

    if (!values->node[0])
        values->node = node ? node : "";
    if (!values->node[0])
        return err_set(err, -EINVAL, "the name of this node is not set: use --node-name or NODE_NAME");
    if (values->poll_interval < 10 * NSEC_PER_MSEC)
        return err_set(err, -EINVAL, "--poll-interval: must be 10ms or more");
    if (values->resync_interval < 0)
        return err_set(err, -EINVAL, "--drift-resync-interval: must not be negative");
    return 0;
}

/* Entries. */

static void entry_free(struct entry *entry)
{
    if (entry->call)
        kube_cancel(entry->call);
    free(entry->namespace);
    free(entry->name);
    free(entry->wanted);
    free(entry->sent);
    free(entry->written);
    free(entry);
}

static bool is_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

static void replace(char **text, const char *by)
{
    free(*text);
    *text = by && *by ? xstrdup(by) : NULL;
}

static void put_entry(struct exporter *exporter, const struct placed_pod *pod)
{
    struct entry *entry = strmap_get(&exporter->entries, pod->namespace, pod->name);

    if (!entry) {
        entry = xcalloc(1, sizeof *entry);
        entry->exporter = exporter;
        entry->namespace = xstrdup(pod->namespace);
        entry->name = xstrdup(pod->name);
        (void)strmap_put(&exporter->entries, entry->namespace, entry->name, entry);
    }
    entry->is_current = true;
    if (!is_text(entry->wanted, pod->placement))
        replace(&entry->wanted, pod->placement);
}

/* Forgets pods that the kubelet does not name any more. */
static void sweep(struct exporter *exporter)
{
    VEC(struct entry *) old = {0};
    struct entry *entry;

    for (size_t cursor = 0; (entry = strmap_next(&exporter->entries, &cursor));) {
        if (!entry->is_current && !entry->call)
            vec_push(&old, entry);
        entry->is_current = false;
    }
    vec_foreach (&old, at) {
        (void)strmap_remove(&exporter->entries, (*at)->namespace, (*at)->name);
        entry_free(*at);
    }
    vec_done(&old);
}

/* Writing. */

static void on_written(void *arg, const struct kube_answer *answer)
{
    struct entry *entry = arg;
    struct exporter *exporter = entry->exporter;

    entry->call = NULL;
    if (answer->err.code == 0) {
        meter_add(exporter->written, 1);
        replace(&entry->written, entry->sent);
    } else if (answer->status == 404) {
        /* The kubelet still clears up after a pod that was deleted. */
        entry->is_gone = true;
    } else {
        meter_add(exporter->failures, 1);
        log_warn(exporter->service->log,
                 "the placement of a pod could not be written; trying again after the next poll",
                 log_str("namespace", entry->namespace), log_str("name", entry->name), log_error(&answer->err));
    }
}

static void write_entry(struct entry *entry)
{
    struct exporter *exporter = entry->exporter;
    yyjson_mut_val *root;
    yyjson_mut_doc *patch = json_new_object(&root);
    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(patch, root, "metadata");
    yyjson_mut_val *notes = yyjson_mut_obj_add_obj(patch, meta, "annotations");

    (void)yyjson_mut_obj_add_str(patch, notes, KEY_NUMA_OBSERVED, entry->wanted);
    replace(&entry->sent, entry->wanted);
    log_debug(exporter->service->log, "writing the placement of a pod", log_str("namespace", entry->namespace),
              log_str("name", entry->name), log_str("placement", entry->wanted));
    entry->call = kube_send_doc(exporter->service->client,
                                &(struct kube_request){
                                    .verb = KUBE_PATCH_MERGE,
                                    .resource = kube_known(KUBE_PODS),
                                    .namespace = entry->namespace,
                                    .name = entry->name,
                                    .is_repeatable = true,
                                    .on_done = on_written,
                                    .arg = entry,
                                },
                                patch);
    yyjson_mut_doc_free(patch);
}

static void write_all(struct exporter *exporter)
{
    struct entry *entry;

    for (size_t cursor = 0; (entry = strmap_next(&exporter->entries, &cursor));) {
        if (!entry->call && !entry->is_gone && !is_text(entry->written, entry->wanted))
            write_entry(entry);
    }
}

/* Comparing with the API server. */

static int on_pod(void *arg, yyjson_val *object)
{
    struct exporter *exporter = arg;
    struct kube_meta meta;
    struct entry *entry;

    if (!kube_meta_read(object, &meta) || !(entry = strmap_get(&exporter->entries, meta.namespace, meta.name)))
        return 0;
    entry->is_gone = false;
    if (!entry->call)
        replace(&entry->written, kube_text(object, "metadata", "annotations", KEY_NUMA_OBSERVED));
    return 0;
}

static void next_round(struct exporter *exporter)
{
    loop_timer_start(&exporter->timer, exporter->flags->poll_interval);
}

static void on_listed(void *arg, const struct kube_answer *answer, const char *resource_version)
{
    struct exporter *exporter = arg;

    (void)resource_version;
    exporter->list = NULL;
    if (answer->err.code < 0) {
        meter_add(exporter->failures, 1);
        log_warn(exporter->service->log, "the pods of the node could not be listed; trying again after the next poll",
                 log_error(&answer->err));
    } else {
        exporter->next_resync = nsec_now_monotonic() + exporter->flags->resync_interval;
    }
    write_all(exporter);
    next_round(exporter);
}

static void resync(struct exporter *exporter)
{
    char fields[512];

    (void)snprintf(fields, sizeof fields, "spec.nodeName=%s", exporter->flags->node);
    exporter->list = kube_list_start(exporter->service->client, &(struct kube_list_request){
                                                                    .resource = kube_known(KUBE_PODS),
                                                                    .field_selector = fields,
                                                                    .resource_version = "0",
                                                                    .page_size = PAGE_SIZE,
                                                                    .is_metadata_only = true,
                                                                    .on_object = on_pod,
                                                                    .on_done = on_listed,
                                                                    .arg = exporter,
                                                                });
}

/* Asking the kubelet. */

static void kubelet_failed(struct exporter *exporter, const struct err *err)
{
    meter_set(exporter->kubelet_up, 0);
    if (!exporter->is_kubelet_silent)
        log_warn(exporter->service->log,
                 "the kubelet did not report the resources of pods; trying again after the next poll",
                 log_str("socket", exporter->flags->socket), log_error(err),
                 log_duration("every", exporter->flags->poll_interval));
    exporter->is_kubelet_silent = true;
    next_round(exporter);
}

static void kubelet_answered(struct exporter *exporter)
{
    if (exporter->is_kubelet_silent)
        log_info(exporter->service->log, "the kubelet answers again");
    exporter->is_kubelet_silent = false;
    meter_set(exporter->kubelet_up, 1);
    service_set_ready(exporter->service, true);
}

static void on_answer(void *arg, const struct grpc_answer *answer)
{
    struct exporter *exporter = arg;
    struct placed_pods pods = {0};
    struct err err = answer->err;
    nsec_t resync_interval = exporter->flags->resync_interval;

    exporter->poll = NULL;
    if (err.code < 0 || placed_pods_decode(answer->message, answer->message_len, &exporter->zones, &pods, &err) < 0) {
        kubelet_failed(exporter, &err);
        return;
    }
    kubelet_answered(exporter);
    vec_foreach (&pods, pod)
        put_entry(exporter, pod);
    placed_pods_done(&pods);
    sweep(exporter);
    if (exporter->entries.len && resync_interval > 0 && nsec_now_monotonic() >= exporter->next_resync) {
        resync(exporter);
        return;
    }
    write_all(exporter);
    next_round(exporter);
}

static void poll(void *arg)
{
    struct exporter *exporter = arg;

    exporter->poll = grpc_start(exporter->http, &(struct grpc_request){
                                                    .unix_path = exporter->flags->socket,
                                                    .method = "/v1.PodResourcesLister/List",
                                                    .timeout = ANSWER_TIMEOUT,
                                                    .answer_max = ANSWER_MAX,
                                                    .on_done = on_answer,
                                                    .arg = exporter,
                                                });
}

/* The service. */

static struct meter_series *counter(struct service *service, const char *name, const char *help)
{
    return meter_series(metrics_counter(service->metrics, name, help, NULL), NULL);
}

static void collect(void *arg, struct metrics *metrics)
{
    const struct exporter *exporter = arg;

    meter_set(meter_series(metrics_gauge(metrics, "numa_exporter_pods",
                                         "Pods of the node with resources in NUMA zones, as the kubelet says.", NULL),
                           NULL),
              (double)exporter->entries.len);
}

static int open_exporter(struct service *service, struct err *err)
{
    struct exporter *exporter = xcalloc(1, sizeof *exporter);

    exporter->service = service;
    exporter->flags = service->values;
    int r = cpu_zones_load(&exporter->zones, exporter->flags->sysfs_root, err);
    if (r < 0) {
        cpu_zones_done(&exporter->zones);
        free(exporter);
        return r;
    }
    exporter->http = http_client_new(service->loop);
    exporter->written =
        counter(service, "numa_exporter_written_total", "Placements of pods that were written as annotations.");
    exporter->failures = counter(service, "numa_exporter_failures_total", "Requests to the API server that failed.");
    exporter->kubelet_up = meter_series(
        metrics_gauge(service->metrics, "numa_exporter_kubelet_up", "1 while the kubelet answers.", NULL), NULL);
    metrics_on_collect(service->metrics, collect, exporter);
    loop_timer_init(&exporter->timer, service->loop, poll, exporter);
    service->state = exporter;
    return 0;
}

static void lead(struct service *service)
{
    poll(service->state);
}

/* A write under way is done or not; the next start finds out. */
static void stop(struct service *service)
{
    struct exporter *exporter = service->state;

    loop_timer_stop(&exporter->timer);
    service_stopped(service);
}

static void close_exporter(struct service *service)
{
    struct exporter *exporter = service->state;
    struct entry *entry;

    if (exporter->poll)
        grpc_cancel(exporter->poll);
    if (exporter->list)
        kube_list_cancel(exporter->list);
    for (size_t cursor = 0; (entry = strmap_next(&exporter->entries, &cursor));)
        entry_free(entry);
    strmap_done(&exporter->entries);
    http_client_free(exporter->http);
    loop_timer_done(&exporter->timer);
    cpu_zones_done(&exporter->zones);
    free(exporter);
}

const struct service_kind numa_exporter_service = {
    .name = "numa-exporter",
    .flags = flags,
    .flag_count = ARRAY_LEN(flags),
    .values_size = sizeof(struct exporter_flags),
    .has_api = true,
    .configure = configure,
    .open = open_exporter,
    .lead = lead,
    .stop = stop,
    .close = close_exporter,
};
