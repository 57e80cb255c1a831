/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/strbuf.h"
#include "engine/node_reason.h"
#include "engine/test/small_state.h"

static const char big[] = "device.attributes['gpu.example'].model == 'H200'";
static const char *const big_only[] = {big};

#define MODEL(text_) {.name = "model", .kind = ATTRIBUTE_STRING, .text = (text_)}
#define GROUP(number) {.name = "group", .kind = ATTRIBUTE_INT, .integer = (number)}

/* Two nodes: n1 has two A100 and n2 four H200, two in each group, of which the last has a taint. */
static void put_devices(struct small_state *s, node_id ret[2])
{
    static const struct device_attribute a100[] = {MODEL("A100"), GROUP(0)};
    static const struct device_attribute h200[][2] = {{MODEL("H200"), GROUP(0)}, {MODEL("H200"), GROUP(1)}};
    static const struct device_taint broken[] = {{"broken", "", DEVICE_EFFECT_NO_SCHEDULE}};
    static const char *const names[] = {"a", "b", "c", "d"};
    static const struct device_offer offers[2][4] = {
        {{.attributes = a100, .attribute_count = 2}, {.attributes = a100, .attribute_count = 2}},
        {{.attributes = h200[0], .attribute_count = 2},
         {.attributes = h200[1], .attribute_count = 2},
         {.attributes = h200[0], .attribute_count = 2},
         {.attributes = h200[1], .attribute_count = 2, .taints = broken, .taint_count = 1}}};
    static const char *const pools[] = {"n1", "n2"};
    static const char *const of_driver[] = {"device.driver == 'gpu.example'"};
    const struct device_class_spec class = {
        .name = "gpu", .driver = "gpu.example", .selectors = of_driver, .selector_count = 1};

    put_gang(s, "g", (struct gang_like){0});
    for (int i = 0; i < 2; i++) {
        size_t count = i == 0 ? 2 : 4;
        const struct slice_spec slice = {.name = pools[i],
                                         .driver = "gpu.example",
                                         .pool = pools[i],
                                         .node = pools[i],
                                         .generation = 1,
                                         .slice_count = 1,
                                         .devices = names,
                                         .device_count = count,
                                         .offers = offers[i],
                                         .offer_count = count};

        ret[i] = put_node(s, pools[i], 0, NULL, 0);
        assert_int_equal(state_put_slice(s->state, &slice, NULL), 0);
    }
    state_put_device_class(s->state, &class);
}

static pod_id put_asker(struct small_state *s, const char *name, const struct claim_ask *ask)
{
    const struct claim_spec claim = {.namespace = "ns", .name = name, .device_class = "gpu", .count = 1, .ask = *ask};
    const struct pod_claim_spec link = {name, true};
    struct pod_spec spec = pod_with("g", name, 0, NULL);

    spec.claims = &link;
    spec.claim_count = 1;
    assert_int_equal(state_put_claim(s->state, &claim, NULL), 0);
    return put_pod(s, &spec);
}

/* A claim with one request of one ask. */
static pod_id put_one(struct small_state *s, const char *name, struct device_ask ask,
                      const struct device_constraint *constraint)
{
    ask.device_class = "gpu";
    const struct device_request request = {"r", &ask, 1};
    const struct claim_ask all = {
        .requests = &request, .request_count = 1, .constraints = constraint, .constraint_count = constraint ? 1 : 0};

    return put_asker(s, name, &all);
}

static const struct claim *give(struct small_state *s, pod_id pod, node_id node)
{
    place(s, pod, node);
    claims_allocate(s->engine, pod);
    topology_node_touched(s->engine, node);
    const struct claim *claim = &s->state->claims.items[s->state->pods.items[pod].claims[0].claim];
    assert_true(claim->is_allocated);
    return claim;
}

static const char *device_name(const struct small_state *s, const struct claim *claim, uint32_t i)
{
    assert_true(i < claim->device_count);
    return state_name(s->state, claim->devices[i].name);
}

static void devices_meet_the_selectors(void **state)
{
    (void)state;
    static const char *const wrong[] = {"device.attributes['gpu.example'].memory == 'H200'"};
    static const char *const no_expression[] = {"device."};
    struct small_state s;
    node_id nodes[2];

    small_state_begin(&s);
    put_devices(&s, nodes);
    pod_id plain = put_one(&s, "plain", (struct device_ask){.count = 1}, NULL);
    pod_id picky =
        put_one(&s, "picky", (struct device_ask){.count = 1, .selectors = big_only, .selector_count = 1}, NULL);
    pod_id error = put_one(&s, "error", (struct device_ask){.count = 1, .selectors = wrong, .selector_count = 1}, NULL);
    pod_id text =
        put_one(&s, "text", (struct device_ask){.count = 1, .selectors = no_expression, .selector_count = 1}, NULL);
    small_state_open(&s);
    assert_true(claims_pass(s.engine, plain, nodes[0]));
    assert_false(claims_pass(s.engine, picky, nodes[0]));
    assert_true(claims_pass(s.engine, picky, nodes[1]));
    for (int i = 0; i < 2; i++) {
        assert_false(claims_pass(s.engine, error, nodes[i]));
        assert_false(claims_pass(s.engine, text, nodes[i]));
    }
    const struct claim *claim = give(&s, picky, nodes[1]);
    assert_string_equal(device_name(&s, claim, 0), "a");
    assert_string_equal(state_name(s.state, claim->devices[0].request), "r");
    small_state_end(&s);
}

static void the_reason_names_request_and_selector(void **state)
{
    (void)state;
    struct small_state s;
    struct strbuf text;
    node_id nodes[2];

    small_state_begin(&s);
    put_devices(&s, nodes);
    pod_id picky =
        put_one(&s, "picky", (struct device_ask){.count = 1, .selectors = big_only, .selector_count = 1}, NULL);
    pod_id many = put_one(&s, "many", (struct device_ask){.count = 4}, NULL);
    small_state_open(&s);
    strbuf_init(&text, 1024);
    name_claim_problem(s.engine, picky, nodes[0], &text);
    assert_string_equal(text.text, "claim picky, request r: none of 2 devices meets "
                                   "device.attributes['gpu.example'].model == 'H200'");
    strbuf_clear(&text);
    name_claim_problem(s.engine, many, nodes[1], &text);
    assert_string_equal(text.text, "claim many, request r: 3 of 4 devices are suitable; 1 with taints that are not "
                                   "tolerated (broken:NoSchedule)");
    strbuf_done(&text);
    small_state_end(&s);
}

static void taints_keep_devices_from_claims_that_do_not_tolerate_them(void **state)
{
    (void)state;
    static const struct device_toleration tolerated[] = {{.key = "broken", .exists = true, .any_effect = true}};
    struct small_state s;
    node_id nodes[2];

    small_state_begin(&s);
    put_devices(&s, nodes);
    pod_id four = put_one(&s, "four", (struct device_ask){.count = 4}, NULL);
    pod_id all = put_one(&s, "all", (struct device_ask){.is_all = true}, NULL);
    pod_id brave = put_one(&s, "brave",
                           (struct device_ask){.is_all = true, .tolerations = tolerated, .toleration_count = 1}, NULL);
    small_state_open(&s);
    assert_false(claims_pass(s.engine, four, nodes[1]));
    assert_false(claims_pass(s.engine, all, nodes[1]));
    assert_true(claims_pass(s.engine, all, nodes[0]));
    assert_int_equal(give(&s, brave, nodes[1])->device_count, 4);
    small_state_end(&s);
}

static void constraints_hold_for_all_devices(void **state)
{
    (void)state;
    static const struct device_constraint same = {.attribute = "gpu.example/group"};
    static const struct device_constraint different = {.attribute = "gpu.example/group", .is_distinct = true};
    struct small_state s;
    node_id nodes[2];

    small_state_begin(&s);
    put_devices(&s, nodes);
    pod_id two = put_one(&s, "two", (struct device_ask){.count = 2}, &same);
    pod_id three = put_one(&s, "three", (struct device_ask){.count = 3}, &same);
    pod_id apart = put_one(&s, "apart", (struct device_ask){.count = 2}, &different);
    small_state_open(&s);
    assert_false(claims_pass(s.engine, three, nodes[1]));
    assert_false(claims_pass(s.engine, apart, nodes[0]));
    assert_true(claims_pass(s.engine, apart, nodes[1]));
    const struct claim *claim = give(&s, two, nodes[1]);
    assert_string_equal(device_name(&s, claim, 0), "a");
    assert_string_equal(device_name(&s, claim, 1), "c");
    small_state_end(&s);
}

static void the_first_of_a_list_that_can_be_had_is(void **state)
{
    (void)state;
    static const struct device_ask asks[] = {
        {.name = "many", .device_class = "gpu", .count = 8},
        {.name = "big", .device_class = "gpu", .count = 1, .selectors = big_only, .selector_count = 1},
        {.name = "any", .device_class = "gpu", .count = 1}};
    static const struct device_request request = {"r", asks, 3};
    struct small_state s;
    node_id nodes[2];

    small_state_begin(&s);
    put_devices(&s, nodes);
    pod_id one = put_asker(&s, "one", &(struct claim_ask){.requests = &request, .request_count = 1});
    pod_id two = put_asker(&s, "two", &(struct claim_ask){.requests = &request, .request_count = 1});
    small_state_open(&s);
    assert_true(claims_exist(s.engine, one));
    assert_string_equal(state_name(s.state, give(&s, one, nodes[1])->devices[0].request), "r/big");
    assert_string_equal(state_name(s.state, give(&s, two, nodes[0])->devices[0].request), "r/any");
    small_state_end(&s);
}

static void who_only_looks_takes_nothing_away(void **state)
{
    (void)state;
    struct small_state s;
    node_id nodes[2];

    small_state_begin(&s);
    put_devices(&s, nodes);
    pod_id both = put_one(&s, "both", (struct device_ask){.count = 2}, NULL);
    pod_id admin = put_one(&s, "admin", (struct device_ask){.is_all = true, .is_admin = true}, NULL);
    pod_id late = put_one(&s, "late", (struct device_ask){.count = 1}, NULL);
    small_state_open(&s);
    assert_int_equal(give(&s, admin, nodes[0])->device_count, 2);
    assert_int_equal(give(&s, both, nodes[0])->device_count, 2);
    assert_false(claims_pass(s.engine, late, nodes[0]));
    small_state_end(&s);
}

/* A GPU of 80 units, whole or as parts of 40. */
static void counters_are_shared(void **state)
{
    (void)state;
    static const struct device_amount total = {"memory", "80", 80, 0};
    static const struct device_amount half = {"memory", "40", 40, 0};
    static const struct counter_set set = {"gpu0", &total, 1};
    static const struct counter_set part = {"gpu0", &half, 1};
    static const char *const names[] = {"half0", "half1", "whole"};
    static const struct device_offer offers[] = {{.consumes = &part, .consume_count = 1},
                                                 {.consumes = &part, .consume_count = 1},
                                                 {.consumes = &set, .consume_count = 1}};
    static const struct slice_spec slices[] = {
        {.name = "c",
         .driver = "part.example",
         .pool = "p",
         .node = "n1",
         .generation = 1,
         .slice_count = 2,
         .counters = &set,
         .counter_count = 1},
        {.name = "d",
         .driver = "part.example",
         .pool = "p",
         .node = "n1",
         .generation = 1,
         .slice_count = 2,
         .devices = names,
         .device_count = 3,
         .offers = offers,
         .offer_count = 3},
    };
    struct small_state s;

    small_state_begin(&s);
    put_gang(&s, "g", (struct gang_like){0});
    node_id node = put_node(&s, "n1", 0, NULL, 0);
    state_put_device_class(s.state, &(struct device_class_spec){.name = "gpu"});
    assert_int_equal(state_put_slice(s.state, &slices[1], NULL), 0);
    pod_id one = put_one(&s, "one", (struct device_ask){.count = 1}, NULL);
    pod_id two = put_one(&s, "two", (struct device_ask){.count = 2}, NULL);
    pod_id three = put_one(&s, "three", (struct device_ask){.count = 3}, NULL);
    small_state_open(&s);
    /* The pool is not complete yet. */
    assert_false(claims_pass(s.engine, one, node));
    engine_close(s.engine);
    assert_int_equal(state_put_slice(s.state, &slices[0], NULL), 0);
    small_state_open(&s);
    assert_false(claims_pass(s.engine, three, node));
    assert_true(claims_pass(s.engine, two, node));
    assert_string_equal(device_name(&s, give(&s, one, node), 0), "half0");
    assert_false(claims_pass(s.engine, two, node));
    small_state_end(&s);
}

/* A node with one device of 80 GiB that claims share, in steps of 10. */
static node_id put_shared_device(struct small_state *s)
{
    static const struct device_amount memory = {"memory", "80Gi", INT64_C(80) << 30, 0};
    static const struct capacity_policy policy = {.name = "memory",
                                                  .fallback = {"", "10Gi", INT64_C(10) << 30, 0},
                                                  .min = {"", "10Gi", INT64_C(10) << 30, 0},
                                                  .max = {"", "60Gi", INT64_C(60) << 30, 0},
                                                  .step = {"", "10Gi", INT64_C(10) << 30, 0}};
    static const struct device_attribute index[] = {{.name = "index", .kind = ATTRIBUTE_INT}};
    static const char *const names[] = {"gpu-0"};
    static const struct device_offer offer = {.attributes = index,
                                              .attribute_count = 1,
                                              .capacity = &memory,
                                              .capacity_count = 1,
                                              .policies = &policy,
                                              .policy_count = 1,
                                              .allows_multiple = true};
    static const struct slice_spec slice = {.name = "s",
                                            .driver = "share.example",
                                            .pool = "n1",
                                            .node = "n1",
                                            .generation = 1,
                                            .slice_count = 1,
                                            .devices = names,
                                            .device_count = 1,
                                            .offers = &offer,
                                            .offer_count = 1};

    put_gang(s, "g", (struct gang_like){0});
    node_id node = put_node(s, "n1", 0, NULL, 0);
    state_put_device_class(s->state, &(struct device_class_spec){.name = "gpu"});
    assert_int_equal(state_put_slice(s->state, &slice, NULL), 0);
    return node;
}

static pod_id put_sharer(struct small_state *s, const char *name, int64_t gib)
{
    const struct device_amount memory = {"memory", "some", gib << 30, 0};

    return put_one(s, name, (struct device_ask){.count = 1, .capacity = &memory, .capacity_count = gib > 0}, NULL);
}

static void claims_share_the_capacity_of_a_device(void **state)
{
    (void)state;
    struct small_state s;

    small_state_begin(&s);
    node_id node = put_shared_device(&s);
    pod_id first = put_sharer(&s, "first", 35);
    pod_id second = put_sharer(&s, "second", 0);
    pod_id third = put_sharer(&s, "third", 31);
    pod_id fourth = put_sharer(&s, "fourth", 30);
    small_state_open(&s);
    s.state->undo.is_recording = true;
    undo_mark mark = undo_here(&s.state->undo);
    /* Rounded up to a step; without a request, what the policy says. */
    const struct claim *claim = give(&s, first, node);
    assert_true(claim->devices[0].is_share && claim->amount_count == 1);
    assert_int_equal(claim->amounts[0].whole, INT64_C(40) << 30);
    claim = give(&s, second, node);
    assert_int_equal(claim->amounts[claim->devices[0].first_amount].whole, INT64_C(10) << 30);
    assert_false(claims_pass(s.engine, third, node));
    assert_true(claims_pass(s.engine, fourth, node));
    /* What was given in vain is free again. */
    undo_back_to(&s.state->undo, mark);
    s.state->undo.is_recording = false;
    assert_false(claim->is_allocated);
    assert_int_equal(claim->amount_count, 0);
    topology_node_touched(s.engine, node);
    assert_true(claims_pass(s.engine, third, node));
    small_state_end(&s);
}

/* What is held is counted on from what was counted before, also when a part of that is taken back and something else done. */
static void devices_that_are_taken_back_are_free(void **state)
{
    (void)state;
    struct small_state s;
    node_id nodes[2];
    pod_id pods[4];
    static const char *const names[] = {"p0", "p1", "p2", "p3"};

    small_state_begin(&s);
    put_devices(&s, nodes);
    for (int i = 0; i < 4; i++)
        pods[i] = put_one(&s, names[i], (struct device_ask){.count = 1}, NULL);
    small_state_open(&s);
    struct undo *undo = &s.state->undo;
    undo->is_recording = true;
    undo_mark start = undo_here(undo);
    assert_string_equal(device_name(&s, give(&s, pods[0], nodes[0]), 0), "a");
    undo_mark mark = undo_here(undo);
    assert_string_equal(device_name(&s, give(&s, pods[1], nodes[0]), 0), "b");
    assert_false(claims_pass(s.engine, pods[2], nodes[0]));
    undo_back_to(undo, mark);
    assert_string_equal(device_name(&s, give(&s, pods[2], nodes[1]), 0), "a");
    assert_string_equal(device_name(&s, give(&s, pods[3], nodes[0]), 0), "b");
    assert_false(claims_pass(s.engine, pods[1], nodes[0]));
    claims_release(s.engine, pods[0]);
    assert_true(claims_pass(s.engine, pods[1], nodes[0]));
    undo_back_to(undo, start);
    for (int i = 0; i < 2; i++)
        assert_true(claims_pass(s.engine, pods[i], nodes[0]));
    assert_string_equal(device_name(&s, give(&s, pods[1], nodes[0]), 0), "a");
    undo->is_recording = false;
    small_state_end(&s);
}

static void the_reason_names_the_capacity_that_ran_out(void **state)
{
    (void)state;
    static const struct device_amount wrong = {"cores", "1", 1, 0};
    struct small_state s;
    struct strbuf text;

    small_state_begin(&s);
    node_id node = put_shared_device(&s);
    pod_id first = put_sharer(&s, "first", 55);
    pod_id second = put_sharer(&s, "second", 25);
    pod_id large = put_sharer(&s, "large", 61);
    pod_id other = put_one(&s, "other", (struct device_ask){.count = 1, .capacity = &wrong, .capacity_count = 1}, NULL);
    small_state_open(&s);
    give(&s, first, node);
    strbuf_init(&text, 1024);
    name_claim_problem(s.engine, second, node, &text);
    assert_string_equal(text.text, "claim second, request r: 0 of 1 devices are suitable; 1 with too little memory: "
                                   "30Gi needed, at most 20Gi free (device gpu-0)");
    strbuf_clear(&text);
    name_claim_problem(s.engine, large, node, &text);
    assert_string_equal(text.text, "claim large, request r: 0 of 1 devices are suitable; device gpu-0 does not allow "
                                   "requests for that much memory");
    strbuf_clear(&text);
    name_claim_problem(s.engine, other, node, &text);
    assert_string_equal(text.text, "claim other, request r: 0 of 1 devices are suitable; device gpu-0 has no capacity "
                                   "cores");
    strbuf_done(&text);
    small_state_end(&s);
}

/* Two requests of a claim may have shares of one device, but not where their devices have to differ. */
static void shares_of_one_device_are_not_distinct(void **state)
{
    (void)state;
    static const struct device_constraint distinct = {.attribute = "share.example/index", .is_distinct = true};
    static const struct device_ask ask = {.device_class = "gpu", .count = 1};
    static const struct device_request requests[] = {{"a", &ask, 1}, {"b", &ask, 1}};
    struct claim_ask both = {.requests = requests, .request_count = 2};
    struct small_state s;

    small_state_begin(&s);
    node_id node = put_shared_device(&s);
    pod_id same = put_asker(&s, "same", &both);
    both.constraints = &distinct;
    both.constraint_count = 1;
    pod_id differ = put_asker(&s, "differ", &both);
    small_state_open(&s);
    assert_true(claims_pass(s.engine, same, node));
    assert_false(claims_pass(s.engine, differ, node));
    small_state_end(&s);
}

/* Kubernetes evicts the pods that have the device; one that shares their claim waits until they have left. */
static void nobody_joins_a_claim_whose_device_is_being_drained(void **state)
{
    (void)state;
    static const struct device_toleration tolerated = {.key = "broken", .exists = true, .any_effect = true};
    static const struct device_taint broken = {"broken", "", DEVICE_EFFECT_NO_EXECUTE};
    static const char *const names[] = {"a"};
    struct device_offer offer = {0};
    struct device_ask asks[] = {{.device_class = "gpu", .count = 1},
                                {.device_class = "gpu", .count = 1, .tolerations = &tolerated, .toleration_count = 1}};
    const struct slice_spec slice = {.name = "s",
                                     .driver = "some.example",
                                     .pool = "n1",
                                     .node = "n1",
                                     .devices = names,
                                     .device_count = 1,
                                     .offers = &offer,
                                     .offer_count = 1};
    struct small_state s;
    struct node_reason reason = {0};
    struct arena arena;

    small_state_begin(&s);
    arena_init(&arena);
    put_gang(&s, "g", (struct gang_like){0});
    node_id node = put_node(&s, "n1", 0, NULL, 0);
    state_put_device_class(s.state, &(struct device_class_spec){.name = "gpu"});
    for (int is_tolerated = 0; is_tolerated < 2; is_tolerated++)
        for (int is_used = 0; is_used < 2; is_used++)
            for (int is_tainted = 0; is_tainted < 2; is_tainted++) {
                const struct device_request request = {"r", &asks[is_tolerated], 1};
                const struct device_spec device = {
                    .driver = "some.example", .pool = "n1", .device = "a", .request = "r"};
                const char *user = "somebody";
                const struct claim_spec claim = {.namespace = "ns",
                                                 .name = "c",
                                                 .device_class = "other",
                                                 .count = 1,
                                                 .is_allocated = true,
                                                 .devices = &device,
                                                 .device_count = 1,
                                                 .reserved_for = &user,
                                                 .reserved_count = (size_t)is_used,
                                                 .ask = {.requests = &request, .request_count = 1}};
                const struct pod_claim_spec link = {"c", true};
                struct pod_spec spec = pod_with("g", "p", 0, NULL);

                offer.taints = &broken;
                offer.taint_count = (size_t)is_tainted;
                spec.claims = &link;
                spec.claim_count = 1;
                assert_int_equal(state_put_slice(s.state, &slice, NULL), 0);
                assert_int_equal(state_put_claim(s.state, &claim, NULL), 0);
                pod_id pod = put_pod(&s, &spec);
                small_state_open(&s);
                bool must_wait = is_tainted && is_used && !is_tolerated;
                assert_int_equal(claims_pass(s.engine, pod, node), !must_wait);
                reason.text_count = 0;
                claims_reason(s.engine, pod, node, &arena, &reason);
                assert_int_equal(reason.text_count, must_wait);
                engine_close(s.engine);
            }
    arena_done(&arena);
    small_state_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_meet_the_selectors),
        cmocka_unit_test(the_reason_names_request_and_selector),
        cmocka_unit_test(taints_keep_devices_from_claims_that_do_not_tolerate_them),
        cmocka_unit_test(constraints_hold_for_all_devices),
        cmocka_unit_test(the_first_of_a_list_that_can_be_had_is),
        cmocka_unit_test(who_only_looks_takes_nothing_away),
        cmocka_unit_test(counters_are_shared),
        cmocka_unit_test(claims_share_the_capacity_of_a_device),
        cmocka_unit_test(devices_that_are_taken_back_are_free),
        cmocka_unit_test(the_reason_names_the_capacity_that_ran_out),
        cmocka_unit_test(shares_of_one_device_are_not_distinct),
        cmocka_unit_test(nobody_joins_a_claim_whose_device_is_being_drained),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
