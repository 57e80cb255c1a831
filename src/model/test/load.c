/* SPDX-License-Identifier: Apache-2.0 */

/* A larger cluster: what it takes in memory, and that a change to it is settled without touching the rest. */
#include "model/test/helper.h"

enum { NODES = 400, PODS = 20000, PODS_A_GANG = 8 };

static void put_many_nodes(struct state *state)
{
    char name[64];
    char host[64];
    struct str_pair labels[] = {
        {"kubernetes.io/hostname", host},
        {"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"},
        {"topology.kubernetes.io/zone", "zone-1"},
        {"node-role.kubernetes.io/worker", ""},
    };
    struct amount_spec amounts[] = {
        {"cpu", 128000},    {"memory", 2048 * GIB},         {"nvidia.com/gpu", 8 * GPU_ONE},
        {"pods", 250},      {"ephemeral-storage", 1 << 30}, {"hugepages-2Mi", 0},
        {"rdma/hca", 8000},
    };
    struct node_spec spec = {
        .name = name,
        .labels = labels,
        .label_count = 4,
        .allocatable = amounts,
        .allocatable_count = 7,
        .device_count = 8,
        .gpu_memory_mib = 81559,
        .is_gpu_memory_known = true,
    };

    for (uint32_t i = 0; i < NODES; i++) {
        (void)snprintf(name, sizeof name, "gpu-worker-%u.cluster.example.com", i);
        memcpy(host, name, sizeof host);
        assert_ok(state_put_node(state, &spec, &err_));
    }
}

static void put_many_pods(struct state *state)
{
    char name[96];
    char uid[64];
    char gang[64];
    char node[64];
    struct str_pair labels[] = {{"app", "training"}, {"training.kubeflow.org/job-name", gang}};

    for (uint32_t i = 0; i < PODS; i++) {
        struct pod_spec spec = a_pod(name, gang);

        (void)snprintf(gang, sizeof gang, "pytorch-training-%u", i / PODS_A_GANG);
        (void)snprintf(name, sizeof name, "%s-worker-%u", gang, i % PODS_A_GANG);
        (void)snprintf(uid, sizeof uid, "8f14e45f-ceea-467f-a0e6-%012u", i * 2654435761u);
        (void)snprintf(node, sizeof node, "gpu-worker-%u.cluster.example.com", i % NODES);
        if (i % PODS_A_GANG == 0)
            put_gang(state, gang, "team", PODS_A_GANG);
        spec.uid = uid;
        spec.labels = labels;
        spec.label_count = 2;
        spec.request.kind = REQUEST_FRACTION;
        spec.request.portion = 0.1;
        spec.status = i % 4 ? POD_RUNNING : POD_PENDING;
        spec.node = i % 4 ? node : NULL;
        (void)put_pod(state, &spec);
    }
}

static void a_node_takes_less_than_4_kib_and_a_pod_less_than_1(void **unused)
{
    struct state *state = state_new();

    (void)unused;
    put_queue(state, "team", NULL);
    size_t empty = state_bytes(state);
    put_many_nodes(state);
    state_settle(state);
    size_t with_nodes = state_bytes(state);
    assert_in_range((with_nodes - empty) / NODES, 200, 4095);
    put_many_pods(state);
    state_settle(state);
    assert_in_range((state_bytes(state) - with_nodes) / PODS, 200, 1023);
    assert_int_equal(state->pending_gangs.ids.len, PODS / PODS_A_GANG);
    state_free(state);
}

static void settling_one_change_follows_that_change(void **unused)
{
    struct state *state = state_new();
    pod_id pod;

    (void)unused;
    put_queue(state, "team", NULL);
    put_many_nodes(state);
    put_many_pods(state);
    state_settle(state);
    state_changes_seen(state);
    pod = state_find_pod(state, "ns", "pytorch-training-7-worker-3");
    node_id node = state->pods.items[pod].node;
    state_move_pod(state, pod, POD_SUCCEEDED, node, (struct group_list){0});
    assert_int_equal(state->unsettled_pods.len, 1);
    assert_int_equal(state->unsettled_nodes.ids.len, 1);
    state_settle(state);
    assert_int_equal(state->changes.nodes.ids.len, 1);
    assert_int_equal(state->changes.nodes.ids.items[0], node);
    assert_int_equal(state->changes.gangs.ids.len, 1);
    assert_false(state->changes.nodes_static || state->changes.queues);
    state_free(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_takes_less_than_4_kib_and_a_pod_less_than_1),
        cmocka_unit_test(settling_one_change_follows_that_change),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
