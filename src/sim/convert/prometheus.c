/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Answers of Prometheus to queries for what kube-state-metrics tells: a JSON object with a vector or a matrix of series. A
 * series is known by the name of its metric; others than those of the table are passed over. Files may overlap, as they
 * do when a month is asked for day by day.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "sim/convert/convert_internal.h"
#include "sim/convert/prometheus_internal.h"

enum { KEY_BYTES = 800, PODS_MAX = 10000000 };

/* A series: its labels, and its first and last sample. */
struct sample {
    struct json_at labels;
    double first;  // when
    double last;
    double step;  // the shortest between two of them, 0: there is only one
    double value;
};

static const char *label(const struct sample *sample, const char *name)
{
    const char *text = "";

    (void)!json_member_str(&sample->labels, name, JSON_OPTIONAL, &text, NULL);
    return text;
}

/* The pod that the series is about, new or not; NULL when it names none. */
static struct prometheus_pod *pod_of(struct converter *c, const struct sample *sample)
{
    struct prometheus *p = c->prometheus;
    char key[KEY_BYTES];
    uint64_t index;
    trace_name id;

    if (!*label(sample, "pod") || p->pods.len >= PODS_MAX)
        return NULL;
    (void)snprintf(key, sizeof key, "%s/%s/%s", label(sample, "namespace"), label(sample, "pod"), label(sample, "uid"));
    id = trace_intern(c->trace, key);
    if (!map64_get(&p->pod_by_key, id, &index)) {
        index = p->pods.len;
        map64_put(&p->pod_by_key, id, index);
        vec_push(&p->pods, (struct prometheus_pod){.namespace = convert_name(c->trace, label(sample, "namespace")),
                                                   .name = convert_name(c->trace, label(sample, "pod"))});
    }
    p->pods.items[index].last_seen = MAX(p->pods.items[index].last_seen, sample->last);
    if (sample->step > 0 && (p->step == 0 || sample->step < p->step))
        p->step = sample->step;
    return &p->pods.items[index];
}

/* Controllers each of whose pods is a workload of its own; the pods of any other one are a gang. */
static bool is_of_single_pods(const char *kind)
{
    static const char *const kinds[] = {"Job", "ReplicaSet", "StatefulSet", "ReplicationController", "<none>", ""};

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (strcmp(kinds[i], kind) == 0)
            return true;
    return false;
}

static void take_owner(struct converter *c, const struct sample *sample)
{
    struct prometheus_pod *pod = pod_of(c, sample);
    const char *kind = label(sample, "owner_kind");

    if (!pod)
        return;
    pod->is_of_node = strcmp(kind, "DaemonSet") == 0 || strcmp(kind, "Node") == 0;
    if (!is_of_single_pods(kind))
        pod->owner = convert_name(c->trace, label(sample, "owner_name"));
}

static void take_labels(struct converter *c, const struct sample *sample)
{
    static const char *const queues[] = {"label_kai_scheduler_queue", "label_runai_queue", "label_project"};
    struct prometheus_pod *pod = pod_of(c, sample);

    for (size_t i = 0; pod && pod->queue == 0 && i < ARRAY_LEN(queues); i++)
        if (*label(sample, queues[i]))
            pod->queue = convert_queue(c, label(sample, queues[i]));
}

static void take_created(struct converter *c, const struct sample *sample)
{
    struct prometheus_pod *pod = pod_of(c, sample);

    if (pod)
        pod->created = sample->value;
}

/* When it was bound and when the kubelet took it up: the earlier is the end of its wait. */
static void take_started(struct converter *c, const struct sample *sample)
{
    struct prometheus_pod *pod = pod_of(c, sample);

    if (pod && sample->value > 0)
        pod->started = pod->started > 0 ? MIN(pod->started, sample->value) : sample->value;
}

static void take_completed(struct converter *c, const struct sample *sample)
{
    struct prometheus_pod *pod = pod_of(c, sample);

    if (pod)
        pod->completed = sample->value;
}

/* Names of resources have '_' for every other character: "nvidia_com_gpu". */
static bool is_gpu(const char *resource)
{
    size_t len = strlen(resource);

    return len > 4 && strcmp(resource + len - 4, "_gpu") == 0;
}

static void take_request(struct converter *c, const struct sample *sample)
{
    struct prometheus_pod *pod = pod_of(c, sample);
    const char *resource = label(sample, "resource");
    char key[KEY_BYTES];
    trace_name id;

    if (!pod)
        return;
    (void)snprintf(key, sizeof key, "%s/%s/%s/%s/%s", label(sample, "namespace"), label(sample, "pod"),
                   label(sample, "uid"), label(sample, "container"), resource);
    id = trace_intern(c->trace, key);
    if (map64_get(&c->prometheus->counted, id, NULL))
        return;
    map64_put(&c->prometheus->counted, id, 1);
    if (is_gpu(resource))
        pod->gpus += (int64_t)MIN(sample->value, (double)TRACE_GPUS_MAX);
    else if (strcmp(resource, "cpu") == 0)
        pod->cpu_milli += (int64_t)ceil(MIN(sample->value, 1e6) * 1000);
    else if (strcmp(resource, "memory") == 0)
        pod->memory_bytes += (int64_t)MIN(sample->value, 1e16);
}

static void take_node(struct converter *c, const struct sample *sample)
{
    const char *resource = label(sample, "resource");
    struct trace_node *node;

    if (!*label(sample, "node"))
        return;
    node = convert_node(c, label(sample, "node"), "");
    if (is_gpu(resource))
        node->gpus = (uint32_t)MIN(sample->value, (double)TRACE_GPUS_MAX);
    else if (strcmp(resource, "cpu") == 0)
        node->cpu_milli = (int64_t)(MIN(sample->value, 1e6) * 1000);
    else if (strcmp(resource, "memory") == 0)
        node->memory_bytes = (int64_t)MIN(sample->value, 1e16);
}

static void take_node_labels(struct converter *c, const struct sample *sample)
{
    const char *product = label(sample, "label_nvidia_com_gpu_product");
    const char *memory = label(sample, "label_nvidia_com_gpu_memory");
    struct trace_node *node;

    if (!*label(sample, "node"))
        return;
    node = convert_node(c, label(sample, "node"), "");
    if (node->labels != 0)
        return;
    convert_label(c, node, "nvidia.com/gpu.product", product);
    convert_label(c, node, "nvidia.com/gpu.memory", memory);
}

static const struct {
    const char *name;
    void (*take)(struct converter *c, const struct sample *sample);
} metrics[] = {
    {"kube_pod_created", take_created},
    {"kube_pod_status_scheduled_time", take_started},
    {"kube_pod_start_time", take_started},
    {"kube_pod_completion_time", take_completed},
    {"kube_pod_owner", take_owner},
    {"kube_pod_labels", take_labels},
    {"kube_pod_container_resource_requests", take_request},
    {"kube_node_status_allocatable", take_node},
    {"kube_node_labels", take_node_labels},
};

/* [1700000000.123, "2"]: when, and the value. */
static int read_point(const struct json_at *at, double *ret_time, double *ret_value, struct err *err)
{
    yyjson_val *time = yyjson_arr_get(at->val, 0);
    yyjson_val *value = yyjson_arr_get(at->val, 1);
    const char *text = value ? yyjson_get_str(value) : NULL;
    char *end = NULL;

    *ret_time = time && yyjson_is_num(time) ? yyjson_get_num(time) : -1;
    *ret_value = text ? strtod(text, &end) : -1;
    if (!text || end == text || *end || !(*ret_time >= 0 && *ret_time < 4e9))
        return json_fail(at, err, -EINVAL, "expected a sample such as [1700000000, \"2\"]");
    if (!isfinite(*ret_value) || *ret_value < 0)
        *ret_value = 0;
    return 0;
}

static int read_points(const struct json_at *series, struct sample *sample, struct err *err)
{
    struct json_at values;
    double time;
    int r = json_member_array(series, "values", JSON_OPTIONAL, &values, err);

    if (r == 0) {
        r = json_member_array(series, "value", JSON_REQUIRED, &values, err);
        if (r > 0)
            r = read_point(&values, &sample->last, &sample->value, err);
        sample->first = sample->last;
        return r;
    }
    for (struct json_at point = {0}; r >= 0 && json_next(&values, &point);) {
        r = read_point(&point, &time, &sample->value, err);
        if (sample->first == 0)
            sample->first = time;
        else if (time > sample->last && (sample->step == 0 || time - sample->last < sample->step))
            sample->step = time - sample->last;
        sample->last = time;
    }
    return r;
}

static int read_series(struct converter *c, const struct json_at *series, struct err *err)
{
    struct sample sample = {0};
    const char *name = "";
    int r;

    if ((r = json_object(series, err)) < 0 ||
        (r = json_member_object(series, "metric", JSON_REQUIRED, &sample.labels, err)) < 0)
        return r;
    if (json_member_str(&sample.labels, "__name__", JSON_OPTIONAL, &name, NULL) <= 0)
        return json_fail(&sample.labels, err, -EINVAL,
                         "expected the metric's name in __name__; query for the metrics themselves, without functions");
    for (size_t i = 0; i < ARRAY_LEN(metrics); i++) {
        if (strcmp(metrics[i].name, name) != 0)
            continue;
        if ((r = read_points(series, &sample, err)) < 0)
            return r;
        c->prometheus->last_seen = MAX(c->prometheus->last_seen, sample.last);
        metrics[i].take(c, &sample);
    }
    return 0;
}

static int read_answer(struct converter *c, const struct json_at *root, struct err *err)
{
    struct json_at data;
    struct json_at result;
    const char *status = "";
    const char *error = "";
    int r = json_member_str(root, "status", JSON_OPTIONAL, &status, err);

    if (r >= 0)
        r = json_member_str(root, "error", JSON_OPTIONAL, &error, err);
    if (r >= 0 && strcmp(status, "error") == 0)
        return err_set(err, -EINVAL, "Prometheus answered with an error: %.200s", error);
    if (r < 0 || (r = json_member_object(root, "data", JSON_REQUIRED, &data, err)) < 0 ||
        (r = json_member_array(&data, "result", JSON_REQUIRED, &result, err)) < 0)
        return r;
    for (struct json_at series = {0}; r >= 0 && json_next(&result, &series);)
        r = read_series(c, &series, err);
    return r;
}

int convert_prometheus(struct converter *c, yyjson_doc *doc, const char *name, struct err *err)
{
    struct json_at root = json_root(doc);
    int r;

    if (!c->prometheus)
        c->prometheus = xcalloc(1, sizeof *c->prometheus);
    c->trace->has_dates = true;
    r = read_answer(c, &root, err);
    return r < 0 ? err_wrap(err, r, "%s", name) : 0;
}

void prometheus_free(struct prometheus *p)
{
    if (!p)
        return;
    vec_done(&p->pods);
    map64_done(&p->pod_by_key);
    map64_done(&p->counted);
    free(p);
}
