/* SPDX-License-Identifier: Apache-2.0 */

/* Pods that a statement evicts and puts back go on using their devices, whatever was promised meanwhile. */
#include "engine/nodes/statement.h"
#include "engine/test/small_state.h"

/* Node "n", and classes of all devices and of those of the driver "big". */
static node_id put_world(struct small_state *s)
{
    small_state_begin(s);
    put_gang(s, "g", (struct gang_like){0});
    state_put_device_class(s->state, &(struct device_class_spec){.name = "any"});
    state_put_device_class(s->state, &(struct device_class_spec){.name = "big", .driver = "big"});
    return put_node(s, "n", 0, NULL, 0);
}

static void put_slice(struct small_state *s, const char *driver, size_t devices)
{
    const struct slice_spec spec = {
        .name = driver, .driver = driver, .pool = driver, .node = "n", .device_count = devices};

    assert_int_equal(state_put_slice(s->state, &spec, NULL), 0);
}

/* A pod with a claim of its own name for one device: it waits, or runs with the device that is given. */
static pod_id put_user(struct small_state *s, const char *name, const char *class, const struct device_spec *device)
{
    const struct pod_claim_spec link = {name, true};
    char uid[64];
    const char *user = uid;
    struct claim_spec claim = {.namespace = "ns", .name = name, .device_class = class, .count = 1};
    struct pod_spec pod = pod_with("g", name, 0, device ? "n" : NULL);

    (void)snprintf(uid, sizeof uid, "ns/%s", name);
    if (device) {
        claim.is_allocated = true;
        claim.devices = device;
        claim.device_count = claim.reserved_count = 1;
        claim.reserved_for = &user;
    }
    assert_int_equal(state_put_claim(s->state, &claim, NULL), 0);
    pod.claims = &link;
    pod.claim_count = 1;
    return put_pod(s, &pod);
}

static const struct claim *claim_of(const struct small_state *s, pod_id pod)
{
    return &s->state->claims.items[s->state->pods.items[pod].claims[0].claim];
}

static void assert_has(const struct small_state *s, pod_id pod, const char *pool, const char *device)
{
    const struct claim *claim = claim_of(s, pod);

    assert_int_equal(claim->is_allocated, 1);
    assert_int_equal(claim->device_count, 1);
    assert_string_equal(state_name(s->state, claim->devices[0].pool), pool);
    assert_string_equal(state_name(s->state, claim->devices[0].name), device);
}

static void assert_status(const struct small_state *s, pod_id pod, enum pod_status status)
{
    assert_int_equal(s->state->pods.items[pod].status, status);
}

static void promise(struct small_state *s, pod_id pod, node_id node)
{
    assert_true(claims_pass(s->engine, pod, node));
    assert_true(statement_pipeline(s->engine, pod, node, false, (struct group_list){0}, NULL));
}

static void promised_pods_get_other_devices_than_those_of_pods_that_stay(void **state)
{
    (void)state;
    static const struct device_spec first = {.driver = "big", .pool = "big", .device = "0"};
    struct small_state s;
    node_id node = put_world(&s);

    put_slice(&s, "big", 2);
    pod_id stays = put_user(&s, "stays", "big", &first);
    pod_id waits = put_user(&s, "waits", "big", NULL);
    small_state_open(&s);
    statement_begin(s.engine);
    statement_evict(s.engine, stays);
    promise(&s, waits, node);
    assert_has(&s, waits, "big", "0");
    promise(&s, stays, node);
    assert_status(&s, stays, POD_RUNNING);
    assert_has(&s, stays, "big", "0");
    assert_has(&s, waits, "big", "1");
    statement_discard(s.engine);
    assert_has(&s, stays, "big", "0");
    assert_int_equal(claim_of(&s, waits)->is_allocated, 0);
    small_state_end(&s);
}

/* A running pod cannot exchange its device: it has to leave to get the other one. */
static void a_pod_whose_device_is_needed_is_evicted_though_the_node_has_another(void **state)
{
    (void)state;
    static const struct device_spec needed = {.driver = "big", .pool = "big", .device = "0"};
    static const enum decision_kind kinds[] = {DECISION_EVICT, DECISION_PIPELINE, DECISION_PIPELINE};
    struct small_state s;
    node_id node = put_world(&s);
    size_t count;

    put_slice(&s, "big", 1);
    put_slice(&s, "small", 1);
    pod_id leaves = put_user(&s, "leaves", "any", &needed);
    pod_id waits = put_user(&s, "waits", "big", NULL);
    small_state_open(&s);
    statement_begin(s.engine);
    statement_evict(s.engine, leaves);
    promise(&s, waits, node);
    promise(&s, leaves, node);
    assert_status(&s, leaves, POD_PIPELINED);
    assert_has(&s, waits, "big", "0");
    assert_has(&s, leaves, "small", "0");
    statement_commit(s.engine, ACTION_RECLAIM, s.state->pods.items[waits].gang);
    const struct decision *decisions = engine_decisions(s.engine, &count);
    assert_int_equal(count, ARRAY_LEN(kinds));
    for (size_t i = 0; i < count; i++)
        assert_int_equal(decisions[i].kind, kinds[i]);
    assert_int_equal(decisions[0].pod, leaves);
    /* It has its device until it has left. */
    engine_close(s.engine);
    assert_status(&s, leaves, POD_RELEASING);
    assert_has(&s, leaves, "big", "0");
    small_state_end(&s);
}

/* One GPU, whole or as two halves, and half of another. */
static void put_parts(struct small_state *s)
{
    static const struct device_amount amounts[] = {{"memory", "80", 80, 0}, {"memory", "40", 40, 0}};
    static const struct counter_set sets[] = {{"gpu0", &amounts[0], 1}, {"gpu1", &amounts[1], 1}};
    static const struct counter_set half = {"gpu0", &amounts[1], 1};
    static const char *const names[] = {"whole", "half0", "half1", "other"};
    static const struct device_offer offers[] = {{.consumes = &sets[0], .consume_count = 1},
                                                 {.consumes = &half, .consume_count = 1},
                                                 {.consumes = &half, .consume_count = 1},
                                                 {.consumes = &sets[1], .consume_count = 1}};
    static const struct slice_spec slices[] = {
        {.name = "c",
         .driver = "part",
         .pool = "p",
         .node = "n",
         .generation = 1,
         .slice_count = 2,
         .counters = sets,
         .counter_count = 2},
        {.name = "d",
         .driver = "part",
         .pool = "p",
         .node = "n",
         .generation = 1,
         .slice_count = 2,
         .devices = names,
         .device_count = ARRAY_LEN(names),
         .offers = offers,
         .offer_count = ARRAY_LEN(offers)},
    };

    for (size_t i = 0; i < ARRAY_LEN(slices); i++)
        assert_int_equal(state_put_slice(s->state, &slices[i], NULL), 0);
}

static void counters_of_devices_that_stay_in_use_are_not_promised(void **state)
{
    (void)state;
    static const struct device_spec half = {.driver = "part", .pool = "p", .device = "half1"};
    struct small_state s;
    node_id node = put_world(&s);

    put_parts(&s);
    pod_id stays = put_user(&s, "stays", "any", &half);
    pod_id waits = put_user(&s, "waits", "any", NULL);
    small_state_open(&s);
    statement_begin(s.engine);
    statement_evict(s.engine, stays);
    promise(&s, waits, node);
    assert_has(&s, waits, "p", "whole");
    promise(&s, stays, node);
    assert_status(&s, stays, POD_RUNNING);
    assert_has(&s, stays, "p", "half1");
    assert_has(&s, waits, "p", "half0");
    statement_discard(s.engine);
    small_state_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promised_pods_get_other_devices_than_those_of_pods_that_stay),
        cmocka_unit_test(a_pod_whose_device_is_needed_is_evicted_though_the_node_has_another),
        cmocka_unit_test(counters_of_devices_that_stay_in_use_are_not_promised),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
