/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/nodes/candidates.h"
#include "engine/test/small_state.h"

/* Two nodes, each with a slice of GPUs of class "gpu.example": n1 has two, n2 has three. */
static void put_devices(struct small_state *s, node_id ret[2])
{
    const struct slice_spec slices[] = {
        {.name = "s1", .driver = "gpu.example", .pool = "n1", .device_class = "gpu", .node = "n1", .device_count = 2},
        {.name = "s2", .driver = "gpu.example", .pool = "n2", .device_class = "gpu", .node = "n2", .device_count = 3},
    };

    put_gang(s, "g", (struct gang_like){0});
    ret[0] = put_node(s, "n1", 0, NULL, 0);
    ret[1] = put_node(s, "n2", 0, NULL, 0);
    state_put_device_class(s->state, &(struct device_class_spec){.name = "gpu"});
    for (size_t i = 0; i < ARRAY_LEN(slices); i++)
        assert_int_equal(state_put_slice(s->state, &slices[i], NULL), 0);
}

static void put_claim(struct small_state *s, const char *name, int64_t count, const char *queue)
{
    const struct str_pair labels[] = {{"kai.scheduler/queue", queue}};
    const struct claim_spec spec = {.namespace = "ns",
                                    .name = name,
                                    .device_class = "gpu",
                                    .labels = labels,
                                    .label_count = queue ? 1 : 0,
                                    .count = count};

    assert_int_equal(state_put_claim(s->state, &spec, NULL), 0);
}

static pod_id put_claimer(struct small_state *s, const char *name, const char *claim, const char *second,
                          bool is_template)
{
    const struct pod_claim_spec claims[] = {{claim, is_template}, {second, is_template}};
    struct pod_spec spec = pod_with("g", name, 0, NULL);

    spec.claims = claims;
    spec.claim_count = second ? 2 : 1;
    return put_pod(s, &spec);
}

static const struct claim *claim_of(const struct small_state *s, pod_id pod)
{
    return &s->state->claims.items[s->state->pods.items[pod].claims[0].claim];
}

static void claim_devices(struct small_state *s, pod_id pod, node_id node)
{
    place(s, pod, node);
    claims_allocate(s->engine, pod);
    topology_node_touched(s->engine, node);
}

static void claims_of_one_class_add_up(void **state)
{
    (void)state;
    struct small_state s;
    node_id nodes[2];

    small_state_begin(&s);
    put_devices(&s, nodes);
    put_claim(&s, "one", 1, NULL);
    put_claim(&s, "two", 2, NULL);
    pod_id pod = put_claimer(&s, "p", "one", "two", true);
    pod_id small = put_claimer(&s, "small", "two", NULL, true);
    small_state_open(&s);
    assert_true(claims_exist(s.engine, pod));
    assert_false(claims_pass(s.engine, pod, nodes[0]));
    assert_true(claims_pass(s.engine, pod, nodes[1]));
    assert_true(claims_pass(s.engine, small, nodes[0]));
    small_state_end(&s);
}

static void an_allocated_claim_ties_its_pods_to_the_node(void **state)
{
    (void)state;
    struct small_state s;
    node_id nodes[2];

    small_state_begin(&s);
    put_devices(&s, nodes);
    put_claim(&s, "shared", 2, "q");
    put_claim(&s, "late", 1, NULL);
    pod_id first = put_claimer(&s, "p1", "shared", NULL, false);
    pod_id second = put_claimer(&s, "p2", "shared", NULL, false);
    pod_id late = put_claimer(&s, "p3", "late", NULL, true);
    small_state_open(&s);
    const struct claim *claim = claim_of(&s, first);
    assert_true(claims_exist(s.engine, first));
    claim_devices(&s, first, nodes[0]);
    assert_int_equal(claim->is_allocated, 1);
    assert_int_equal(claim->device_count, 2);
    assert_int_equal(claim->reserved_count, 1);
    assert_true(claims_pass(s.engine, second, nodes[0]));
    assert_false(claims_pass(s.engine, second, nodes[1]));
    assert_false(claims_pass(s.engine, late, nodes[0]));

    claim_devices(&s, second, nodes[0]);
    assert_int_equal(claim->reserved_count, 2);
    claims_release(s.engine, first);
    assert_int_equal(claim->is_allocated, 1);
    claims_release(s.engine, second);
    assert_int_equal(claim->is_allocated, 0);
    assert_int_equal(claim->reserved_count, 0);
    topology_node_touched(s.engine, nodes[0]);
    assert_true(claims_pass(s.engine, late, nodes[0]));
    small_state_end(&s);
}

/* A pod that runs with a claim on the first devices of its node. */
static void put_running(struct small_state *s, const char *name, const char *claim, const char *node, size_t count)
{
    static const char *const devices[] = {"0", "1", "2"};
    static const struct str_pair labels[] = {{"kai.scheduler/queue", "q"}};
    const struct pod_claim_spec link = {claim, false};
    const char *uid = name;
    struct device_spec held[ARRAY_LEN(devices)];
    struct pod_spec pod = pod_with("g", name, 0, node);

    for (size_t i = 0; i < count; i++)
        held[i] = (struct device_spec){.driver = "gpu.example", .pool = node, .device = devices[i]};
    const struct claim_spec spec = {.namespace = "ns",
                                    .name = claim,
                                    .device_class = "gpu",
                                    .labels = labels,
                                    .label_count = 1,
                                    .count = (int64_t)count,
                                    .is_allocated = true,
                                    .devices = held,
                                    .device_count = count,
                                    .reserved_for = &uid,
                                    .reserved_count = 1};
    assert_int_equal(state_put_claim(s->state, &spec, NULL), 0);
    pod.claims = &link;
    pod.claim_count = 1;
    (void)put_pod(s, &pod);
}

/* Who shares a claim needs no more GPUs on its node; others with the same request do not profit from that. */
static void room_for_pods_that_share_a_claim_is_theirs_alone(void **state)
{
    (void)state;
    struct small_state s;
    struct candidate_walk walk;
    node_id nodes[2];
    node_id found;

    small_state_begin(&s);
    put_devices(&s, nodes);
    put_running(&s, "p1", "shared", "n1", 2);
    put_running(&s, "p3", "large", "n2", 3);
    put_claim(&s, "own", 2, NULL);
    pod_id second = put_claimer(&s, "p2", "shared", NULL, false);
    pod_id other = put_claimer(&s, "p4", "own", NULL, true);
    small_state_open(&s);
    const struct node_set all = {.ids = nodes, .count = 2, .is_all = true};
    for (int round = 0; round < 2; round++) {
        assert_true(candidates_any_allowed(s.engine, second));
        candidates_walk(&walk, s.engine, second, all, NULL);
        assert_true(candidates_next(&walk, &found));
        assert_int_equal(found, nodes[0]);
        candidates_walk(&walk, s.engine, other, all, NULL);
        assert_false(candidates_next(&walk, &found));
    }
    small_state_end(&s);
}

static void what_a_simulation_did_is_taken_back(void **state)
{
    (void)state;
    struct small_state s;
    node_id nodes[2];

    small_state_begin(&s);
    put_devices(&s, nodes);
    put_claim(&s, "c", 2, NULL);
    put_claim(&s, "d", 1, NULL);
    pod_id pod = put_claimer(&s, "p", "c", NULL, true);
    pod_id other = put_claimer(&s, "o", "d", NULL, true);
    small_state_open(&s);
    const struct claim *claim = claim_of(&s, pod);
    s.state->undo.is_recording = true;
    claim_devices(&s, pod, nodes[0]);
    assert_false(claims_pass(s.engine, other, nodes[0]));
    undo_back_to(&s.state->undo, 0);
    topology_node_touched(s.engine, nodes[0]);
    s.state->undo.is_recording = false;
    assert_int_equal(claim->is_allocated, 0);
    assert_int_equal(claim->reserved_count, 0);
    assert_true(claims_pass(s.engine, other, nodes[0]));
    small_state_end(&s);
}

/* Nobody asks what is held between the second eviction and its end. */
static void an_eviction_that_is_taken_back_twice_leaves_devices_held(void **state)
{
    (void)state;
    struct small_state s;
    node_id nodes[2];

    small_state_begin(&s);
    put_devices(&s, nodes);
    put_claim(&s, "c", 2, NULL);
    put_claim(&s, "d", 1, NULL);
    pod_id running = put_claimer(&s, "p", "c", NULL, true);
    pod_id other = put_claimer(&s, "o", "d", NULL, true);
    small_state_open(&s);
    claim_devices(&s, running, nodes[0]);
    assert_false(claims_pass(s.engine, other, nodes[0]));
    s.state->undo.is_recording = true;
    claims_release(s.engine, running);
    assert_true(claims_pass(s.engine, other, nodes[0]));
    undo_back_to(&s.state->undo, 0);
    claims_release(s.engine, running);
    undo_back_to(&s.state->undo, 0);
    s.state->undo.is_recording = false;
    assert_false(claims_pass(s.engine, other, nodes[0]));
    small_state_end(&s);
}

static void a_pod_that_is_put_back_gets_its_devices_again(void **state)
{
    (void)state;
    static const struct device_spec devices[] = {{.driver = "gpu.example", .pool = "n2", .device = "2"}};
    static const char *const users[] = {"ns/p"};
    const struct claim_spec spec = {.namespace = "ns",
                                    .name = "c",
                                    .device_class = "gpu",
                                    .count = 1,
                                    .is_allocated = true,
                                    .devices = devices,
                                    .device_count = 1,
                                    .reserved_for = users,
                                    .reserved_count = 1};
    const struct pod_claim_spec claims[] = {{"c", true}};
    struct small_state s;
    node_id nodes[2];

    small_state_begin(&s);
    put_devices(&s, nodes);
    assert_int_equal(state_put_claim(s.state, &spec, NULL), 0);
    struct pod_spec running = pod_with("g", "p", 0, "n2");
    running.claims = claims;
    running.claim_count = 1;
    pod_id pod = put_pod(&s, &running);
    small_state_open(&s);
    const struct claim *claim = claim_of(&s, pod);
    claims_release(s.engine, pod);
    topology_node_touched(s.engine, nodes[1]);
    assert_int_equal(claim->is_allocated, 0);
    assert_true(claims_return(s.engine, pod));
    claims_allocate(s.engine, pod);
    assert_int_equal(claim->is_allocated, 1);
    assert_string_equal(state_name(s.state, claim->devices[0].name), "2");

    /* Promised a place rather than put back, it gets the first that are free. */
    claims_release(s.engine, pod);
    pod_set_status(s.state, pod, POD_PIPELINED);
    claims_allocate(s.engine, pod);
    assert_string_equal(state_name(s.state, claim->devices[0].name), "0");
    small_state_end(&s);
}

static void claims_that_are_not_right_are_refused(void **state)
{
    (void)state;
    const struct claim_spec classless = {.namespace = "ns", .name = "odd", .device_class = "tpu", .count = 1};
    struct small_state s;
    node_id nodes[2];

    small_state_begin(&s);
    put_devices(&s, nodes);
    put_claim(&s, "foreign", 1, "other");
    put_claim(&s, "plain", 1, NULL);
    assert_int_equal(state_put_claim(s.state, &classless, NULL), 0);
    pod_id missing = put_claimer(&s, "p1", "missing", NULL, true);
    pod_id foreign = put_claimer(&s, "p2", "foreign", NULL, false);
    pod_id plain = put_claimer(&s, "p3", "plain", NULL, false);
    pod_id odd = put_claimer(&s, "p4", "odd", NULL, false);
    small_state_open(&s);
    assert_false(claims_exist(s.engine, missing));
    assert_false(claims_exist(s.engine, foreign));
    assert_false(claims_exist(s.engine, plain));
    assert_false(claims_exist(s.engine, odd));
    state_put_device_class(s.state, &(struct device_class_spec){.name = "tpu"});
    assert_true(claims_exist(s.engine, odd));
    small_state_end(&s);
}

static void devices_without_a_class_or_for_all_nodes_fill_in(void **state)
{
    (void)state;
    const struct slice_spec more[] = {
        {.name = "s3", .driver = "gpu.example", .pool = "n1-more", .node = "n1", .device_count = 1},
        {.name = "s4",
         .driver = "gpu.example",
         .pool = "net",
         .is_for_all_nodes = true,
         .device_class = "gpu",
         .device_count = 1},
    };
    struct small_state s;
    node_id nodes[2];

    small_state_begin(&s);
    put_devices(&s, nodes);
    for (size_t i = 0; i < ARRAY_LEN(more); i++)
        assert_int_equal(state_put_slice(s.state, &more[i], NULL), 0);
    put_claim(&s, "four", 4, NULL);
    put_claim(&s, "one", 1, NULL);
    pod_id four = put_claimer(&s, "p", "four", NULL, true);
    pod_id one = put_claimer(&s, "q", "one", NULL, true);
    small_state_open(&s);
    assert_true(claims_pass(s.engine, four, nodes[0]));
    assert_true(claims_pass(s.engine, four, nodes[1]));
    claim_devices(&s, one, nodes[0]);
    assert_false(claims_pass(s.engine, four, nodes[0]));
    assert_true(claims_pass(s.engine, four, nodes[1]));
    claim_devices(&s, four, nodes[1]);
    const struct claim *claim = claim_of(&s, four);
    assert_int_equal(claim->device_count, 4);
    assert_true(claims_pass(s.engine, four, nodes[1]));
    assert_false(claims_pass(s.engine, four, nodes[0]));
    small_state_end(&s);
}

static void gpus_asked_for_as_a_resource_are_devices_where_no_plugin_has_them(void **state)
{
    (void)state;
    struct small_state s;
    node_id nodes[2];

    small_state_begin(&s);
    put_devices(&s, nodes);
    state_put_device_class(s.state, &(struct device_class_spec){.name = "gpu", .resource = "nvidia.com/gpu"});
    node_id plugin = put_node(&s, "n3", 8, NULL, 0);
    struct pod_spec spec = pod_with("g", "p", 0, NULL);
    spec.request.gpus = 3;
    pod_id pod = put_pod(&s, &spec);
    put_claim(&s, "one", 1, NULL);
    pod_id other = put_claimer(&s, "q", "one", NULL, true);
    small_state_open(&s);
    assert_true(claims_exist(s.engine, pod));
    assert_false(claims_pass(s.engine, pod, nodes[0]));
    assert_true(claims_pass(s.engine, pod, nodes[1]));
    assert_true(claims_pass(s.engine, pod, plugin));
    claim_devices(&s, pod, plugin);
    assert_false(claim_of(&s, pod)->is_allocated);
    claim_devices(&s, pod, nodes[1]);
    assert_true(claim_of(&s, pod)->is_allocated);
    assert_int_equal(claim_of(&s, pod)->device_count, 3);
    /* Claims and resources take from the same devices. */
    assert_false(claims_pass(s.engine, other, nodes[1]));
    assert_true(claims_pass(s.engine, other, nodes[0]));
    claims_release(s.engine, pod);
    assert_true(claims_pass(s.engine, other, nodes[1]));
    small_state_end(&s);
}

static void a_class_of_one_driver_takes_no_other_devices(void **state)
{
    (void)state;
    const struct slice_spec slices[] = {
        {.name = "a", .driver = "channel.example", .pool = "a", .node = "n", .device_count = 4},
        {.name = "b", .driver = "gpu.example", .pool = "b", .node = "n", .device_count = 2},
    };
    const struct claim_spec any = {.namespace = "ns", .name = "any", .device_class = "any", .count = 2};
    struct small_state s;

    small_state_begin(&s);
    put_gang(&s, "g", (struct gang_like){0});
    node_id node = put_node(&s, "n", 0, NULL, 0);
    for (size_t i = 0; i < ARRAY_LEN(slices); i++)
        assert_int_equal(state_put_slice(s.state, &slices[i], NULL), 0);
    state_put_device_class(s.state, &(struct device_class_spec){.name = "any"});
    state_put_device_class(s.state, &(struct device_class_spec){.name = "gpu", .driver = "gpu.example"});
    put_claim(&s, "three", 3, NULL);
    put_claim(&s, "two", 2, NULL);
    assert_int_equal(state_put_claim(s.state, &any, NULL), 0);
    pod_id three = put_claimer(&s, "p", "three", NULL, true);
    /* The claim that could have any device is the first, and leaves the other its own. */
    pod_id both = put_claimer(&s, "q", "any", "two", true);
    small_state_open(&s);
    assert_false(claims_pass(s.engine, three, node));
    assert_true(claims_pass(s.engine, both, node));
    claim_devices(&s, both, node);
    for (uint32_t c = 0; c < 2; c++) {
        const struct claim *claim = &s.state->claims.items[s.state->pods.items[both].claims[c].claim];
        assert_true(claim->is_allocated);
        assert_string_equal(state_name(s.state, claim->devices[0].driver), c ? "gpu.example" : "channel.example");
    }
    small_state_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_of_one_class_add_up),
        cmocka_unit_test(an_allocated_claim_ties_its_pods_to_the_node),
        cmocka_unit_test(room_for_pods_that_share_a_claim_is_theirs_alone),
        cmocka_unit_test(what_a_simulation_did_is_taken_back),
        cmocka_unit_test(an_eviction_that_is_taken_back_twice_leaves_devices_held),
        cmocka_unit_test(a_pod_that_is_put_back_gets_its_devices_again),
        cmocka_unit_test(claims_that_are_not_right_are_refused),
        cmocka_unit_test(devices_without_a_class_or_for_all_nodes_fill_in),
        cmocka_unit_test(gpus_asked_for_as_a_resource_are_devices_where_no_plugin_has_them),
        cmocka_unit_test(a_class_of_one_driver_takes_no_other_devices),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
