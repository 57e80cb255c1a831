/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/builtin/members.h"
#include "local/builtin/validate_internal.h"

#define APPS "apps"
#define BATCH "batch"
#define STORAGE "storage.k8s.io"
#define WEBHOOKS "admissionregistration.k8s.io"
#define DEVICES "resource.k8s.io"
#define PROTOCOLS "SCTP TCP UDP"
#define PORT_MAX 65535
#define WEIGHT "must be in the range 1-100"
#define EFFECTS "NoSchedule PreferNoSchedule NoExecute"

static const struct value_rule rules[] = {
    {"", "PodSpec", "restartPolicy", CHECK_ONE_OF, "Always OnFailure Never", 0, 0},
    {"", "PodSpec", "dnsPolicy", CHECK_ONE_OF, "ClusterFirstWithHostNet ClusterFirst Default None", 0, 0},
    {"", "PodSpec", "preemptionPolicy", CHECK_ONE_OF, "PreemptLowerPriority Never", 0, 0},
    {"", "PodSpec", "containers", CHECK_REQUIRED, "", 0, 0},
    {"", "PodSpec", "activeDeadlineSeconds", CHECK_BETWEEN, NULL, 1, INT32_MAX},
    {"", "PodSpec", "nodeName", CHECK_SUBDOMAIN, NULL, 0, 0},
    {"", "PodSpec", "serviceAccountName", CHECK_SUBDOMAIN, NULL, 0, 0},
    {"", "PodSpec", "nodeSelector", CHECK_LABELS, NULL, 0, 0},
    {"", "PodSpec", "hostname", CHECK_LABEL, NULL, 0, 0},
    {"", "PodSpec", "subdomain", CHECK_LABEL, NULL, 0, 0},
    {"", "Container", "name", CHECK_REQUIRED, "", 0, 0},
    {"", "Container", "name", CHECK_LABEL, NULL, 0, 0},
    {"", "Container", "image", CHECK_REQUIRED, "", 0, 0},
    {"", "Container", "terminationMessagePolicy", CHECK_ONE_OF, "File FallbackToLogsOnError", 0, 0},
    {"", "Container", "imagePullPolicy", CHECK_ONE_OF, "Always IfNotPresent Never", 0, 0},
    {"", "ContainerPort", "name", CHECK_PORT, NULL, 0, 0},
    {"", "ContainerPort", "containerPort", CHECK_REQUIRED, "", 0, 0},
    {"", "ContainerPort", "containerPort", CHECK_BETWEEN, NULL, 1, PORT_MAX},
    {"", "ContainerPort", "hostPort", CHECK_BETWEEN, NULL, 1, PORT_MAX},
    {"", "ContainerPort", "protocol", CHECK_ONE_OF, PROTOCOLS, 0, 0},
    {"", "SecurityContext", "runAsUser", CHECK_BETWEEN, NULL, 0, INT32_MAX},
    {"", "SecurityContext", "runAsGroup", CHECK_BETWEEN, NULL, 0, INT32_MAX},
    {"", "PodSecurityContext", "runAsUser", CHECK_BETWEEN, NULL, 0, INT32_MAX},
    {"", "PodSecurityContext", "runAsGroup", CHECK_BETWEEN, NULL, 0, INT32_MAX},
    {"", "PodSecurityContext", "fsGroup", CHECK_BETWEEN, NULL, 0, INT32_MAX},
    {"", "ExecAction", "command", CHECK_REQUIRED, "", 0, 0},
    {"", "TCPSocketAction", "port", CHECK_PORT, NULL, 0, 0},
    {"", "HTTPGetAction", "path", CHECK_REQUIRED, "", 0, 0},
    {"", "HTTPGetAction", "port", CHECK_PORT, NULL, 0, 0},
    {"", "HTTPGetAction", "scheme", CHECK_ONE_OF, "HTTP HTTPS", 0, 0},
    {"", "GRPCAction", "port", CHECK_BETWEEN, NULL, 1, PORT_MAX},
    {"", "Probe", "initialDelaySeconds", CHECK_AT_LEAST_ZERO, NULL, 0, 0},
    {"", "Probe", "timeoutSeconds", CHECK_AT_LEAST_ZERO, NULL, 0, 0},
    {"", "Probe", "periodSeconds", CHECK_AT_LEAST_ZERO, NULL, 0, 0},
    {"", "Probe", "successThreshold", CHECK_AT_LEAST_ZERO, NULL, 0, 0},
    {"", "Probe", "failureThreshold", CHECK_AT_LEAST_ZERO, NULL, 0, 0},
    {"", "NodeSelector", "nodeSelectorTerms", CHECK_REQUIRED, "must have at least one node selector term", 0, 0},
    {"", "PodAffinityTerm", "topologyKey", CHECK_REQUIRED, "can not be empty", 0, 0},
    {"", "PodAffinityTerm", "topologyKey", CHECK_KEY, NULL, 0, 0},
    {"", "WeightedPodAffinityTerm", "weight", CHECK_BETWEEN, WEIGHT, 1, 100},
    {"", "PreferredSchedulingTerm", "weight", CHECK_BETWEEN, WEIGHT, 1, 100},
    {"", "TopologySpreadConstraint", "maxSkew", CHECK_ABOVE_ZERO, NULL, 0, 0},
    {"", "TopologySpreadConstraint", "topologyKey", CHECK_REQUIRED, "can not be empty", 0, 0},
    {"", "TopologySpreadConstraint", "whenUnsatisfiable", CHECK_ONE_OF, "DoNotSchedule ScheduleAnyway", 0, 0},
    {"", "PersistentVolumeClaimVolumeSource", "claimName", CHECK_REQUIRED, "", 0, 0},
    {"", "SecretVolumeSource", "secretName", CHECK_REQUIRED, "", 0, 0},
    {"", "ConfigMapVolumeSource", "name", CHECK_REQUIRED, "", 0, 0},
    {"", "Volume", "name", CHECK_REQUIRED, "", 0, 0},
    {"", "Volume", "name", CHECK_LABEL, NULL, 0, 0},
    {"", "PodSchedulingGate", "name", CHECK_KEY, NULL, 0, 0},
    {"", "SecretKeySelector", "key", CHECK_REQUIRED, "", 0, 0},
    {"", "ConfigMapKeySelector", "key", CHECK_REQUIRED, "", 0, 0},
    {"", "PersistentVolumeSpec", "accessModes", CHECK_REQUIRED, "", 0, 0},
    {"", "PersistentVolumeSpec", "persistentVolumeReclaimPolicy", CHECK_ONE_OF, "Delete Recycle Retain", 0, 0},
    {"", "PersistentVolumeSpec", "volumeMode", CHECK_ONE_OF, "Block Filesystem", 0, 0},
    {"", "CSIPersistentVolumeSource", "driver", CHECK_REQUIRED, "", 0, 0},
    {"", "CSIPersistentVolumeSource", "volumeHandle", CHECK_REQUIRED, "", 0, 0},
    {"", "PersistentVolumeClaimSpec", "volumeMode", CHECK_ONE_OF, "Block Filesystem", 0, 0},
    {"", "ReplicationControllerSpec", "replicas", CHECK_AT_LEAST_ZERO, NULL, 0, 0},

    {APPS, "DeploymentSpec", "replicas", CHECK_AT_LEAST_ZERO, NULL, 0, 0},
    {APPS, "DeploymentSpec", "minReadySeconds", CHECK_AT_LEAST_ZERO, NULL, 0, 0},
    {APPS, "DeploymentSpec", "revisionHistoryLimit", CHECK_AT_LEAST_ZERO, NULL, 0, 0},
    {APPS, "DeploymentSpec", "progressDeadlineSeconds", CHECK_AT_LEAST_ZERO, NULL, 0, 0},
    {APPS, "RollingUpdateDeployment", "maxUnavailable", CHECK_AMOUNT, NULL, 0, 0},
    {APPS, "RollingUpdateDeployment", "maxSurge", CHECK_AMOUNT, NULL, 0, 0},
    {APPS, "ReplicaSetSpec", "replicas", CHECK_AT_LEAST_ZERO, NULL, 0, 0},
    {APPS, "ReplicaSetSpec", "minReadySeconds", CHECK_AT_LEAST_ZERO, NULL, 0, 0},
    {APPS, "StatefulSetSpec", "replicas", CHECK_AT_LEAST_ZERO, NULL, 0, 0},
    {APPS, "StatefulSetSpec", "minReadySeconds", CHECK_AT_LEAST_ZERO, NULL, 0, 0},
    {APPS, "DaemonSetSpec", "minReadySeconds", CHECK_AT_LEAST_ZERO, NULL, 0, 0},
    {APPS, "DaemonSetSpec", "revisionHistoryLimit", CHECK_AT_LEAST_ZERO, NULL, 0, 0},

    {BATCH, "JobSpec", "parallelism", CHECK_AT_LEAST_ZERO, NULL, 0, 0},
    {BATCH, "JobSpec", "completions", CHECK_AT_LEAST_ZERO, NULL, 0, 0},
    {BATCH, "JobSpec", "activeDeadlineSeconds", CHECK_AT_LEAST_ZERO, NULL, 0, 0},
    {BATCH, "JobSpec", "backoffLimit", CHECK_AT_LEAST_ZERO, NULL, 0, 0},
    {BATCH, "JobSpec", "backoffLimitPerIndex", CHECK_AT_LEAST_ZERO, NULL, 0, 0},
    {BATCH, "JobSpec", "ttlSecondsAfterFinished", CHECK_AT_LEAST_ZERO, NULL, 0, 0},
    {BATCH, "JobSpec", "completionMode", CHECK_ONE_OF, "NonIndexed Indexed", 0, 0},
    {BATCH, "CronJobSpec", "concurrencyPolicy", CHECK_ONE_OF, "Allow Forbid Replace", 0, 0},
    {BATCH, "CronJobSpec", "startingDeadlineSeconds", CHECK_AT_LEAST_ZERO, NULL, 0, 0},
    {BATCH, "CronJobSpec", "successfulJobsHistoryLimit", CHECK_AT_LEAST_ZERO, NULL, 0, 0},
    {BATCH, "CronJobSpec", "failedJobsHistoryLimit", CHECK_AT_LEAST_ZERO, NULL, 0, 0},

    {"autoscaling", "HorizontalPodAutoscalerSpec", "maxReplicas", CHECK_BETWEEN, "must be greater than 0", 1,
     INT64_MAX},
    {"coordination.k8s.io", "LeaseSpec", "leaseDurationSeconds", CHECK_BETWEEN, "must be greater than 0", 1, INT64_MAX},
    {"coordination.k8s.io", "LeaseSpec", "leaseTransitions", CHECK_AT_LEAST_ZERO, NULL, 0, 0},
    {"scheduling.k8s.io", "PriorityClass", "preemptionPolicy", CHECK_ONE_OF, "PreemptLowerPriority Never", 0, 0},
    {"policy", "PodDisruptionBudgetSpec", "minAvailable", CHECK_AMOUNT, NULL, 0, 0},
    {"policy", "PodDisruptionBudgetSpec", "maxUnavailable", CHECK_AMOUNT, NULL, 0, 0},
    {"node.k8s.io", "RuntimeClass", "handler", CHECK_REQUIRED, "", 0, 0},
    {"node.k8s.io", "RuntimeClass", "handler", CHECK_LABEL, NULL, 0, 0},
    {"node.k8s.io", "Scheduling", "nodeSelector", CHECK_LABELS, NULL, 0, 0},
    {STORAGE, "StorageClass", "provisioner", CHECK_REQUIRED, "", 0, 0},
    {STORAGE, "StorageClass", "provisioner", CHECK_LOWER_KEY, NULL, 0, 0},
    {STORAGE, "StorageClass", "reclaimPolicy", CHECK_ONE_OF, "Delete Retain", 0, 0},
    {STORAGE, "StorageClass", "volumeBindingMode", CHECK_ONE_OF, "Immediate WaitForFirstConsumer", 0, 0},
    {"networking.k8s.io", "NetworkPolicyPort", "protocol", CHECK_ONE_OF, PROTOCOLS, 0, 0},
    {"networking.k8s.io", "NetworkPolicyPort", "port", CHECK_PORT, NULL, 0, 0},
    {"discovery.k8s.io", "EndpointSlice", "addressType", CHECK_REQUIRED, "", 0, 0},
    {"discovery.k8s.io", "EndpointSlice", "addressType", CHECK_ONE_OF, "FQDN IPv4 IPv6", 0, 0},
    {DEVICES, "ExactDeviceRequest", "deviceClassName", CHECK_REQUIRED, "", 0, 0},
    {DEVICES, "ExactDeviceRequest", "deviceClassName", CHECK_SUBDOMAIN, NULL, 0, 0},
    {DEVICES, "ExactDeviceRequest", "allocationMode", CHECK_ONE_OF, "All ExactCount", 0, 0},
    {DEVICES, "ExactDeviceRequest", "count", CHECK_ABOVE_ZERO, NULL, 0, 0},
    {DEVICES, "DeviceSubRequest", "deviceClassName", CHECK_REQUIRED, "", 0, 0},
    {DEVICES, "DeviceSubRequest", "deviceClassName", CHECK_SUBDOMAIN, NULL, 0, 0},
    {DEVICES, "DeviceRequest", "name", CHECK_REQUIRED, "", 0, 0},
    {DEVICES, "DeviceRequest", "name", CHECK_LABEL, NULL, 0, 0},
    {DEVICES, "ResourceSliceSpec", "driver", CHECK_REQUIRED, "", 0, 0},
    {DEVICES, "ResourceSliceSpec", "driver", CHECK_SUBDOMAIN, NULL, 0, 0},
    {DEVICES, "Device", "name", CHECK_LABEL, NULL, 0, 0},
    {WEBHOOKS, "ValidatingWebhook", "failurePolicy", CHECK_ONE_OF, "Fail Ignore", 0, 0},
    {WEBHOOKS, "ValidatingWebhook", "matchPolicy", CHECK_ONE_OF, "Equivalent Exact", 0, 0},
    {WEBHOOKS, "ValidatingWebhook", "timeoutSeconds", CHECK_BETWEEN,
     "the timeout value must be between 1 and 30 seconds", 1, 30},
    {WEBHOOKS, "MutatingWebhook", "failurePolicy", CHECK_ONE_OF, "Fail Ignore", 0, 0},
    {WEBHOOKS, "MutatingWebhook", "matchPolicy", CHECK_ONE_OF, "Equivalent Exact", 0, 0},
    {WEBHOOKS, "MutatingWebhook", "timeoutSeconds", CHECK_BETWEEN, "the timeout value must be between 1 and 30 seconds",
     1, 30},
};

const struct value_rule *value_rule_at(size_t index)
{
    return index < ARRAY_LEN(rules) ? &rules[index] : NULL;
}

static bool is_empty(yyjson_mut_val *value)
{
    if (!value)
        return true;
    if (yyjson_mut_is_str(value))
        return yyjson_mut_get_len(value) == 0;
    if (yyjson_mut_is_num(value))
        return yyjson_mut_get_num(value) == 0;
    return yyjson_mut_is_ctn(value) && yyjson_mut_arr_size(value) == 0 && yyjson_mut_obj_size(value) == 0;
}

static void check_between(struct problems *problems, const struct value_rule *rule, const struct field *field,
                          int64_t value)
{
    char text[80];

    if (value >= rule->min && value <= rule->max)
        return;
    (void)snprintf(text, sizeof text, "must be between %" PRId64 " and %" PRId64 ", inclusive", rule->min, rule->max);
    problem_invalid_number(problems, field, value, rule->words ? rule->words : text);
}

void check_port(struct problems *problems, const struct field *field, yyjson_mut_val *value)
{
    const struct value_rule range = {.min = 1, .max = PORT_MAX};

    if (yyjson_mut_is_str(value))
        check_port_name(problems, field, yyjson_mut_get_str(value));
    else
        check_between(problems, &range, field, yyjson_mut_get_sint(value));
}

static void check_amount(struct problems *problems, const struct field *field, yyjson_mut_val *value)
{
    const char *text = yyjson_mut_get_str(value);
    size_t digits = text ? strspn(text, "0123456789") : 0;

    if (!text && yyjson_mut_get_sint(value) < 0)
        problem_invalid(problems, field, value, "must be greater than or equal to 0");
    if (text && (digits == 0 || strcmp(text + digits, "%") != 0))
        problem_invalid(problems, field, value,
                        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or "
                        "'93%', regex used for validation is '[0-9]+%')");
}

static void check_lower_key(struct problems *problems, const struct field *field, const char *key)
{
    _cleanup_(freep) char *lower = xstrdup(key);

    for (char *at = lower; *at; at++) {
        if (*at >= 'A' && *at <= 'Z')
            *at = (char)(*at | ' ');
    }
    check_label_key(problems, field, lower);
}

/* Rules for a text. */
static void check_text(struct validating *validating, const struct value_rule *rule, yyjson_mut_val *value,
                       const struct field *field)
{
    const char *text = yyjson_mut_get_str(value);

    if (!text)
        return;
    if (rule->check == CHECK_ONE_OF && !kind_list_has(rule->words, text))
        problem_not_supported(validating->problems, field, value, rule->words);
    if (rule->check == CHECK_LABEL && *text)
        check_dns_label(validating->problems, field, text);
    if (rule->check == CHECK_SUBDOMAIN)
        check_subdomain(validating->problems, field, text);
    if (rule->check == CHECK_KEY)
        check_label_key(validating->problems, field, text);
    if (rule->check == CHECK_LOWER_KEY)
        check_lower_key(validating->problems, field, text);
}

/* Whether the row before says that the member is missing, and nothing more is to be said. */
static bool is_reported(const struct value_rule *rule)
{
    return rule != rules && rule[-1].check == CHECK_REQUIRED && strcmp(rule[-1].member, rule->member) == 0 &&
           strcmp(rule[-1].type, rule->type) == 0 && *rule[-1].words == '\0';
}

void value_check(struct validating *validating, const struct value_rule *rule, yyjson_mut_val *object,
                 const struct field *parent)
{
    const struct field field = field_member(parent, rule->member);
    yyjson_mut_val *value = member_get(object, rule->member);
    struct problems *problems = validating->problems;

    if (rule->check == CHECK_REQUIRED) {
        if (is_empty(value))
            problem_required(problems, &field, rule->words);
        return;
    }
    if (!value || (is_empty(value) && is_reported(rule)))
        return;
    int64_t number = yyjson_mut_get_sint(value);
    if (rule->check == CHECK_AT_LEAST_ZERO && number < 0)
        problem_invalid_number(problems, &field, number, "must be greater than or equal to 0");
    else if (rule->check == CHECK_ABOVE_ZERO && number <= 0)
        problem_invalid_number(problems, &field, number, "must be greater than zero");
    else if (rule->check == CHECK_BETWEEN)
        check_between(problems, rule, &field, number);
    else if (rule->check == CHECK_PORT)
        check_port(problems, &field, value);
    else if (rule->check == CHECK_AMOUNT)
        check_amount(problems, &field, value);
    else if (rule->check == CHECK_LABELS)
        check_labels(problems, &field, value);
    else
        check_text(validating, rule, value, &field);
}
