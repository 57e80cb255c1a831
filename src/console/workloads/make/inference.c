/* SPDX-License-Identifier: Apache-2.0 */
#include "console/workloads/make/inference.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "console/data/items.h"
#include "console/org/wants.h"
#include "console/rest/context.h"
#include "console/workloads/make/template.h"

#define KNATIVE "autoscaling.knative.dev/"

enum { NUMBER_TEXT_MAX = 32, SERVICE_PORT = 80 };

static const char *text_at(yyjson_val *item, const char *pointer)
{
    const char *text = yyjson_get_str(yyjson_ptr_get(item, pointer));

    return text ? text : "";
}

/* --- what was asked for --- */

static int64_t count_of(yyjson_mut_val *scaling, const char *key, int64_t otherwise)
{
    yyjson_mut_val *given = yyjson_mut_obj_get(scaling, key);

    return given ? yyjson_mut_get_sint(given) : otherwise;
}

static int check_scaling(yyjson_mut_val *scaling, struct err *err)
{
    static const char *const metrics[] = {"throughput", "concurrency", "latency"};
    int64_t min = count_of(scaling, "minReplicas", 1);
    int64_t max = count_of(scaling, "maxReplicas", MAX(min, 1));
    int64_t first = count_of(scaling, "initialReplicas", min);
    const char *metric = yyjson_mut_get_str(yyjson_mut_obj_get(scaling, "metric"));
    bool is_known = !metric;

    if (min > max)
        return err_set(err, -EINVAL, "spec.autoscaling.maxReplicas: it is less than minReplicas");
    if (first > max)
        return err_set(err, -EINVAL, "spec.autoscaling.initialReplicas: it is more than maxReplicas");
    if (max > MAX(min, 1) && !metric)
        return err_set(err, -EINVAL, "spec.autoscaling.metric: it is required when maxReplicas is above minReplicas");
    if (metric && !yyjson_mut_obj_get(scaling, "metricThreshold"))
        return err_set(err, -EINVAL, "spec.autoscaling.metricThreshold: it is required with a metric");
    for (size_t i = 0; i < ARRAY_LEN(metrics); i++)
        is_known = is_known || strcmp(metric, metrics[i]) == 0;
    return is_known ? 0 : err_set(err, -EINVAL, "spec.autoscaling.metric: expected throughput, concurrency or latency");
}

int inference_check(yyjson_mut_val *spec, struct err *err)
{
    yyjson_mut_val *port = yyjson_mut_obj_get(spec, "servingPort");
    const char *who = yyjson_mut_get_str(yyjson_mut_obj_get(port, "authorizationType"));

    if (port && !yyjson_mut_obj_get(port, "container"))
        return err_set(err, -EINVAL, "spec.servingPort.container: it is required");
    /* Rules that nothing enforces would be worse than none. */
    if (who && strcmp(who, "public") != 0)
        return err_set(
            err, -ENOSYS,
            "spec.servingPort.authorizationType: %s is not supported yet: the endpoint is a Service, which the "
            "cluster's network policies protect; take public",
            who);
    if (yyjson_mut_ptr_get(spec, "/servingConfiguration/requestTimeoutSeconds"))
        return err_set(err, -ENOSYS, "spec.servingConfiguration.requestTimeoutSeconds is not supported yet");
    return check_scaling(yyjson_mut_obj_get(spec, "autoscaling"), err);
}

int64_t inference_replicas(yyjson_val *spec)
{
    yyjson_val *scaling = yyjson_obj_get(spec, "autoscaling");
    int64_t min = yyjson_get_sint(yyjson_obj_get(scaling, "minReplicas"));
    int64_t first = yyjson_get_sint(yyjson_obj_get(scaling, "initialReplicas"));

    /* Nothing would start a pod again when there is none. */
    return MAX(MAX(min, first), 1);
}

/* --- the Deployment --- */

/* As Knative names them. */
static const struct {
    const char *member;
    const char *annotation;
    const char *unit;
} annotations[] = {
    {"minReplicas", KNATIVE "min-scale", ""},
    {"maxReplicas", KNATIVE "max-scale", ""},
    {"initialReplicas", KNATIVE "initial-scale", ""},
    {"activationReplicas", KNATIVE "activation-scale", ""},
    {"metric", KNATIVE "metric", ""},
    {"metricThreshold", KNATIVE "target", ""},
    {"metricThresholdPercentage", KNATIVE "target-utilization-percentage", ""},
    {"concurrencyHardLimit", "console.muster/concurrency-hard-limit", ""},
    {"scaleToZeroRetentionSeconds", KNATIVE "scale-to-zero-pod-retention-period", "s"},
    {"scaleDownDelaySeconds", KNATIVE "scale-down-delay", "s"},
};

static const char *metric_name(const char *metric)
{
    return strcmp(metric, "throughput") == 0 ? "rps" : metric;
}

static void put_annotations(yyjson_mut_doc *doc, yyjson_val *scaling, yyjson_mut_val *to)
{
    char text[NUMBER_TEXT_MAX];

    for (size_t i = 0; i < ARRAY_LEN(annotations); i++) {
        yyjson_val *value = yyjson_obj_get(scaling, annotations[i].member);

        if (!value)
            continue;
        (void)snprintf(text, sizeof text, "%.9g%s", yyjson_get_num(value), annotations[i].unit);
        put_text(doc, to, annotations[i].annotation, yyjson_is_str(value) ? metric_name(yyjson_get_str(value)) : text);
    }
}

/* A pod goes before another one comes: what runs has the quota, and may have all of it. */
static void put_strategy(yyjson_mut_doc *doc, yyjson_mut_val *spec)
{
    yyjson_mut_val *strategy = yyjson_mut_obj_add_obj(doc, spec, "strategy");

    put_text(doc, strategy, "type", "RollingUpdate");
    yyjson_mut_val *rolling = yyjson_mut_obj_add_obj(doc, strategy, "rollingUpdate");
    (void)yyjson_mut_obj_add_int(doc, rolling, "maxSurge", 0);
    (void)yyjson_mut_obj_add_int(doc, rolling, "maxUnavailable", 1);
}

static yyjson_val *timeout_of(yyjson_val *spec)
{
    yyjson_val *timeout = yyjson_ptr_get(spec, "/servingConfiguration/initializationTimeoutSeconds");

    return timeout ? timeout : yyjson_ptr_get(spec, "/autoscaling/initializationTimeoutSeconds");
}

static int want_deployment(const struct sync_item *item, yyjson_val *root, struct wants *wants, struct err *err)
{
    yyjson_val *given = yyjson_obj_get(root, "spec");
    struct want *want =
        wants_add(wants, KUBE_DEPLOYMENTS, WANT_SAME, text_at(root, "/namespace"), text_at(root, "/name"));
    yyjson_mut_val *deployment = want_begin(want, item, ITEM_WORKLOAD);
    yyjson_mut_val *metadata = yyjson_mut_obj_get(deployment, "metadata");
    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(want->doc, deployment, "spec");

    template_labels(want->doc, root, yyjson_mut_obj_get(metadata, "labels"));
    put_annotations(want->doc, yyjson_obj_get(given, "autoscaling"),
                    yyjson_mut_obj_add_obj(want->doc, metadata, "annotations"));
    (void)yyjson_mut_obj_add_sint(want->doc, spec, "replicas", inference_replicas(given));
    yyjson_mut_val *selector = yyjson_mut_obj_add_obj(want->doc, spec, "selector");
    put_text(want->doc, yyjson_mut_obj_add_obj(want->doc, selector, "matchLabels"), OBJECT_LABEL_ID, item->id);
    put_strategy(want->doc, spec);
    if (timeout_of(given))
        (void)yyjson_mut_obj_add_sint(want->doc, spec, "progressDeadlineSeconds", yyjson_get_sint(timeout_of(given)));
    int r = template_encode(want->doc, root, yyjson_mut_obj_add_obj(want->doc, spec, "template"), err);
    want_replaces(want);
    return r;
}

static void want_service(const struct sync_item *item, yyjson_val *root, struct wants *wants)
{
    yyjson_val *given = yyjson_ptr_get(root, "/spec/servingPort");
    bool is_grpc = strcmp(text_at(given, "/protocol"), "grpc") == 0;
    struct want *want = wants_add(wants, KUBE_SERVICES, WANT_SAME, text_at(root, "/namespace"), text_at(root, "/name"));
    yyjson_mut_val *service = want_begin(want, item, ITEM_WORKLOAD);
    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(want->doc, service, "spec");
    yyjson_mut_val *port = yyjson_mut_arr_add_obj(want->doc, yyjson_mut_obj_add_arr(want->doc, spec, "ports"));

    put_text(want->doc, yyjson_mut_obj_add_obj(want->doc, spec, "selector"), OBJECT_LABEL_ID, item->id);
    put_text(want->doc, port, "name", is_grpc ? "grpc" : "http");
    (void)yyjson_mut_obj_add_int(want->doc, port, "port", SERVICE_PORT);
    (void)yyjson_mut_obj_add_sint(want->doc, port, "targetPort", yyjson_get_sint(yyjson_obj_get(given, "container")));
    put_text(want->doc, port, "protocol", "TCP");
}

int inference_want(const struct sync_item *item, struct wants *wants, struct err *err)
{
    yyjson_val *root = yyjson_doc_get_root(item->doc);

    if (yyjson_ptr_get(root, "/spec/servingPort"))
        want_service(item, root, wants);
    return want_deployment(item, root, wants, err);
}
