/* SPDX-License-Identifier: Apache-2.0 */

/* Objects in general: the kinds, and what most of them begin with. */
#include "services/operator/desired.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "objects/keys.h"
#include "services/operator/draft_internal.h"
#include "text/json.h"

const struct owned_row owned_rows[_OWNED_KIND_MAX] = {
    [OWNED_SERVICE_ACCOUNT] = {{"", "v1", "serviceaccounts", "ServiceAccount", true}, NULL, false, true},
    [OWNED_CONFIG_MAP] = {{"", "v1", "configmaps", "ConfigMap", true}, NULL, false, false},
    [OWNED_SERVICE] = {{"", "v1", "services", "Service", true}, NULL, false, true},
    [OWNED_ENDPOINT_SLICE] = {{"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", true}, NULL, false, false},
    [OWNED_DEPLOYMENT] = {{"apps", "v1", "deployments", "Deployment", true}, NULL, true, false},
    [OWNED_DAEMON_SET] = {{"apps", "v1", "daemonsets", "DaemonSet", true}, NULL, false, true},
    [OWNED_DISRUPTION_BUDGET] = {{"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", true},
                                 NULL,
                                 false,
                                 false},
    [OWNED_MUTATING_WEBHOOK] = {{"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations",
                                 "MutatingWebhookConfiguration", false},
                                NULL,
                                true,
                                false},
    [OWNED_VALIDATING_WEBHOOK] = {{"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations",
                                   "ValidatingWebhookConfiguration", false},
                                  NULL,
                                  true,
                                  false},
    [OWNED_AUTOSCALER] = {{"autoscaling.k8s.io", "v1", "verticalpodautoscalers", "VerticalPodAutoscaler", true},
                          "verticalpodautoscalers.autoscaling.k8s.io",
                          false,
                          true},
    [OWNED_PROMETHEUS] = {{"monitoring.coreos.com", "v1", "prometheuses", "Prometheus", true},
                          "prometheuses.monitoring.coreos.com",
                          false,
                          true},
    [OWNED_SERVICE_MONITOR] = {{"monitoring.coreos.com", "v1", "servicemonitors", "ServiceMonitor", true},
                               "servicemonitors.monitoring.coreos.com",
                               false,
                               true},
};

/* No name, image or argument is longer. */
enum { TEXT_MAX = 64 << 10 };

void desired_init(struct desired *desired)
{
    *desired = (struct desired){.doc = json_new_object(NULL)};
}

void desired_done(struct desired *desired)
{
    yyjson_mut_doc_free(desired->doc);
    vec_done(&desired->objects);
    *desired = (struct desired){0};
}

void draft_add(struct draft *draft, enum owned_kind kind, yyjson_mut_val *object)
{
    const struct kube_resource *resource = &owned_rows[kind].resource;
    const char *version = resource->version;
    yyjson_mut_val *meta = yyjson_mut_obj_get(object, "metadata");

    if (draft->around->is_hosted && !owned_rows[kind].is_hosted && !operand_is_apart(draft->operand))
        return;
    if (*resource->group)
        version = draft_text(draft, "%s/%s", resource->group, resource->version);
    (void)yyjson_mut_obj_add_strcpy(draft->doc, object, "apiVersion", version);
    (void)yyjson_mut_obj_add_str(draft->doc, object, "kind", resource->kind);
    vec_push(&draft->desired->objects,
             (struct desired_object){.kind = kind,
                                     .operand = draft->operand,
                                     .namespace = yyjson_mut_get_str(yyjson_mut_obj_get(meta, "namespace")),
                                     .name = yyjson_mut_get_str(yyjson_mut_obj_get(meta, "name")),
                                     .object = object});
}

yyjson_mut_val *draft_meta(struct draft *draft, const char *namespace, const char *name, const char *app)
{
    return pack(draft->doc, "{name: %s, namespace: %s, labels: {app: %s, app.kubernetes.io/managed-by: kai-operator}}",
                name, namespace, app);
}

void draft_account(struct draft *draft, const char *namespace, const char *name, yyjson_mut_val *pull_secrets)
{
    draft_add(draft, OWNED_SERVICE_ACCOUNT,
              pack(draft->doc, "{metadata: %p, imagePullSecrets: %p}", (void *)draft_meta(draft, namespace, name, name),
                   (void *)pull_secrets));
}

static bool is_listed(yyjson_val *list, const char *text)
{
    size_t i, max;
    yyjson_val *item;

    yyjson_arr_foreach(list, i, max, item) if (yyjson_equals_str(item, text)) return true;
    return false;
}

yyjson_mut_val *draft_pull_secrets(struct draft *draft)
{
    yyjson_val *names = conf_at(draft->config, "global.additionalImagePullSecrets");
    const char *single = conf_text(draft->config, "global.imagesPullSecret", "");
    yyjson_mut_val *list = yyjson_mut_arr(draft->doc);
    size_t i, max;
    yyjson_val *name;

    yyjson_arr_foreach(names, i, max, name) if (yyjson_get_len(name))(void)
        yyjson_mut_arr_append(list, pack(draft->doc, "{name: %s}", yyjson_get_str(name)));
    if (*single && !is_listed(names, single))
        (void)yyjson_mut_arr_append(list, pack(draft->doc, "{name: %s}", single));
    return yyjson_mut_arr_size(list) ? list : NULL;
}

const char *draft_image_text(struct draft *draft, yyjson_val *image)
{
    const struct surroundings *around = draft->around;
    const char *registry = conf_text(image, "repository", around->registry);
    const char *name = conf_text(image, "name", "");
    const char *tag = conf_text(image, "tag", "");

    return draft_text(draft, "%s%s%s:%s", registry, *registry ? "/" : "", *name ? name : around->image,
                      *tag ? tag : around->tag);
}

yyjson_mut_val *draft_image(struct draft *draft, yyjson_val *image)
{
    return yyjson_mut_strcpy(draft->doc, draft_image_text(draft, image));
}

/* What the Config leaves open is what the profile "restricted" asks for. */
yyjson_mut_val *draft_security(struct draft *draft)
{
    yyjson_mut_val *defaults;
    yyjson_mut_val *context = pack_copy(draft->doc, conf_at(draft->config, "global.securityContext"));
    yyjson_mut_obj_iter iter;
    yyjson_mut_val *key;

    if (conf_bool(draft->config, "global.openshift", false))
        return NULL;
    defaults =
        pack(draft->doc, "{allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, runAsNonRoot: true,"
                         " runAsUser: 10000, capabilities: {drop: [ALL]}, seccompProfile: {type: RuntimeDefault}}");
    if (!context)
        return defaults;
    (void)yyjson_mut_obj_iter_init(defaults, &iter);
    while ((key = yyjson_mut_obj_iter_next(&iter))) {
        if (!yyjson_mut_obj_get(context, yyjson_mut_get_str(key))) {
            yyjson_mut_val *value = yyjson_mut_val_mut_copy(draft->doc, yyjson_mut_obj_iter_get_val(key));

            (void)yyjson_mut_obj_add(context, yyjson_mut_strcpy(draft->doc, yyjson_mut_get_str(key)), value);
        }
    }
    return context;
}

__attribute__((format(printf, 2, 0))) static const char *vtext(struct draft *draft, const char *format, va_list values)
{
    char *text = NULL;
    int len = vasprintf(&text, format, values);

    BUG_ON(len < 0 || len > TEXT_MAX);
    const char *kept = yyjson_mut_get_str(yyjson_mut_strcpy(draft->doc, text));
    free(text);
    return kept;
}

const char *draft_text(struct draft *draft, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    const char *text = vtext(draft, format, values);
    va_end(values);
    return text;
}

void args_add(struct draft *draft, yyjson_mut_val *args, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    (void)yyjson_mut_arr_add_str(draft->doc, args, vtext(draft, format, values));
    va_end(values);
}

int section_replicas(const struct draft *draft, yyjson_val *section)
{
    return conf_int(section, "replicas", conf_int(draft->config, "global.replicaCount", 1));
}

void args_add_common(struct draft *draft, yyjson_mut_val *args, yyjson_val *section)
{
    int qps = conf_int(section, "service.k8sClientConfig.qps", 0);
    int burst = conf_int(section, "service.k8sClientConfig.burst", 0);

    if (qps > 0)
        args_add(draft, args, "--qps=%d", qps);
    if (burst > 0)
        args_add(draft, args, "--burst=%d", burst);
    if (conf_bool(draft->config, "global.jsonLog", false))
        args_add(draft, args, "--zap-devel=false");
}

const char *scheduler_name(yyjson_val *config)
{
    return conf_text(config, "global.schedulerName", KEY_SCHEDULER_NAME);
}

const char *queue_label_key(yyjson_val *config)
{
    return conf_text(config, "global.queueLabelKey", KEY_QUEUE);
}

const char *node_pool_label_key(yyjson_val *config)
{
    return conf_text(config, "global.nodePoolLabelKey", KEY_NODE_POOL);
}

const char *reservation_namespace(yyjson_val *config)
{
    return conf_text(config, "binder.resourceReservation.namespace", KEY_RESERVATION_NAMESPACE);
}

const char *scaling_namespace(yyjson_val *config)
{
    return conf_text(config, "nodeScaleAdjuster.args.nodeScaleNamespace", "kai-scale-adjust");
}
