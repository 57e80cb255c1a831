/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/devices/charges.h"

#include "engine/nodes/filter.h"
#include "engine/test/small_state.h"

static struct device_amount amount(const char *name, const char *text, int64_t whole)
{
    return (struct device_amount){.name = name, .text = text, .whole = whole};
}

static void charge_parts(struct small_state *s)
{
    s->engine->config.charges_device_parts = true;
}

/* A GPU of 80 units in 8 slices, as a whole or as parts, one that says its profile alone, and one that claims share. */
static void put_devices(struct small_state *s)
{
    const struct device_amount total[] = {amount("memory", "80", 80), amount("slices", "8", 8)};
    const struct device_amount little[] = {amount("memory", "10", 10), amount("slices", "2", 2)};
    const struct device_amount memory = amount("memory", "100", 100);
    const struct counter_set all = {"gpu0", total, 2};
    const struct counter_set part = {"gpu0", little, 2};
    const struct device_attribute kinds[][2] = {
        {{.name = "kind", .kind = ATTRIBUTE_STRING, .text = "whole"}},
        {{.name = "kind", .kind = ATTRIBUTE_STRING, .text = "part"}},
        {{.name = "kind", .kind = ATTRIBUTE_STRING, .text = "mig"},
         {.name = "profile", .kind = ATTRIBUTE_STRING, .text = "3g.40gb"}},
        {{.name = "kind", .kind = ATTRIBUTE_STRING, .text = "shared"}},
    };
    const struct device_offer offers[] = {
        {.attributes = kinds[0], .attribute_count = 1, .consumes = &all, .consume_count = 1},
        {.attributes = kinds[1], .attribute_count = 1, .consumes = &part, .consume_count = 1},
        {.attributes = kinds[2], .attribute_count = 2},
        {.attributes = kinds[3],
         .attribute_count = 1,
         .capacity = &memory,
         .capacity_count = 1,
         .allows_multiple = true},
    };
    static const char *const names[] = {"whole", "part", "mig", "shared"};
    const struct slice_spec counters = {.name = "c",
                                        .driver = "gpu.example",
                                        .pool = "p",
                                        .node = "n1",
                                        .generation = 1,
                                        .slice_count = 2,
                                        .counters = &all,
                                        .counter_count = 1};
    struct slice_spec devices = counters;

    devices.name = "d";
    devices.counters = NULL;
    devices.counter_count = 0;
    devices.devices = names;
    devices.offers = offers;
    devices.device_count = devices.offer_count = ARRAY_LEN(names);
    put_gang(s, "g", (struct gang_like){0});
    put_node(s, "n1", 0, NULL, 0);
    state_put_device_class(s->state, &(struct device_class_spec){.name = "gpu"});
    assert_int_equal(state_put_slice(s->state, &counters, NULL), 0);
    assert_int_equal(state_put_slice(s->state, &devices, NULL), 0);
}

/* A pod with a claim of one request, which is met by the first of the asks that can be had. */
static pod_id put_asks(struct small_state *s, const char *name, const struct device_ask *asks, size_t count)
{
    const struct device_request request = {.name = "r", .asks = asks, .ask_count = count};
    const struct claim_spec claim = {.namespace = "ns",
                                     .name = name,
                                     .device_class = asks->device_class,
                                     .count = 1,
                                     .ask = {.requests = &request, .request_count = 1}};
    const struct pod_claim_spec link = {name, true};
    struct pod_spec spec = pod_with("g", name, 0, NULL);

    spec.claims = &link;
    spec.claim_count = 1;
    assert_int_equal(state_put_claim(s->state, &claim, NULL), 0);
    return put_pod(s, &spec);
}

static pod_id put_asker(struct small_state *s, const char *kind, int64_t count, const struct device_amount *wanted)
{
    char text[64];
    const char *selector = text;

    (void)snprintf(text, sizeof text, "device.attributes['gpu.example'].kind == '%s'", kind);
    const struct device_ask ask = {.device_class = "gpu",
                                   .count = count,
                                   .selectors = &selector,
                                   .selector_count = 1,
                                   .capacity = wanted,
                                   .capacity_count = wanted ? 1 : 0};
    return put_asks(s, kind, &ask, 1);
}

static int64_t charge_of(struct small_state *s, pod_id pod)
{
    return state_request(s->state, pod)->quota_gpus;
}

static void waiting_claims_cost_the_least_that_meets_them(void **state)
{
    (void)state;
    struct small_state s;
    const struct device_amount quarter = amount("memory", "25", 25);

    small_state_begin(&s);
    charge_parts(&s);
    put_devices(&s);
    pod_id whole = put_asker(&s, "whole", 1, NULL);
    pod_id part = put_asker(&s, "part", 1, NULL);
    pod_id mig = put_asker(&s, "mig", 2, NULL);
    pod_id shared = put_asker(&s, "shared", 1, &quarter);
    pod_id nothing = put_asker(&s, "absent", 1, NULL);
    engine_take_in(s.engine);
    assert_int_equal(charge_of(&s, whole), GPU_ONE);
    assert_int_equal(charge_of(&s, part), GPU_ONE / 4);  // two of eight slices, one eighth of the memory
    assert_int_equal(charge_of(&s, mig), 2 * (3 * GPU_ONE / 7));
    assert_int_equal(charge_of(&s, shared), GPU_ONE / 4);
    assert_int_equal(charge_of(&s, nothing), GPU_ONE);
    /* The node is asked for as many GPUs as before. */
    assert_int_equal(state_request(s.state, part)->v[RES_GPU], GPU_ONE);
    small_state_end(&s);
}

static void an_alternative_counts_with_the_cheapest(void **state)
{
    (void)state;
    static const char *const selectors[] = {"device.attributes['gpu.example'].kind == 'whole'",
                                            "device.attributes['gpu.example'].kind == 'part'"};
    const struct device_ask asks[] = {
        {.name = "a", .device_class = "gpu", .count = 1, .selectors = &selectors[0], .selector_count = 1},
        {.name = "b", .device_class = "gpu", .count = 2, .selectors = &selectors[1], .selector_count = 1},
    };
    struct small_state s;

    small_state_begin(&s);
    charge_parts(&s);
    put_devices(&s);
    pod_id pod = put_asks(&s, "either", asks, ARRAY_LEN(asks));
    engine_take_in(s.engine);
    assert_int_equal(charge_of(&s, pod), GPU_ONE / 2);
    small_state_end(&s);
}

static void allocated_claims_cost_what_they_have(void **state)
{
    (void)state;
    static const struct device_ask any = {.device_class = "gpu", .count = 1};
    const struct device_request request = {.name = "r", .asks = &any, .ask_count = 1};
    const struct device_spec device = {.driver = "gpu.example", .pool = "p", .device = "whole"};
    struct claim_spec claim = {.namespace = "ns",
                               .name = "any",
                               .device_class = "gpu",
                               .count = 1,
                               .ask = {.requests = &request, .request_count = 1}};
    struct small_state s;

    small_state_begin(&s);
    charge_parts(&s);
    put_devices(&s);
    pod_id pod = put_asks(&s, "any", &any, 1);
    engine_take_in(s.engine);
    assert_int_equal(charge_of(&s, pod), GPU_ONE / 4);
    claim.is_allocated = true;
    claim.devices = &device;
    claim.device_count = 1;
    assert_int_equal(state_put_claim(s.state, &claim, NULL), 0);
    engine_take_in(s.engine);
    assert_int_equal(charge_of(&s, pod), GPU_ONE);
    /* A device that is no longer offered is counted. */
    state_drop_slice(s.state, "d");
    engine_take_in(s.engine);
    assert_int_equal(charge_of(&s, pod), GPU_ONE);
    small_state_end(&s);
}

static void without_the_setting_devices_are_counted(void **state)
{
    (void)state;
    struct small_state s;

    small_state_begin(&s);
    put_devices(&s);
    pod_id part = put_asker(&s, "part", 1, NULL);
    engine_take_in(s.engine);
    assert_int_equal(charge_of(&s, part), GPU_ONE);
    small_state_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_claims_cost_the_least_that_meets_them),
        cmocka_unit_test(an_alternative_counts_with_the_cheapest),
        cmocka_unit_test(allocated_claims_cost_what_they_have),
        cmocka_unit_test(without_the_setting_devices_are_counted),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
