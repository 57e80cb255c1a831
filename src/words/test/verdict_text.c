/* SPDX-License-Identifier: Apache-2.0 */
#include "words/verdict_text.h"

#include "base/strbuf.h"
#include "words/test/saying.h"
#include "words/verdict_text_internal.h"

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
        cmocka_unit_test(a_delay_and_a_missing_queue_have_reasons_of_their_own),
        cmocka_unit_test(the_pool_is_named_where_several_are_tried),
        cmocka_unit_test(decisions_become_events),
        cmocka_unit_test(gangs_that_are_not_tried_say_what_they_wait_for),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
