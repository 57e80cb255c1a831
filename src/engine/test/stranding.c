/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/nodes/stranding.h"
#include "engine/test/small_state.h"

static void begin(struct small_state *s)
{
    small_state_begin(s);
    s->engine->config.gpu_placement = PLACEMENT_LEAST_STRANDED;
    s->engine->config.cpu_placement = PLACEMENT_LEAST_STRANDED;
}

static void put_cores_node(struct small_state *s, const char *name, int64_t gpus, int64_t cores, const char *model)
{
    const struct str_pair labels[] = {{"model", model}};
    const struct amount_spec amounts[] = {
        {"cpu", cores * 1000}, {"memory", INT64_C(256) << 30}, {"nvidia.com/gpu", gpus * GPU_ONE}, {"pods", 110}};
    const struct node_spec spec = {
        .name = name,
        .labels = labels,
        .label_count = ARRAY_LEN(labels),
        .allocatable = amounts,
        .allocatable_count = ARRAY_LEN(amounts),
        .device_count = gpus,
        .gpu_memory_mib = 1000,
        .is_gpu_memory_known = true,
    };

    assert_int_equal(state_put_node(s->state, &spec, NULL), 0);
}

static pod_id put_work(struct small_state *s, const char *name, int64_t gpus, int64_t cores, const char *node,
                       const char *model)
{
    const struct amount_spec amounts[] = {{"cpu", cores * 1000}, {"memory", 1 << 20}};
    const struct str_pair selector[] = {{"model", model}};
    struct pod_spec spec = pod_with(name, name, gpus, node);

    spec.request.amounts = amounts;
    spec.constraints.node_selector = selector;
    spec.constraints.node_selector_count = model ? 1 : 0;
    put_gang(s, name, (struct gang_like){0});
    return put_pod(s, &spec);
}

static void assert_placed_on(struct small_state *s, pod_id pod, const char *node)
{
    small_state_open(s);
    engine_run(s->engine, ACTION_ALLOCATE);
    assert_string_equal(state_name(s->state, s->state->nodes.items[s->state->pods.items[pod].node].name), node);
    engine_close(s->engine);
}

/* Work here takes 8 cores per GPU: on "tight" the pod would leave 7 GPUs with 40 cores, on "wide" none is stranded. */
static void a_pod_goes_where_it_strands_no_gpu(void **state)
{
    (void)state;
    struct small_state s;

    begin(&s);
    put_cores_node(&s, "busy", 8, 64, "a");
    put_cores_node(&s, "tight", 8, 64, "a");
    put_cores_node(&s, "wide", 8, 200, "a");
    (void)put_work(&s, "running", 8, 64, "busy", NULL);
    assert_placed_on(&s, put_work(&s, "hungry", 1, 24, NULL, NULL), "wide");
    small_state_end(&s);
}

static void among_equals_the_fullest_node_comes_first(void **state)
{
    (void)state;
    struct small_state s;

    begin(&s);
    put_cores_node(&s, "a", 8, 64, "a");
    put_cores_node(&s, "b", 8, 64, "a");
    (void)put_work(&s, "running", 2, 16, "b", NULL);
    assert_placed_on(&s, put_work(&s, "next", 1, 8, NULL, NULL), "b");
    small_state_end(&s);
}

static void a_pod_without_gpus_goes_where_the_fewest_gpus_are_free(void **state)
{
    (void)state;
    struct small_state s;

    begin(&s);
    put_cores_node(&s, "a", 8, 64, "a");
    put_cores_node(&s, "b", 8, 64, "a");
    (void)put_work(&s, "cores", 0, 40, "a", NULL);
    (void)put_work(&s, "gpus", 4, 4, "b", NULL);
    assert_placed_on(&s, put_work(&s, "next", 0, 8, NULL, NULL), "b");
    small_state_end(&s);
}

/* GPUs of model "rare" are what other pods are bound to: a pod that can use any GPU leaves them alone. */
static void gpus_that_others_are_bound_to_are_left_to_them(void **state)
{
    (void)state;
    struct small_state s;

    begin(&s);
    put_cores_node(&s, "a-rare", 4, 64, "rare");
    put_cores_node(&s, "b-common", 8, 64, "common");
    (void)put_work(&s, "bound", 2, 2, "a-rare", "rare");
    assert_placed_on(&s, put_work(&s, "any", 1, 1, NULL, NULL), "b-common");
    assert_placed_on(&s, put_work(&s, "rare", 1, 1, NULL, "rare"), "a-rare");
    small_state_end(&s);
}

static void costs_follow_the_pods_that_run(void **state)
{
    (void)state;
    struct small_state s;

    begin(&s);
    put_cores_node(&s, "a", 8, 64, "a");
    engine_take_in(s.engine);
    pod_id next = put_work(&s, "next", 1, 8, NULL, NULL);
    engine_take_in(s.engine);
    assert_int_equal(stranding_cost(s.engine, next, state_find_node(s.state, "a")), 8000);
    assert_false(stranding_update(s.engine));
    (void)put_work(&s, "running", 1, 16, "a", NULL);
    state_settle(s.state);
    assert_true(stranding_update(s.engine));
    engine_take_in(s.engine);
    /* 16 cores a GPU are rounded to 15.872. Of 7 free GPUs with 48 cores 3.976 are stranded, of 6 with 40 cores 3.480. */
    assert_int_equal(stranding_cost(s.engine, next, state_find_node(s.state, "a")), -4960 * (INT64_C(1) << 24) + 7000);
    small_state_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_goes_where_it_strands_no_gpu),
        cmocka_unit_test(among_equals_the_fullest_node_comes_first),
        cmocka_unit_test(a_pod_without_gpus_goes_where_the_fewest_gpus_are_free),
        cmocka_unit_test(gpus_that_others_are_bound_to_are_left_to_them),
        cmocka_unit_test(costs_follow_the_pods_that_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
