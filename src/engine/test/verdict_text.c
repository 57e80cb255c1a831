/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/verdict_text.h"

#include "base/strbuf.h"
#include "engine/test/small_state.h"
#include "engine/verdict_text_internal.h"

static void put_bounds(struct small_state *s, const char *name, const double quota[3], const double limit[3])
{
    struct queue_spec spec = {.name = name, .display_name = "Team", .priority = 100, .weight = {1, 1, 1}};

    for (int r = 0; r < SHARE_COUNT; r++) {
        spec.deserved[r] = quota[r];
        spec.limit[r] = limit[r];
    }
    assert_int_equal(state_put_queue(s->state, &spec, NULL), 0);
}

/* What is said of the gang after a cycle, and of its first pod that found no place. */
static struct {
    char gang[8192];
    char pod[8192];
    char detailed_gang[8192];
    char detailed_pod[8192];
} said;

static void copy_text(char *to, size_t size, struct strbuf *from)
{
    (void)snprintf(to, size, "%s", from->text);
    strbuf_clear(from);
}

static void say(struct small_state *s, const char *gang)
{
    struct explanation e;
    struct verdict_text text = {.engine = s->engine, .explanation = &e};
    struct strbuf out;

    strbuf_init(&out, sizeof said.gang);
    engine_take_in(s->engine);
    engine_open(s->engine, NOW);
    for (int action = 0; action < _ACTION_MAX; action++)
        engine_run(s->engine, (enum action)action);
    explain(s->engine, state_find_gang(s->state, "ns", gang), &e);
    verdict_text_gang(&text, &out);
    copy_text(said.gang, sizeof said.gang, &out);
    verdict_text_pod(&text, e.pod, &out);
    copy_text(said.pod, sizeof said.pod, &out);
    text.is_detailed = true;
    verdict_text_gang(&text, &out);
    copy_text(said.detailed_gang, sizeof said.detailed_gang, &out);
    verdict_text_pod(&text, e.pod, &out);
    copy_text(said.detailed_pod, sizeof said.detailed_pod, &out);
    strbuf_done(&out);
    explanation_done(&e);
}

static void numbers_are_written_as_kai_writes_them(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *human;
        const char *exact;
        const char *brief;
    } rows[] = {
        {-1, "Unlimited", "-1", "-1"},
        {0, "0", "0", "0"},
        {2, "2", "2", "2"},
        {100, "100", "100", "100"},
        {0.5, "0.5", "0.5", "0.5"},
        {0.9999, "0.999", "0.9999", "1"},
        {1.2000000000000002, "1.2", "1.2000000000000002", "1.2"},
        {123456, "123456", "123456", "1.23e+05"},
        {1e21, "1000000000000000000000", "1e+21", "1e+21"},
    };
    struct strbuf out;

    strbuf_init(&out, 100);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        add_human(&out, rows[i].value, 1);
        assert_string_equal(out.text, rows[i].human);
        strbuf_clear(&out);
        add_exact(&out, rows[i].value);
        assert_string_equal(out.text, rows[i].exact);
        strbuf_clear(&out);
        add_short(&out, rows[i].value);
        assert_string_equal(out.text, rows[i].brief);
        strbuf_clear(&out);
    }
    strbuf_done(&out);
}

static void a_full_cluster_is_told_by_what_is_missing(void **state)
{
    (void)state;
    struct small_state s;

    small_state_begin(&s);
    put_node(&s, "n1", 2, NULL, 0);
    put_node(&s, "n2", 2, NULL, 0);
    put_gang(&s, "old", (struct gang_like){.is_fixed = true});
    put_sized(&s, "old", "old-0", 2, "n1");
    put_sized(&s, "old", "old-1", 1, "n2");
    put_gang(&s, "g", (struct gang_like){0});
    put_sized(&s, "g", "p", 2, NULL);
    say(&s, "g");
    assert_string_equal(said.pod,
                        "no nodes with enough resources were found: 2 node(s) didn't have enough resources: GPUs.");
    assert_string_equal(said.gang,
                        "PodSchedulingErrors: Resources were not found for pod ns/p due to: no nodes with enough "
                        "resources were found: 2 node(s) didn't have enough resources: GPUs..");
    assert_string_equal(said.detailed_pod,
                        "\n<n1>: Node didn't have enough resources: GPUs, requested: 2, used: 2, capacity: 2."
                        "\n<n2>: Node didn't have enough resources: GPUs, requested: 2, used: 1, capacity: 2."
                        "\nno nodes with enough resources were found.");
    small_state_end(&s);
}

static void a_gang_says_how_many_pods_found_a_place(void **state)
{
    (void)state;
    struct small_state s;

    small_state_begin(&s);
    put_node(&s, "n1", 2, NULL, 0);
    put_gang(&s, "g", (struct gang_like){.min = 2});
    put_sized(&s, "g", "p0", 2, NULL);
    put_sized(&s, "g", "p1", 2, NULL);
    say(&s, "g");
    assert_string_equal(
        said.gang, "PodSchedulingErrors: Resources were found for 1 pods while 2 are required for gang scheduling. "
                   "Additional pods cannot be scheduled due to: no nodes with enough resources were found: 1 node(s) "
                   "didn't have enough resources: GPUs..");
    assert_string_equal(said.detailed_pod,
                        "\n<n1>: Node didn't have enough resources: GPUs, taking all considerations into "
                        "account.\nno nodes with enough resources were found.");
    small_state_end(&s);
}

static void a_set_of_a_larger_gang_is_named(void **state)
{
    (void)state;
    const struct group_spec groups[] = {
        {.name = "", .parent = -1, .min = -1},
        {.name = "head", .parent = 0, .is_pod_set = true, .min = 1},
        {.name = "workers", .parent = 0, .is_pod_set = true, .min = 2},
    };
    const struct gang_spec spec = {.namespace = "ns",
                                   .name = "g",
                                   .queue = "q",
                                   .is_preemptible = true,
                                   .groups = groups,
                                   .group_count = ARRAY_LEN(groups)};
    struct small_state s;

    small_state_begin(&s);
    put_node(&s, "n1", 2, NULL, 0);
    assert_int_equal(state_put_gang(s.state, &spec, NULL), 0);
    for (int i = 0; i < 3; i++) {
        const char *const names[] = {"p0", "p1", "p2"};
        struct pod_spec pod = pod_with("g", names[i], 1, NULL);
        pod.pod_set = i == 0 ? "head" : "workers";
        put_pod(&s, &pod);
    }
    say(&s, "g");
    assert_string_equal(
        said.gang, "PodSchedulingErrors: Resources were found for 1 pods from all sub-groups while sub-group workers "
                   "requires 2 pods for gang scheduling. Additional pods cannot be scheduled in this sub-group due to: "
                   "no nodes with enough resources were found: 1 node(s) didn't have enough resources: GPUs..");
    small_state_end(&s);
}

static void limits_and_quotas_come_with_their_numbers(void **state)
{
    (void)state;
    static const struct {
        double quota[3];
        double limit[3];
        bool is_fixed;
        const char *says;
    } rows[] = {
        {{-1, -1, -1},
         {-1, -1, 2},
         false,
         "OverLimit: Team quota has reached the allowable limit of GPUs. Limit is 2 GPUs, currently 0 GPUs allocated "
         "and "
         "workload requested 3 GPUs."},
        {{-1, -1, -1},
         {500, -1, -1},
         false,
         "OverLimit: Team quota has reached the allowable limit of CPU cores. Limit is 0.5 cores, currently 0 cores "
         "allocated and workload requested 1 cores."},
        {{-1, -1, -1},
         {-1, 1000000, -1},
         false,
         "OverLimit: Team quota has reached the allowable limit of memory. Limit is 0.001 GB, currently 0 GB allocated "
         "and "
         "workload requested 0.001 GB."},
        {{-1, -1, 1},
         {-1, -1, -1},
         true,
         "NonPreemptibleOverQuota: Non-preemptible workload is over quota. Workload requested 3 GPUs, but Team quota "
         "is 1 "
         "GPUs, while 0 GPUs are already allocated for non-preemptible pods. Use a preemptible workload to go over "
         "quota.."},
        {{500, -1, -1},
         {-1, -1, -1},
         true,
         "NonPreemptibleOverQuota: Non-preemptible workload is over quota. Workload requested 1 CPU cores, but Team "
         "quota is "
         "0.5 cores, while 0 cores are already allocated for non-preemptible pods. Use a preemptible workload to go "
         "over "
         "quota.."},
        {{-1, 1000000, -1},
         {-1, -1, -1},
         true,
         "NonPreemptibleOverQuota: Non-preemptible workload is over quota. Workload requested 0.001 GB memory, but "
         "Team quota "
         "is 0.001 GB, while 0 GB are already allocated for non-preemptible pods. Use a preemptible workload to go "
         "over "
         "quota.."},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct small_state s;

        small_state_begin(&s);
        put_node(&s, "n1", 8, NULL, 0);
        put_bounds(&s, "team", rows[i].quota, rows[i].limit);
        put_gang(&s, "g", (struct gang_like){.queue = "team", .is_fixed = rows[i].is_fixed});
        put_sized(&s, "g", "p", 3, NULL);
        say(&s, "g");
        assert_string_equal(said.gang, rows[i].says);
        assert_string_equal(said.pod, rows[i].says);
        small_state_end(&s);
    }
}

static void what_no_node_has_is_told_before_nodes_are_looked_at(void **state)
{
    (void)state;
    static const char *const maps[] = {"settings", "more"};
    static const char *const claims[] = {"data"};
    struct small_state s;
    struct pod_spec pod = pod_with("g", "p", 4, NULL);

    small_state_begin(&s);
    put_node(&s, "n1", 2, NULL, 0);
    put_gang(&s, "g", (struct gang_like){0});
    pod.constraints.config_maps = maps;
    pod.constraints.config_map_count = 2;
    pod.constraints.volume_claims = claims;
    pod.constraints.volume_claim_count = 1;
    put_pod(&s, &pod);
    say(&s, "g");
    assert_string_equal(
        said.pod,
        "Scheduling conditions were not met for pod ns/p:\n"
        "VolumeBinding: persistentvolumeclaim \"data\" not found.\n"
        "MaxNodePoolResources: The pod ns/p requires GPU: 4, CPU: 1 (cores), memory: 0.001 (GB), pods: 1. Max "
        "GPU resources available in a single node in the default node-pool is topped at 2.\n"
        "ConfigMap: Missing required configmaps: [settings more].\n");
    small_state_end(&s);
}

static void a_resource_that_no_node_has_is_named(void **state)
{
    (void)state;
    static const struct amount_spec amounts[] = {{"cpu", 1000}, {"memory", 1 << 20}, {"nvidia.com/mig-1g.10gb", 1}};
    struct small_state s;
    struct pod_spec pod = pod_with("g", "p", 0, NULL);

    small_state_begin(&s);
    put_node(&s, "n1", 2, NULL, 0);
    put_gang(&s, "g", (struct gang_like){0});
    pod.request = (struct request_spec){.kind = REQUEST_MIG, .amounts = amounts, .amount_count = 3};
    put_pod(&s, &pod);
    say(&s, "g");
    assert_string_equal(
        said.pod,
        "Scheduling conditions were not met for pod ns/p:\nMaxNodePoolResources: The pod ns/p requires GPU: 1, "
        "CPU: 1 (cores), memory: 0.001 (GB), pods: 1, mig nvidia.com/mig-1g.10gb: 1. No node in the default "
        "node-pool has nvidia.com/mig-1g.10gb resources.\n");
    small_state_end(&s);
}

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

static void a_delay_and_a_missing_queue_have_reasons_of_their_own(void **state)
{
    (void)state;
    struct small_state s;

    small_state_begin(&s);
    put_node(&s, "n1", 2, NULL, 0);
    put_gang(&s, "old", (struct gang_like){0});
    put_sized(&s, "old", "old-0", 2, "n1");
    put_gang(&s, "g", (struct gang_like){.delay = 600 * NSEC_PER_SEC});
    put_sized(&s, "g", "p", 2, NULL);
    say(&s, "g");
    assert_non_null(strstr(said.gang,
                           "Workload is within its preemption delay window (10m0s) and may not trigger evictions "
                           "before 2023-11-14T22:23:20Z."));
    put_gang(&s, "lost", (struct gang_like){.queue = "missing"});
    put_sized(&s, "lost", "lost-0", 2, NULL);
    engine_close(s.engine);
    say(&s, "lost");
    assert_string_equal(said.gang, "QueueDoesNotExist: Queue 'missing' does not exist.");
    small_state_end(&s);
}

static void the_pool_is_named_where_several_are_tried(void **state)
{
    (void)state;
    struct small_state s;
    struct explanation e;
    struct verdict_text text = {.explanation = &e, .node_pool = "fast", .names_pool = true};
    struct strbuf out;

    small_state_begin(&s);
    put_gang(&s, "g", (struct gang_like){0});
    put_sized(&s, "g", "p", 2, NULL);
    small_state_open(&s);
    strbuf_init(&out, 1000);
    explain(s.engine, state_find_gang(s.state, "ns", "g"), &e);
    text.engine = s.engine;
    verdict_text_gang(&text, &out);
    assert_non_null(
        strstr(out.text, "Node-Pool 'fast': PodSchedulingErrors: Resources were not found for pod ns/p due to: "));
    explanation_done(&e);
    strbuf_done(&out);
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
    const struct device_spec device = {"nvidia.com/gpu", pool, "0"};
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

static void decisions_become_events(void **state)
{
    (void)state;
    static const double bounds[] = {-1, -1, 4};
    struct small_state s;
    struct strbuf out;

    small_state_begin(&s);
    put_node(&s, "n1", 2, NULL, 0);
    put_bounds(&s, "team", bounds, bounds);
    put_gang(&s, "old", (struct gang_like){0});
    put_sized(&s, "old", "old-0", 2, "n1");
    put_gang(&s, "g", (struct gang_like){.queue = "team"});
    put_sized(&s, "g", "p", 2, NULL);
    small_state_open(&s);
    strbuf_init(&out, 2000);
    const node_id n1 = state_find_node(s.state, "n1");
    const pod_id p = state_find_pod(s.state, "ns", "p");
    const pod_id old = state_find_pod(s.state, "ns", "old-0");
    const gang_id g = state_find_gang(s.state, "ns", "g");
    const struct {
        struct decision decision;
        const char *says;
    } rows[] = {
        {{ACTION_ALLOCATE, DECISION_BIND, p, n1, NO_ID},
         "Successfully assigned pod ns/p to node n1 at node-pool default"},
        {{ACTION_ALLOCATE, DECISION_PIPELINE, p, n1, NO_ID}, "Pod ns/p was pipelined to node n1"},
        {{ACTION_PREEMPT, DECISION_EVICT, old, n1, g}, "Pod ns/old-0 was preempted by higher priority workload ns/g"},
        {{ACTION_CONSOLIDATION, DECISION_EVICT, old, n1, g},
         "Pod ns/old-0 was preempted and rescheduled due to bin packing (resource consolidation) procedure"},
        {{ACTION_STALE_GANG, DECISION_EVICT, old, n1, NO_ID},
         "Workload doesn't meet the minimum required number of pods (1), evicting remaining pod: ns/old-0"},
        {{ACTION_RECLAIM, DECISION_EVICT, old, n1, g},
         "Pod ns/old-0 was preempted by workload ns/g.\n"
         "q uses <GPU: 2, CPU: 1 (cores), memory: 0.001 (GB)> with a quota of <GPU: Unlimited, CPU: Unlimited (cores), "
         "memory: Unlimited (GB)>, fair-share of <GPU: 2, CPU: 1 (cores), memory: 0.001 (GB)> and queue priority of "
         "<0>.\n"
         "Team uses <GPU: 0, CPU: 0 (cores), memory: 0 (GB)> with a quota of <GPU: 4, CPU: Unlimited (cores), memory: "
         "Unlimited (GB)>, fair-share of <GPU: 2, CPU: 1 (cores), memory: 0.001 (GB)> and queue priority of <100>."},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        strbuf_clear(&out);
        verdict_text_decision(s.engine, &rows[i].decision, NULL, &out);
        assert_string_equal(out.text, rows[i].says);
    }
    strbuf_done(&out);
    small_state_end(&s);
}

static void gangs_that_are_not_tried_say_what_they_wait_for(void **state)
{
    (void)state;
    const struct group_spec groups[] = {
        {.name = "", .parent = -1, .min = -1},
        {.name = "head", .parent = 0, .is_pod_set = true, .min = 1},
        {.name = "workers", .parent = 0, .is_pod_set = true, .min = 2},
    };
    const struct gang_spec spec = {
        .namespace = "ns", .name = "tree", .queue = "q", .groups = groups, .group_count = ARRAY_LEN(groups)};
    struct pod_spec worker = pod_with("tree", "w", 1, "n1");
    struct small_state s;
    struct strbuf out;

    small_state_begin(&s);
    strbuf_init(&out, 1000);
    put_node(&s, "n1", 4, NULL, 0);
    put_gang(&s, "g", (struct gang_like){.min = 3});
    put_sized(&s, "g", "p", 1, "n1");
    assert_int_equal(state_put_gang(s.state, &spec, NULL), 0);
    worker.pod_set = "workers";
    put_pod(&s, &worker);
    small_state_open(&s);
    const gang_id g = state_find_gang(s.state, "ns", "g");
    const gang_id tree = state_find_gang(s.state, "ns", "tree");

    verdict_text_not_ready(s.engine, g, &out);
    assert_string_equal(out.text,
                        "Job is not ready for scheduling. Waiting for 3 pods, currently 1 exist, 0 are gated");
    strbuf_clear(&out);
    verdict_text_not_ready(s.engine, tree, &out);
    assert_string_equal(out.text,
                        "Job is not ready for scheduling. Waiting for 1 pods for SubGroup head, currently 0 exist, 0 "
                        "are gated. Waiting for 2 pods for SubGroup workers, currently 1 exist, 0 are gated.");
    strbuf_clear(&out);
    verdict_text_stale(s.engine, g, &out);
    assert_string_equal(out.text, "Job is stale. 1 pods are active, minMember is 3");
    strbuf_clear(&out);
    verdict_text_stale(s.engine, tree, &out);
    assert_string_equal(out.text,
                        "Job is stale. 1 pods are active, minMember is 3, subGroup head minMember is 1 and 0 pods are "
                        "active, subGroup workers minMember is 2 and 1 pods are active");
    strbuf_clear(&out);
    verdict_text_stray(s.engine, state_find_pod(s.state, "ns", "w"), "helpers", &out);
    assert_string_equal(out.text, "Pod references subgroup \"helpers\", which does not exist in PodGroup ns/tree");
    strbuf_clear(&out);
    verdict_text_decision(s.engine,
                          &(struct decision){ACTION_STALE_GANG, DECISION_EVICT, state_find_pod(s.state, "ns", "w"),
                                             state_find_node(s.state, "n1"), NO_ID},
                          NULL, &out);
    assert_string_equal(out.text,
                        "Workload doesn't meet the minimum required number of pods (2) in sub-group workers, evicting "
                        "remaining pod: ns/w");
    strbuf_done(&out);
    small_state_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_written_as_kai_writes_them),
        cmocka_unit_test(a_full_cluster_is_told_by_what_is_missing),
        cmocka_unit_test(a_gang_says_how_many_pods_found_a_place),
        cmocka_unit_test(a_set_of_a_larger_gang_is_named),
        cmocka_unit_test(limits_and_quotas_come_with_their_numbers),
        cmocka_unit_test(what_no_node_has_is_told_before_nodes_are_looked_at),
        cmocka_unit_test(a_resource_that_no_node_has_is_named),
        cmocka_unit_test(each_test_that_a_node_fails_has_its_words),
        cmocka_unit_test(a_pod_that_costs_too_much_on_each_node_is_told_so),
        cmocka_unit_test(a_topology_is_told_domain_by_domain),
        cmocka_unit_test(mixed_pods_are_told_by_what_a_domain_lacks),
        cmocka_unit_test(a_delay_and_a_missing_queue_have_reasons_of_their_own),
        cmocka_unit_test(the_pool_is_named_where_several_are_tried),
        cmocka_unit_test(each_rule_of_affinity_has_its_words),
        cmocka_unit_test(mig_of_the_old_kind_and_worker_types_name_the_node),
        cmocka_unit_test(claims_tell_what_is_wrong_with_them),
        cmocka_unit_test(details_count_every_kind_of_resource),
        cmocka_unit_test(decisions_become_events),
        cmocka_unit_test(gangs_that_are_not_tried_say_what_they_wait_for),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
