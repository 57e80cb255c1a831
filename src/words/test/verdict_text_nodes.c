/* SPDX-License-Identifier: Apache-2.0 */

/* Why nodes and domains do not take a pod, in KAI's words. */
#include "words/test/saying.h"

static void each_test_that_a_node_fails_has_its_words(void **state)
{
    (void)state;
    static const struct taint_spec taint[] = {{"spot", "", TAINT_NO_SCHEDULE}};
    static const struct amount_spec amounts[] = {
        {"cpu", 64000}, {"memory", INT64_C(256) << 30}, {"nvidia.com/gpu", 8 * GPU_ONE}, {"pods", 110}};
    struct node_spec node = {.allocatable = amounts, .allocatable_count = 4, .device_count = 8, .gpu_memory_mib = 1000};
    struct pod_spec pod = pod_with("g", "p", 0, NULL);
    struct small_state s;

    small_state_begin(&s);
    node.name = "cordoned";
    node.is_gpu_memory_known = true;
    node.troubles = NODE_UNSCHEDULABLE | NODE_NOT_READY | NODE_DISK_PRESSURE;
    assert_int_equal(state_put_node(s.state, &node, NULL), 0);
    node.name = "tainted";
    node.troubles = 0;
    node.taints = taint;
    node.taint_count = 1;
    assert_int_equal(state_put_node(s.state, &node, NULL), 0);
    node.name = "unsure";
    node.taint_count = 0;
    node.is_gpu_memory_known = false;
    assert_int_equal(state_put_node(s.state, &node, NULL), 0);
    put_gang(&s, "g", (struct gang_like){0});
    pod.request.kind = REQUEST_GPU_MEMORY;
    pod.request.memory_mib = 500;
    put_pod(&s, &pod);
    say(&s, "g");
    assert_string_equal(
        said.pod, "no nodes with enough resources were found: 1 node has DiskPressure condition. \n1 node has NotReady "
                  "condition. \n1 node is not a gpu node or the gpu memory count on the node was not synced yet, task: "
                  "<ns/p>, node: <unsure>. \n1 node is unschedulable. \n1 node(s) had untolerated taint(s).");
    small_state_end(&s);
}

static void a_pod_that_costs_too_much_on_each_node_is_told_so(void **state)
{
    (void)state;
    static const double quota[] = {-1, -1, 0.4};
    static const double limit[] = {-1, -1, -1};
    struct pod_spec pod = pod_with("g", "p", 0, NULL);
    struct small_state s;

    small_state_begin(&s);
    put_node(&s, "small", 2, NULL, 0);
    put_bounds(&s, "team", quota, limit);
    put_gang(&s, "g", (struct gang_like){.queue = "team", .is_fixed = true});
    pod.request.kind = REQUEST_GPU_MEMORY;
    pod.request.memory_mib = 450;
    put_pod(&s, &pod);
    /* A larger GPU elsewhere lets it pass as a whole: 450 of 4000 MiB are within the quota. */
    const struct amount_spec little[] = {{"cpu", 100}, {"memory", 1 << 30}, {"pods", 110}};
    const struct node_spec large = {.name = "large",
                                    .allocatable = little,
                                    .allocatable_count = 3,
                                    .gpu_memory_mib = 4000,
                                    .is_gpu_memory_known = true};
    assert_int_equal(state_put_node(s.state, &large, NULL), 0);
    say(&s, "g");
    assert_string_equal(
        said.pod,
        "no nodes with enough resources were found: 1 node does not have enough capacity. Reason: "
        "NonPreemptibleOverQuota, Details: Non-preemptible workload is over quota. Workload requested 0.45 GPUs, "
        "but Team quota is 0.4 GPUs, while 0 GPUs are already allocated for non-preemptible pods. Use a "
        "preemptible workload to go over quota.. \n1 node(s) didn't have enough resources: CPU cores.");
    small_state_end(&s);
}

static void put_racks(struct small_state *s)
{
    static const struct str_pair r1[] = {{"rack", "r1"}};
    static const struct str_pair r2[] = {{"rack", "r2"}};
    static const struct str_pair levels[] = {{"rack", NULL}};
    const struct topology_spec topology = {"racks", levels, 1};

    assert_int_equal(state_put_topology(s->state, &topology, NULL), 0);
    put_node(s, "a1", 3, r1, 1);
    put_node(s, "b1", 3, r2, 1);
}

static void a_topology_is_told_domain_by_domain(void **state)
{
    (void)state;
    static const struct {
        struct topology_constraint_spec topology;
        int pods;
        int64_t gpus;
        const char *says;
        const char *detailed;
    } rows[] = {
        {{"racks", "rack", NULL},
         4,
         1,
         "Unable to schedule podgroup: node-group r1 can allocate only 3 of 4 required pods. \nnode-group r2 can "
         "allocate "
         "only 3 of 4 required pods. \ntopology racks, requirement rack couldn't be satisfied for job <ns/g>.",
         "\nUnable to schedule podgroup.\n<r1>: node-group r1 can allocate only 3 of 4 required pods.\n<r2>: "
         "node-group r2 can "
         "allocate only 3 of 4 required pods.\ntopology racks, requirement rack couldn't be satisfied for job <ns/g>."},
        {{"racks", "rack", NULL},
         3,
         3,
         "PodSchedulingErrors: topology racks, requirement rack couldn't be satisfied for job <ns/g>: not enough "
         "resources "
         "in the cluster to allocate the job.",
         "\nPodSchedulingErrors.\ntopology racks, requirement rack couldn't be satisfied for job <ns/g>: not enough "
         "resources "
         "in the cluster to allocate the job."},
        {{"nowhere", "rack", NULL},
         1,
         1,
         "PodSchedulingErrors: Requested topology nowhere does not exist.",
         "\nPodSchedulingErrors.\nRequested topology nowhere does not exist."},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        static const char *const names[] = {"p0", "p1", "p2", "p3"};
        struct small_state s;

        small_state_begin(&s);
        put_racks(&s);
        put_gang(&s, "g", (struct gang_like){.min = rows[i].pods, .topology = rows[i].topology});
        for (int p = 0; p < rows[i].pods; p++)
            put_sized(&s, "g", names[p], rows[i].gpus, NULL);
        say(&s, "g");
        assert_string_equal(said.gang, rows[i].says);
        assert_string_equal(said.detailed_gang, rows[i].detailed);
        small_state_end(&s);
    }
}

static void mixed_pods_are_told_by_what_a_domain_lacks(void **state)
{
    (void)state;
    struct small_state s;

    small_state_begin(&s);
    put_racks(&s);
    put_gang(&s, "g", (struct gang_like){.min = 3, .topology = {"racks", "rack", NULL}});
    put_sized(&s, "g", "p0", 2, NULL);
    put_sized(&s, "g", "p1", 2, NULL);
    put_sized(&s, "g", "p2", 0, NULL);
    say(&s, "g");
    assert_string_equal(
        said.gang, "Unable to schedule podgroup: 2 node-group(s) didn't have enough resources: GPUs. \ntopology racks, "
                   "requirement rack couldn't be satisfied for job <ns/g>.");
    small_state_end(&s);
}

static void each_rule_of_affinity_has_its_words(void **state)
{
    (void)state;
    static const char *const web[] = {"web"};
    static const struct match_spec is_web[] = {{.op = MATCH_IN, .key = "app", .values = web, .value_count = 1}};
    static const char *const lone[] = {"lone"};
    static const struct match_spec is_lone[] = {{.op = MATCH_IN, .key = "app", .values = lone, .value_count = 1}};
    static const struct pod_term_spec near_web = {.selector = {is_web, 1}, .topology_key = "host"};
    static const struct pod_term_spec near_lone = {.selector = {is_lone, 1}, .topology_key = "host"};
    static const struct str_pair hosts[] = {{"host", "h1"}, {"host", "h2"}, {"host", "h3"}};
    static const struct str_pair labels[] = {{"app", "web"}, {"app", "lone"}};
    struct small_state s;

    small_state_begin(&s);
    put_node(&s, "n1", 8, &hosts[0], 1);
    put_node(&s, "n2", 8, &hosts[1], 1);
    put_node(&s, "n3", 8, &hosts[2], 1);
    put_node(&s, "n4", 8, NULL, 0);
    put_gang(&s, "old", (struct gang_like){.is_fixed = true});
    struct pod_spec first = pod_with("old", "old-1", 1, "n1");
    first.labels = labels;
    first.label_count = 1;
    put_pod(&s, &first);
    struct pod_spec second = pod_with("old", "old-2", 1, "n2");
    second.constraints.anti_affinity = &near_lone;
    second.constraints.anti_affinity_count = 1;
    put_pod(&s, &second);
    /* Wants to be alone, not beside the web, and with somebody who is nowhere but who it would be itself. */
    put_gang(&s, "g", (struct gang_like){0});
    struct pod_spec pod = pod_with("g", "p", 1, NULL);
    pod.labels = &labels[1];
    pod.label_count = 1;
    pod.constraints.affinity = &near_lone;
    pod.constraints.affinity_count = 1;
    pod.constraints.anti_affinity = &near_web;
    pod.constraints.anti_affinity_count = 1;
    put_pod(&s, &pod);
    struct pod_spec third = pod_with("old", "old-3", 8, "n3");
    put_pod(&s, &third);
    say(&s, "g");
    assert_string_equal(said.pod,
                        "no nodes with enough resources were found: 1 node(s) didn't have enough resources: GPUs. \n1 "
                        "node(s) didn't match pod affinity rules. \n1 node(s) didn't match pod anti-affinity rules. "
                        "\n1 node(s) didn't satisfy existing pods anti-affinity rules.");
    small_state_end(&s);
}

static void mig_of_the_old_kind_and_worker_types_name_the_node(void **state)
{
    (void)state;
    static const struct amount_spec slices[] = {
        {"cpu", 64000}, {"memory", INT64_C(1) << 38}, {"nvidia.com/mig-1g.5gb", 7}, {"pods", 110}};
    static const struct amount_spec asked[] = {{"cpu", 1000}, {"memory", 1 << 20}, {"nvidia.com/mig-1g.5gb", 1}};
    const struct node_spec node = {.name = "n1",
                                   .allocatable = slices,
                                   .allocatable_count = 4,
                                   .is_mig_enabled = true,
                                   .mig_strategy = MIG_MIXED,
                                   .gpu_memory_mib = 1000,
                                   .is_gpu_memory_known = true};
    struct pod_spec old = pod_with("old", "old-0", 0, "n1");
    struct pod_spec pod = pod_with("g", "p", 0, NULL);
    struct small_state s;

    small_state_begin(&s);
    assert_int_equal(state_put_node(s.state, &node, NULL), 0);
    put_gang(&s, "old", (struct gang_like){.is_fixed = true});
    old.request =
        (struct request_spec){.kind = REQUEST_MIG, .is_legacy_mig = true, .amounts = asked, .amount_count = 3};
    put_pod(&s, &old);
    put_gang(&s, "g", (struct gang_like){0});
    pod.request = (struct request_spec){.kind = REQUEST_MIG, .amounts = asked, .amount_count = 3};
    put_pod(&s, &pod);
    say(&s, "g");
    assert_string_equal(said.pod,
                        "no nodes with enough resources were found: 1 MIG job cannot be scheduled on node with legacy "
                        "MIG jobs: <[ns/old-0]>.");
    engine_close(s.engine);
    pod.request.is_legacy_mig = true;
    put_pod(&s, &pod);
    say(&s, "g");
    assert_string_equal(said.pod,
                        "no nodes with enough resources were found: 1 Legacy MIG jobs cannot be scheduled on node n1.");
    engine_close(s.engine);
    s.engine->config.restricts_nodes = true;
    put_sized(&s, "g", "p", 0, NULL);
    put_node(&s, "n1", 0, NULL, 0);
    say(&s, "g");
    assert_string_equal(said.pod,
                        "no nodes with enough resources were found: 1 cpu task: <ns/p> can't run on non cpu nodes, "
                        "node: <n1>.");
    small_state_end(&s);
}

static void put_claim(struct small_state *s, const char *queue, const char *device_class, size_t users,
                      const char *pool)
{
    const struct str_pair label = {"kai.scheduler/queue", queue};
    const struct device_spec device = {.driver = "nvidia.com/gpu", .pool = pool, .device = "0"};
    const char *reserved[300];
    const struct claim_spec spec = {
        .namespace = "ns",
        .name = "c",
        .device_class = device_class,
        .labels = &label,
        .label_count = queue ? 1 : 0,
        .count = 1,
        .is_allocated = pool != NULL,
        .devices = &device,
        .device_count = pool ? 1 : 0,
        .reserved_for = reserved,
        .reserved_count = users,
    };

    for (size_t i = 0; i < users; i++)
        reserved[i] = i % 2 == 0 ? "someone" : "else";
    assert_int_equal(state_put_claim(s->state, &spec, NULL), 0);
}

static void claims_tell_what_is_wrong_with_them(void **state)
{
    (void)state;
    static const struct pod_claim_spec link = {.name = "c"};
    static const struct slice_spec slice = {
        .name = "s", .driver = "nvidia.com/gpu", .device_class = "gpu", .node = "n1", .device_count = 1};
    static const struct {
        bool is_there;
        const char *queue;
        const char *device_class;
        size_t users;
        const char *pool;
        const char *says;
    } rows[] = {
        {.says = "resourceclaim \"c\" not found"},
        {true, "q", "gpu", 256, NULL, "resource claim ns/c has reached its maximum number of consumers (256)"},
        {true, NULL, "gpu", 0, NULL,
         "pod ns/p cannot be scheduled: DRA claim c is a shared GPU claim but does not have a queue label "
         "(kai.scheduler/queue)"},
        {true, "other", "gpu", 0, NULL,
         "pod ns/p cannot be scheduled: DRA claim c is a shared GPU claim with wrong queue label (expected queue: q, "
         "claim "
         "queue label: other)"},
        {true, "q", "gpu-unknown", 0, NULL, "device class gpu-unknown does not exist for claim ns/c"},
        {true, "q", "gpu", 0, "elsewhere",
         "no nodes with enough resources were found: 1 claim ns/c node selector does not match node n1."},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct pod_spec pod = pod_with("g", "p", 0, NULL);
        struct small_state s;

        small_state_begin(&s);
        put_node(&s, "n1", 0, NULL, 0);
        state_put_device_class(s.state, &(struct device_class_spec){.name = "gpu"});
        assert_int_equal(state_put_slice(s.state, &slice, NULL), 0);
        put_gang(&s, "g", (struct gang_like){0});
        if (rows[i].is_there)
            put_claim(&s, rows[i].queue, rows[i].device_class, rows[i].users, rows[i].pool);
        pod.claims = &link;
        pod.claim_count = 1;
        put_pod(&s, &pod);
        say(&s, "g");
        assert_string_equal(said.pod, rows[i].says);
        small_state_end(&s);
    }
}

static void details_count_every_kind_of_resource(void **state)
{
    (void)state;
    static const struct amount_spec has[] = {
        {"cpu", 500}, {"memory", 1000000}, {"nvidia.com/gpu", 2 * GPU_ONE}, {"pods", 110}, {"example.com/nic", 3000}};
    static const struct amount_spec asks[] = {{"cpu", 500}, {"memory", 1000000}, {"example.com/nic", 2000}};
    const struct node_spec node = {.name = "n1",
                                   .allocatable = has,
                                   .allocatable_count = 5,
                                   .device_count = 2,
                                   .gpu_memory_mib = 1000,
                                   .is_gpu_memory_known = true};
    struct pod_spec old = pod_with("old", "old-0", 1, "n1");
    struct pod_spec pod = pod_with("g", "p", 0, NULL);
    struct small_state s;

    small_state_begin(&s);
    assert_int_equal(state_put_node(s.state, &node, NULL), 0);
    put_gang(&s, "old", (struct gang_like){.is_fixed = true});
    old.request.amounts = asks;
    old.request.amount_count = 3;
    put_pod(&s, &old);
    put_gang(&s, "g", (struct gang_like){0});
    pod.request = (struct request_spec){
        .kind = REQUEST_FRACTION, .portion = 0.75, .devices = 2, .amounts = asks, .amount_count = 3};
    put_pod(&s, &pod);
    say(&s, "g");
    assert_string_equal(
        said.detailed_pod,
        "\n<n1>: Node didn't have enough resources: GPUs, requested: 2 X 0.75, used: 1, capacity: 2, Node "
        "didn't have enough resources: CPU cores, requested: 0.5, used: 0.5, capacity: 0.5, Node didn't have "
        "enough resources: memory, requested: 0.001, used: 0.001, capacity: 0.001, Node didn't have enough "
        "resource: example.com/nic, requested: 2, used: 2, capacity: 3.\nno nodes with enough resources were "
        "found.");
    engine_close(s.engine);
    pod.request =
        (struct request_spec){.kind = REQUEST_GPU_MEMORY, .memory_mib = 1500, .amounts = asks, .amount_count = 1};
    put_pod(&s, &pod);
    say(&s, "g");
    assert_non_null(strstr(said.pod, "1 node(s) didn't have enough resources: GPU memory"));
    assert_non_null(strstr(said.detailed_pod,
                           "Node didn't have enough resources: Each gpu on the node has a gpu memory "
                           "capacity of 1000 Mib. 1500 Mib of gpu memory has been requested."));
    small_state_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_test_that_a_node_fails_has_its_words),
        cmocka_unit_test(a_pod_that_costs_too_much_on_each_node_is_told_so),
        cmocka_unit_test(a_topology_is_told_domain_by_domain),
        cmocka_unit_test(mixed_pods_are_told_by_what_a_domain_lacks),
        cmocka_unit_test(each_rule_of_affinity_has_its_words),
        cmocka_unit_test(mig_of_the_old_kind_and_worker_types_name_the_node),
        cmocka_unit_test(claims_tell_what_is_wrong_with_them),
        cmocka_unit_test(details_count_every_kind_of_resource),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
