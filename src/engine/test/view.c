/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/gangs/view.h"

#include "engine/test/queues.h"

static void begin(struct cluster *c)
{
    cluster_begin(c, 100);
    put_queue(c, queue_with("q", NULL, 0, 1));
}

/* A gang whose groups are given, without pods. */
static gang_id put_tree(struct cluster *c, const char *name, const struct group_spec *groups, size_t count)
{
    const struct gang_spec spec = {
        .name = name, .queue = "q", .is_preemptible = true, .groups = groups, .group_count = count};

    assert_int_equal(state_put_gang(c->state, &spec, NULL), 0);
    return state_find_gang(c->state, NULL, name);
}

/* Pods "<set>-0", ... of the gang's set, the running ones first. */
static void put_pods(struct cluster *c, const char *gang, const char *set, int running, int pending)
{
    for (int i = 0; i < running + pending; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s-%d", set, i);
        put_pod_in(c, gang, set, name, i < running);
    }
}

/* The pods' names, separated by blanks. */
static const char *names_of(const struct cluster *c, const pod_id *pods, uint32_t count)
{
    static char text[512];

    text[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        strcat(text, i > 0 ? " " : "");
        strcat(text, state_name(c->state, c->state->pods.items[pods[i]].name));
    }
    return text;
}

static const char *chunk_of(const struct cluster *c, gang_id gang)
{
    const struct gang_view *view = view_of(c->engine, gang);
    return names_of(c, view->chunk, view->chunk_count);
}

static const char *eviction_of(const struct cluster *c, const struct gang_view *view, bool *ret_more)
{
    uint32_t count;
    const pod_id *pods = view_eviction(c->engine, &c->engine->scratch, view, &count, ret_more);

    return names_of(c, pods, count);
}

static void a_gang_waits_as_a_whole_and_then_pod_by_pod(void **unused)
{
    (void)unused;
    struct cluster c;
    begin(&c);
    gang_id whole = put_gang(&c, "whole", "q", (struct gang_options){.min = 2, .pending = 4});
    gang_id part = put_gang(&c, "part", "q", (struct gang_options){.min = 3, .running = 1, .pending = 3});
    gang_id more = put_gang(&c, "more", "q", (struct gang_options){.min = 1, .running = 1, .pending = 2});
    cluster_open(&c);

    assert_string_equal(chunk_of(&c, whole), "whole-0 whole-1");
    assert_string_equal(chunk_of(&c, part), "part-1 part-2");
    assert_string_equal(chunk_of(&c, more), "more-1");
    assert_int_equal(view_of(c.engine, whole)->elastic, ELASTIC_BELOW);
    assert_int_equal(view_of(c.engine, more)->elastic, ELASTIC_AT_MIN);
    assert_true(view_of(c.engine, part)->asked[SHARE_GPU] == 2);
    assert_true(view_of(c.engine, part)->held[SHARE_GPU] == 1);
    assert_true(view_of(c.engine, part)->held[SHARE_CPU] == 1);
    cluster_end(&c);
}

static void the_sets_in_front_are_completed_first(void **unused)
{
    (void)unused;
    const struct group_spec groups[] = {
        {.name = "", .parent = -1, .min = 2},
        {.name = "c", .parent = 0, .is_pod_set = true, .min = 1},
        {.name = "b", .parent = 0, .is_pod_set = true, .min = 2},
        {.name = "a", .parent = 0, .is_pod_set = true, .min = 1},
    };
    struct cluster c;
    begin(&c);
    gang_id gang = put_tree(&c, "g", groups, ARRAY_LEN(groups));
    put_pods(&c, "g", "a", 0, 1);
    put_pods(&c, "g", "b", 0, 2);
    put_pods(&c, "g", "c", 1, 0);
    cluster_open(&c);

    /* Two of three are needed and one is complete; still both others are taken, since they come first. */
    assert_string_equal(chunk_of(&c, gang), "a-0 b-0 b-1");
    uint32_t children[3];
    view_children(c.engine, view_of(c.engine, gang), 0, false, children);
    assert_int_equal(children[0], 3);
    assert_int_equal(children[1], 2);
    assert_int_equal(children[2], 1);
    view_children(c.engine, view_of(c.engine, gang), 0, true, children);
    assert_int_equal(children[0], 1);
    assert_true(view_group_is_satisfied(&c.state->gangs.items[gang], NULL, 1));
    assert_false(view_group_is_satisfied(&c.state->gangs.items[gang], NULL, 0));
    cluster_end(&c);
}

static void nested_groups_are_served_by_how_complete_they_are(void **unused)
{
    (void)unused;
    const struct group_spec groups[] = {
        {.name = "", .parent = -1, .min = -1},
        {.name = "left", .parent = 0, .min = 1},
        {.name = "l1", .parent = 1, .is_pod_set = true, .min = 2},
        {.name = "l2", .parent = 1, .is_pod_set = true, .min = 0},
        {.name = "right", .parent = 0, .is_pod_set = true, .min = 2},
    };
    struct cluster c;
    begin(&c);
    gang_id gang = put_tree(&c, "g", groups, ARRAY_LEN(groups));
    put_pods(&c, "g", "l1", 2, 1);
    put_pods(&c, "g", "l2", 1, 1);
    put_pods(&c, "g", "right", 2, 1);
    cluster_open(&c);

    /* Complete: "left" has 2 of 1 children, "right" 2 of 2 pods, so that "right" is less complete. */
    assert_string_equal(chunk_of(&c, gang), "right-2");
    assert_int_equal(view_of(c.engine, gang)->elastic, ELASTIC_ABOVE);
    cluster_end(&c);
}

static void views_follow_the_gang_and_its_simulations(void **unused)
{
    (void)unused;
    struct cluster c;
    begin(&c);
    gang_id gang = put_gang(&c, "g", "q", (struct gang_options){.min = 2, .running = 2, .pending = 1});
    cluster_open(&c);

    const struct gang_view *view = view_of(c.engine, gang);
    assert_ptr_equal(view_of(c.engine, gang), view);
    assert_string_equal(chunk_of(&c, gang), "g-2");

    for (int i = 0; i < 2; i++) {
        c.state->undo.is_recording = true;
        evict(&c, pod_of(&c, "g", i));
        /* What a simulation evicts waits again, in its place in the order of pods. */
        assert_string_equal(chunk_of(&c, gang), i == 0 ? "g-0" : "g-1");
        assert_int_equal(view->elastic, ELASTIC_BELOW);
        assert_true(view->held[SHARE_GPU] == 1);
        undo_back_to(&c.state->undo, 0);
        c.state->undo.is_recording = false;
    }
    assert_string_equal(chunk_of(&c, gang), "g-2");
    assert_true(view->held[SHARE_GPU] == 2);
    cluster_end(&c);
}

static void gpu_memory_counts_by_the_smallest_and_the_largest_gpus(void **unused)
{
    (void)unused;
    struct cluster c;
    begin(&c);
    const struct amount_spec amounts[] = {{"nvidia.com/gpu", GPU_ONE}, {"pods", 10}};
    const struct node_spec node = {.name = "large",
                                   .allocatable = amounts,
                                   .allocatable_count = ARRAY_LEN(amounts),
                                   .device_count = 1,
                                   .gpu_memory_mib = 4000,
                                   .is_gpu_memory_known = true};
    assert_int_equal(state_put_node(c.state, &node, NULL), 0);
    gang_id gang = put_gang(&c, "g", "q", (struct gang_options){.min = 1});
    const struct pod_spec pod = {
        .name = "p", .gang = "g", .request = {.kind = REQUEST_GPU_MEMORY, .devices = 2, .memory_mib = 500}};
    assert_int_equal(state_put_pod(c.state, &pod, NULL), 0);
    cluster_open(&c);

    assert_true(view_of(c.engine, gang)->asked[SHARE_GPU] == 1.0);
    assert_true(view_of(c.engine, gang)->asked_most[SHARE_GPU] == 0.25);

    state_drop_node(c.state, "node");
    cluster_open(&c);
    assert_true(view_of(c.engine, gang)->asked[SHARE_GPU] == 0.25);
    cluster_end(&c);
}

static void a_probe_needs_no_more_than_it_has(void **unused)
{
    (void)unused;
    const struct group_spec groups[] = {
        {.name = "", .parent = -1, .min = 2},
        {.name = "a", .parent = 0, .is_pod_set = true, .min = 2},
        {.name = "b", .parent = 0, .is_pod_set = true, .min = 3},
    };
    struct cluster c;
    begin(&c);
    gang_id gang = put_tree(&c, "g", groups, ARRAY_LEN(groups));
    put_pods(&c, "g", "a", 0, 2);
    put_pods(&c, "g", "b", 1, 2);
    cluster_open(&c);

    const struct gang_view *view = view_of(c.engine, gang);
    const struct gang *g = &c.state->gangs.items[gang];
    assert_string_equal(names_of(&c, view->chunk, view->chunk_count), "a-0 a-1 b-1 b-2");
    const struct gang_view *probe = view_probe(c.engine, &c.engine->scratch, gang, view->chunk, 1);
    assert_true(probe->is_part);
    assert_string_equal(names_of(&c, probe->chunk, probe->chunk_count), "a-0");
    assert_int_equal(view_min(g, probe, 1), 1);
    assert_int_equal(view_min(g, probe, 2), 1);
    assert_int_equal(view_min(g, probe, 0), 2);
    probe = view_probe(c.engine, &c.engine->scratch, gang, view->chunk, 3);
    assert_string_equal(names_of(&c, probe->chunk, probe->chunk_count), "a-0 a-1 b-1");
    assert_int_equal(view_min(g, probe, 2), 2);
    assert_true(probe->asked[SHARE_GPU] == 3);
    assert_int_equal(probe->elastic, ELASTIC_BELOW);
    cluster_end(&c);
}

static void eviction_takes_what_is_spare_and_then_all(void **unused)
{
    (void)unused;
    struct cluster c;
    begin(&c);
    gang_id gang = put_gang(&c, "g", "q", (struct gang_options){.min = 2, .running = 3, .pending = 1});
    cluster_open(&c);

    bool more;
    const struct gang_view *view = view_of(c.engine, gang);
    assert_string_equal(eviction_of(&c, view, &more), "g-2");
    assert_true(more);
    const pod_id spare[] = {pod_of(&c, "g", 2)};
    const struct gang_view *rest = view_rest(c.engine, &c.engine->scratch, view, spare, 1);
    assert_int_equal(rest->elastic, ELASTIC_AT_MIN);
    assert_true(rest->held[SHARE_GPU] == 2);
    assert_string_equal(eviction_of(&c, rest, &more), "g-0 g-1");
    assert_false(more);
    cluster_end(&c);
}

static void eviction_keeps_groups_complete_as_long_as_it_can(void **unused)
{
    (void)unused;
    const struct group_spec groups[] = {
        {.name = "", .parent = -1, .min = 1},
        {.name = "g1", .parent = 0, .min = -1},
        {.name = "a", .parent = 1, .is_pod_set = true, .min = 1},
        {.name = "b", .parent = 1, .is_pod_set = true, .min = 1},
        {.name = "z", .parent = 0, .is_pod_set = true, .min = 2},
    };
    struct cluster c;
    begin(&c);
    gang_id gang = put_tree(&c, "g", groups, ARRAY_LEN(groups));
    put_pods(&c, "g", "a", 1, 0);
    put_pods(&c, "g", "b", 2, 0);
    put_pods(&c, "g", "z", 2, 0);
    cluster_open(&c);

    /* A pod that its set can spare; then the child that its group can spare, last name first; then what is left. */
    static const char *const steps[] = {"b-1", "z-0 z-1", "a-0 b-0"};
    const struct gang_view *view = view_of(c.engine, gang);
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        bool more;
        uint32_t count;
        assert_string_equal(eviction_of(&c, view, &more), steps[i]);
        assert_int_equal(more, i + 1 < ARRAY_LEN(steps));
        const pod_id *pods = view_eviction(c.engine, &c.engine->scratch, view, &count, &more);
        view = view_rest(c.engine, &c.engine->scratch, view, pods, count);
    }
    assert_int_equal(view->active_count, 0);
    cluster_end(&c);
}

static void a_gang_is_ready_when_enough_pods_could_run(void **unused)
{
    (void)unused;
    const struct group_spec groups[] = {
        {.name = "", .parent = -1, .min = 1},
        {.name = "a", .parent = 0, .is_pod_set = true, .min = 2},
        {.name = "b", .parent = 0, .is_pod_set = true, .min = 2},
    };
    struct cluster c;
    begin(&c);
    gang_id gang = put_tree(&c, "g", groups, ARRAY_LEN(groups));
    put_pods(&c, "g", "a", 0, 1);
    put_pods(&c, "g", "b", 1, 0);
    cluster_open(&c);
    assert_false(gang_is_ready(&c.state->gangs.items[gang]));
    assert_false(gang_is_elastic(&c.state->gangs.items[gang]));

    put_pod_in(&c, "g", "b", "b-9", false);
    put_pod_in(&c, "g", "b", "b-8", false);
    cluster_open(&c);
    assert_true(gang_is_ready(&c.state->gangs.items[gang]));
    assert_true(gang_is_elastic(&c.state->gangs.items[gang]));
    cluster_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gang_waits_as_a_whole_and_then_pod_by_pod),
        cmocka_unit_test(the_sets_in_front_are_completed_first),
        cmocka_unit_test(nested_groups_are_served_by_how_complete_they_are),
        cmocka_unit_test(views_follow_the_gang_and_its_simulations),
        cmocka_unit_test(gpu_memory_counts_by_the_smallest_and_the_largest_gpus),
        cmocka_unit_test(a_probe_needs_no_more_than_it_has),
        cmocka_unit_test(eviction_takes_what_is_spare_and_then_all),
        cmocka_unit_test(eviction_keeps_groups_complete_as_long_as_it_can),
        cmocka_unit_test(a_gang_is_ready_when_enough_pods_could_run),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
