/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/topology/topology.h"

#include "engine/gangs/view.h"
#include "engine/test/small_state.h"
#include "engine/topology/topology_tree.h"

/* Names of the nodes of all sets, in order: "a b|c". */
static char sets_text[4096];

static const char *sets_from(struct small_state *s, gang_id gang, const pod_id *pods, uint32_t count,
                             struct node_set from)
{
    struct gang_view view = {.gang = gang, .chunk = pods, .chunk_count = count};
    uint32_t set_count;
    struct node_set *sets =
        topology_node_sets(s->engine, &s->engine->scratch, &view, 0, pods, count, from, false, &set_count);
    size_t len = 0;

    sets_text[0] = '\0';
    for (uint32_t i = 0; i < set_count; i++) {
        len += (size_t)snprintf(sets_text + len, sizeof sets_text - len, "%s", i > 0 ? "|" : "");
        for (uint32_t n = 0; n < sets[i].count; n++)
            len += (size_t)snprintf(sets_text + len, sizeof sets_text - len, "%s%s", n > 0 ? " " : "",
                                    state_name(s->state, s->state->nodes.items[sets[i].ids[n]].name));
    }
    return sets_text;
}

static const char *sets_of(struct small_state *s, gang_id gang, const pod_id *pods, uint32_t count)
{
    return sets_from(s, gang, pods, count, node_set_all(s->engine));
}

static void put_topology(struct small_state *s)
{
    static const struct str_pair levels[] = {{"zone", "z"}, {"rack", NULL}};
    static const struct topology_spec spec = {.name = "net", .levels = levels, .level_count = ARRAY_LEN(levels)};

    assert_int_equal(state_put_topology(s->state, &spec, NULL), 0);
}

static node_id put_node_in(struct small_state *s, const char *name, int64_t gpus, const char *zone, const char *rack)
{
    const struct str_pair labels[] = {{"zone", zone}, {"rack", rack}};

    return put_node(s, name, gpus, labels, rack ? 2 : 1);
}

static void put_pods(struct small_state *s, const char *gang, uint32_t count, int64_t gpus, pod_id *ret)
{
    for (uint32_t i = 0; i < count; i++) {
        char name[32];
        struct pod_spec spec;

        snprintf(name, sizeof name, "%s-%u", gang, i);
        spec = pod_with(gang, name, gpus, NULL);
        ret[i] = put_pod(s, &spec);
    }
}

/* Zone a: racks of 2, 1, 1 and 1 GPUs. Zone b: three racks of 2. */
static void put_two_zones(struct small_state *s)
{
    put_topology(s);
    put_node_in(s, "a1", 2, "a", "r1");
    put_node_in(s, "a2", 1, "a", "r2");
    put_node_in(s, "a3", 1, "a", "r3");
    put_node_in(s, "a4", 1, "a", "r4");
    put_node_in(s, "b1", 2, "b", "r1");
    put_node_in(s, "b2", 2, "b", "r2");
    put_node_in(s, "b3", 2, "b", "r3");
}

static void the_fullest_zone_comes_first_and_its_emptiest_rack_scores_most(void **state)
{
    (void)state;
    struct small_state s;
    pod_id pods[3];

    small_state_begin(&s);
    put_two_zones(&s);
    gang_id gang = put_gang(&s, "g", (struct gang_like){.topology = {"net", "zone", "rack"}});
    put_pods(&s, "g", 3, 1, pods);
    small_state_open(&s);

    topology_begin(s.engine);
    assert_string_equal(sets_of(&s, gang, pods, 3), "a1 a2 a3 a4|b1 b2 b3");
    struct gang_view view = {.gang = gang};
    const uint32_t *scores = topology_scores(s.engine, &view, 1);
    assert_non_null(scores);
    /* Racks with one GPU would be 3 times full and come first, by name; then r1 of zone a; then zone b. */
    assert_int_equal(scores[state_find_node(s.state, "a2")], 100000);
    assert_int_equal(scores[state_find_node(s.state, "a3")], 200000);
    assert_int_equal(scores[state_find_node(s.state, "a4")], 400000);
    assert_int_equal(scores[state_find_node(s.state, "a1")], 500000);
    assert_int_equal(scores[state_find_node(s.state, "b1")], 700000);
    assert_int_equal(scores[state_find_node(s.state, "b3")], 1000000);
    topology_begin(s.engine);
    assert_null(topology_scores(s.engine, &view, 1));
    small_state_end(&s);
}

static void a_preferred_level_is_tried_before_wider_ones(void **state)
{
    (void)state;
    struct small_state s;
    pod_id pods[2];

    small_state_begin(&s);
    put_two_zones(&s);
    gang_id gang = put_gang(&s, "g", (struct gang_like){.topology = {"net", NULL, "rack"}});
    put_pods(&s, "g", 2, 1, pods);
    small_state_open(&s);
    assert_string_equal(sets_of(&s, gang, pods, 2), "a1|b1|b2|b3|a1 a2 a3 a4|b1 b2 b3|a1 a2 a3 a4 b1 b2 b3");
    small_state_end(&s);
}

static void an_alias_stands_for_its_level_and_unlabelled_nodes_are_left_out(void **state)
{
    (void)state;
    struct small_state s;
    pod_id pods[1];

    small_state_begin(&s);
    put_topology(&s);
    put_node_in(&s, "n1", 1, "a", "r1");
    put_node_in(&s, "n2", 1, "a", NULL);
    put_node_in(&s, "n3", 1, "a", "r2");
    put_node_in(&s, "n4", 1, "b", "r1");
    gang_id gang = put_gang(&s, "g", (struct gang_like){.topology = {"net", "z", NULL}});
    put_pods(&s, "g", 1, 1, pods);
    small_state_open(&s);
    assert_string_equal(sets_of(&s, gang, pods, 1), "n4|n1 n3");
    small_state_end(&s);
}

static void what_is_placed_and_taken_back_changes_what_fits(void **state)
{
    (void)state;
    struct small_state s;
    pod_id pods[2];
    pod_id other[1];

    small_state_begin(&s);
    put_two_zones(&s);
    gang_id gang = put_gang(&s, "g", (struct gang_like){.topology = {"net", "rack", NULL}});
    put_gang(&s, "h", (struct gang_like){0});
    put_pods(&s, "g", 2, 1, pods);
    put_pods(&s, "h", 1, 1, other);
    small_state_open(&s);
    assert_string_equal(sets_of(&s, gang, pods, 2), "a1|b1|b2|b3");

    node_id a1 = state_find_node(s.state, "a1");
    s.state->undo.is_recording = true;
    place(&s, other[0], a1);
    assert_string_equal(sets_of(&s, gang, pods, 2), "b1|b2|b3");
    /* One pod fits into what is left there, the fullest rack of the fullest zone. */
    assert_string_equal(sets_of(&s, gang, pods, 1), "a1|a2|a3|a4|b1|b2|b3");
    undo_back_to(&s.state->undo, 0);
    topology_node_touched(s.engine, a1);
    s.state->undo.is_recording = false;
    assert_string_equal(sets_of(&s, gang, pods, 2), "a1|b1|b2|b3");
    small_state_end(&s);
}

static void pods_that_have_a_place_keep_the_others_near(void **state)
{
    (void)state;
    struct small_state s;
    pod_id pods[1];

    small_state_begin(&s);
    put_two_zones(&s);
    gang_id gang = put_gang(&s, "g", (struct gang_like){.topology = {"net", "zone", "rack"}});
    put_pods(&s, "g", 1, 1, pods);
    struct pod_spec running = pod_with("g", "running", 1, "b2");
    put_pod(&s, &running);
    small_state_open(&s);
    assert_string_equal(sets_of(&s, gang, pods, 1), "b2|b1|b3|b1 b2 b3");
    small_state_end(&s);
}

static void nodes_outside_the_given_set_are_left_out(void **state)
{
    (void)state;
    struct small_state s;
    pod_id pods[2];

    small_state_begin(&s);
    put_two_zones(&s);
    gang_id gang = put_gang(&s, "g", (struct gang_like){.topology = {"net", "zone", NULL}});
    put_pods(&s, "g", 2, 1, pods);
    small_state_open(&s);
    node_id some[] = {state_find_node(s.state, "a2"), state_find_node(s.state, "a4"), state_find_node(s.state, "b1")};
    /* All of a zone counts as room, though only some of its nodes are handed out. */
    assert_string_equal(sets_from(&s, gang, pods, 2, (struct node_set){.ids = some, .count = 3}), "a2 a4|b1");
    assert_string_equal(sets_from(&s, gang, pods, 2, (struct node_set){.ids = some, .count = 2}), "a2 a4");
    small_state_end(&s);
}

static void a_required_level_above_the_only_domain_is_not_met(void **state)
{
    (void)state;
    struct small_state s;
    pod_id pods[1];

    small_state_begin(&s);
    put_topology(&s);
    put_node_in(&s, "n1", 4, "a", "r1");
    put_node_in(&s, "n2", 4, "a", "r1");
    gang_id gang = put_gang(&s, "g", (struct gang_like){.topology = {"net", "zone", NULL}});
    put_pods(&s, "g", 1, 1, pods);
    small_state_open(&s);
    assert_string_equal(sets_of(&s, gang, pods, 1), "");
    assert_int_equal(engine_verdict(s.engine, gang).code, VERDICT_TOPOLOGY_FULL);
    small_state_end(&s);
}

static void what_no_emptied_domain_could_hold_is_told_for_good(void **state)
{
    (void)state;
    struct small_state s;
    pod_id pods[4];
    pod_id other[1];

    small_state_begin(&s);
    put_two_zones(&s);
    gang_id gang = put_gang(&s, "g", (struct gang_like){.topology = {"net", "rack", NULL}});
    put_gang(&s, "h", (struct gang_like){0});
    put_pods(&s, "g", 4, 1, pods);
    put_pods(&s, "h", 1, 1, other);
    small_state_open(&s);
    assert_string_equal(sets_of(&s, gang, pods, 3), "");
    assert_int_equal(engine_verdict(s.engine, gang).code, VERDICT_TOPOLOGY_TOO_SMALL);

    /* Three fit once others have left. */
    put_node_in(&s, "c1", 3, "c", "r1");
    small_state_open(&s);
    place(&s, other[0], state_find_node(s.state, "c1"));
    assert_string_equal(sets_of(&s, gang, pods, 3), "");
    assert_int_equal(engine_verdict(s.engine, gang).code, VERDICT_TOPOLOGY_FULL);
    assert_string_equal(sets_of(&s, gang, pods, 4), "");
    assert_int_equal(engine_verdict(s.engine, gang).code, VERDICT_TOPOLOGY_TOO_SMALL);
    small_state_end(&s);
}

static void a_label_that_is_preferred_is_no_bound(void **state)
{
    (void)state;
    static const struct str_pair level = {"rack", NULL};
    static const struct topology_spec spec = {.name = "rack", .levels = &level, .level_count = 1};
    struct small_state s;
    pod_id pods[4];

    small_state_begin(&s);
    assert_int_equal(state_put_topology(s.state, &spec, NULL), 0);
    put_node_in(&s, "a1", 1, "a", "r1");
    put_node_in(&s, "b1", 2, "a", "r2");
    put_node_in(&s, "c1", 4, "a", NULL);
    gang_id gang = put_gang(&s, "g", (struct gang_like){.topology = {"rack", NULL, "rack"}});
    gang_id bound = put_gang(&s, "h", (struct gang_like){.topology = {"rack", "rack", NULL}});
    put_pods(&s, "g", 4, 1, pods);
    small_state_open(&s);
    topology_begin(s.engine);
    assert_string_equal(sets_of(&s, gang, pods, 2), "b1|a1 b1|a1 b1 c1");
    struct gang_view view = {.gang = gang};
    assert_int_equal(topology_scores(s.engine, &view, 1)[state_find_node(s.state, "c1")], 0);
    assert_string_equal(sets_of(&s, gang, pods, 4), "a1 b1 c1");
    assert_string_equal(sets_of(&s, bound, pods, 3), "");
    small_state_end(&s);
}

static void pods_that_need_nothing_fit_everywhere(void **state)
{
    (void)state;
    struct small_state s;
    struct pod_spec spec = {.namespace = "ns", .name = "p", .gang = "g", .status = POD_PENDING};

    small_state_begin(&s);
    put_topology(&s);
    put_node_in(&s, "n1", 4, "a", "r1");
    put_node_in(&s, "n2", 4, "a", "r1");
    gang_id gang = put_gang(&s, "g", (struct gang_like){.topology = {"net", "zone", NULL}});
    pod_id pod = put_pod(&s, &spec);
    small_state_open(&s);
    assert_string_equal(sets_of(&s, gang, &pod, 1), "n1 n2");
    small_state_end(&s);
}

static void a_topology_or_level_that_is_not_there_is_told(void **state)
{
    (void)state;
    struct small_state s;
    pod_id pods[1];

    small_state_begin(&s);
    put_two_zones(&s);
    gang_id gang = put_gang(&s, "g", (struct gang_like){.topology = {"other", "zone", NULL}});
    put_pods(&s, "g", 1, 1, pods);
    small_state_open(&s);
    assert_string_equal(sets_of(&s, gang, pods, 1), "");
    assert_int_equal(engine_verdict(s.engine, gang).code, VERDICT_NO_TOPOLOGY);

    put_gang(&s, "g", (struct gang_like){.topology = {"net", "row", NULL}});
    small_state_open(&s);
    assert_string_equal(sets_of(&s, gang, pods, 1), "");
    put_gang(&s, "g", (struct gang_like){.topology = {"net", "zone", NULL}});
    small_state_open(&s);
    assert_string_equal(sets_of(&s, gang, pods, 1), "a1 a2 a3 a4|b1 b2 b3");
    small_state_end(&s);
}

static void new_nodes_and_labels_make_new_domains(void **state)
{
    (void)state;
    struct small_state s;
    pod_id pods[2];

    small_state_begin(&s);
    put_two_zones(&s);
    gang_id gang = put_gang(&s, "g", (struct gang_like){.topology = {"net", "rack", NULL}});
    put_pods(&s, "g", 2, 1, pods);
    small_state_open(&s);
    assert_string_equal(sets_of(&s, gang, pods, 2), "a1|b1|b2|b3");
    engine_close(s.engine);
    state_drop_node(s.state, "a1");
    put_node_in(&s, "a0", 1, "a", "r3");
    small_state_open(&s);
    assert_string_equal(sets_of(&s, gang, pods, 2), "a0 a3|b1|b2|b3");
    small_state_end(&s);
}

static uint64_t next_random(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + 1;
    return *random >> 33;
}

/* Sums that were kept through random changes must equal those of a tree that is summed up afresh. */
static void kept_sums_agree_with_fresh_ones(void **state)
{
    (void)state;
    enum { NODES = 40, PODS = 60, STEPS = 3000 };
    struct small_state s;
    pod_id pods[PODS];
    uint64_t random = 7;
    bool is_placed[PODS] = {false};

    small_state_begin(&s);
    put_topology(&s);
    for (int i = 0; i < NODES; i++) {
        char name[16];
        char zone[16];
        char rack[16];

        snprintf(name, sizeof name, "n%02d", i);
        snprintf(zone, sizeof zone, "z%d", i % 3);
        snprintf(rack, sizeof rack, "r%d", i % 12);
        put_node_in(&s, name, 8, zone, rack);
    }
    put_gang(&s, "g", (struct gang_like){.topology = {"net", "rack", NULL}});
    put_pods(&s, "g", PODS, 2, pods);
    small_state_open(&s);
    struct topology_tree *tree = topology_tree_get(s.engine, 0);
    for (int step = 0; step < STEPS; step++) {
        uint32_t p = (uint32_t)(next_random(&random) % PODS);

        if (is_placed[p]) {
            node_id node = s.state->pods.items[pods[p]].node;
            node_release(s.state, node, pods[p]);
            pod_set_status(s.state, pods[p], POD_PENDING);
            topology_node_touched(s.engine, node);
        } else {
            place(&s, pods[p], (node_id)(next_random(&random) % NODES));
        }
        is_placed[p] = !is_placed[p];
        if (next_random(&random) % 16 > 0)
            continue;
        const struct request *request = state_request(s.state, pods[0]);
        int64_t biggest[RES_MAX] = {0};
        memcpy(biggest, request->v, request->v_count * sizeof *biggest);
        const int64_t *kept = topology_free(s.engine, tree);
        const int64_t *counts = topology_pod_counts(s.engine, tree, biggest);
        struct topology_tree fresh = {0};
        topology_tree_build(s.state, 0, &fresh);
        assert_int_equal(fresh.domains.len, tree->domains.len);
        const int64_t *all = topology_free(s.engine, &fresh);
        const int64_t *all_counts = topology_pod_counts(s.engine, &fresh, biggest);
        for (uint32_t i = 0; i < tree->domains.len * tree->dims; i++)
            assert_int_equal(kept[i], all[i]);
        for (uint32_t i = 0; i < tree->domains.len; i++)
            assert_int_equal(counts[i], all_counts[i]);
        topology_tree_done(&fresh);
    }
    small_state_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fullest_zone_comes_first_and_its_emptiest_rack_scores_most),
        cmocka_unit_test(a_preferred_level_is_tried_before_wider_ones),
        cmocka_unit_test(an_alias_stands_for_its_level_and_unlabelled_nodes_are_left_out),
        cmocka_unit_test(what_is_placed_and_taken_back_changes_what_fits),
        cmocka_unit_test(pods_that_have_a_place_keep_the_others_near),
        cmocka_unit_test(nodes_outside_the_given_set_are_left_out),
        cmocka_unit_test(a_required_level_above_the_only_domain_is_not_met),
        cmocka_unit_test(what_no_emptied_domain_could_hold_is_told_for_good),
        cmocka_unit_test(a_label_that_is_preferred_is_no_bound),
        cmocka_unit_test(pods_that_need_nothing_fit_everywhere),
        cmocka_unit_test(a_topology_or_level_that_is_not_there_is_told),
        cmocka_unit_test(new_nodes_and_labels_make_new_domains),
        cmocka_unit_test(kept_sums_agree_with_fresh_ones),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
