/* SPDX-License-Identifier: Apache-2.0 */
#include "model/test/helper.h"

static void every_status_has_a_name_of_its_own(void **unused)
{
    (void)unused;
    for (int status = 0; status < _POD_STATUS_MAX; status++) {
        enum pod_status found;

        assert_true(pod_status_find(pod_status_name((enum pod_status)status), &found));
        assert_int_equal(found, status);
    }
    assert_false(pod_status_find("sleeping", &(enum pod_status){0}));
    assert_string_equal(pod_status_name(_POD_STATUS_MAX), "unknown");
}

static void a_gang_counts_each_status_where_it_belongs(void **unused)
{
    static const struct {
        enum pod_status status;
        uint32_t pending, active_allocated, active_used, alive, gated, pipelined, allocated, succeeded;
    } cases[] = {
        {POD_PENDING, 1, 0, 0, 1, 0, 0, 0, 0},   {POD_GATED, 0, 0, 0, 1, 1, 0, 0, 0},
        {POD_ALLOCATED, 0, 1, 1, 1, 0, 0, 1, 0}, {POD_PIPELINED, 0, 1, 1, 1, 0, 1, 0, 0},
        {POD_BINDING, 0, 1, 1, 1, 0, 0, 1, 0},   {POD_BOUND, 0, 1, 1, 1, 0, 0, 1, 0},
        {POD_RUNNING, 0, 1, 1, 1, 0, 0, 1, 0},   {POD_RELEASING, 0, 0, 1, 0, 0, 0, 0, 0},
        {POD_STUCK, 0, 0, 1, 0, 0, 0, 0, 0},     {POD_SUCCEEDED, 0, 0, 0, 0, 0, 0, 0, 1},
        {POD_FAILED, 0, 0, 0, 0, 0, 0, 0, 0},    {POD_UNKNOWN, 0, 0, 0, 0, 0, 0, 0, 0},
        {POD_DELETED, 0, 0, 0, 0, 0, 0, 0, 0},
    };
    struct state *state = state_new();
    struct pod_spec spec = a_pod("p", "g");
    pod_id pod = put_pod(state, &spec);

    (void)unused;
    put_gang(state, "g", "q", 1);
    const struct gang *gang = &state->gangs.items[state_find_gang(state, "ns", "g")];
    const struct group *set = &gang->groups[1];
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        pod_set_status(state, pod, cases[i].status);
        assert_int_equal(set->pending, cases[i].pending);
        assert_int_equal(gang->pending, cases[i].pending);
        assert_int_equal(set->active_allocated, cases[i].active_allocated);
        assert_int_equal(gang->active_allocated, cases[i].active_allocated);
        assert_int_equal(set->active_used, cases[i].active_used);
        assert_int_equal(set->alive, cases[i].alive);
        assert_int_equal(set->gated, cases[i].gated);
        assert_int_equal(set->pipelined, cases[i].pipelined);
        assert_int_equal(gang->allocated, cases[i].allocated);
        assert_int_equal(gang->succeeded, cases[i].succeeded);
        assert_int_equal(gang->short_sets, !cases[i].active_used);
    }
    state_free(state);
}

static void a_simulated_eviction_is_counted_until_it_is_taken_back(void **unused)
{
    struct state *state = state_new();
    struct pod_spec spec = a_pod("p", "g");
    pod_id pod = put_pod(state, &spec);

    (void)unused;
    put_gang(state, "g", "q", 1);
    struct gang *gang = &state->gangs.items[state_find_gang(state, "ns", "g")];
    uint32_t changed = gang->changed;
    state->undo.is_recording = true;
    pod_set_status(state, pod, POD_RELEASING);
    pod_set_virtual(state, pod, true);
    pod_set_virtual(state, pod, true);
    assert_int_equal(gang->groups[1].virtual_releasing, 1);
    uint32_t simulated = gang->changed;
    assert_true(simulated > changed);
    undo_back_to(&state->undo, 0);
    assert_int_equal(gang->groups[1].virtual_releasing, 0);
    assert_int_equal(gang->groups[1].pending, 1);
    assert_int_equal(gang->changed, changed);
    pod_set_status(state, pod, POD_GATED);
    assert_true(gang->changed > simulated);
    undo_back_to(&state->undo, 0);
    state->undo.is_recording = false;
    state_free(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_name_of_its_own),
        cmocka_unit_test(a_gang_counts_each_status_where_it_belongs),
        cmocka_unit_test(a_simulated_eviction_is_counted_until_it_is_taken_back),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
