/* SPDX-License-Identifier: Apache-2.0 */

/* What runs: Deployments, DaemonSets, and what keeps enough of it running. */
#include "services/operator/draft_internal.h"

/* A term that keeps replicas on nodes of their own. */
static yyjson_mut_val *apart_term(struct draft *draft, const char *app)
{
    return pack(draft->doc, "{labelSelector: {matchLabels: {app: %s}}, topologyKey: kubernetes.io/hostname}", app);
}

/* Replicas avoid each other's nodes unless the Config says something else about it. */
static yyjson_mut_val *apart(struct draft *draft, const char *app)
{
    bool is_required = conf_bool(draft->config, "global.requireDefaultPodAntiAffinityTerm", false);
    yyjson_mut_val *required = is_required ? pack(draft->doc, "[%p]", (void *)apart_term(draft, app)) : NULL;

    return pack(draft->doc,
                "{preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, podAffinityTerm: %p}],"
                " requiredDuringSchedulingIgnoredDuringExecution: %p}",
                (void *)apart_term(draft, app), (void *)required);
}

static yyjson_val *first_full(yyjson_val *own, yyjson_val *global, const char *path)
{
    yyjson_val *found = conf_full(own, path);

    return found ? found : conf_full(global, path);
}

/* A service's own affinity goes before the one of all, part by part. */
static yyjson_mut_val *affinity_of(struct draft *draft, const struct workload *workload)
{
    yyjson_val *own = conf_full(workload->service, "affinity");
    yyjson_val *global = conf_full(draft->config, "global.affinity");
    yyjson_mut_val *anti = pack_copy(draft->doc, first_full(own, global, "podAntiAffinity"));

    if (!anti &&
        (workload->replicas > 1 || conf_bool(draft->config, "global.requireDefaultPodAntiAffinityTerm", false)))
        anti = apart(draft, workload->name);
    yyjson_mut_val *affinity =
        pack(draft->doc, "{nodeAffinity: %p, podAffinity: %p, podAntiAffinity: %p}",
             (void *)pack_copy(draft->doc, first_full(own, global, "nodeAffinity")),
             (void *)pack_copy(draft->doc, first_full(own, global, "podAffinity")), (void *)anti);
    return yyjson_mut_obj_size(affinity) ? affinity : NULL;
}

static yyjson_mut_val *resources_of(struct draft *draft, const struct workload *workload)
{
    yyjson_val *own = conf_full(workload->service, "resources");
    const struct container_amounts *amounts = &workload->amounts;

    if (own)
        return pack_copy(draft->doc, own);
    return pack(draft->doc, "{requests: {cpu: %s, memory: %s}, limits: {memory: %s}}", amounts->cpu, amounts->memory,
                amounts->memory_limit);
}

static yyjson_mut_val *probe(struct draft *draft, const char *path, int port, int period)
{
    if (port == 0)
        return NULL;
    return pack(draft->doc, "{httpGet: {path: %s, port: %d}, periodSeconds: %d, failureThreshold: 6}", path, port,
                period);
}

static yyjson_mut_val *container_of_workload(struct draft *draft, const struct workload *workload,
                                             yyjson_mut_val *security)
{
    yyjson_val *image = conf_at(workload->service, "image");

    return pack(draft->doc,
                "{name: %s, image: %p, imagePullPolicy: %s, args: %p, env: %p, ports: %p, resources: %p,"
                " volumeMounts: %p, livenessProbe: %p, readinessProbe: %p, securityContext: %p}",
                workload->name, (void *)draft_image(draft, image), conf_text(image, "pullPolicy", "IfNotPresent"),
                (void *)workload->args, (void *)workload->env, (void *)workload->ports,
                (void *)resources_of(draft, workload), (void *)workload->mounts,
                (void *)probe(draft, "/healthz", workload->probe_port, 10),
                (void *)probe(draft, "/readyz", workload->probe_port, 2), (void *)security);
}

static const char *full_text(yyjson_val *spec, const char *path)
{
    const char *text = conf_text(spec, path, "");

    return *text ? text : NULL;
}

void draft_deployment(struct draft *draft, const struct workload *workload)
{
    yyjson_mut_val *meta = draft_meta(draft, draft->around->namespace, workload->name, workload->name);
    yyjson_mut_val *pod =
        pack(draft->doc,
             "{serviceAccountName: %s, nodeSelector: %p, tolerations: %p, priorityClassName: %s, affinity: %p,"
             " imagePullSecrets: %p, containers: [%p], volumes: %p}",
             workload->account ? workload->account : workload->name,
             (void *)pack_copy(draft->doc, conf_full(draft->config, "global.nodeSelector")),
             (void *)pack_copy(draft->doc, conf_full(draft->config, "global.tolerations")),
             full_text(draft->config, "global.priorityClassName"), (void *)affinity_of(draft, workload),
             (void *)draft_pull_secrets(draft), (void *)container_of_workload(draft, workload, draft_security(draft)),
             (void *)workload->volumes);

    draft_add(draft, OWNED_DEPLOYMENT,
              pack(draft->doc,
                   "{metadata: %p, spec: {replicas: %d, strategy: {type: %s}, selector: {matchLabels: {app: %s}},"
                   " template: {metadata: {labels: {app: %s}, annotations: %p}, spec: %p}}}",
                   (void *)meta, workload->replicas, workload->is_recreated ? "Recreate" : "RollingUpdate",
                   workload->name, workload->name, (void *)workload->annotations, (void *)pod));
}

/* The tolerations of all DaemonSets, then the section's own. */
static yyjson_mut_val *daemon_tolerations(struct draft *draft, yyjson_val *section)
{
    yyjson_val *lists[] = {conf_at(draft->config, "global.daemonsetsTolerations"), conf_at(section, "tolerations")};
    yyjson_mut_val *all = yyjson_mut_arr(draft->doc);
    size_t i, max;
    yyjson_val *item;

    for (size_t list = 0; list < ARRAY_LEN(lists); list++)
        yyjson_arr_foreach(lists[list], i, max, item)(void) yyjson_mut_arr_append(all, pack_copy(draft->doc, item));
    return yyjson_mut_arr_size(all) ? all : NULL;
}

void draft_node_daemon(struct draft *draft, const struct workload *workload)
{
    yyjson_val *section = conf_at(draft->config, "numaPlacementExporter");
    yyjson_mut_val *selector = pack_copy(draft->doc, conf_full(section, "nodeSelector"));
    /* The socket of the kubelet is root's. */
    yyjson_mut_val *security = pack(draft->doc, "{runAsUser: 0, runAsNonRoot: false, allowPrivilegeEscalation: false,"
                                                " readOnlyRootFilesystem: true, capabilities: {drop: [ALL]},"
                                                " seccompProfile: {type: RuntimeDefault}}");

    if (!selector)
        selector = pack(draft->doc, "{feature.node.kubernetes.io/memory-numa: %s}", "true");
    yyjson_mut_val *pod =
        pack(draft->doc,
             "{serviceAccountName: %s, nodeSelector: %p, tolerations: %p, priorityClassName: %s,"
             " affinity: %p, imagePullSecrets: %p, containers: [%p], volumes: %p}",
             workload->name, (void *)selector, (void *)daemon_tolerations(draft, section),
             full_text(draft->config, "global.priorityClassName"),
             (void *)pack_copy(draft->doc, conf_full(workload->service, "affinity")), (void *)draft_pull_secrets(draft),
             (void *)container_of_workload(draft, workload, security), (void *)workload->volumes);
    draft_add(draft, OWNED_DAEMON_SET,
              pack(draft->doc,
                   "{metadata: %p, spec: {selector: {matchLabels: {app: %s}},"
                   " template: {metadata: {labels: {app: %s}}, spec: %p}}}",
                   (void *)draft_meta(draft, draft->around->namespace, workload->name, workload->name), workload->name,
                   workload->name, (void *)pod));
}

void draft_budget(struct draft *draft, const char *name, yyjson_val *service, int replicas)
{
    if (replicas <= 1 || !conf_bool(service, "podDisruptionBudget.enabled", false))
        return;
    draft_add(draft, OWNED_DISRUPTION_BUDGET,
              pack(draft->doc, "{metadata: %p, spec: {maxUnavailable: %d, selector: {matchLabels: {app: %s}}}}",
                   (void *)draft_meta(draft, draft->around->namespace, name, name),
                   conf_int(service, "podDisruptionBudget.maxUnavailable", 1), name));
}

void draft_autoscaler(struct draft *draft, yyjson_val *section, const char *name, const char *kind)
{
    yyjson_val *wish = conf_at(section, "vpa");

    if (!wish)
        wish = conf_at(draft->config, "global.vpa");
    if (!conf_bool(wish, "enabled", false) || !draft->around->has_kind[OWNED_AUTOSCALER])
        return;
    yyjson_mut_val *policy = pack_copy(draft->doc, conf_at(wish, "updatePolicy"));

    if (!policy)
        policy = pack(draft->doc, "{}");
    if (!yyjson_mut_obj_get(policy, "updateMode"))
        (void)yyjson_mut_obj_add_str(draft->doc, policy, "updateMode", "InPlaceOrRecreate");
    draft_add(draft, OWNED_AUTOSCALER,
              pack(draft->doc,
                   "{metadata: %p, spec: {targetRef: {apiVersion: apps/v1, kind: %s, name: %s}, updatePolicy: %p,"
                   " resourcePolicy: %p}}",
                   (void *)draft_meta(draft, draft->around->namespace, name, name), kind, name, (void *)policy,
                   (void *)pack_copy(draft->doc, conf_full(wish, "resourcePolicy"))));
}
