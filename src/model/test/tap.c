/* SPDX-License-Identifier: Apache-2.0 */
#include "model/tap.h"

#include "model/test/helper.h"

/* Tells another state, and counts. */
struct follower {
    struct state *state;
    uint32_t told[_DELTA_KIND_MAX];
};

static void follow(void *arg, const struct delta *delta)
{
    struct follower *follower = arg;

    follower->told[delta->kind]++;
    assert_ok(state_apply(follower->state, delta, &err_));
}

static void begin(struct follower *follower, struct state **ret_state)
{
    *follower = (struct follower){.state = state_new()};
    *ret_state = state_new();
    state_set_tap(*ret_state, follow, follower);
}

static void a_state_that_is_told_the_same_deltas_is_the_same(void **unused)
{
    struct follower follower;
    struct state *state;
    struct pod_spec pod = a_pod("a", "g");

    (void)unused;
    begin(&follower, &state);
    put_node(state, "n", 4, 80000);
    put_node(state, "gone", 4, 80000);
    put_queue(state, "q", NULL);
    put_gang(state, "g", "q", 1);
    (void)put_pod(state, &pod);
    pod.name = "b";
    pod.request.kind = REQUEST_FRACTION;
    pod.request.portion = 0.5;
    pod_id b = put_pod(state, &pod);
    state_put_config_map(state, "ns", "m");
    state_put_device_class(state, &(struct device_class_spec){.name = "gpu.example.com"});
    assert_ok(state_put_storage(state, &(struct storage_spec){.name = "s", .class = "fast", .bytes = 5}, &err_));
    assert_ok(state_put_storage(state, &(struct storage_spec){.name = "gone", .class = "fast"}, &err_));
    state_drop_storage(state, NULL, "gone");
    assert_ok(state_put_priority_class(state, "high", 1000, false, &err_));
    state_set_usage(state, "q", (const double[SHARE_COUNT]){1, 2, 3});
    state_set_gang_times(state, state_find_gang(state, "ns", "g"), 1, 2, 3);
    state_move_pod(state, b, POD_RUNNING, state_find_node(state, "n"),
                   (struct group_list){.count = 1, .one = gpu_group_fresh(7)});
    state_drop_node(state, "gone");
    state_drop_pod(state, "ns", "a");
    state_settle(state);
    state_settle(follower.state);

    char *left = dump_state(state, true);
    char *right = dump_state(follower.state, true);
    assert_string_equal(left, right);
    free(left);
    free(right);
    assert_int_equal(follower.state->fresh_groups, 8);
    assert_true(follower.state->queues.items[0].usage[1] == 2);
    assert_int_equal(follower.state->gangs.items[0].stale_since, 3);
    assert_int_equal(follower.state->storages.len, 2);
    assert_int_equal(follower.state->storages.items[0].bytes, 5);
    assert_false(follower.state->storages.items[1].is_present);
    assert_int_equal(follower.told[DELTA_PUT_NODE], 2);
    assert_int_equal(follower.told[DELTA_PUT_POD], 2);
    assert_int_equal(follower.told[DELTA_MOVE_POD], 1);
    assert_int_equal(follower.told[DELTA_DROP_NODE], 1);
    state_free(state);
    state_free(follower.state);
}

static void what_is_refused_or_not_there_is_not_told(void **unused)
{
    struct follower follower;
    struct state *state;

    (void)unused;
    begin(&follower, &state);
    assert_int_equal(state_put_node(state, &(struct node_spec){.name = ""}, NULL), -EINVAL);
    assert_int_equal(state_put_pod(state, &(struct pod_spec){.name = ""}, NULL), -EINVAL);
    state_drop_pod(state, "ns", "nobody");
    state_drop_queue(state, "none");
    for (int kind = 0; kind < _DELTA_KIND_MAX; kind++)
        assert_int_equal(follower.told[kind], 0);
    state_set_tap(state, NULL, NULL);
    put_node(state, "n", 1, 0);
    assert_int_equal(follower.told[DELTA_PUT_NODE], 0);
    state_free(state);
    state_free(follower.state);
}

static void a_move_of_what_is_not_there_is_nothing(void **unused)
{
    struct state *state = state_new();
    struct pod_move_spec move = {.namespace = "ns", .name = "a", .status = POD_RUNNING, .node = "n"};
    struct gpu_group_spec far = {.number = UINT64_MAX};
    struct pod_spec pod = a_pod("a", NULL);

    (void)unused;
    assert_ok(state_apply(state, &(struct delta){DELTA_MOVE_POD, &move}, &err_));
    (void)put_pod(state, &pod);
    move.groups = &far;
    move.group_count = 1;
    assert_int_equal(state_apply(state, &(struct delta){DELTA_MOVE_POD, &move}, NULL), -EINVAL);
    state_free(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_that_is_told_the_same_deltas_is_the_same),
        cmocka_unit_test(what_is_refused_or_not_there_is_not_told),
        cmocka_unit_test(a_move_of_what_is_not_there_is_nothing),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
