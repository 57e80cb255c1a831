/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/test/world.h"

#include "model/devices/numa.h"

static void a_node_has_what_is_allocatable(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(
        &w,
        "apiVersion: v1\nkind: Node\nmetadata:\n  name: gpu-1\n"
        "  labels: {nvidia.com/gpu.memory: '81559', nvidia.com/gpu.count: '8', zone: a}\n"
        "spec:\n  taints: [{key: gpu, value: 'yes', effect: NoSchedule}, {key: x, effect: Odd}]\n"
        "status:\n  capacity: {cpu: 128}\n  allocatable: {cpu: 127500m, memory: 1Ti, nvidia.com/gpu: '8', pods: '250', "
        "hugepages-1Gi: 0, rdma/hca: 4}\n");
    const struct node *node = world_node(&w, "gpu-1");
    struct books books = state_books(w.state, state_find_node(w.state, "gpu-1"));
    assert_int_equal(books.allocatable[RES_CPU], 127500);
    assert_int_equal(books.allocatable[RES_MEMORY], INT64_C(1) << 40);
    assert_int_equal(books.allocatable[RES_GPU], 8 * GPU_ONE);
    assert_int_equal(books.allocatable[RES_PODS], 250);
    assert_int_equal(node->gpu_memory_mib, 81500);
    assert_true(node->is_gpu_memory_known);
    assert_int_equal(node->device_count, 8);
    assert_int_equal(node->taint_count, 1);
    assert_int_equal(node->troubles, 0);
    assert_false(node->is_mig_enabled);
    world_done(&w);
}

static void gpu_memory_in_bytes_is_understood(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(
        &w, "{apiVersion: v1, kind: Node, metadata: {name: a, labels: {nvidia.com/gpu.memory: '17179869184'}}, status: "
            "{capacity: {nvidia.com/gpu: 2}}}\n---\n"
            "{apiVersion: v1, kind: Node, metadata: {name: b, labels: {nvidia.com/gpu.memory: much}}}\n");
    assert_int_equal(world_node(&w, "a")->gpu_memory_mib, 16300);
    assert_int_equal(world_node(&w, "a")->device_count, 2);
    assert_false(world_node(&w, "b")->is_gpu_memory_known);
    world_done(&w);
}

static void mig_is_seen_by_label_or_by_slices(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w, "{apiVersion: v1, kind: Node, metadata: {name: a, labels: {nvidia.com/mig.strategy: mixed}}, "
                   "status: {allocatable: "
                   "{nvidia.com/mig-1g.5gb: 7}}}\n---\n"
                   "{apiVersion: v1, kind: Node, metadata: {name: b, labels: {nvidia.com/mig.strategy: single, "
                   "node-role.kubernetes.io/mig-enabled: 'true'}}}\n---\n"
                   "{apiVersion: v1, kind: Node, metadata: {name: c, labels: {nvidia.com/mig.strategy: single, "
                   "node-role.kubernetes.io/mig-enabled: 'no'}}, status: {allocatable: {nvidia.com/mig-1g.5gb: 7}}}\n");
    assert_int_equal(world_node(&w, "a")->mig_strategy, MIG_MIXED);
    assert_int_equal(world_node(&w, "b")->mig_strategy, MIG_SINGLE);
    assert_false(world_node(&w, "c")->is_mig_enabled);
    assert_int_equal(world_node(&w, "c")->mig_strategy, MIG_NONE);
    world_done(&w);
}

static void conditions_make_trouble(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(
        &w,
        "{apiVersion: v1, kind: Node, metadata: {name: a}, spec: {unschedulable: true}, status: {conditions: [{type: "
        "Ready, status: 'True'}, {type: DiskPressure, status: 'True'}]}}\n---\n"
        "{apiVersion: v1, kind: Node, metadata: {name: b}, status: {conditions: [{type: Ready, status: Unknown}, "
        "{type: MemoryPressure, status: 'False'}, {type: Other, status: 'True'}]}}\n");
    assert_int_equal(world_node(&w, "a")->troubles, NODE_UNSCHEDULABLE | NODE_DISK_PRESSURE);
    assert_int_equal(world_node(&w, "b")->troubles, NODE_NOT_READY);
    world_done(&w);
}

static void zones_come_from_the_report_of_the_nodes_name(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    world_read(&w, "apiVersion: topology.node.k8s.io/v1alpha2\nkind: NodeResourceTopology\nmetadata: {name: a}\n"
                   "attributes: [{name: topologyManagerPolicy, value: single-numa-node}, {name: topologyManagerScope, "
                   "value: pod}]\n"
                   "zones:\n"
                   "- {name: node-10, type: Node, resources: [{name: cpu, allocatable: 8, available: 4}]}\n"
                   "- {name: node-2, type: Node, resources: [{name: cpu, allocatable: 6, available: 5}]}\n"
                   "- {name: other, type: Socket}\n"
                   "---\n{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 14}}}\n");
    const struct numa *numa = world_node(&w, "a")->numa;
    assert_non_null(numa);
    assert_int_equal(numa->policy, NUMA_SINGLE_NODE);
    assert_true(numa->is_pod_scope);
    assert_int_equal(numa->zone_count, 2);
    assert_string_equal(world_name(&w, numa->zones[0].name), "node-2");
    assert_int_equal(numa->zones[0].allocatable[RES_CPU], 6000);
    world_done(&w);
}

static void a_resource_that_kubelets_do_not_align_is_not_in_zones(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    w.options.numa_ignored = " hugepages-2Mi ,memory,";
    world_read(
        &w, "apiVersion: topology.node.k8s.io/v1alpha2\nkind: NodeResourceTopology\nmetadata: {name: a}\n"
            "zones:\n"
            "- {name: node-0, type: Node, resources: [{name: cpu, allocatable: 8, available: 4}, "
            "{name: memory, allocatable: 8Gi, available: 8Gi}]}\n"
            "- {name: node-1, type: Node, resources: [{name: memory, allocatable: 8Gi, available: 8Gi}]}\n"
            "---\n{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 8, memory: 16Gi}}}\n");
    const struct numa *numa = world_node(&w, "a")->numa;
    assert_int_equal(numa->zone_count, 2);
    assert_int_equal(numa->zones[0].allocatable[RES_CPU], 8000);
    assert_int_equal(numa->zones[0].allocatable[RES_MEMORY], -1);
    assert_int_equal(numa->zones[1].allocatable[RES_MEMORY], -1);
    world_done(&w);
}

static void a_partition_is_one_pools_nodes(void **state)
{
    (void)state;
    static const char yaml[] =
        "{apiVersion: v1, kind: Node, metadata: {name: a, labels: {kai.scheduler/node-pool: red}}}\n---\n"
        "{apiVersion: v1, kind: Node, metadata: {name: b}}\n";
    static const struct {
        const char *partition;
        const char *there;
        const char *not_there;
    } cases[] = {{"red", "a", "b"}, {"", "b", "a"}};

    for (size_t i = 0; i < 2; i++) {
        struct world w;

        world_init(&w);
        w.options.has_partition = true;
        w.options.partition = cases[i].partition;
        world_read(&w, yaml);
        (void)world_node(&w, cases[i].there);
        assert_int_equal(state_find_node(w.state, cases[i].not_there), NO_ID);
        world_done(&w);
    }
}

static void only_nodes_of_workers_count_where_that_is_asked_for(void **state)
{
    (void)state;
    struct world w;

    world_init(&w);
    w.options.restricts_nodes = true;
    w.options.cpu_worker_label = "cpus";
    w.options.gpu_worker_label = "gpus";
    world_read(&w, "{apiVersion: v1, kind: Node, metadata: {name: a, labels: {gpus: ''}}, "
                   "status: {allocatable: {nvidia.com/gpu: 4}}}\n---\n"
                   "{apiVersion: v1, kind: Node, metadata: {name: b, labels: {cpus: 'x'}}, "
                   "status: {allocatable: {nvidia.com/gpu: 2}}}\n---\n"
                   "{apiVersion: v1, kind: Node, metadata: {name: c, labels: "
                   "{node-role.kubernetes.io/gpu-worker: ''}}, status: {allocatable: {nvidia.com/gpu: 1}}}\n");
    assert_int_equal(world_node(&w, "a")->workers, WORKER_GPU);
    assert_int_equal(world_node(&w, "b")->workers, WORKER_CPU);
    assert_int_equal(state_find_node(w.state, "c"), NO_ID);
    assert_int_equal(w.state->total.v[SHARE_GPU], 4 * GPU_ONE);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_has_what_is_allocatable),
        cmocka_unit_test(gpu_memory_in_bytes_is_understood),
        cmocka_unit_test(mig_is_seen_by_label_or_by_slices),
        cmocka_unit_test(only_nodes_of_workers_count_where_that_is_asked_for),
        cmocka_unit_test(conditions_make_trouble),
        cmocka_unit_test(zones_come_from_the_report_of_the_nodes_name),
        cmocka_unit_test(a_resource_that_kubelets_do_not_align_is_not_in_zones),
        cmocka_unit_test(a_partition_is_one_pools_nodes),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
