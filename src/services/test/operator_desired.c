/* SPDX-License-Identifier: Apache-2.0 */

/* What a Config and a shard stand for, as pure functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "services/operator/desired.h"
#include "services/operator/merge.h"
#include "services/operator/pack.h"
#include "text/json.h"
#include "text/yaml.h"

static struct surroundings around = {.namespace = "kai-scheduler",
                                     .registry = "reg",
                                     .image = "muster",
                                     .tag = "t1",
                                     .has_kind = {[OWNED_DEPLOYMENT] = true}};

struct made {
    struct yaml_docs docs;
    struct desired desired;
    int result;
    struct err err;
};

static struct made *make(const char *config, const char *shard)
{
    struct made *made = calloc(1, sizeof *made);
    struct err err;

    assert_non_null(made);
    assert_int_equal(yaml_parse(config, strlen(config), "config", &made->docs, &err), 0);
    desired_init(&made->desired);
    yyjson_val *spec = yyjson_doc_get_root(made->docs.items[0].json);
    if (!shard) {
        made->result = desired_for_config(&made->desired, spec, &around, &made->err);
    } else {
        assert_int_equal(yaml_parse(shard, strlen(shard), "shard", &made->docs, &err), 0);
        const struct shard one = {.name = "default", .object = yyjson_doc_get_root(made->docs.items[1].json)};

        made->result = desired_for_shard(&made->desired, &one, spec, &around, &made->err);
    }
    return made;
}

static void done(struct made *made)
{
    desired_done(&made->desired);
    yaml_docs_done(&made->docs);
    free(made);
}

static yyjson_mut_val *find(const struct made *made, enum owned_kind kind, const char *name)
{
    vec_foreach (&made->desired.objects, object)
        if (object->kind == kind && strcmp(object->name, name) == 0)
            return object->object;
    return NULL;
}

static bool has(yyjson_mut_val *object, const char *part)
{
    char *text = object ? yyjson_mut_val_write(object, 0, NULL) : NULL;
    bool is_there = text && strstr(text, part);

    free(text);
    return is_there;
}

static void an_empty_config_stands_for_every_service(void **state)
{
    static const char *const names[] = {"pod-grouper", "binder", "queue-controller", "podgroup-controller",
                                        "admission"};
    struct made *made = make("{}", NULL);

    (void)state;
    assert_int_equal(made->result, 0);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        assert_true(has(find(made, OWNED_DEPLOYMENT, names[i]), "\"image\":\"reg/muster:t1\""));
        assert_non_null(find(made, OWNED_SERVICE_ACCOUNT, names[i]));
        assert_true(has(find(made, OWNED_DEPLOYMENT, names[i]), "\"runAsNonRoot\":true"));
    }
    assert_non_null(find(made, OWNED_MUTATING_WEBHOOK, "mutating-kai-admission"));
    assert_null(find(made, OWNED_DAEMON_SET, "numa-placement-exporter"));
    assert_null(find(made, OWNED_DISRUPTION_BUDGET, "admission"));
    done(made);
}

static void settings_of_services_become_arguments(void **state)
{
    struct made *made =
        make("global: {replicaCount: 2, jsonLog: true, podLabelSelector: {a: b}, queueLabelKey: q}\n"
             "binder: {cdiEnabled: true, volumeBindingTimeoutSeconds: 30, service: {k8sClientConfig: {qps: 9}}}\n"
             "admission: {gpuSharing: true, service: {podDisruptionBudget: {enabled: true}}}\n"
             "podGrouper: {args: {gangScheduleKnative: false}}\n",
             NULL);
    yyjson_mut_val *binder = find(made, OWNED_DEPLOYMENT, "binder");
    yyjson_mut_val *grouper = find(made, OWNED_DEPLOYMENT, "pod-grouper");

    (void)state;
    assert_true(has(binder, "--leader-elect") && has(binder, "--qps=9") && has(binder, "--zap-devel=false"));
    assert_true(has(binder, "cdiEnabled\\\":\\\"true") && has(binder, "bindTimeoutSeconds\\\":\\\"30"));
    assert_true(has(grouper, "--pod-label-selector=a=b") && has(grouper, "--queue-label-key=q"));
    assert_true(has(grouper, "--knative-gang-schedule=false"));
    assert_true(has(grouper, "podAntiAffinity"));
    assert_true(has(find(made, OWNED_DEPLOYMENT, "admission"), "--gpu-sharing-enabled=true"));
    assert_false(has(find(made, OWNED_DEPLOYMENT, "admission"), "--leader-elect"));
    assert_non_null(find(made, OWNED_DISRUPTION_BUDGET, "admission"));
    assert_true(has(find(made, OWNED_MUTATING_WEBHOOK, "mutating-kai-admission"),
                    "\"objectSelector\":{\"matchLabels\":{\"a\":\"b\"}}"));
    done(made);
}

static void a_prometheus_without_its_operator_is_a_missing_dependency(void **state)
{
    struct made *made = make("prometheus: {enabled: true}", NULL);

    (void)state;
    assert_string_equal(made->desired.missing, "prometheus operator");
    assert_string_equal(operand_title(made->desired.missing_of), "KAI-prometheus");
    done(made);
}

static void a_config_of_another_namespace_is_refused(void **state)
{
    struct made *made = make("namespace: elsewhere", NULL);

    (void)state;
    assert_true(made->result < 0);
    assert_non_null(strstr(made->err.text, "'elsewhere'"));
    done(made);
}

static void a_shard_becomes_a_scheduler_with_its_settings(void **state)
{
    struct made *made =
        make("scheduler: {replicas: 2}", "spec: {partitionLabelValue: red, kValue: 2, args: {v: \"5\", x: \"1\"}}");
    yyjson_mut_val *deployment = find(made, OWNED_DEPLOYMENT, "kai-scheduler-default");

    (void)state;
    assert_int_equal(made->result, 0);
    assert_true(has(deployment, "--partition-label-value=red") && has(deployment, "--v=5") && !has(deployment, "--x="));
    assert_true(has(find(made, OWNED_CONFIG_MAP, "kai-scheduler-default"), "kValue"));
    assert_true(has(find(made, OWNED_ENDPOINT_SLICE, "kai-scheduler-default-leader"), "\"endpoints\":[]"));
    assert_false(has(find(made, OWNED_SERVICE, "kai-scheduler-default"), "selector"));
    done(made);
}

static void selectors_and_autoscaling_reach_the_scheduler(void **state)
{
    struct made *made = make("global: {podLabelSelector: {a: b, c: d}, namespaceLabelSelector: {team: x}}\n"
                             "nodeScaleAdjuster: {service: {enabled: true}}",
                             "spec: {}");
    struct made *plain = make("{}", "spec: {}");
    yyjson_mut_val *deployment = find(made, OWNED_DEPLOYMENT, "kai-scheduler-default");

    (void)state;
    assert_true(has(deployment, "--pod-label-selector=a=b,c=d") &&
                has(deployment, "--namespace-label-selector=team=x") && has(deployment, "--cluster-autoscaling=true"));
    assert_false(has(find(plain, OWNED_DEPLOYMENT, "kai-scheduler-default"), "--cluster-autoscaling"));
    done(made);
    done(plain);
}

static void webhook_configurations_are_named_by_the_config(void **state)
{
    struct made *made = make("admission: {mutatingWebhookConfigurationName: m, validatingWebhookConfigurationName: v}\n"
                             "queueController: {webhooks: {webhookConfigurationNamePrefix: q-}}",
                             NULL);
    yyjson_mut_val *admission = find(made, OWNED_DEPLOYMENT, "admission");

    (void)state;
    assert_non_null(find(made, OWNED_MUTATING_WEBHOOK, "m"));
    assert_non_null(find(made, OWNED_VALIDATING_WEBHOOK, "v"));
    assert_non_null(find(made, OWNED_VALIDATING_WEBHOOK, "q-v2"));
    assert_true(has(admission, "--mutating-webhook-configuration-name=m") &&
                has(admission, "--validating-webhook-configuration-name=v") &&
                has(admission, "--queue-webhook-configuration-name=q-v2") &&
                has(admission, "--podgroup-webhook-configuration-name=kai-podgroup-validation-v2alpha2"));
    done(made);
}

static void in_one_process_only_services_and_webhooks_are_desired(void **state)
{
    (void)state;
    around.is_hosted = around.has_starter = true;
    struct made *config = make("global: {replicaCount: 2}", NULL);
    struct made *shard = make("scheduler: {replicas: 2}", "spec: {kValue: 2}");

    around.has_starter = false;
    struct made *without = make("{}", NULL);

    around.is_hosted = false;
    vec_foreach (&config->desired.objects, object)
        assert_true(object->kind == OWNED_DEPLOYMENT || object->kind == OWNED_MUTATING_WEBHOOK ||
                    object->kind == OWNED_VALIDATING_WEBHOOK);
    assert_false(has(find(config, OWNED_DEPLOYMENT, "binder"), "--leader-elect"));
    assert_true(has(find(config, OWNED_DEPLOYMENT, "job-starter"), "--numbers-namespace=kai-scheduler"));
    assert_null(find(without, OWNED_DEPLOYMENT, "job-starter"));
    done(without);
    assert_int_equal(shard->desired.objects.len, 1);
    assert_true(has(find(shard, OWNED_DEPLOYMENT, "kai-scheduler-default"), "--scheduler-conf-text=actions"));
    done(config);
    done(shard);
}

static void in_one_process_that_which_has_pods_of_its_own_is_desired_with_its_objects(void **state)
{
    (void)state;
    around.is_hosted = around.has_numa_shard = true;
    around.has_kind[OWNED_PROMETHEUS] = around.has_kind[OWNED_SERVICE_MONITOR] = true;
    around.has_kind[OWNED_AUTOSCALER] = true;
    struct made *made = make("prometheus: {enabled: true}\nglobal: {vpa: {enabled: true}}", NULL);

    around.is_hosted = around.has_numa_shard = false;
    memset(around.has_kind, 0, sizeof around.has_kind);
    assert_non_null(find(made, OWNED_DAEMON_SET, "numa-placement-exporter"));
    assert_non_null(find(made, OWNED_SERVICE_ACCOUNT, "numa-placement-exporter"));
    assert_non_null(find(made, OWNED_AUTOSCALER, "numa-placement-exporter"));
    assert_non_null(find(made, OWNED_PROMETHEUS, "prometheus"));
    assert_non_null(find(made, OWNED_SERVICE_ACCOUNT, "prometheus"));
    assert_non_null(find(made, OWNED_SERVICE, "usage-prometheus"));
    assert_true(has(find(made, OWNED_SERVICE_MONITOR, "queue-controller"), "\"app\":\"muster-controller\""));
    assert_null(find(made, OWNED_SERVICE_ACCOUNT, "binder"));
    assert_null(find(made, OWNED_SERVICE, "queue-controller"));
    assert_null(find(made, OWNED_AUTOSCALER, "binder"));
    done(made);
}

/* The Prometheus of a Config that says so, after an instance was seen. */
static struct made *with_prometheus(const char *config, struct prometheus_seen seen, nsec_t now)
{
    around.has_kind[OWNED_PROMETHEUS] = around.has_kind[OWNED_SERVICE_MONITOR] = true;
    around.prometheus = seen;
    around.now = now;
    struct made *made = make(config, NULL);

    memset(around.has_kind, 0, sizeof around.has_kind);
    around.prometheus = (struct prometheus_seen){0};
    return made;
}

static void a_prometheus_that_is_switched_off_stays_for_its_retention(void **state)
{
    static const char off[] = "prometheus: {enabled: false}";
    const nsec_t hour = 3600 * NSEC_PER_SEC;
    const struct prometheus_seen running = {.is_there = true, .retention = 2 * hour};
    const struct prometheus_seen marked = {.is_there = true, .switched_off = hour, .retention = 2 * hour};
    struct made *none = with_prometheus(off, (struct prometheus_seen){0}, hour);
    struct made *first = with_prometheus(off, running, hour);
    struct made *later = with_prometheus(off, marked, 3 * hour - 1);
    struct made *over = with_prometheus(off, marked, 3 * hour);
    struct made *on_again = with_prometheus("prometheus: {enabled: true}", marked, 4 * hour);
    static const char since[] = "\"kai/deprecation-timestamp\":\"1970-01-01T01:00:00Z\"";

    (void)state;
    assert_null(find(none, OWNED_PROMETHEUS, "prometheus"));
    assert_true(has(find(first, OWNED_PROMETHEUS, "prometheus"), since));
    assert_true(has(find(later, OWNED_PROMETHEUS, "prometheus"), since));
    assert_non_null(find(later, OWNED_SERVICE_ACCOUNT, "prometheus"));
    assert_non_null(find(later, OWNED_SERVICE, "usage-prometheus"));
    assert_null(find(over, OWNED_PROMETHEUS, "prometheus"));
    assert_null(find(over, OWNED_SERVICE_ACCOUNT, "prometheus"));
    assert_non_null(find(on_again, OWNED_PROMETHEUS, "prometheus"));
    assert_false(has(find(on_again, OWNED_PROMETHEUS, "prometheus"), "deprecation"));
    assert_int_equal(prometheus_ends(&marked), 3 * hour);
    assert_int_equal(prometheus_ends(&running), 0);
    assert_int_equal(prometheus_ends(&(struct prometheus_seen){true, hour, NSEC_MAX}), NSEC_MAX);
    done(none);
    done(first);
    done(later);
    done(over);
    done(on_again);
}

static void the_mark_of_a_prometheus_goes_when_it_is_wanted_again(void **state)
{
    yyjson_mut_doc *doc = json_new_object(NULL);
    yyjson_mut_val *live =
        pack(doc, "{metadata: {annotations: {theirs: x, " KEY_SWITCHED_OFF ": %s}}}", "2026-01-01T00:00:00Z");

    (void)state;
    merge_into(doc, live, OWNED_PROMETHEUS, pack(doc, "{metadata: {labels: {app: prometheus}}}"), NULL);
    assert_true(has(live, "theirs") && !has(live, "deprecation"));
    yyjson_mut_doc_free(doc);
}

static void settings_that_make_no_sense_are_refused_by_name(void **state)
{
    static const struct {
        const char *shard, *word;
    } rows[] = {
        {"spec: {queueDepthPerAction: {sing: 1}}", "'sing'"},
        {"spec: {scenarioSearchBudgets: {maxActionSearchDuration: {dance: 1s}}}", "'dance'"},
        {"spec: {usageDBConfig: {clientType: prometheus}}", "connectionString"},
        {"spec: {scenarioSearchBudgets: {minJobSearchDuration: 9h}}", "minJobSearchDuration"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct made *made = make("{}", rows[i].shard);

        assert_true(made->result < 0);
        assert_non_null(strstr(made->err.text, rows[i].word));
        done(made);
    }
}

static void what_belongs_to_others_stays_in_a_merge(void **state)
{
    const struct merge_owner owner = {"kai.scheduler/v1", "Config", "kai-config", "u1"};
    yyjson_mut_doc *doc = json_new_object(NULL);
    yyjson_mut_val *live = pack(
        doc,
        "{metadata: {labels: {theirs: x, app: old}, ownerReferences: [{uid: other, controller: true}, {uid: friend}]},"
        " webhooks: [{name: w, timeoutSeconds: 7, failurePolicy: Ignore, clientConfig: {caBundle: abc},"
        " namespaceSelector: {matchExpressions: [{key: cloud}, {key: ours}]}}]}");
    yyjson_mut_val *wanted =
        pack(doc, "{metadata: {labels: {app: new}}, webhooks: [{name: w, failurePolicy: Fail, clientConfig: {},"
                  " namespaceSelector: {matchExpressions: [{key: ours}]}}]}");

    (void)state;
    merge_into(doc, live, OWNED_MUTATING_WEBHOOK, wanted, &owner);
    assert_true(has(live, "\"theirs\":\"x\"") && has(live, "\"app\":\"new\"") && !has(live, "old"));
    assert_true(has(live, "\"caBundle\":\"abc\"") && has(live, "\"timeoutSeconds\":7"));
    assert_true(has(live, "Fail") && has(live, "cloud"));
    assert_true(has(live, "\"uid\":\"u1\"") && has(live, "friend") && !has(live, "other"));
    yyjson_mut_doc_free(doc);
}

static void a_service_keeps_its_address_and_pods_their_restart(void **state)
{
    yyjson_mut_doc *doc = json_new_object(NULL);
    yyjson_mut_val *service = pack(doc, "{spec: {clusterIP: 10.0.0.1, externalIPs: [1.2.3.4]}}");
    yyjson_mut_val *deployment =
        pack(doc, "{spec: {paused: true, template: {metadata: {annotations: {restartedAt: now}}}}}");

    (void)state;
    merge_into(doc, service, OWNED_SERVICE, pack(doc, "{spec: {type: ClusterIP}}"), NULL);
    assert_true(has(service, "10.0.0.1") && !has(service, "1.2.3.4"));
    merge_into(doc, deployment, OWNED_DEPLOYMENT, pack(doc, "{spec: {template: {metadata: {labels: {a: b}}}}}"), NULL);
    assert_true(has(deployment, "restartedAt") && !has(deployment, "paused"));
    yyjson_mut_doc_free(doc);
}

static void objects_are_packed_as_they_are_written(void **state)
{
    yyjson_mut_doc *doc = json_new_object(NULL);
    yyjson_mut_val *value = pack(doc, "{a: 1, b: true, c: text of words, d: [%s, %s], e: %d, f: %i, %s: {}, g: %p}",
                                 "x", (const char *)NULL, 5, 0, "key", NULL);
    char *text = yyjson_mut_val_write(value, 0, NULL);

    (void)state;
    assert_string_equal(text,
                        "{\"a\":1,\"b\":true,\"c\":\"text of words\",\"d\":[\"x\"],\"e\":5,\"f\":false,\"key\":{}}");
    free(text);
    yyjson_mut_doc_free(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_config_stands_for_every_service),
        cmocka_unit_test(settings_of_services_become_arguments),
        cmocka_unit_test(a_prometheus_without_its_operator_is_a_missing_dependency),
        cmocka_unit_test(a_config_of_another_namespace_is_refused),
        cmocka_unit_test(a_shard_becomes_a_scheduler_with_its_settings),
        cmocka_unit_test(selectors_and_autoscaling_reach_the_scheduler),
        cmocka_unit_test(webhook_configurations_are_named_by_the_config),
        cmocka_unit_test(in_one_process_only_services_and_webhooks_are_desired),
        cmocka_unit_test(in_one_process_that_which_has_pods_of_its_own_is_desired_with_its_objects),
        cmocka_unit_test(a_prometheus_that_is_switched_off_stays_for_its_retention),
        cmocka_unit_test(the_mark_of_a_prometheus_goes_when_it_is_wanted_again),
        cmocka_unit_test(settings_that_make_no_sense_are_refused_by_name),
        cmocka_unit_test(what_belongs_to_others_stays_in_a_merge),
        cmocka_unit_test(a_service_keeps_its_address_and_pods_their_restart),
        cmocka_unit_test(objects_are_packed_as_they_are_written),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
