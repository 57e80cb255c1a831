/* SPDX-License-Identifier: Apache-2.0 */

/* The scheduler of a SchedulingShard. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "objects/keys.h"
#include "services/operator/draft_internal.h"

#define CONFIG_PATH "/etc/config/config.yaml"
enum { METRICS_PORT = 8080 };

/* Flags of the scheduler that a shard may set. Others are left out: a shard of another release must not end it. */
static const char *const shard_flags[] = {
    "allow-consolidating-reclaim",
    "bind-requests",
    "burst",
    "cluster-autoscaling",
    "cpu-worker-node-label-key",
    "default-staleness-grace-period",
    "detailed-fit-errors",
    "feature-gates",
    "full-hierarchy-fairness",
    "gpu-worker-node-label-key",
    "journal",
    "journal-size",
    "listen-address",
    "log-json",
    "mark-bound-pods",
    "max-consolidation-preemptees",
    "metrics-namespace",
    "mig-worker-node-label-key",
    "names-max",
    "nodepool-label-key",
    "num-of-status-recording-workers",
    "partition-label-value",
    "plugin-server-port",
    "qps",
    "queue-label-key",
    "resource-reservation-app-label",
    "restrict-node-scheduling",
    "schedule-csi-storage",
    "schedule-period",
    "stuck-in-releasing-threshold",
    "update-pod-eviction-condition",
    "use-scheduling-signatures",
    "v",
};

const char *const *shard_flag_names(size_t *ret_count)
{
    *ret_count = ARRAY_LEN(shard_flags);
    return shard_flags;
}

static const char *shard_object_name(struct draft *draft, const struct shard *shard)
{
    return draft_text(draft, "%s-%s", scheduler_name(draft->config), shard->name);
}

/* Shards of one process cannot all have the port of the plugins: it is the default one's, unless others name their own. */
static void add_hosted_args(struct draft *draft, yyjson_mut_val *args, const struct shard *shard, const char *settings)
{
    args_add(draft, args, "--scheduler-conf-text=%s", settings);
    if (strcmp(shard->name, "default") != 0)
        args_add(draft, args, "--plugin-server-port=0");
}

/* What the grouper and the autoscaler's helper are told as well. */
static void add_shared_args(struct draft *draft, yyjson_mut_val *args)
{
    const char *namespaces = selector_text(draft, "global.namespaceLabelSelector");
    const char *pods = selector_text(draft, "global.podLabelSelector");

    if (namespaces)
        args_add(draft, args, "--namespace-label-selector=%s", namespaces);
    if (pods)
        args_add(draft, args, "--pod-label-selector=%s", pods);
    if (conf_bool(draft->config, "nodeScaleAdjuster.service.enabled", false))
        args_add(draft, args, "--cluster-autoscaling=true");
}

static yyjson_mut_val *shard_args(struct draft *draft, const struct shard *shard, const char *settings)
{
    yyjson_val *section = conf_at(draft->config, "scheduler");
    const char *prefix = conf_text(draft->config, "queueController.metricsNamespace", NULL);
    yyjson_mut_val *args = pack(draft->doc, "[scheduler]");

    if (draft->around->is_hosted)
        add_hosted_args(draft, args, shard, settings);
    else
        args_add(draft, args, "--scheduler-conf=" CONFIG_PATH);
    args_add(draft, args, "--scheduler-name=%s", scheduler_name(draft->config));
    args_add(draft, args, "--namespace=%s", draft->around->namespace);
    args_add(draft, args, "--nodepool-label-key=%s", node_pool_label_key(draft->config));
    args_add(draft, args, "--partition-label-value=%s", conf_text(shard->object, "spec.partitionLabelValue", ""));
    args_add(draft, args, "--resource-reservation-app-label=%s",
             conf_text(draft->config, "binder.resourceReservation.appLabel", KEY_APP_RESERVATION));
    args_add(draft, args, "--queue-label-key=%s", queue_label_key(draft->config));
    args_add(draft, args, "--listen-address=:%d", conf_int(section, "schedulerService.port", METRICS_PORT));
    if (prefix)
        args_add(draft, args, "--metrics-namespace=%s", prefix);
    add_shared_args(draft, args);
    for (size_t i = 0; i < ARRAY_LEN(shard_flags); i++) {
        const char *value = yyjson_get_str(yyjson_obj_get(conf_at(shard->object, "spec.args"), shard_flags[i]));

        if (value)
            args_add(draft, args, "--%s=%s", shard_flags[i], value);
    }
    if (section_replicas(draft, section) > 1 && !draft->around->is_hosted)
        args_add(draft, args, "--leader-elect=true");
    if (conf_bool(draft->config, "global.jsonLog", false))
        args_add(draft, args, "--log-json");
    return args;
}

static void add_service(struct draft *draft, const char *name, int replicas)
{
    yyjson_val *service = conf_at(draft->config, "scheduler.schedulerService");
    int port = conf_int(service, "port", METRICS_PORT);
    yyjson_mut_val *meta = draft_meta(draft, draft->around->namespace, name, name);
    /* Of several replicas the leader alone answers: the EndpointSlice below says which one it is. */
    yyjson_mut_val *selector = replicas > 1 ? NULL : pack(draft->doc, "{app: %s}", name);

    (void)yyjson_mut_obj_add_val(draft->doc, meta, "annotations",
                                 pack(draft->doc, "{prometheus.io/scrape: %s}", "true"));
    draft_add(draft, OWNED_SERVICE,
              pack(draft->doc,
                   "{metadata: %p, spec: {type: %s, clusterIP: None, selector: %p,"
                   " ports: [{name: http-metrics, port: %d, protocol: TCP, targetPort: %d}]}}",
                   (void *)meta, conf_text(service, "type", "ClusterIP"), (void *)selector, port,
                   conf_int(service, "targetPort", port)));
}

static void add_leader_slice(struct draft *draft, const char *name, const struct leader *leader)
{
    const char *namespace = draft->around->namespace;
    yyjson_mut_val *endpoint = NULL;

    if (leader->address)
        endpoint = pack(draft->doc,
                        "{addresses: [%s], conditions: {ready: true},"
                        " targetRef: {kind: Pod, namespace: %s, name: %s, uid: %s}}",
                        leader->address, namespace, leader->pod, leader->uid);
    draft_add(draft, OWNED_ENDPOINT_SLICE,
              pack(draft->doc,
                   "{metadata: {name: %s, namespace: %s, labels: {app: %s, kubernetes.io/service-name: %s,"
                   " endpointslice.kubernetes.io/managed-by: kai-operator}}, addressType: IPv4,"
                   " ports: [{name: http-metrics, port: %d, protocol: TCP}], endpoints: [%p]}",
                   draft_text(draft, "%s-leader", name), namespace, name, name,
                   conf_int(draft->config, "scheduler.schedulerService.port", METRICS_PORT), (void *)endpoint));
}

int desired_for_shard(struct desired *desired, const struct shard *shard, yyjson_val *config,
                      const struct surroundings *around, struct err *err)
{
    struct draft draft = {.desired = desired, .doc = desired->doc, .config = config, .around = around};
    yyjson_val *section = conf_at(config, "scheduler");
    yyjson_val *service = conf_at(section, "service");
    const char *name = shard_object_name(&draft, shard);
    int replicas = section_replicas(&draft, section);
    const char *settings = NULL;

    draft.operand = scheduler_operand();
    if (!conf_bool(service, "enabled", true))
        return 0;
    int r = draft_scheduler_config(&draft, shard->object, &settings, err);
    if (r < 0)
        return r;
    draft_add(&draft, OWNED_CONFIG_MAP,
              pack(draft.doc, "{metadata: %p, data: {config.yaml: %s}}",
                   (void *)draft_meta(&draft, around->namespace, name, name), settings));
    draft_deployment(
        &draft,
        &(struct workload){
            .name = name,
            .account = "scheduler",
            .service = service,
            .amounts = {"100m", "64Mi", "1Gi"},
            .args = shard_args(&draft, shard, settings),
            .env = pack(draft.doc, "[{name: NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}]"),
            .mounts = pack(draft.doc, "[{name: config, mountPath: " CONFIG_PATH ", subPath: config.yaml}]"),
            .volumes = pack(draft.doc, "[{name: config, configMap: {name: %s}}]", name),
            /* The file is read once: a change of it starts the pods anew. */
            .annotations = pack(draft.doc, "{muster.scheduler/config-hash: %s}",
                                draft_text(&draft, "%016" PRIx64, hash_str(settings, 0))),
            .probe_port = conf_int(section, "schedulerService.targetPort",
                                   conf_int(section, "schedulerService.port", METRICS_PORT)),
            .replicas = replicas,
            .is_recreated = true,
        });
    add_service(&draft, name, replicas);
    draft_budget(&draft, name, service, replicas);
    draft_autoscaler(&draft, section, name, "Deployment");
    if (replicas > 1)
        add_leader_slice(&draft, name, &shard->leader);
    return 0;
}

bool shard_lease(yyjson_val *config, yyjson_val *shard_spec, char name[static LEASE_NAME_MAX])
{
    const struct draft draft = {.config = config};
    const char *partition = conf_text(shard_spec, "partitionLabelValue", "");

    (void)snprintf(name, LEASE_NAME_MAX, "%s%s%s", scheduler_name(config), *partition ? "-" : "", partition);
    return section_replicas(&draft, conf_at(config, "scheduler")) > 1;
}
