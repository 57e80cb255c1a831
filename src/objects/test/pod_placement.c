/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "objects/test/world.h"

#define POD                                                                                                  \
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {app: web, rev: '7'}}\nspec:\n  schedulerName: " \
    "kai-scheduler\n"

static const struct constraints *constraints_of(const struct world *w)
{
    return &w->state->constraints.items[world_pod(w, "default", "p")->constraints];
}

static void node_affinity_and_selector_are_read(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w, POD "  nodeSelector: {disk: ssd}\n"
                       "  affinity:\n    nodeAffinity:\n"
                       "      requiredDuringSchedulingIgnoredDuringExecution:\n        nodeSelectorTerms:\n"
                       "        - matchExpressions: [{key: zone, operator: In, values: [a, b]}, {key: gpu, operator: "
                       "Gt, values: ['4']}]\n"
                       "        - matchFields: [{key: metadata.name, operator: NotIn, values: [n1]}]\n"
                       "        - {}\n"
                       "      preferredDuringSchedulingIgnoredDuringExecution:\n"
                       "      - {weight: 5, preference: {matchExpressions: [{key: fast, operator: Exists}]}}\n");
    const struct constraints *c = constraints_of(&w);
    assert_true(c->has_node_selector);
    assert_int_equal(c->node_selector_count, 1);
    assert_int_equal(c->node_term_count, 3);
    assert_int_equal(c->node_terms[0].count, 2);
    assert_int_equal(c->node_terms[0].all[1].op, MATCH_GREATER);
    assert_int_equal(c->node_terms[1].all[0].op, MATCH_FIELD_NAME_NOT_IN);
    /* A term without requirements matches no node, which a selector without any would. */
    assert_int_equal(c->node_terms[2].count, 1);
    assert_int_equal(c->node_terms[2].all[0].value_count, 0);
    assert_int_equal(c->preferred_node_count, 1);
    assert_int_equal(c->preferred_nodes[0].weight, 5);
    world_done(&w);
}

static void pod_affinity_is_read_with_its_namespaces(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w,
               "{apiVersion: v1, kind: Namespace, metadata: {name: red, labels: {team: red}}}\n---\n"
               "{apiVersion: v1, kind: Namespace, metadata: {name: blue, labels: {team: blue}}}\n---\n" POD
               "  affinity:\n    podAffinity:\n      requiredDuringSchedulingIgnoredDuringExecution:\n"
               "      - {labelSelector: {matchLabels: {app: web}}, topologyKey: zone, matchLabelKeys: [rev], "
               "namespaceSelector: {}}\n"
               "      preferredDuringSchedulingIgnoredDuringExecution:\n"
               "      - {weight: 3, podAffinityTerm: {topologyKey: rack, labelSelector: {}}}\n"
               "    podAntiAffinity:\n      requiredDuringSchedulingIgnoredDuringExecution:\n"
               "      - {labelSelector: {matchExpressions: [{key: app, operator: DoesNotExist}]}, topologyKey: host, "
               "namespaces: [x], namespaceSelector: {matchLabels: {team: red}}}\n"
               "      - {topologyKey: host, namespaceSelector: {matchLabels: {team: green}}}\n"
               "      preferredDuringSchedulingIgnoredDuringExecution:\n"
               "      - {weight: 4, podAffinityTerm: {topologyKey: rack, labelSelector: {}}}\n");
    const struct constraints *c = constraints_of(&w);
    assert_int_equal(c->affinity_count, 1);
    assert_int_equal(c->affinity[0].selector.count, 2);
    assert_true(c->affinity[0].all_namespaces);
    assert_int_equal(c->anti_affinity_count, 2);
    assert_int_equal(c->anti_affinity[0].namespace_count, 2);
    assert_string_equal(world_name(&w, c->anti_affinity[0].namespaces[1]), "red");
    assert_int_equal(c->anti_affinity[1].namespace_count, 1);
    assert_string_equal(world_name(&w, c->anti_affinity[1].namespaces[0]), "");
    assert_int_equal(c->anti_affinity[1].selector.all[0].value_count, 0);
    assert_int_equal(c->preferred_pod_count, 2);
    assert_int_equal(c->preferred_pods[0].weight, 3);
    assert_int_equal(c->preferred_pods[1].weight, -4);
    world_done(&w);
}

static void tolerations_ports_and_spread_are_read(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w, POD "  tolerations: [{operator: Exists}, {key: gpu, value: 'yes', effect: NoSchedule}]\n"
                       "  containers:\n  - name: c\n    ports: [{containerPort: 80}, {containerPort: 81, hostPort: "
                       "8081, protocol: UDP, "
                       "hostIP: 0.0.0.0}]\n"
                       "  topologySpreadConstraints:\n"
                       "  - {maxSkew: 2, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: "
                       "{matchLabels: {app: web}}, "
                       "matchLabelKeys: [rev, none]}\n");
    const struct constraints *c = constraints_of(&w);
    assert_int_equal(c->toleration_count, 2);
    assert_true(c->tolerations[0].exists && c->tolerations[0].any_effect);
    assert_false(c->tolerations[1].any_effect);
    assert_int_equal(c->port_count, 1);
    assert_int_equal(c->ports[0].port, 8081);
    assert_int_equal(c->ports[0].protocol, 1);
    assert_int_equal(c->ports[0].address, 0);
    assert_int_equal(c->spread_count, 1);
    assert_false(c->spread[0].is_hard);
    assert_int_equal(c->spread[0].max_skew, 2);
    assert_int_equal(c->spread[0].selector.count, 2);
    world_done(&w);
}

static void containers_in_the_hosts_network_take_their_ports_there(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w, POD
               "  hostNetwork: true\n  containers: [{name: c, ports: [{containerPort: 80}]}]\n"
               "  initContainers: [{name: i, ports: [{containerPort: 81}]}, {name: s, restartPolicy: Always, ports: "
               "[{containerPort: 82}]}]\n");
    assert_int_equal(constraints_of(&w)->port_count, 2);
    assert_int_equal(constraints_of(&w)->ports[1].port, 82);
    world_done(&w);
}

static void volumes_and_config_maps_have_to_be_there(void **state)
{
    (void)state;
    static const char pod[] =
        POD "  volumes:\n  - {name: v, persistentVolumeClaim: {claimName: data}}\n  - {name: m, configMap: {name: "
            "mounted}}\n"
            "  - {name: u, configMap: {name: unmounted}}\n"
            "  - {name: p, projected: {sources: [{configMap: {name: projected}}]}}\n"
            "  containers:\n  - name: c\n    volumeMounts: [{name: v}, {name: m}, {name: p}]\n"
            "    envFrom: [{configMapRef: {name: from}}, {configMapRef: {name: perhaps, optional: true}}]\n"
            "    env: [{name: X, valueFrom: {configMapKeyRef: {name: mounted, key: k}}}]\n";
    static const char others[] = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}\n"
                                 "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: other}}\n";
    char both[sizeof pod + sizeof others];
    struct world w;

    /* An input that holds no config maps and no claims at all leaves them out; the pod does not wait for them. */
    world_init(&w);
    world_read(&w, pod);
    assert_int_equal(constraints_of(&w)->config_map_count, 0);
    assert_int_equal(constraints_of(&w)->volume_claim_count, 0);
    world_done(&w);

    (void)snprintf(both, sizeof both, "%s%s", pod, others);
    world_init(&w);
    world_read(&w, both);
    assert_int_equal(constraints_of(&w)->config_map_count, 3);
    assert_string_equal(world_name(&w, constraints_of(&w)->config_maps[0]), "mounted");
    assert_string_equal(world_name(&w, constraints_of(&w)->config_maps[1]), "projected");
    assert_string_equal(world_name(&w, constraints_of(&w)->config_maps[2]), "from");
    assert_int_equal(constraints_of(&w)->volume_claim_count, 1);
    world_done(&w);
}

static void wrong_operators_are_named(void **state)
{
    (void)state;
    world_fails(POD "  tolerations: [{key: a, operator: Like}]\n",
                "a.yaml:6:36: Pod default/p: spec.tolerations[0].operator: expected Exists or Equal, found 'Like'");
    world_fails(
        POD "  topologySpreadConstraints: [{maxSkew: 0, topologyKey: z}]\n",
        "a.yaml:6:41: Pod default/p: spec.topologySpreadConstraints[0].maxSkew: expected a whole number from 1 to "
        "2147483647, found 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(node_affinity_and_selector_are_read),
        cmocka_unit_test(pod_affinity_is_read_with_its_namespaces),
        cmocka_unit_test(tolerations_ports_and_spread_are_read),
        cmocka_unit_test(containers_in_the_hosts_network_take_their_ports_there),
        cmocka_unit_test(volumes_and_config_maps_have_to_be_there),
        cmocka_unit_test(wrong_operators_are_named),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
