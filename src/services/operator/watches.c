/* SPDX-License-Identifier: Apache-2.0 */

/* What is followed, and what is kept of it. Kinds of CRDs are followed while their CRD is there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "kube/client/meta.h"
#include "kube/follow/follow.h"
#include "services/operator/conf.h"
#include "services/operator/operator_internal.h"

static const struct kube_resource cluster_policies = {"nvidia.com", "v1", "clusterpolicies", "ClusterPolicy", false};
#define CLUSTER_POLICY_CRD "clusterpolicies.nvidia.com"

/* From this release on the GPU operator uses CDI wherever it is enabled. */
#define CDI_MAJOR 25
#define CDI_MINOR 10

static void on_synced(void *arg, bool is_first)
{
    (void)is_first;
    operator_wake(arg);
}

static void on_problem(void *arg, const struct err *err, nsec_t wait)
{
    service_follow_problem(((struct operator*)arg)->service, "objects", err, wait);
}

static struct follower *follow(struct operator* operator, struct follow_options options)
{
    options.on_synced = on_synced;
    options.on_problem = on_problem;
    options.arg = operator;
    return follower_new(operator->service->client, &options);
}

void source_free(struct source *source)
{
    if (!source)
        return;
    kube_cancel(source->status_call);
    desired_done(&source->desired);
    yyjson_doc_free(source->doc);
    free(source->name);
    free(source);
}

static void source_set(struct source *source, const char *uid, yyjson_val *object)
{
    yyjson_doc_free(source->doc);
    yyjson_mut_doc *copy = kube_copy(object);
    source->doc = yyjson_mut_doc_imut_copy(copy, NULL);
    yyjson_mut_doc_free(copy);
    source->generation = conf_int(object, "metadata.generation", 0);
    source->is_assumed = false;
    (void)snprintf(source->uid, sizeof source->uid, "%s", uid);
}

struct source *source_new(struct operator* operator, const char * name, const char *uid, yyjson_val *object,
                          bool is_config)
{
    struct source *source = xcalloc(1, sizeof *source);

    source->operator= operator;
    source->is_config = is_config;
    source->name = xstrdup(name);
    source_set(source, uid, object);
    return source;
}

/* Objects must not point to what a source desired when it goes. */
void forget_source(struct operator* operator, struct source * source)
{
    struct owned *owned;

    for (size_t kind = 0; kind < _OWNED_KIND_MAX; kind++)
        for (size_t cursor = 0; (owned = strmap_next(&operator->owned[kind], &cursor));)
            if (owned->source == source) {
                owned->source = NULL;
                owned->object = NULL;
            }
    source_free(source);
}

static void on_config(void *arg, const struct follow_event *event)
{
    struct operator* operator= arg;

    if (event->change == FOLLOW_DELETED) {
        forget_source(operator, TAKE_PTR(operator->config));
        log_warn(operator->service->log, operator->is_hosting
                                             ? "the Config was deleted; using the defaults"
                                             : "the Config was deleted: its objects are deleted with it");
    } else if (operator->config) {
        source_set(operator->config, event->uid, event->object);
    } else {
        operator->config = source_new(operator, event->name, event->uid, event->object, true);
    }
    operator_wake(operator);
}

static uint32_t shard_index(const struct operator* operator, const char * name)
{
    uint32_t i = 0;

    while (i < operator->shards.len && strcmp(operator->shards.items[i]->name, name) < 0)
        i++;
    return i;
}

static void on_shard(void *arg, const struct follow_event *event)
{
    struct operator* operator= arg;
    uint32_t i = shard_index(operator, event->name);
    bool is_known = i < operator->shards.len && strcmp(operator->shards.items[i]->name, event->name) == 0;

    if (event->change != FOLLOW_DELETED && is_known) {
        source_set(operator->shards.items[i], event->uid, event->object);
    } else if (event->change != FOLLOW_DELETED) {
        vec_insert_at(&operator->shards, i, source_new(operator, event->name, event->uid, event->object, false));
    } else if (is_known) {
        struct source *gone = operator->shards.items[i];

        vec_remove_at(&operator->shards, i);
        forget_source(operator, gone);
    }
    operator_wake(operator);
}

static void on_owned(struct operator* operator, enum owned_kind kind, const struct follow_event *event)
{
    struct owned *owned = owned_get(operator, kind, event->namespace, event->name);

    if (event->change == FOLLOW_DELETED)
        owned_gone(owned);
    else
        owned_see(owned, event->object);
    operator_wake(operator);
}

/* A follower says what it follows by its callback alone: one for each kind. */
#define ON_KIND(name, kind)                                       \
    static void name(void *arg, const struct follow_event *event) \
    {                                                             \
        on_owned(arg, kind, event);                               \
    }
ON_KIND(on_account, OWNED_SERVICE_ACCOUNT)
ON_KIND(on_config_map, OWNED_CONFIG_MAP)
ON_KIND(on_service, OWNED_SERVICE)
ON_KIND(on_slice, OWNED_ENDPOINT_SLICE)
ON_KIND(on_deployment, OWNED_DEPLOYMENT)
ON_KIND(on_daemon_set, OWNED_DAEMON_SET)
ON_KIND(on_budget, OWNED_DISRUPTION_BUDGET)
ON_KIND(on_mutating, OWNED_MUTATING_WEBHOOK)
ON_KIND(on_validating, OWNED_VALIDATING_WEBHOOK)
ON_KIND(on_autoscaler, OWNED_AUTOSCALER)
ON_KIND(on_prometheus, OWNED_PROMETHEUS)
ON_KIND(on_monitor, OWNED_SERVICE_MONITOR)

static const follow_event_fn kind_callbacks[_OWNED_KIND_MAX] = {
    [OWNED_SERVICE_ACCOUNT] = on_account,
    [OWNED_CONFIG_MAP] = on_config_map,
    [OWNED_SERVICE] = on_service,
    [OWNED_ENDPOINT_SLICE] = on_slice,
    [OWNED_DEPLOYMENT] = on_deployment,
    [OWNED_DAEMON_SET] = on_daemon_set,
    [OWNED_DISRUPTION_BUDGET] = on_budget,
    [OWNED_MUTATING_WEBHOOK] = on_mutating,
    [OWNED_VALIDATING_WEBHOOK] = on_validating,
    [OWNED_AUTOSCALER] = on_autoscaler,
    [OWNED_PROMETHEUS] = on_prometheus,
    [OWNED_SERVICE_MONITOR] = on_monitor,
};

static void follow_kind(struct operator* operator, enum owned_kind kind)
{
    const struct kube_resource *resource = &owned_rows[kind].resource;

    operator->around.has_kind[kind] = true;
    operator->kinds[kind] =
        follow(operator, (struct follow_options){.resource = resource,
                                                 .namespace = resource->is_namespaced ? operator->flags->namespace : NULL,
                                                 .on_event = kind_callbacks[kind]});
}

static void unfollow_kind(struct operator* operator, enum owned_kind kind)
{
    struct owned *owned;

    operator->around.has_kind[kind] = false;
    follower_free(TAKE_PTR(operator->kinds[kind]));
    for (size_t cursor = 0; (owned = strmap_next(&operator->owned[kind], &cursor));)
        owned_gone(owned);
}

/* "v25.10.0" */
static bool is_cdi_release(const char *version)
{
    char *end = NULL;

    if (version[0] != 'v')
        return false;
    long major = strtol(version + 1, &end, 10);
    if (end == version + 1 || *end != '.')
        return false;
    const char *rest = end + 1;
    long minor = strtol(rest, &end, 10);
    return end != rest && (major > CDI_MAJOR || (major == CDI_MAJOR && minor >= CDI_MINOR));
}

static bool policy_uses_cdi(yyjson_val *policy)
{
    yyjson_val *labels = conf_at(policy, "metadata.labels");
    const char *version = yyjson_get_str(yyjson_obj_get(labels, "app.kubernetes.io/version"));

    return conf_bool(policy, "spec.cdi.enabled", false) &&
           (conf_bool(policy, "spec.cdi.default", false) || (version && is_cdi_release(version)));
}

static void on_policy(void *arg, const struct follow_event *event)
{
    struct operator* operator= arg;

    for (uint32_t i = 0; i < operator->cdi_policies.len; i++) {
        if (strcmp(operator->cdi_policies.items[i], event->name) == 0) {
            free(operator->cdi_policies.items[i]);
            vec_remove_at(&operator->cdi_policies, i);
            break;
        }
    }
    if (event->change != FOLLOW_DELETED && policy_uses_cdi(event->object))
        vec_push(&operator->cdi_policies, xstrdup(event->name));
    operator_wake(operator);
}

static void on_crd(void *arg, const struct follow_event *event)
{
    struct operator* operator= arg;
    bool is_there = event->change != FOLLOW_DELETED;

    for (size_t kind = 0; kind < _OWNED_KIND_MAX; kind++) {
        const char *crd = owned_rows[kind].crd;

        if (!crd || strcmp(crd, event->name) != 0)
            continue;
        if (is_there && !operator->kinds[kind])
            follow_kind(operator,(enum owned_kind) kind);
        else if (!is_there)
            unfollow_kind(operator,(enum owned_kind) kind);
    }
    if (strcmp(event->name, CLUSTER_POLICY_CRD) == 0) {
        if (is_there && !operator->policies)
            operator->policies =
                follow(operator,(struct follow_options){.resource = &cluster_policies, .on_event = on_policy});
        else if (!is_there)
            follower_free(TAKE_PTR(operator->policies));
    }
    operator_wake(operator);
}

static void on_fake_node(void *arg, const struct follow_event *event)
{
    struct operator* operator= arg;

    if (event->change == FOLLOW_ADDED)
        operator->fake_nodes++;
    else if (event->change == FOLLOW_DELETED)
        operator->fake_nodes--;
    operator_wake(operator);
}

static void on_pod(void *arg, const struct follow_event *event)
{
    struct operator* operator= arg;
    struct pod_place *pod = strmap_get(&operator->pods, "", event->name);

    if (event->change == FOLLOW_DELETED) {
        (void)strmap_remove(&operator->pods, "", event->name);
        if (pod)
            free(pod->name);
        free(pod);
    } else {
        if (!pod) {
            pod = xcalloc(1, sizeof *pod);
            pod->name = xstrdup(event->name);
            (void)strmap_put(&operator->pods, "", pod->name, pod);
        }
        (void)snprintf(pod->uid, sizeof pod->uid, "%s", event->uid);
        (void)snprintf(pod->address, sizeof pod->address, "%s", kube_text(event->object, "status", "podIP"));
        pod->is_going = *kube_text(event->object, "metadata", "deletionTimestamp") != '\0';
    }
    operator_wake(operator);
}

/* Leases are renewed every few seconds; only another holder matters. */
static void on_lease(void *arg, const struct follow_event *event)
{
    struct operator* operator= arg;
    struct lease_holder *lease = strmap_get(&operator->leases, "", event->name);
    const char *holder = event->object ? kube_text(event->object, "spec", "holderIdentity") : "";

    if (event->change == FOLLOW_DELETED)
        holder = "";
    if (!lease) {
        lease = xcalloc(1, sizeof *lease);
        lease->name = xstrdup(event->name);
        (void)strmap_put(&operator->leases, "", lease->name, lease);
    }
    if (strcmp(lease->holder, holder) == 0)
        return;
    (void)snprintf(lease->holder, sizeof lease->holder, "%s", holder);
    operator_wake(operator);
}

static void on_values(void *arg, const struct follow_event *event)
{
    struct operator* operator= arg;

    install_values(operator->install, event->change == FOLLOW_DELETED ? NULL : event->object);
}

/* A Deployment stands for a service in this process. */
static bool is_written_when_hosting(enum owned_kind kind)
{
    return kind != OWNED_DEPLOYMENT && (owned_rows[kind].is_hosted || owned_rows[kind].is_apart);
}

void watches_begin(struct operator* operator)
{
    char name[512];

    operator->configs = follow(operator,(struct follow_options){.resource = kube_known(KUBE_CONFIGS),
                                                                .field_selector = "metadata.name=" CONFIG_NAME,
                                                                .on_event = on_config});
    operator->shard_follower =
        follow(operator,(struct follow_options){.resource = kube_known(KUBE_SCHEDULING_SHARDS), .on_event = on_shard});
    operator->crds = follow(operator,(struct follow_options){.resource = kube_known(KUBE_CUSTOM_RESOURCE_DEFINITIONS),
                                                             .is_metadata_only = true,
                                                             .on_event = on_crd});
    operator->nodes = follow(operator,(struct follow_options){.resource = kube_known(KUBE_NODES),
                                                              .label_selector = "run.ai/fake.gpu=true",
                                                              .is_metadata_only = true,
                                                              .on_event = on_fake_node});
    if (operator->flags->values_name && * operator->flags->values_name) {
        (void)snprintf(name, sizeof name, "metadata.name=%s", operator->flags->values_name);
        operator->values = follow(operator,(struct follow_options){.resource = kube_known(KUBE_CONFIG_MAPS),
                                                                   .namespace = operator->flags->namespace,
                                                                   .field_selector = name,
                                                                   .on_event = on_values});
    }
    for (size_t kind = 0; kind < _OWNED_KIND_MAX; kind++)
        if (!owned_rows[kind].crd && (!operator->is_hosting || is_written_when_hosting((enum owned_kind)kind)))
            follow_kind(operator,(enum owned_kind) kind);
}

/* Accounts in a namespace that the Config names. */
static void follow_accounts(struct operator* operator, struct follower ** follower, char **kept, const char *namespace)
{
    if (*kept && strcmp(*kept, namespace) == 0)
        return;
    free(*kept);
    *kept = xstrdup(namespace);
    follower_free(*follower);
    *follower = NULL;
    if (strcmp(namespace, operator->flags->namespace) != 0)
        *follower =
            follow(operator,(struct follow_options){
                       .resource = kube_known(KUBE_SERVICE_ACCOUNTS), .namespace = namespace, .on_event = on_account});
}

static bool has_followers(const struct operator* operator, yyjson_val * config)
{
    char name[LEASE_NAME_MAX];

    return operator->shards.len> 0 && shard_lease(config, NULL, name);
}

void watches_adapt(struct operator* operator)
{
    yyjson_val *config = conf_at(yyjson_doc_get_root(operator->config->doc), "spec");
    bool scales = conf_bool(config, "nodeScaleAdjuster.service.enabled", true);

    if (operator->is_hosting)
        return;
    follow_accounts(operator, & operator->reservation_accounts, &operator->reservation_namespace,
                    reservation_namespace(config));
    follow_accounts(operator, & operator->scaling_accounts, &operator->scaling_namespace,
                    scales ? scaling_namespace(config) : operator->flags->namespace);
    if (has_followers(operator, config) && !operator->lease_follower) {
        operator->pod_follower =
            follow(operator,(struct follow_options){
                       .resource = kube_known(KUBE_PODS), .namespace = operator->flags->namespace, .on_event = on_pod});
        operator->lease_follower = follow(operator,(struct follow_options){.resource = kube_known(KUBE_LEASES),
                                                                           .namespace = operator->flags->namespace,
                                                                           .on_event = on_lease});
    }
}

bool watches_are_synced(const struct operator* operator)
{
    const struct follower *const some[] =
        {operator->configs, operator->shard_follower, operator->crds, operator->nodes, operator->policies,
                                                                                       operator->values,
                                                                                       operator->pod_follower,
                                                                                       operator->lease_follower,
                                                                                       operator->reservation_accounts,
                                                                                       operator->scaling_accounts };

    if (!operator->configs)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(some); i++)
        if (some[i] && !follower_is_synced(some[i]))
            return false;
    for (size_t kind = 0; kind < _OWNED_KIND_MAX; kind++)
        if (operator->kinds[kind] && !follower_is_synced(operator->kinds[kind]))
            return false;
    return true;
}

void watches_end(struct operator* operator)
{
    struct follower *const some[] =
        {operator->configs, operator->shard_follower, operator->crds, operator->nodes, operator->policies,
                                                                                       operator->values,
                                                                                       operator->pod_follower,
                                                                                       operator->lease_follower,
                                                                                       operator->reservation_accounts,
                                                                                       operator->scaling_accounts };
    struct pod_place *pod;
    struct lease_holder *lease;

    for (size_t i = 0; i < ARRAY_LEN(some); i++)
        follower_free(some[i]);
    for (size_t kind = 0; kind < _OWNED_KIND_MAX; kind++)
        follower_free(operator->kinds[kind]);
    for (size_t cursor = 0; (pod = strmap_next(&operator->pods, &cursor));) {
        free(pod->name);
        free(pod);
    }
    strmap_done(&operator->pods);
    for (size_t cursor = 0; (lease = strmap_next(&operator->leases, &cursor));) {
        free(lease->name);
        free(lease);
    }
    strmap_done(&operator->leases);
    vec_foreach (&operator->cdi_policies, name)
        free(*name);
    vec_done(&operator->cdi_policies);
    free(operator->reservation_namespace);
    free(operator->scaling_namespace);
}
