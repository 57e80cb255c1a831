/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strbuf.h"
#include "engine/test/small_state.h"

/* What people are told of claims that a node has no devices for. */

#define TEXT(name_, text_) {.name = (name_), .kind = ATTRIBUTE_STRING, .text = (text_)}
#define NUMBER(name_, number_) {.name = (name_), .kind = ATTRIBUTE_INT, .integer = (number_)}

static const struct device_attribute first[] = {TEXT("model", "A100"), NUMBER("rack", 0), NUMBER("size", 1)};
static const struct device_attribute second[] = {TEXT("model", "H200"), NUMBER("rack", 1), NUMBER("size", 1)};
static const char *const names[] = {"a", "b"};

/* A node with two devices of different racks; what they take of a counter of two is `draws`, NULL for nothing. */
static node_id put_pair(struct small_state *s, const struct counter_set *draws, const struct device_taint *taint)
{
    static const struct device_amount two = {"units", "2", 2, 0};
    static const struct counter_set set = {"all", &two, 1};
    static const char *const selectors[] = {"device.driver == 'gpu.example'"};
    const struct device_offer offers[] = {
        {.attributes = first,
         .attribute_count = 3,
         .consumes = draws,
         .consume_count = draws ? 1 : 0,
         .taints = taint,
         .taint_count = taint ? 1 : 0},
        {.attributes = second, .attribute_count = 3, .consumes = draws, .consume_count = draws ? 1 : 0}};
    struct slice_spec slice = {.name = "devices",
                               .driver = "gpu.example",
                               .pool = "pool",
                               .node = "n",
                               .generation = 1,
                               .slice_count = draws ? 2 : 1,
                               .devices = names,
                               .device_count = 2,
                               .offers = offers,
                               .offer_count = 2};
    const struct device_class_spec class = {
        .name = "gpu", .driver = "gpu.example", .selectors = selectors, .selector_count = 1};
    node_id node = put_node(s, "n", 0, NULL, 0);

    put_gang(s, "g", (struct gang_like){0});
    assert_int_equal(state_put_slice(s->state, &slice, NULL), 0);
    if (draws) {
        slice = (struct slice_spec){.name = "counters",
                                    .driver = "gpu.example",
                                    .pool = "pool",
                                    .node = "n",
                                    .generation = 1,
                                    .slice_count = 2,
                                    .counters = &set,
                                    .counter_count = 1};
        assert_int_equal(state_put_slice(s->state, &slice, NULL), 0);
    }
    state_put_device_class(s->state, &class);
    return node;
}

static void put_claim(struct small_state *s, const char *name, const struct claim_ask *ask)
{
    const struct claim_spec claim = {.namespace = "ns", .name = name, .device_class = "gpu", .count = 1, .ask = *ask};

    assert_int_equal(state_put_claim(s->state, &claim, NULL), 0);
}

/* A pod "p" with these claims, the first named "c". */
static pod_id put_user(struct small_state *s, uint32_t count)
{
    static const struct pod_claim_spec links[] = {{"c", true}, {"d", true}};
    struct pod_spec spec = pod_with("g", "p", 0, NULL);

    spec.claims = links;
    spec.claim_count = count;
    return put_pod(s, &spec);
}

static pod_id put_one(struct small_state *s, struct device_ask ask)
{
    const struct device_request request = {"r", &ask, 1};

    ask.device_class = "gpu";
    put_claim(s, "c", &(struct claim_ask){.requests = &request, .request_count = 1});
    return put_user(s, 1);
}

static pod_id put_two(struct small_state *s, const struct device_constraint *constraint)
{
    static const struct device_ask one = {.device_class = "gpu", .count = 1};
    static const struct device_request requests[] = {{"r0", &one, 1}, {"r1", &one, 1}};

    put_claim(s, "c",
              &(struct claim_ask){.requests = requests,
                                  .request_count = 2,
                                  .constraints = constraint,
                                  .constraint_count = constraint ? 1 : 0});
    return put_user(s, 1);
}

static void assert_told(struct small_state *s, pod_id pod, node_id node, const char *expected)
{
    struct strbuf text;

    small_state_open(s);
    assert_false(claims_pass(s->engine, pod, node));
    strbuf_init(&text, 1024);
    name_claim_problem(s->engine, pod, node, &text);
    assert_string_equal(text.text, expected);
    strbuf_done(&text);
}

static void it_is_told_how_many_devices_meet_each_part_of_a_selector(void **unused)
{
    static const char *const both[] = {
        "device.attributes['gpu.example'].model == 'H200' && device.attributes['gpu.example'].rack < 1"};
    struct small_state s;

    (void)unused;
    small_state_begin(&s);
    node_id node = put_pair(&s, NULL, NULL);
    pod_id pod = put_one(&s, (struct device_ask){.count = 1, .selectors = both, .selector_count = 1});
    assert_told(&s, pod, node,
                "claim c, request r: none of 2 devices meets device.attributes['gpu.example'].model == 'H200' && "
                "device.attributes['gpu.example'].rack < 1 (1 meets device.attributes['gpu.example'].model == 'H200', "
                "1 meets device.attributes['gpu.example'].rack < 1)");
    small_state_end(&s);
}

static void the_taint_is_named(void **unused)
{
    static const struct device_taint broken = {"broken", "fan", DEVICE_EFFECT_NO_EXECUTE};
    struct small_state s;

    (void)unused;
    small_state_begin(&s);
    node_id node = put_pair(&s, NULL, &broken);
    assert_told(&s, put_one(&s, (struct device_ask){.count = 2}), node,
                "claim c, request r: 1 of 2 devices are suitable; 1 with taints that are not tolerated "
                "(broken=fan:NoExecute)");
    small_state_end(&s);
}

static void the_counter_that_ran_out_is_named(void **unused)
{
    static const struct device_amount all = {"units", "3", 3, 0};
    static const struct device_amount most = {"units", "1500m", 1, 500000000};
    static const struct counter_set too_much = {"all", &all, 1};
    static const struct counter_set together = {"all", &most, 1};
    struct small_state s;

    (void)unused;
    small_state_begin(&s);
    node_id node = put_pair(&s, &too_much, NULL);
    assert_told(&s, put_one(&s, (struct device_ask){.count = 1}), node,
                "claim c, request r: 0 of 2 suitable devices are free, 1 needed; 2 with too little of counter units of "
                "all: 3 needed, at most 2 free");
    small_state_end(&s);

    /* One at a time there is enough of it. */
    small_state_begin(&s);
    node = put_pair(&s, &together, NULL);
    assert_told(&s, put_two(&s, NULL), node,
                "claim c: its devices draw too much on counter units of all: 1500m needed, at most 500m free");
    small_state_end(&s);
}

static void the_constraint_that_cannot_be_met_is_named(void **unused)
{
    static const char *const requests[] = {"r0", "r1"};
    static const struct device_constraint same = {.attribute = "gpu.example/rack"};
    static const struct device_constraint distinct = {
        .requests = requests, .request_count = 2, .attribute = "gpu.example/size", .is_distinct = true};
    struct small_state s;

    (void)unused;
    small_state_begin(&s);
    node_id node = put_pair(&s, NULL, NULL);
    assert_told(&s, put_two(&s, &same), node, "claim c: no devices that are free have the same gpu.example/rack");
    assert_told(&s, put_two(&s, &distinct), node,
                "claim c: no devices that are free have different gpu.example/size for requests r0, r1");
    small_state_end(&s);
}

static void requests_and_claims_that_take_devices_from_each_other_are_told_of(void **unused)
{
    static const struct device_ask asks[] = {{.device_class = "gpu", .count = 2}, {.device_class = "gpu", .count = 1}};
    static const struct device_request requests[] = {{"r0", &asks[0], 1}, {"r1", &asks[1], 1}};
    struct small_state s;

    (void)unused;
    small_state_begin(&s);
    node_id node = put_pair(&s, NULL, NULL);
    put_claim(&s, "c", &(struct claim_ask){.requests = requests, .request_count = 2});
    assert_told(&s, put_user(&s, 1), node, "claim c: each request can be met, but not all of them at once");
    put_claim(&s, "c", &(struct claim_ask){.requests = requests, .request_count = 1});
    put_claim(&s, "d", &(struct claim_ask){.requests = &requests[1], .request_count = 1});
    assert_told(&s, put_user(&s, 2), node, "each of its 2 claims can be allocated, but not all of them at once");
    small_state_end(&s);
}

static void a_request_for_all_devices_is_told_of_a_pool_in_change(void **unused)
{
    struct small_state s;

    (void)unused;
    small_state_begin(&s);
    node_id node = put_pair(&s, NULL, NULL);
    const struct slice_spec slice = {.name = "more",
                                     .driver = "gpu.example",
                                     .pool = "other",
                                     .node = "n",
                                     .generation = 1,
                                     .slice_count = 2,
                                     .devices = names,
                                     .device_count = 2};
    assert_int_equal(state_put_slice(s.state, &slice, NULL), 0);
    assert_told(&s, put_one(&s, (struct device_ask){.is_all = true}), node,
                "claim c, request r: 2 of 2 suitable devices are free, 2 needed; pool other is being changed");
    small_state_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_told_how_many_devices_meet_each_part_of_a_selector),
        cmocka_unit_test(the_taint_is_named),
        cmocka_unit_test(the_counter_that_ran_out_is_named),
        cmocka_unit_test(the_constraint_that_cannot_be_met_is_named),
        cmocka_unit_test(requests_and_claims_that_take_devices_from_each_other_are_told_of),
        cmocka_unit_test(a_request_for_all_devices_is_told_of_a_pool_in_change),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
