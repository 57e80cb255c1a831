/* SPDX-License-Identifier: Apache-2.0 */

/* The operands of a Config: a row for each says what runs, with which arguments, and what belongs to it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "objects/keys.h"
#include "services/operator/draft_internal.h"
#include "services/operator/plugins_internal.h"

struct operand {
    const char *title;    // in conditions
    const char *section;  // of the Config
    const char *name;     // of its Deployment, ServiceAccount and Service
    const char *command;  // of the program
    struct container_amounts amounts;
    bool is_recreated;
    bool has_budget;
    bool is_shared;   // all replicas act
    bool is_apart;    // it has pods of its own where the services run in one process
    bool serves_all;  // whichever scheduler pods name
    /* All of these may be NULL. */
    void (*add_args)(struct draft *draft, yyjson_mut_val *args, yyjson_val *section);
    yyjson_mut_val *(*service_ports)(struct draft *draft, yyjson_val *section);
    yyjson_mut_val *(*container_ports)(struct draft *draft, yyjson_val *section);
    int (*probe_port)(yyjson_val *section);
    void (*add_more)(struct draft *draft);
    /* Instead of all of the above but the title. */
    void (*add_all)(struct draft *draft);
};

/* Where services without settings for it serve /healthz and /readyz. */
enum { PROBE_PORT = 8081, METRICS_PORT = 8080 };

const char *selector_text(struct draft *draft, const char *path)
{
    yyjson_val *pairs = conf_full(draft->config, path);
    const char *text = NULL;
    size_t i, max;
    yyjson_val *key, *value;

    yyjson_obj_foreach(pairs, i, max, key, value) text =
        draft_text(draft, "%s%s%s=%s", text ? text : "", text ? "," : "", yyjson_get_str(key),
                   yyjson_is_str(value) ? yyjson_get_str(value) : "");
    return text;
}

static void grouper_args(struct draft *draft, yyjson_mut_val *args, yyjson_val *section)
{
    yyjson_val *knative = conf_at(section, "args.gangScheduleKnative");
    yyjson_val *karta = conf_at(section, "args.genericKartaFallback");
    const char *name = conf_text(section, "args.defaultPrioritiesConfigMapName", NULL);
    const char *namespace = conf_text(section, "args.defaultPrioritiesConfigMapNamespace", NULL);
    const char *namespaces = selector_text(draft, "global.namespaceLabelSelector");
    const char *pods = selector_text(draft, "global.podLabelSelector");
    int workers = conf_int(section, "maxConcurrentReconciles", 0);

    args_add(draft, args, "--queue-label-key=%s", queue_label_key(draft->config));
    args_add(draft, args, "--nodepool-label-key=%s", node_pool_label_key(draft->config));
    if (draft->around->has_request_shard)
        args_add(draft, args, "--bind-requests=always");
    if (knative)
        args_add(draft, args, "--knative-gang-schedule=%s", yyjson_get_bool(knative) ? "true" : "false");
    if (karta)
        args_add(draft, args, "--generic-karta-fallback=%s", yyjson_get_bool(karta) ? "true" : "false");
    if (workers > 0)
        args_add(draft, args, "--max-concurrent-reconciles=%d", workers);
    if (name && namespace) {
        args_add(draft, args, "--default-priorities-configmap-name=%s", name);
        args_add(draft, args, "--default-priorities-configmap-namespace=%s", namespace);
    }
    if (namespaces)
        args_add(draft, args, "--namespace-label-selector=%s", namespaces);
    if (pods)
        args_add(draft, args, "--pod-label-selector=%s", pods);
}

static int binder_probe(yyjson_val *section)
{
    return conf_int(section, "probePort", PROBE_PORT);
}

static int binder_metrics(yyjson_val *section)
{
    return conf_int(section, "metricsPort", METRICS_PORT);
}

static void add_json(struct draft *draft, yyjson_mut_val *args, const char *flag, yyjson_mut_val *value)
{
    char *text = value ? yyjson_mut_val_write(value, 0, NULL) : NULL;

    if (text)
        args_add(draft, args, "--%s=%s", flag, text);
    free(text);
}

static void binder_args(struct draft *draft, yyjson_mut_val *args, yyjson_val *section)
{
    yyjson_val *reservation = conf_at(section, "resourceReservation");
    yyjson_mut_val *security = pack_copy(draft->doc, conf_at(reservation, "reservationContainerSecurityContext"));
    const char *runtime = conf_text(reservation, "runtimeClassName", "");
    int timeout = conf_int(reservation, "allocationTimeout", 0);
    int workers = conf_int(section, "maxConcurrentReconciles", 0);

    args_add(draft, args, "--resource-reservation-namespace=%s", reservation_namespace(draft->config));
    args_add(draft, args, "--resource-reservation-service-account=%s",
             conf_text(reservation, "serviceAccountName", "kai-resource-reservation"));
    args_add(draft, args, "--resource-reservation-app-label=%s",
             conf_text(reservation, "appLabel", KEY_APP_RESERVATION));
    args_add(draft, args, "--resource-reservation-pod-image=%s",
             draft_image_text(draft, conf_at(reservation, "image")));
    args_add(draft, args, "--scale-adjust-namespace=%s", scaling_namespace(draft->config));
    args_add(draft, args, "--health-probe-bind-address=:%d", binder_probe(section));
    args_add(draft, args, "--metrics-bind-address=:%d", binder_metrics(section));
    if (workers > 0)
        args_add(draft, args, "--max-concurrent-reconciles=%d", workers);
    if (timeout > 0)
        args_add(draft, args, "--resource-reservation-allocation-timeout=%d", timeout);
    add_json(draft, args, "plugins", binder_plugins(draft, section));
    if (draft->around->has_fake_gpus)
        args_add(draft, args, "--fake-gpu-nodes");
    if (*runtime)
        args_add(draft, args, "--runtime-class-name=%s", runtime);
    add_json(draft, args, "resource-reservation-pod-resources",
             pack_copy(draft->doc, conf_full(reservation, "podResources")));
    add_json(draft, args, "resource-reservation-pod-security-context",
             pack_copy(draft->doc, conf_full(reservation, "reservationPodSecurityContext")));
    add_json(draft, args, "resource-reservation-container-security-context",
             security ? security : draft_security(draft));
}

static yyjson_mut_val *binder_ports(struct draft *draft, yyjson_val *section)
{
    int port = binder_metrics(section);

    return pack(draft->doc, "[{name: http-metrics, port: %d, protocol: TCP, targetPort: %d}]", port, port);
}

/* The account of reservation pods has to be able to pull their image. It is wanted without secrets as well: otherwise the
 * chart's account would go with the last one. */
static void reservation_account(struct draft *draft)
{
    draft_account(draft, reservation_namespace(draft->config),
                  conf_text(draft->config, "binder.resourceReservation.serviceAccountName", "kai-resource-reservation"),
                  draft_pull_secrets(draft));
}

/* `port` and `targetPort` of a member such as "controllerService.metrics". */
static yyjson_mut_val *mapped_port(struct draft *draft, yyjson_val *mapping, const char *name, int port, int target)
{
    return pack(draft->doc, "{name: %s, port: %d, protocol: TCP, targetPort: %d}", conf_text(mapping, "name", name),
                conf_int(mapping, "port", port), conf_int(mapping, "targetPort", target));
}

static int queues_metrics(yyjson_val *section)
{
    return conf_int(section, "controllerService.metrics.targetPort",
                    conf_int(section, "controllerService.metrics.port", METRICS_PORT));
}

static void queues_args(struct draft *draft, yyjson_mut_val *args, yyjson_val *section)
{
    static const char *const pairs[][2] = {
        {"metricsNamespace", "metrics-namespace"},
        {"queueLabelToMetricLabel", "queue-label-to-metric-label"},
        {"queueLabelToDefaultMetricValue", "queue-label-to-default-metric-value"},
    };

    args_add(draft, args, "--metrics-listen-address=:%d", queues_metrics(section));
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        const char *value = conf_text(section, pairs[i][0], NULL);

        if (value)
            args_add(draft, args, "--%s=%s", pairs[i][1], value);
    }
}

static yyjson_mut_val *queues_ports(struct draft *draft, yyjson_val *section)
{
    yyjson_val *mapping = conf_at(section, "controllerService.metrics");

    return pack(draft->doc, "[%p]",
                (void *)mapped_port(draft, mapping, "metrics", METRICS_PORT, queues_metrics(section)));
}

static void podgroups_args(struct draft *draft, yyjson_mut_val *args, yyjson_val *section)
{
    int workers = conf_int(section, "maxConcurrentReconciles", 0);

    if (workers > 0)
        args_add(draft, args, "--max-concurrent-reconciles=%d", workers);
}

static yyjson_mut_val *metrics_ports(struct draft *draft, yyjson_val *section)
{
    (void)section;
    return pack(draft->doc, "[{name: http-metrics, port: %d, protocol: TCP, targetPort: %d}]", METRICS_PORT,
                METRICS_PORT);
}

static void scaler_args(struct draft *draft, yyjson_mut_val *args, yyjson_val *section)
{
    yyjson_val *ratio = conf_at(section, "args.gpuMemoryToFractionRatio");

    args_add(draft, args, "--scaling-pod-service-account=%s",
             conf_text(section, "args.nodeScaleServiceAccount", "kai-scale-adjust"));
    args_add(draft, args, "--scaling-pod-image=%s", draft_image_text(draft, conf_at(section, "args.scalingPodImage")));
    args_add(draft, args, "--scale-adjust-namespace=%s", scaling_namespace(draft->config));
    if (yyjson_is_num(ratio))
        args_add(draft, args, "--gpu-memory-to-fraction-ratio=%f", yyjson_get_num(ratio));
}

static void scaling_account(struct draft *draft)
{
    draft_account(draft, scaling_namespace(draft->config),
                  conf_text(draft->config, "nodeScaleAdjuster.args.nodeScaleServiceAccount", "kai-scale-adjust"),
                  draft_pull_secrets(draft));
}

static int webhook_port(yyjson_val *section)
{
    return conf_int(section, "webhook.targetPort", 9443);
}

static int admission_probe(yyjson_val *section)
{
    return conf_int(section, "webhook.probePort", PROBE_PORT);
}

static void admission_args(struct draft *draft, yyjson_mut_val *args, yyjson_val *section)
{
    const char *old_class = conf_text(section, "gpuPodRuntimeClassName", NULL);
    const char *class = conf_text(section, "gpuFractionRuntimeClassName", old_class ? NULL : "nvidia");

    args_add(draft, args, "--namespace=%s", draft->around->namespace);
    args_add(draft, args, "--webhook-addr=%d", webhook_port(section));
    args_add(draft, args, "--health-probe-bind-address=:%d", admission_probe(section));
    args_add(draft, args, "--metrics-bind-address=:%d", conf_int(section, "webhook.metricsPort", METRICS_PORT));
    args_add_webhooks(draft, args);
    if (conf_bool(section, "gpuSharing", false))
        args_add(draft, args, "--gpu-sharing-enabled=true");
    if (conf_bool(draft->config, "binder.plugins.hamicore.enabled", false))
        args_add(draft, args, "--hami-core-enabled=true");
    if (conf_bool(section, "blockNvidiaVisibleDevices", false))
        args_add(draft, args, "--block-nvidia-visible-devices=true");
    if (class)
        args_add(draft, args, "--gpu-fraction-runtime-class-name=%s", class);
    if (old_class)
        args_add(draft, args, "--gpu-pod-runtime-class-name=%s", old_class);
}

static yyjson_mut_val *admission_ports(struct draft *draft, yyjson_val *section)
{
    int metrics = conf_int(section, "webhook.metricsPort", METRICS_PORT);

    return pack(draft->doc,
                "[{name: webhook, port: %d, protocol: TCP, targetPort: %d},"
                " {name: http-metrics, port: %d, protocol: TCP, targetPort: %d}]",
                conf_int(section, "webhook.port", 443), webhook_port(section), metrics, metrics);
}

static yyjson_mut_val *admission_container_ports(struct draft *draft, yyjson_val *section)
{
    return pack(draft->doc, "[{name: webhook, containerPort: %d, protocol: TCP}]", webhook_port(section));
}

static void scheduler_account(struct draft *draft)
{
    if (conf_bool(draft->config, "scheduler.service.enabled", true))
        draft_account(draft, draft->around->namespace, "scheduler", NULL);
}

static void numa_exporter(struct draft *draft)
{
    static const char name[] = "numa-placement-exporter";
    yyjson_val *section = conf_at(draft->config, "numaPlacementExporter");
    const char *folder = conf_text(section, "podResourcesHostPath", "/var/lib/kubelet/pod-resources");
    const char *poll = conf_text(section, "pollInterval", NULL);
    const char *resync = conf_text(section, "driftResyncInterval", NULL);
    yyjson_mut_val *args = pack(draft->doc, "[numa-exporter]");

    /* Not set: wherever a shard aligns pods to NUMA nodes. */
    if (!conf_bool(section, "service.enabled", draft->around->has_numa_shard))
        return;
    args_add(draft, args, "--podresources-socket=%s",
             conf_text(section, "podResourcesSocket", draft_text(draft, "%s/kubelet.sock", folder)));
    args_add(draft, args, "--sysfs-root=/host/sys");
    if (poll)
        args_add(draft, args, "--poll-interval=%s", poll);
    if (resync)
        args_add(draft, args, "--drift-resync-interval=%s", resync);
    draft_account(draft, draft->around->namespace, name, NULL);
    draft_node_daemon(
        draft, &(struct workload){
                   .name = name,
                   .service = conf_at(section, "service"),
                   .amounts = {"10m", "16Mi", "128Mi"},
                   .args = args,
                   .env = pack(draft->doc, "[{name: NODE_NAME, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]"),
                   .mounts = pack(draft->doc,
                                  "[{name: podresources, mountPath: %s, readOnly: true},"
                                  " {name: sysfs, mountPath: /host/sys, readOnly: true}]",
                                  folder),
                   .volumes = pack(draft->doc,
                                   "[{name: podresources, hostPath: {path: %s, type: Directory}},"
                                   " {name: sysfs, hostPath: {path: %s, type: Directory}}]",
                                   folder, conf_text(section, "sysfsHostPath", "/sys")),
               });
    draft_autoscaler(draft, section, name, "DaemonSet");
}

/* KAI has no such service, and its Config no section for it: where services have a Deployment each, the chart has this one. */
static void starter(struct draft *draft)
{
    yyjson_mut_val *args = pack(draft->doc, "[starter]");

    if (!draft->around->has_starter)
        return;
    args_add(draft, args, "--numbers-namespace=%s", draft->around->namespace);
    draft_deployment(
        draft,
        &(struct workload){.name = "job-starter", .args = args, .amounts = {"20m", "32Mi", "256Mi"}, .replicas = 1});
}

/* The row whose objects belong to shards; the account of all of them belongs to the Config. */
enum { OPERAND_SHARD = 10 };

static const struct operand operands[] = {
    {.title = "PodGrouper",
     .section = "podGrouper",
     .name = "pod-grouper",
     .command = "grouper",
     .amounts = {"50m", "32Mi", "512Mi"},
     .has_budget = true,
     .add_args = grouper_args,
     .service_ports = metrics_ports},
    {.title = "Binder",
     .section = "binder",
     .name = "binder",
     .command = "binder",
     .amounts = {"50m", "32Mi", "512Mi"},
     .is_recreated = true,
     .add_args = binder_args,
     .service_ports = binder_ports,
     .probe_port = binder_probe,
     .add_more = reservation_account},
    {.title = "QueueController",
     .section = "queueController",
     .name = "queue-controller",
     .command = "queues",
     .amounts = {"20m", "32Mi", "256Mi"},
     .serves_all = true,
     .add_args = queues_args,
     .service_ports = queues_ports},
    {.title = "PodGroupController",
     .section = "podGroupController",
     .name = "podgroup-controller",
     .command = "podgroups",
     .amounts = {"20m", "32Mi", "512Mi"},
     .add_args = podgroups_args,
     .service_ports = metrics_ports},
    {.title = "NodeScaleAdjuster",
     .section = "nodeScaleAdjuster",
     .name = "node-scale-adjuster",
     .command = "scaler",
     .amounts = {"20m", "32Mi", "256Mi"},
     .add_args = scaler_args,
     .service_ports = metrics_ports,
     .add_more = scaling_account},
    {.title = "KAIAdmission",
     .section = "admission",
     .name = "admission",
     .command = "admission",
     .amounts = {"50m", "32Mi", "256Mi"},
     .has_budget = true,
     .is_shared = true,
     .add_args = admission_args,
     .service_ports = admission_ports,
     .container_ports = admission_container_ports,
     .probe_port = admission_probe,
     .add_more = draft_webhooks},
    {.title = "KAI-prometheus", .is_apart = true, .add_all = draft_prometheus},
    {.title = "SchedulerForConfig", .add_all = scheduler_account},
    {.title = "NumaPlacementExporter", .is_apart = true, .add_all = numa_exporter},
    {.title = "JobStarter", .add_all = starter},
    [OPERAND_SHARD] = {.title = "SchedulerForShard"},
};
_Static_assert(ARRAY_LEN(operands) == OPERAND_SHARD + 1, "the rows before it are all there");

size_t operand_count(void)
{
    return ARRAY_LEN(operands);
}

const char *operand_title(size_t operand)
{
    return operands[operand].title;
}

bool operand_is_shared(size_t operand)
{
    return operands[operand].is_shared;
}

bool operand_is_apart(size_t operand)
{
    return operands[operand].is_apart;
}

size_t scheduler_operand(void)
{
    return OPERAND_SHARD;
}

static void add_operand(struct draft *draft, const struct operand *operand)
{
    yyjson_val *section = conf_at(draft->config, operand->section);
    yyjson_val *service = conf_at(section, "service");
    yyjson_mut_val *args = pack(draft->doc, "[%s]", operand->command);
    int replicas = section_replicas(draft, section);

    if (!conf_bool(service, "enabled", true))
        return;
    if (!operand->serves_all)
        args_add(draft, args, "--scheduler-name=%s", scheduler_name(draft->config));
    operand->add_args(draft, args, section);
    if (replicas > 1 && !operand->is_shared && !draft->around->is_hosted)
        args_add(draft, args, "--leader-elect");
    args_add_common(draft, args, section);
    draft_account(draft, draft->around->namespace, operand->name, NULL);
    draft_deployment(draft, &(struct workload){
                                .name = operand->name,
                                .service = service,
                                .amounts = operand->amounts,
                                .args = args,
                                .ports = operand->container_ports ? operand->container_ports(draft, section) : NULL,
                                .probe_port = operand->probe_port ? operand->probe_port(section) : PROBE_PORT,
                                .replicas = replicas,
                                .is_recreated = operand->is_recreated,
                            });
    if (operand->service_ports)
        draft_add(draft, OWNED_SERVICE,
                  pack(draft->doc, "{metadata: %p, spec: {type: ClusterIP, selector: {app: %s}, ports: %p}}",
                       (void *)draft_meta(draft, draft->around->namespace, operand->name, operand->name), operand->name,
                       (void *)operand->service_ports(draft, section)));
    if (operand->has_budget)
        draft_budget(draft, operand->name, service, replicas);
    draft_autoscaler(draft, section, operand->name, "Deployment");
    if (operand->add_more)
        operand->add_more(draft);
}

int desired_for_config(struct desired *desired, yyjson_val *spec, const struct surroundings *around, struct err *err)
{
    const char *namespace = conf_text(spec, "namespace", around->namespace);
    struct draft draft = {.desired = desired, .doc = desired->doc, .config = spec, .around = around};

    if (strcmp(namespace, around->namespace) != 0)
        return err_set(err, -EINVAL,
                       "spec.namespace is '%s', but this operator manages '%s': install the chart into the namespace "
                       "of the services",
                       namespace, around->namespace);
    for (; draft.operand < ARRAY_LEN(operands); draft.operand++) {
        const struct operand *operand = &operands[draft.operand];

        if (operand->section)
            add_operand(&draft, operand);
        else if (operand->add_all)
            operand->add_all(&draft);
    }
    return 0;
}
