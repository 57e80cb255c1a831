/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/test/small_state.h"

/* A node of 8 GPUs and 16 cores in zones that have so many GPUs each, and 4 cores. */
static node_id put_zoned(struct small_state *s, const char *name, enum numa_policy policy, const int64_t *gpus,
                         uint32_t zone_count)
{
    static const char *const names[] = {"node-0", "node-1", "node-2", "node-3"};
    struct amount_spec amounts[4][2];
    struct numa_zone_spec zones[4];
    const struct amount_spec allocatable[] = {
        {"cpu", 16000}, {"memory", INT64_C(64) << 30}, {"nvidia.com/gpu", 8 * GPU_ONE}, {"pods", 110}};
    struct numa_spec numa = {
        .policy = policy, .reconstructs_available = true, .zones = zones, .zone_count = zone_count};
    struct node_spec spec = {.name = name,
                             .allocatable = allocatable,
                             .allocatable_count = ARRAY_LEN(allocatable),
                             .device_count = 8,
                             .numa = zone_count > 0 ? &numa : NULL};

    for (uint32_t z = 0; z < zone_count; z++) {
        amounts[z][0] = (struct amount_spec){"cpu", 4000};
        amounts[z][1] = (struct amount_spec){"nvidia.com/gpu", gpus[z] * GPU_ONE};
        zones[z] = (struct numa_zone_spec){.name = names[z],
                                           .allocatable = amounts[z],
                                           .allocatable_count = 2,
                                           .available = amounts[z],
                                           .available_count = 2};
    }
    assert_int_equal(state_put_node(s->state, &spec, NULL), 0);
    return state_find_node(s->state, name);
}

static pod_id put_asker(struct small_state *s, const char *name, int64_t gpus, int64_t milli_cpu, enum qos_class qos)
{
    const struct amount_spec amounts[] = {{"cpu", milli_cpu}, {"memory", 1 << 20}};
    struct pod_spec spec = pod_with("g", name, gpus, NULL);

    spec.request.qos = qos;
    spec.request.amounts = amounts;
    spec.request.amount_count = ARRAY_LEN(amounts);
    return put_pod(s, &spec);
}

/* "zone:dim:amount" of each draw, GPUs in devices. */
static const char *drawn(struct small_state *s, pod_id pod, node_id node)
{
    static char text[256];
    const struct numa_placement *placement = numa_place(s->engine, pod, node);
    size_t len = 0;

    text[0] = '\0';
    for (uint32_t i = 0; placement && i < placement->count; i++) {
        const struct numa_draw *one = &placement->draws[i];
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s:%u:%lld", i > 0 ? " " : "",
                                state_name(s->state, one->zone), one->dim,
                                (long long)(one->dim == RES_GPU ? one->amount / GPU_ONE : one->amount));
    }
    return text;
}

static void a_single_zone_must_hold_everything(void **state)
{
    (void)state;
    static const int64_t gpus[] = {1, 4};
    struct small_state s;

    small_state_begin(&s);
    put_gang(&s, "g", (struct gang_like){0});
    node_id node = put_zoned(&s, "n", NUMA_SINGLE_NODE, gpus, 2);
    pod_id fits = put_asker(&s, "fits", 2, 2000, QOS_GUARANTEED);
    pod_id large = put_asker(&s, "large", 5, 1000, QOS_GUARANTEED);
    pod_id loose = put_asker(&s, "loose", 0, 8000, QOS_BURSTABLE);
    pod_id parts = put_asker(&s, "parts", 1, 7500, QOS_GUARANTEED);
    small_state_open(&s);
    assert_true(numa_passes(s.engine, fits, node));
    assert_string_equal(drawn(&s, fits, node), "node-1:0:2000 node-1:2:2");
    assert_false(numa_passes(s.engine, large, node));
    assert_true(numa_passes(s.engine, loose, node));
    assert_string_equal(drawn(&s, loose, node), "");
    /* Parts of a core are not given to a pod alone, and not counted. */
    assert_string_equal(drawn(&s, parts, node), "node-0:2:1");
    assert_true(numa_score(s.engine, fits, node) == 100);
    assert_true(numa_score(s.engine, large, node) == 0);
    assert_true(numa_score(s.engine, loose, node) == 50);
    small_state_end(&s);
}

static void restricted_wants_equal_widths_and_takes_the_lowest_zones(void **state)
{
    (void)state;
    static const int64_t gpus[] = {2, 2, 2, 2};
    struct small_state s;

    small_state_begin(&s);
    put_gang(&s, "g", (struct gang_like){0});
    node_id node = put_zoned(&s, "n", NUMA_RESTRICTED, gpus, 4);
    pod_id wide = put_asker(&s, "wide", 4, 8000, QOS_GUARANTEED);
    pod_id uneven = put_asker(&s, "uneven", 4, 1000, QOS_GUARANTEED);
    pod_id device = put_asker(&s, "device", 3, 1000, QOS_BURSTABLE);
    small_state_open(&s);
    assert_string_equal(drawn(&s, wide, node), "node-0:0:4000 node-0:2:2 node-1:0:4000 node-1:2:2");
    assert_false(numa_passes(s.engine, uneven, node));
    assert_string_equal(drawn(&s, device, node), "node-0:2:2 node-1:2:1");
    assert_true(numa_score(s.engine, wide, node) == 50);
    small_state_end(&s);
}

static void best_effort_takes_what_covers_most_and_never_refuses(void **state)
{
    (void)state;
    static const int64_t gpus[] = {1, 2, 4};
    struct small_state s;

    small_state_begin(&s);
    put_gang(&s, "g", (struct gang_like){0});
    node_id node = put_zoned(&s, "n", NUMA_BEST_EFFORT, gpus, 3);
    node_id plain = put_zoned(&s, "plain", NUMA_NONE, gpus, 0);
    pod_id pod = put_asker(&s, "p", 5, 500, QOS_BURSTABLE);
    pod_id huge = put_asker(&s, "huge", 8, 500, QOS_BURSTABLE);
    small_state_open(&s);
    assert_string_equal(drawn(&s, pod, node), "node-0:2:1 node-2:2:4");
    assert_true(numa_passes(s.engine, huge, node));
    assert_string_equal(drawn(&s, huge, node), "node-0:2:1 node-1:2:2 node-2:2:4");
    assert_true(numa_score(s.engine, pod, plain) == 100.0 / 3);
    small_state_end(&s);
}

static void draws_are_booked_and_taken_back(void **state)
{
    (void)state;
    static const int64_t gpus[] = {4, 4};
    struct small_state s;

    small_state_begin(&s);
    put_gang(&s, "g", (struct gang_like){0});
    node_id node = put_zoned(&s, "n", NUMA_SINGLE_NODE, gpus, 2);
    pod_id first = put_asker(&s, "first", 3, 1000, QOS_GUARANTEED);
    pod_id second = put_asker(&s, "second", 3, 1000, QOS_GUARANTEED);
    small_state_open(&s);
    s.state->undo.is_recording = true;
    s.state->pods.items[first].numa = numa_place(s.engine, first, node);
    place(&s, first, node);
    numa_draw(s.engine, first, +1);
    assert_string_equal(drawn(&s, second, node), "node-1:0:1000 node-1:2:3");
    numa_draw(s.engine, first, -1);
    assert_string_equal(drawn(&s, second, node), "node-0:0:1000 node-0:2:3");
    numa_draw(s.engine, first, +1);
    undo_back_to(&s.state->undo, 0);
    s.state->pods.items[first].numa = NULL;
    s.state->undo.is_recording = false;
    assert_string_equal(drawn(&s, second, node), "node-0:0:1000 node-0:2:3");
    small_state_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_single_zone_must_hold_everything),
        cmocka_unit_test(restricted_wants_equal_widths_and_takes_the_lowest_zones),
        cmocka_unit_test(best_effort_takes_what_covers_most_and_never_refuses),
        cmocka_unit_test(draws_are_booked_and_taken_back),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
