/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The webhook configurations, under KAI's names. `muster admission` serves all of them and writes its CA into them; here
 * they are made without one, and one that is there is kept (merge.c). Pods of the system and of the services themselves
 * are never asked about, so that nothing depends on itself.
 */
#include "services/operator/draft_internal.h"

static yyjson_mut_val *client_config(struct draft *draft, const char *path)
{
    return pack(draft->doc, "{service: {namespace: %s, name: admission, path: %s, port: %d}}", draft->around->namespace,
                path, conf_int(draft->config, "admission.webhook.port", 443));
}

static yyjson_mut_val *rule(struct draft *draft, const char *group, const char *version, const char *resource,
                            const char *scope, bool has_updates)
{
    return pack(draft->doc,
                "{apiGroups: [%s], apiVersions: [%s], resources: [%s], scope: %s, operations: [CREATE, %s]}", group,
                version, resource, scope, has_updates ? "UPDATE" : NULL);
}

static yyjson_mut_val *namespace_selector(struct draft *draft)
{
    bool needs_queue = conf_bool(draft->config, "admission.queueLabelSelector", false);
    yyjson_mut_val *queue =
        needs_queue ? pack(draft->doc, "{key: %s, operator: Exists}", queue_label_key(draft->config)) : NULL;

    return pack(draft->doc,
                "{matchLabels: %p, matchExpressions: ["
                "{key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system, %s]}, %p]}",
                (void *)pack_copy(draft->doc, conf_full(draft->config, "global.namespaceLabelSelector")),
                draft->around->namespace, (void *)queue);
}

/* Only pods of our scheduler. */
static yyjson_mut_val *match_conditions(struct draft *draft)
{
    return pack(draft->doc, "[{name: scheduler-name-match, expression: %s}]",
                draft_text(draft, "object.spec.schedulerName == '%s'", scheduler_name(draft->config)));
}

static yyjson_mut_val *pod_webhook(struct draft *draft, const char *name, const char *path, bool is_mutating)
{
    yyjson_val *labels = conf_full(draft->config, "global.podLabelSelector");
    yyjson_mut_val *objects =
        labels ? pack(draft->doc, "{matchLabels: %p}", (void *)pack_copy(draft->doc, labels)) : NULL;

    return pack(draft->doc,
                "{name: %s, admissionReviewVersions: [v1], sideEffects: None, failurePolicy: Fail,"
                " reinvocationPolicy: %s, namespaceSelector: %p, objectSelector: %p, matchConditions: %p,"
                " clientConfig: %p, rules: [%p]}",
                name, is_mutating ? "IfNeeded" : NULL, (void *)namespace_selector(draft), (void *)objects,
                (void *)match_conditions(draft), (void *)client_config(draft, path),
                (void *)rule(draft, "", "v1", "pods", "Namespaced", !is_mutating));
}

static yyjson_mut_val *object_webhook(struct draft *draft, const char *name, const char *path, yyjson_mut_val *rules)
{
    return pack(draft->doc,
                "{name: %s, admissionReviewVersions: [v1], sideEffects: None, failurePolicy: Fail, clientConfig: %p,"
                " rules: [%p]}",
                name, (void *)client_config(draft, path), (void *)rules);
}

static void add_configuration(struct draft *draft, enum owned_kind kind, const char *name, const char *app,
                              yyjson_mut_val *webhooks)
{
    draft_add(
        draft, kind,
        pack(draft->doc, "{metadata: %p, webhooks: %p}", (void *)draft_meta(draft, NULL, name, app), (void *)webhooks));
}

static const char *mutating_name(const struct draft *draft)
{
    return conf_text(draft->config, "admission.mutatingWebhookConfigurationName", "mutating-kai-admission");
}

static const char *validating_name(const struct draft *draft)
{
    return conf_text(draft->config, "admission.validatingWebhookConfigurationName", "validating-kai-admission");
}

static void pods_and_topologies(struct draft *draft)
{
    const char *name = draft_text(draft, "admission.%s.svc", draft->around->namespace);
    yyjson_mut_val *topologies = rule(draft, "kai.scheduler", "v1alpha1", "topologies", "Cluster", true);

    add_configuration(draft, OWNED_MUTATING_WEBHOOK, mutating_name(draft), "admission",
                      pack(draft->doc, "[%p]", (void *)pod_webhook(draft, name, "/mutate--v1-pod", true)));
    add_configuration(draft, OWNED_VALIDATING_WEBHOOK, validating_name(draft), "admission",
                      pack(draft->doc, "[%p, %p]", (void *)pod_webhook(draft, name, "/validate--v1-pod", false),
                           (void *)object_webhook(draft, draft_text(draft, "topology.%s", name),
                                                  "/validate-kai-scheduler-v1alpha1-topology", topologies)));
}

/* Objects whose services have the webhooks in KAI: they are named by a prefix and the version. */
static const struct object_row {
    const char *section, *app, *prefix, *version, *webhook, *path, *resource, *scope, *flag;
} rows[] = {
    {"queueController", "queue-controller", "kai-queue-validation-", "v2", "queue-validation.kai.scheduler",
     "/validate-scheduling-run-ai-v2-queue", "queues", "Cluster", "queue"},
    {"podGroupController", "podgroup-controller", "kai-podgroup-validation-", "v2alpha2",
     "podgroup-validation.kai.scheduler", "/validate-scheduling-run-ai-v2alpha2-podgroup", "podgroups", "Namespaced",
     "podgroup"},
};

static const char *object_name(struct draft *draft, const struct object_row *row)
{
    yyjson_val *section = conf_at(draft->config, row->section);

    return draft_text(draft, "%s%s", conf_text(section, "webhooks.webhookConfigurationNamePrefix", row->prefix),
                      row->version);
}

void args_add_webhooks(struct draft *draft, yyjson_mut_val *args)
{
    args_add(draft, args, "--mutating-webhook-configuration-name=%s", mutating_name(draft));
    args_add(draft, args, "--validating-webhook-configuration-name=%s", validating_name(draft));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        args_add(draft, args, "--%s-webhook-configuration-name=%s", rows[i].flag, object_name(draft, &rows[i]));
}

void draft_webhooks(struct draft *draft)
{
    pods_and_topologies(draft);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        yyjson_val *section = conf_at(draft->config, rows[i].section);
        yyjson_mut_val *rules =
            rule(draft, "scheduling.run.ai", rows[i].version, rows[i].resource, rows[i].scope, true);

        if (!conf_bool(section, "service.enabled", true) || !conf_bool(section, "webhooks.enableValidation", true))
            continue;
        add_configuration(
            draft, OWNED_VALIDATING_WEBHOOK, object_name(draft, &rows[i]), rows[i].app,
            pack(draft->doc, "[%p]", (void *)object_webhook(draft, rows[i].webhook, rows[i].path, rules)));
    }
}
