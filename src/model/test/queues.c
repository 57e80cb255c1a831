/* SPDX-License-Identifier: Apache-2.0 */
#include "model/test/helper.h"

static const struct queue *find_queue(const struct state *state, const char *name)
{
    return &state->queues.items[state_find_queue(state, name)];
}

static void queues_are_linked_in_any_order_and_those_without_a_parent_take_no_part(void **unused)
{
    struct state *state = state_new();

    (void)unused;
    put_queue(state, "team", "department");
    put_queue(state, "lost", "nobody");
    put_queue(state, "lost-child", "lost");
    put_queue(state, "department", NULL);
    state_settle(state);
    assert_int_equal(find_queue(state, "team")->depth, 1);
    assert_false(find_queue(state, "team")->is_orphan);
    assert_true(find_queue(state, "lost")->is_orphan);
    assert_true(find_queue(state, "lost-child")->is_orphan);
    assert_int_equal(find_queue(state, "department")->children.len, 1);
    assert_string_equal(state_name(state, find_queue(state, "team")->display_name), "team");

    put_queue(state, "nobody", "");
    state_drop_queue(state, "department");
    state_drop_queue(state, "department");
    state_settle(state);
    assert_true(find_queue(state, "team")->is_orphan);
    assert_false(find_queue(state, "lost-child")->is_orphan);
    assert_int_equal(find_queue(state, "lost-child")->depth, 2);
    state_free(state);
}

static void a_circle_of_queues_is_refused(void **unused)
{
    struct state *state = state_new();
    struct queue_spec spec = {.name = "a", .parent = "c"};
    struct err err = {0};

    (void)unused;
    put_queue(state, "b", "a");
    put_queue(state, "c", "b");
    assert_int_equal(state_put_queue(state, &spec, &err), -EINVAL);
    assert_string_equal(err.text, "queue 'a': its parent 'c' leads back to it; parents must form a tree: name another "
                                  "one, or none");
    spec.parent = "a";
    assert_int_equal(state_put_queue(state, &spec, &err), -EINVAL);
    assert_int_equal(state_find_queue(state, "a"), NO_ID);
    spec.parent = NULL;
    assert_int_equal(state_put_queue(state, &spec, NULL), 0);
    state_settle(state);
    assert_int_equal(find_queue(state, "c")->depth, 2);
    state_free(state);
}

static void quotas_that_cannot_be_are_refused(void **unused)
{
    struct state *state = state_new();
    struct queue_spec spec = {.name = "q", .deserved = {-2, 0, 0}};
    struct err err = {0};

    (void)unused;
    assert_int_equal(state_put_queue(state, &spec, &err), -EINVAL);
    assert_string_equal(err.text, "queue 'q': a quota of -2; must be -1 or not negative");
    spec = (struct queue_spec){.name = "q", .limit = {0, -3, 0}};
    assert_int_equal(state_put_queue(state, &spec, &err), -EINVAL);
    spec = (struct queue_spec){.name = "q", .weight = {0, 0, -1}};
    assert_int_equal(state_put_queue(state, &spec, &err), -EINVAL);
    spec = (struct queue_spec){.name = NULL};
    assert_int_equal(state_put_queue(state, &spec, &err), -EINVAL);
    assert_string_equal(err.text, "a queue needs a name");
    state_free(state);
}

static void children_are_in_order_of_creation_then_uid(void **unused)
{
    struct state *state = state_new();
    struct queue_spec specs[] = {
        {.name = "x", .parent = "root", .created = 5},
        {.name = "z", .parent = "root", .created = 1, .uid = "b"},
        {.name = "y", .parent = "root", .created = 1, .uid = "c"},
        {.name = "w", .parent = "root", .created = 1, .uid = "b"},
    };
    static const char *const expected[] = {"w", "z", "y", "x"};

    (void)unused;
    put_queue(state, "root", NULL);
    for (size_t i = 0; i < ARRAY_LEN(specs); i++)
        assert_ok(state_put_queue(state, &specs[i], &err_));
    state_settle(state);
    for (size_t i = 0; i < ARRAY_LEN(expected); i++)
        assert_string_equal(state_name(state, state->queues.items[find_queue(state, "root")->children.items[i]].name),
                            expected[i]);
    specs[0].created = 0;
    assert_ok(state_put_queue(state, &specs[0], &err_));
    state_settle(state);
    assert_string_equal(state_name(state, state->queues.items[find_queue(state, "root")->children.items[0]].name), "x");
    state_free(state);
}

static void sums_follow_pods_gangs_and_queues(void **unused)
{
    struct state *state = state_new();
    struct pod_spec pod = a_pod("runs", "g");

    (void)unused;
    put_node(state, "n", 4, 1000);
    put_queue(state, "top", NULL);
    put_queue(state, "leaf", "top");
    put_gang(state, "g", "leaf", 1);
    pod.status = POD_RUNNING;
    pod.node = "n";
    pod.request.gpus = 2;
    (void)put_pod(state, &pod);
    pod = a_pod("waits", "g");
    pod.request.kind = REQUEST_GPU_MEMORY;
    pod.request.memory_mib = 300;
    pod.request.devices = 2;
    (void)put_pod(state, &pod);
    state_settle(state);
    assert_int_equal(find_queue(state, "top")->allocated.v[SHARE_GPU], 2 * GPU_ONE);
    assert_int_equal(find_queue(state, "top")->allocated_fixed.v[SHARE_GPU], 0);
    assert_int_equal(find_queue(state, "top")->requested.v[SHARE_CPU], 1000);
    assert_int_equal(find_queue(state, "top")->requested.v[SHARE_GPU], 0);
    assert_int_equal(find_queue(state, "top")->requested_memory_mib, 600);

    /* A pod on a node that is gone costs nothing. */
    state_drop_node(state, "n");
    state_settle(state);
    assert_int_equal(find_queue(state, "leaf")->allocated.v[SHARE_CPU], 0);
    put_node(state, "n", 4, 1000);
    put_queue(state, "leaf", "elsewhere");
    state_settle(state);
    assert_int_equal(find_queue(state, "top")->allocated.v[SHARE_CPU], 0);
    assert_int_equal(find_queue(state, "leaf")->allocated.v[SHARE_CPU], 0);
    put_queue(state, "elsewhere", NULL);
    state_settle(state);
    assert_int_equal(find_queue(state, "elsewhere")->allocated.v[SHARE_CPU], 1000);

    put_gang(state, "g", "top", 1);
    state_settle(state);
    assert_int_equal(find_queue(state, "elsewhere")->allocated.v[SHARE_CPU], 0);
    assert_int_equal(find_queue(state, "top")->allocated.v[SHARE_CPU], 1000);
    pod_id id = state_find_pod(state, "ns", "runs");
    state_move_pod(state, id, POD_PENDING, NO_ID, (struct group_list){0});
    state_settle(state);
    assert_int_equal(find_queue(state, "top")->allocated.v[SHARE_GPU], 0);
    assert_int_equal(find_queue(state, "top")->requested.v[SHARE_GPU], 2 * GPU_ONE);
    state_free(state);
}

static void usage_comes_by_itself(void **unused)
{
    struct state *state = state_new();
    const double usage[SHARE_COUNT] = {0.1, 0.2, 0.3};

    (void)unused;
    put_queue(state, "q", NULL);
    state_settle(state);
    state_changes_seen(state);
    state_set_usage(state, "nobody", usage);
    assert_false(state->changes.queues);
    state_set_usage(state, "q", usage);
    assert_true(state->changes.queues);
    assert_false(state->queues_are_stale);
    assert_true(find_queue(state, "q")->usage[SHARE_GPU] == 0.3);
    state_free(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queues_are_linked_in_any_order_and_those_without_a_parent_take_no_part),
        cmocka_unit_test(a_circle_of_queues_is_refused),
        cmocka_unit_test(quotas_that_cannot_be_are_refused),
        cmocka_unit_test(children_are_in_order_of_creation_then_uid),
        cmocka_unit_test(sums_follow_pods_gangs_and_queues),
        cmocka_unit_test(usage_comes_by_itself),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
