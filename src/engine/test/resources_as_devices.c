/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strbuf.h"
#include "engine/nodes/place.h"
#include "engine/test/small_state.h"

/* Pods that ask for resources, which device plugins hand out on some nodes and drivers' devices are on others. */

static const char *const names[] = {"a", "b", "c"};

static node_id put_offering(struct small_state *s, const char *name, int64_t gpus, int64_t cards)
{
    const struct amount_spec amounts[] = {{"cpu", 64000},
                                          {"memory", INT64_C(256) << 30},
                                          {"nvidia.com/gpu", gpus * GPU_ONE},
                                          {"example.com/card", cards * 1000},
                                          {"pods", 110}};
    const struct node_spec spec = {
        .name = name, .allocatable = amounts, .allocatable_count = ARRAY_LEN(amounts), .device_count = -1};

    assert_int_equal(state_put_node(s->state, &spec, NULL), 0);
    return state_find_node(s->state, name);
}

static void put_devices(struct small_state *s, const char *node, const char *driver, size_t count)
{
    char name[32];
    const struct slice_spec slice = {.name = name,
                                     .driver = driver,
                                     .pool = name,
                                     .node = node,
                                     .generation = 1,
                                     .slice_count = 1,
                                     .devices = names,
                                     .device_count = count};

    (void)snprintf(name, sizeof name, "%s-%s", node, driver);
    assert_int_equal(state_put_slice(s->state, &slice, NULL), 0);
}

static void put_classes(struct small_state *s)
{
    static const char *const of_gpus[] = {"device.driver == 'gpu.example'"};
    static const char *const of_cards[] = {"device.driver == 'card.example'"};

    state_put_device_class(s->state, &(struct device_class_spec){.name = "gpus",
                                                                 .resource = "nvidia.com/gpu",
                                                                 .driver = "gpu.example",
                                                                 .selectors = of_gpus,
                                                                 .selector_count = 1});
    state_put_device_class(s->state, &(struct device_class_spec){.name = "cards",
                                                                 .resource = "example.com/card",
                                                                 .driver = "card.example",
                                                                 .selectors = of_cards,
                                                                 .selector_count = 1});
}

static pod_id put_asker(struct small_state *s, const char *name, int64_t gpus, int64_t cards)
{
    const struct amount_spec amounts[] = {{"cpu", 1000}, {"memory", 1 << 20}, {"example.com/card", cards * 1000}};
    struct pod_spec spec = pod_with("g", name, gpus, NULL);

    spec.request.amounts = amounts;
    spec.request.amount_count = ARRAY_LEN(amounts);
    return put_pod(s, &spec);
}

static const struct claim *plan_of(const struct small_state *s, pod_id id)
{
    const struct pod *pod = &s->state->pods.items[id];

    assert_int_equal(pod->claim_count, 1);
    assert_true(pod->claims[0].is_extended);
    return &s->state->claims.items[pod->claims[0].slot];
}

static bool runs_on(struct small_state *s, pod_id pod, node_id node)
{
    return fits_idle(s->engine, pod, node) && claims_pass(s->engine, pod, node);
}

static void a_pod_gets_devices_for_what_no_plugin_hands_out(void **unused)
{
    struct small_state s;
    node_id nodes[4];

    (void)unused;
    small_state_begin(&s);
    put_gang(&s, "g", (struct gang_like){0});
    nodes[0] = put_offering(&s, "both-plugins", 4, 4);
    nodes[1] = put_offering(&s, "card-plugin", 0, 4);
    nodes[2] = put_offering(&s, "no-plugin", 0, 0);
    nodes[3] = put_offering(&s, "no-cards", 4, 0);
    put_devices(&s, "card-plugin", "gpu.example", 3);
    put_devices(&s, "no-plugin", "gpu.example", 3);
    put_devices(&s, "no-plugin", "card.example", 2);
    put_classes(&s);
    pod_id one = put_asker(&s, "one", 2, 1);
    pod_id many = put_asker(&s, "many", 2, 3);
    small_state_open(&s);
    const struct claim *plan = plan_of(&s, one);
    assert_int_equal(plan->ask.request_count, 2);
    assert_string_equal(plan->ask.requests[0].name, "nvidia.com/gpu");
    assert_int_equal(plan->ask.requests[0].asks[0].count, 2);
    assert_string_equal(plan->ask.requests[1].name, "example.com/card");
    assert_string_equal(plan->ask.requests[1].asks[0].device_class, "cards");
    for (int i = 0; i < 4; i++) {
        assert_int_equal(runs_on(&s, one, nodes[i]), i < 3);
        assert_int_equal(runs_on(&s, many, nodes[i]), i < 2);
    }

    struct undo *undo = &s.state->undo;
    undo->is_recording = true;
    undo_mark start = undo_here(undo);
    place(&s, one, nodes[0]);
    claims_allocate(s.engine, one);
    assert_false(plan->is_allocated);
    undo_back_to(undo, start);
    /* GPUs alone come from the driver here. */
    place(&s, one, nodes[1]);
    claims_allocate(s.engine, one);
    assert_true(plan->is_allocated);
    assert_int_equal(plan->device_count, 2);
    undo_back_to(undo, start);
    place(&s, one, nodes[2]);
    claims_allocate(s.engine, one);
    assert_int_equal(plan->device_count, 3);
    assert_string_equal(state_name(s.state, plan->devices[2].driver), "card.example");
    assert_string_equal(state_name(s.state, plan->devices[2].request), "example.com/card");
    undo_back_to(undo, start);
    undo->is_recording = false;
    small_state_end(&s);
}

static void it_is_told_which_resource_lacks_devices(void **unused)
{
    struct small_state s;
    struct strbuf text;

    (void)unused;
    small_state_begin(&s);
    put_gang(&s, "g", (struct gang_like){0});
    node_id node = put_offering(&s, "n", 0, 0);
    put_devices(&s, "n", "gpu.example", 3);
    put_devices(&s, "n", "card.example", 2);
    put_classes(&s);
    pod_id many = put_asker(&s, "many", 2, 3);
    small_state_open(&s);
    strbuf_init(&text, 256);
    name_claim_problem(s.engine, many, node, &text);
    assert_string_equal(text.text, "resource example.com/card: 2 of 3 devices are suitable");
    strbuf_done(&text);
    small_state_end(&s);
}

static void a_resource_that_is_served_no_more_has_to_be_the_nodes_own(void **unused)
{
    struct small_state s;

    (void)unused;
    small_state_begin(&s);
    put_gang(&s, "g", (struct gang_like){0});
    node_id node = put_offering(&s, "n", 0, 0);
    put_devices(&s, "n", "card.example", 2);
    pod_id pod = put_asker(&s, "p", 0, 1);
    small_state_open(&s);
    assert_false(runs_on(&s, pod, node));
    engine_close(s.engine);
    put_classes(&s);
    small_state_open(&s);
    assert_true(runs_on(&s, pod, node));
    engine_close(s.engine);
    state_drop_device_class(s.state, "cards");
    small_state_open(&s);
    assert_int_equal(s.state->pods.items[pod].claim_count, 0);
    assert_false(runs_on(&s, pod, node));
    engine_close(s.engine);
    put_classes(&s);
    (void)put_offering(&s, "n", 0, 1);
    small_state_open(&s);
    assert_true(runs_on(&s, pod, node));
    assert_int_equal(state_books(s.state, node).idle[state_request(s.state, pod)->v_count - 1], 1000);
    engine_close(s.engine);
    small_state_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_gets_devices_for_what_no_plugin_hands_out),
        cmocka_unit_test(it_is_told_which_resource_lacks_devices),
        cmocka_unit_test(a_resource_that_is_served_no_more_has_to_be_the_nodes_own),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
