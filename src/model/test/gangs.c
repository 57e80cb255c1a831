/* SPDX-License-Identifier: Apache-2.0 */
#include "model/test/helper.h"

static const struct gang *find_gang(const struct state *state, const char *name)
{
    return &state->gangs.items[state_find_gang(state, "ns", name)];
}

static void a_tree_keeps_its_children_in_the_order_given(void **unused)
{
    struct state *state = state_new();
    struct group_spec groups[] = {
        {.name = "", .parent = -1, .min = 1, .topology = {"racks", "rack", "zone"}},
        {.name = "left", .parent = 0, .min = -1, .topology = {NULL, "rack", NULL}},
        {.name = "b", .parent = 1, .is_pod_set = true, .min = 2},
        {.name = "right", .parent = 0, .is_pod_set = true},
        {.name = "a", .parent = 1, .is_pod_set = true, .min = 1},
    };
    struct gang_spec spec = {.name = "g", .groups = groups, .group_count = 5};

    (void)unused;
    assert_ok(state_put_gang(state, &spec, &err_));
    const struct gang *gang = &state->gangs.items[state_find_gang(state, NULL, "g")];
    const struct group *tree = gang->groups;
    assert_string_equal(state_name(state, gang->uid), "g");
    assert_int_equal(gang->queue, NO_ID);
    assert_int_equal(gang->short_sets, 2);
    assert_int_equal(tree[0].parent, NO_ID);
    assert_int_equal(tree[0].child_count, 2);
    assert_int_equal(tree[0].first_child, 1);
    assert_int_equal(tree[1].next_sibling, 3);
    assert_int_equal(tree[1].first_child, 2);
    assert_int_equal(tree[2].next_sibling, 4);
    assert_int_equal(tree[4].next_sibling, NO_ID);
    assert_int_equal(tree[3].first_child, NO_ID);
    assert_string_equal(state_name(state, tree[0].topology.preferred), "zone");
    assert_int_equal(tree[1].topology.required, 0);
    state_free(state);
}

static void trees_that_cannot_be_are_refused(void **unused)
{
    struct group_spec good[] = {
        {.name = "", .parent = -1, .min = -1},
        {.name = "a", .parent = 0, .is_pod_set = true},
        {.name = "b", .parent = 0, .is_pod_set = true},
    };
    struct group_spec groups[3];
    struct group_spec deep[80] = {{.name = "", .parent = -1}};
    struct {
        int change;
        const char *text;
    } cases[] = {
        {0, "gang 'g': it has no pod set"},
        {1, "gang 'g': group 2: its parent must be a group before it"},
        {2, "gang 'g': the first group must be the root"},
        {3, "gang 'g': group 1: it needs -1; must not be negative"},
        {4, "gang 'g': a pod set needs a name"},
        {5, "gang 'g': two pod sets have the name 'a'"},
        {6, "gang 'g': groups are nested more than 64 levels deep"},
        {7, "gang 'g': 5000 groups; at most 4096 are supported"},
        {8, "a gang needs a name"},
    };
    struct state *state = state_new();

    (void)unused;
    for (int32_t i = 1; i < 80; i++)
        deep[i] = (struct group_spec){.name = "x", .parent = i - 1, .is_pod_set = i == 79};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct gang_spec spec = {.name = "g", .groups = groups, .group_count = 3};
        struct err err = {0};

        memcpy(groups, good, sizeof groups);
        switch (cases[i].change) {
        case 0:
            spec.group_count = 1;
            break;
        case 1:
            groups[2].parent = 1;
            break;
        case 2:
            groups[0].is_pod_set = true;
            break;
        case 3:
            groups[1].min = -1;
            break;
        case 4:
            groups[2].name = NULL;
            break;
        case 5:
            groups[2].name = "a";
            break;
        case 6:
            spec.groups = deep;
            spec.group_count = 80;
            break;
        case 7:
            spec.group_count = 5000;
            break;
        case 8:
            spec.name = "";
            break;
        }
        assert_int_equal(state_put_gang(state, &spec, &err), -EINVAL);
        assert_string_equal(err.text, cases[i].text);
    }
    assert_int_equal(state->gangs.len, 0);
    state_free(state);
}

static void pods_are_in_task_order_whatever_order_they_come_in(void **unused)
{
    /* In the order that they must end in. */
    struct pod_spec pods[] = {
        {.name = "leader", .roles = POD_ROLE_LEADER, .created = 9},
        {.name = "head", .roles = POD_ROLE_HEAD, .created = 9},
        {.name = "first", .has_task_priority = true, .task_priority = 5, .created = 8},
        {.name = "second", .has_task_priority = true, .task_priority = -5, .created = 7},
        {.name = "bad", .has_task_priority = true, .is_task_priority_bad = true, .created = 6},
        {.name = "old", .created = 1},
        {.name = "a", .uid = "1", .created = 2},
        {.name = "c", .uid = "10", .created = 2},
        {.name = "b", .uid = "2", .created = 2},
    };
    static const uint32_t order[] = {4, 8, 0, 6, 2, 7, 1, 5, 3};
    struct state *state = state_new();

    (void)unused;
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        pods[order[i]].namespace = "ns";
        pods[order[i]].gang = "g";
        (void)put_pod(state, &pods[order[i]]);
        if (i == 4)
            put_gang(state, "g", "q", 1);
    }
    state_settle(state);
    const struct group *set = &find_gang(state, "g")->groups[1];
    assert_int_equal(set->pods.len, ARRAY_LEN(pods));
    for (uint32_t i = 0; i < set->pods.len; i++) {
        assert_string_equal(state_name(state, state->pods.items[set->pods.items[i]].name), pods[i].name);
        assert_int_equal(state->pods.items[set->pods.items[i]].place, i);
    }
    state_free(state);
}

static void a_pod_waits_as_a_stray_for_its_gang_and_its_set(void **unused)
{
    struct state *state = state_new();
    struct pod_spec pod = a_pod("p", "g");
    pod_id id;

    (void)unused;
    pod.pod_set = "workers";
    id = put_pod(state, &pod);
    state_settle(state);
    assert_int_equal(state_find_gang(state, "ns", "g"), NO_ID);
    assert_int_equal(state->pending_gangs.ids.len, 0);

    put_queue(state, "q", NULL);
    put_gang(state, "g", "q", 1);
    state_settle(state);
    const struct gang *gang = find_gang(state, "g");
    assert_int_equal(gang->stray_pods.len, 1);
    assert_int_equal(gang->pending, 0);
    assert_int_equal(state->queues.items[0].requested.v[SHARE_CPU], 0);

    pod.pod_set = NULL;
    assert_int_equal(put_pod(state, &pod), id);
    state_settle(state);
    gang = find_gang(state, "g");
    assert_int_equal(gang->stray_pods.len, 0);
    assert_int_equal(gang->groups[1].pending, 1);
    assert_int_equal(state->queues.items[0].requested.v[SHARE_CPU], 1000);
    assert_true(id_set_has(&state->pending_gangs, state_find_gang(state, "ns", "g")));

    state_drop_gang(state, "ns", "g");
    state_drop_gang(state, "ns", "g");
    state_settle(state);
    assert_int_equal(state->pending_gangs.ids.len, 0);
    assert_int_equal(state->queues.items[0].requested.v[SHARE_CPU], 0);
    state_drop_pod(state, "ns", "p");
    state_drop_pod(state, "ns", "p");
    state_settle(state);
    assert_int_equal(state->unused_gangs.len, 1);
    put_gang(state, "other", "q", 1);
    assert_int_equal(state->gangs.len, 1);
    state_free(state);
}

static void a_gang_is_stale_while_it_runs_short_of_pods(void **unused)
{
    struct state *state = state_new();
    struct pod_spec pod = a_pod("p", "g");
    gang_id gang;

    (void)unused;
    put_node(state, "n", 4, 1000);
    put_gang(state, "g", "q", 2);
    gang = state_find_gang(state, "ns", "g");
    pod.status = POD_RUNNING;
    pod.node = "n";
    (void)put_pod(state, &pod);
    state_settle(state);
    assert_true(id_set_has(&state->stale_gangs, gang));
    assert_true(id_set_has(&state->active_gangs, gang));

    pod.name = "done";
    pod.status = POD_SUCCEEDED;
    (void)put_pod(state, &pod);
    state_settle(state);
    assert_false(id_set_has(&state->stale_gangs, gang));
    state_set_gang_times(state, gang, 1, 2, 3);
    state_settle(state);
    assert_true(id_set_has(&state->stale_gangs, gang));
    assert_int_equal(state->gangs.items[gang].last_eviction, 2);
    state_free(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_keeps_its_children_in_the_order_given),
        cmocka_unit_test(trees_that_cannot_be_are_refused),
        cmocka_unit_test(pods_are_in_task_order_whatever_order_they_come_in),
        cmocka_unit_test(a_pod_waits_as_a_stray_for_its_gang_and_its_set),
        cmocka_unit_test(a_gang_is_stale_while_it_runs_short_of_pods),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
