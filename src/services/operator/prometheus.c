/* SPDX-License-Identifier: Apache-2.0 */

/* The Prometheus that keeps what queues have used, for time-based fair share, and what it scrapes. */
#include "services/operator/draft_internal.h"

enum { PROMETHEUS_PORT = 9090 };

const char *prometheus_name(yyjson_val *config)
{
    return conf_text(config, "prometheus.instanceName", "prometheus");
}

nsec_t prometheus_ends(const struct prometheus_seen *seen)
{
    if (!seen->is_there || seen->switched_off == 0)
        return 0;
    return seen->switched_off > NSEC_MAX - seen->retention ? NSEC_MAX : seen->switched_off + seen->retention;
}

/* What was recorded may be wanted again: it goes when it would have gone anyway, and all that belongs to it with it. */
static bool is_kept(const struct surroundings *around)
{
    const struct prometheus_seen *seen = &around->prometheus;

    return seen->is_there && (seen->switched_off == 0 || around->now < prometheus_ends(seen));
}

static yyjson_mut_val *storage(struct draft *draft, yyjson_val *section)
{
    if (!conf_bool(section, "enablePersistentStorage", true))
        return NULL;
    return pack(draft->doc,
                "{volumeClaimTemplate: {spec: {storageClassName: %s, accessModes: [ReadWriteOnce],"
                " resources: {requests: {storage: %s}}}}}",
                conf_text(section, "storageClassName", "standard"), conf_text(section, "storageSize", "50Gi"));
}

static yyjson_mut_val *accounting(struct draft *draft, yyjson_val *section)
{
    return pack(draft->doc, "{%s: %s}", conf_text(section, "accountingLabelKey", "kai.scheduler/accounting"),
                conf_text(section, "accountingLabelValue", "true"));
}

static yyjson_mut_val *accounting_selector(struct draft *draft, yyjson_val *section)
{
    return pack(draft->doc, "{matchLabels: %p}", (void *)accounting(draft, section));
}

static bool has_monitors(yyjson_val *section)
{
    return conf_bool(section, "serviceMonitor.enabled", true);
}

static void add_monitor(struct draft *draft, yyjson_val *section, const char *name, const char *port,
                        yyjson_mut_val *namespaces, yyjson_mut_val *labels)
{
    yyjson_val *monitor = conf_at(section, "serviceMonitor");
    yyjson_mut_val *meta = draft_meta(draft, draft->around->namespace, name, name);

    (void)yyjson_mut_obj_add_strcpy(draft->doc, yyjson_mut_obj_get(meta, "labels"),
                                    conf_text(section, "accountingLabelKey", "kai.scheduler/accounting"),
                                    conf_text(section, "accountingLabelValue", "true"));
    draft_add(draft, OWNED_SERVICE_MONITOR,
              pack(draft->doc,
                   "{metadata: %p, spec: {jobLabel: %s, namespaceSelector: {matchNames: %p},"
                   " selector: {matchLabels: %p}, endpoints: [{port: %s, interval: %s, scrapeTimeout: %s,"
                   " bearerTokenFile: %s}]}}",
                   (void *)meta, name, (void *)namespaces, (void *)labels, port, conf_text(monitor, "interval", "30s"),
                   conf_text(monitor, "scrapeTimeout", "10s"),
                   conf_text(monitor, "bearerTokenFile", "/var/run/secrets/kubernetes.io/serviceaccount/token")));
}

static void add_monitors(struct draft *draft, yyjson_val *section)
{
    bool is_hosted = draft->around->is_hosted;

    if (!has_monitors(section) || !draft->around->has_kind[OWNED_SERVICE_MONITOR])
        return;
    /* The Service of the one process is the chart's. */
    add_monitor(draft, section, "queue-controller", is_hosted ? "http-metrics" : "metrics",
                pack(draft->doc, "[%s]", draft->around->namespace),
                pack(draft->doc, "{app: %s}", is_hosted ? "muster-controller" : "queue-controller"));
    add_monitor(draft, section, "kube-state-metrics", "http", pack(draft->doc, "[monitoring, default]"),
                pack(draft->doc, "{app.kubernetes.io/name: kube-state-metrics}"));
}

/* Its metadata say since when it is switched off. */
static yyjson_mut_val *instance_meta(struct draft *draft, const char *name, bool is_enabled)
{
    yyjson_mut_val *meta = draft_meta(draft, draft->around->namespace, name, name);
    nsec_t since = draft->around->prometheus.switched_off;
    char text[TIME_TEXT_MAX];

    if (!is_enabled)
        (void)yyjson_mut_obj_add_val(
            draft->doc, meta, "annotations",
            pack(draft->doc, "{" KEY_SWITCHED_OFF ": %s}",
                 time_format((since ? since : draft->around->now) / NSEC_PER_SEC * NSEC_PER_SEC, text)));
    return meta;
}

static void add_instance(struct draft *draft, yyjson_val *section, const char *name, bool is_enabled)
{
    const char *namespace = draft->around->namespace;
    bool monitors = has_monitors(section);

    draft_add(draft, OWNED_PROMETHEUS,
              pack(draft->doc,
                   "{metadata: %p, spec: {podMetadata: {labels: {app: %s}}, serviceAccountName: %s, retention: %s,"
                   " storage: %p, serviceMonitorSelector: %p, serviceMonitorNamespaceSelector: %p, ruleSelector: %p,"
                   " ruleNamespaceSelector: {}}}",
                   (void *)instance_meta(draft, name, is_enabled), name, name,
                   conf_text(section, "retentionPeriod", "2w"), (void *)storage(draft, section),
                   monitors ? (void *)accounting_selector(draft, section) : NULL,
                   monitors ? (void *)pack(draft->doc, "{}") : NULL, (void *)accounting_selector(draft, section)));
    draft_add(
        draft, OWNED_SERVICE,
        pack(draft->doc,
             "{metadata: %p, spec: {type: ClusterIP, ports: [{name: web, port: %d, protocol: TCP, targetPort: %d}],"
             " selector: {app.kubernetes.io/instance: %s, app.kubernetes.io/name: prometheus}}}",
             (void *)draft_meta(draft, namespace, "usage-prometheus", "usage-prometheus"), PROMETHEUS_PORT,
             PROMETHEUS_PORT, name));
}

void draft_prometheus(struct draft *draft)
{
    yyjson_val *section = conf_at(draft->config, "prometheus");
    const char *name = prometheus_name(draft->config);
    bool is_enabled = conf_bool(section, "enabled", false);
    bool is_external = *conf_text(section, "externalPrometheusUrl", "") != '\0';

    if (!is_enabled && !is_kept(draft->around))
        return;
    draft_account(draft, draft->around->namespace, name, NULL);
    add_monitors(draft, section);
    if (is_external && is_enabled)
        return;
    if (draft->around->has_kind[OWNED_PROMETHEUS]) {
        add_instance(draft, section, name, is_enabled);
    } else {
        draft->desired->missing = "prometheus operator";
        draft->desired->missing_of = draft->operand;
    }
}
