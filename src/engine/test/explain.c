/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/reasons/explain.h"

#include "engine/test/small_state.h"

static void put_quota(struct small_state *s, const char *name, double quota, double limit, nsec_t min_runtime)
{
    const struct queue_spec spec = {
        .name = name,
        .deserved = {-1, -1, quota},
        .limit = {-1, -1, limit},
        .weight = {1, 1, 1},
        .has_preempt_min_runtime = min_runtime > 0,
        .has_reclaim_min_runtime = min_runtime > 0,
        .preempt_min_runtime = min_runtime,
        .reclaim_min_runtime = min_runtime,
    };

    assert_int_equal(state_put_queue(s->state, &spec, NULL), 0);
}

/* Runs all actions and explains the gang. */
static void ask(struct small_state *s, const char *gang, struct explanation *ret)
{
    engine_take_in(s->engine);
    engine_open(s->engine, NOW);
    for (int action = 0; action < _ACTION_MAX; action++)
        engine_run(s->engine, (enum action)action);
    explain(s->engine, state_find_gang(s->state, "ns", gang), ret);
}

static const struct explained_test *test_called(const struct explanation *e, const char *name)
{
    for (uint32_t i = 0; i < e->test_count; i++) {
        if (strcmp(e->tests[i].name, name) == 0)
            return &e->tests[i];
    }
    fail_msg("no test is called %s", name);
    return NULL;
}

static const struct explained_holder *holder_called(const struct small_state *s, const struct explanation *e,
                                                    const char *name)
{
    for (uint32_t i = 0; i < e->holder_count; i++) {
        gang_id gang = e->holders[i].gang;
        if (strcmp(gang == NO_ID ? "" : state_name(s->state, s->state->gangs.items[gang].name), name) == 0)
            return &e->holders[i];
    }
    fail_msg("%s holds nothing", name);
    return NULL;
}

static void each_node_counts_under_the_first_test_that_it_fails(void **state)
{
    (void)state;
    static const struct str_pair fast[] = {{"kind", "fast"}};
    struct small_state s;
    struct explanation e;
    struct pod_spec picky = pod_with("g", "p", 4, NULL);

    small_state_begin(&s);
    put_node(&s, "full", 8, fast, 1);
    put_node(&s, "fuller", 8, fast, 1);
    put_node(&s, "other", 8, NULL, 0);
    put_gang(&s, "old", (struct gang_like){.is_fixed = true});
    put_sized(&s, "old", "old-0", 6, "full");
    put_sized(&s, "old", "old-1", 7, "fuller");
    put_gang(&s, "g", (struct gang_like){0});
    picky.constraints.node_selector = fast;
    picky.constraints.node_selector_count = 1;
    picky.constraints.has_node_selector = true;
    put_pod(&s, &picky);
    ask(&s, "g", &e);

    assert_int_equal(e.tried.code, VERDICT_NO_ROOM);
    assert_int_equal(e.node_count, 3);
    assert_int_equal(e.allowed_count, 2);
    assert_int_equal(test_called(&e, "room")->nodes, 2);
    assert_int_equal(test_called(&e, "node-affinity")->nodes, 1);
    assert_int_equal(e.lack_count, 1);
    assert_int_equal(e.lacks[0].dim, RES_GPU);
    assert_int_equal(e.lacks[0].nodes, 2);
    assert_int_equal(e.lacks[0].needed, 4 * GPU_ONE);
    assert_int_equal(e.lacks[0].least, 2 * GPU_ONE);
    assert_int_equal(e.lacks[0].best, state_find_node(s.state, "full"));
    assert_int_equal(e.holder_count, 1);
    assert_true(e.holders[0].held[SHARE_GPU] == 13);
    explanation_done(&e);
    small_state_end(&s);
}

static void all_causes_are_listed_with_names_and_counts(void **state)
{
    (void)state;
    static const struct str_pair fast[] = {{"kind", "fast"}};
    static const struct str_pair slow[] = {{"kind", "slow"}};
    struct small_state s;
    struct explanation e;
    struct pod_spec picky = pod_with("g", "p", 4, NULL);

    small_state_begin(&s);
    put_quota(&s, "q", 8, 2, 0);
    put_node(&s, "a", 8, slow, 1);
    put_node(&s, "b", 8, NULL, 0);
    put_gang(&s, "g", (struct gang_like){.queue = "q"});
    picky.constraints.node_selector = fast;
    picky.constraints.node_selector_count = 1;
    picky.constraints.has_node_selector = true;
    put_pod(&s, &picky);
    ask(&s, "g", &e);
    assert_int_equal(e.cause_count, 0);
    explanation_done(&e);

    /* The limit ends the attempt; the selector is named all the same, and the limit beside it. */
    explain_all(s.engine, state_find_gang(s.state, "ns", "g"), &e);
    assert_int_equal(e.tried.code, VERDICT_OVER_LIMIT);
    assert_int_equal(e.all_nodes, 2);
    assert_int_equal(e.eligible_nodes, 0);
    assert_int_equal(e.allowed_count, 0);
    assert_int_equal(e.cause_count, 1);
    assert_string_equal(e.causes[0].test, "node-affinity");
    assert_string_equal(e.causes[0].detail, "kind=fast");
    assert_true(e.causes[0].is_static);
    assert_int_equal(e.causes[0].nodes, 2);
    assert_int_equal(e.over_queue.code, VERDICT_OVER_LIMIT);
    assert_true(e.over_queue.requested == 4 && e.over_queue.bound == 2);
    explanation_done(&e);
    small_state_end(&s);
}

static void pods_that_find_a_place_first_are_placed_while_nodes_are_looked_at(void **state)
{
    (void)state;
    struct small_state s;
    struct explanation e;

    small_state_begin(&s);
    put_node(&s, "n1", 4, NULL, 0);
    put_node(&s, "n2", 4, NULL, 0);
    put_gang(&s, "g", (struct gang_like){.min = 3});
    put_sized(&s, "g", "p0", 4, NULL);
    put_sized(&s, "g", "p1", 4, NULL);
    put_sized(&s, "g", "p2", 4, NULL);
    ask(&s, "g", &e);

    assert_int_equal(e.placed_before, 2);
    assert_int_equal(e.pod, state_find_pod(s.state, "ns", "p2"));
    assert_int_equal(test_called(&e, "room")->nodes, 2);
    assert_int_equal(e.lacks[0].least, 4 * GPU_ONE);
    assert_true(e.asked[SHARE_GPU] == 12);
    /* All of it was taken back. */
    assert_int_equal(state_books(s.state, state_find_node(s.state, "n1")).idle[RES_GPU], 4 * GPU_ONE);
    assert_int_equal(s.state->gangs.items[e.gang].pending, 3);
    assert_false(s.state->undo.is_recording);
    explanation_done(&e);
    small_state_end(&s);
}

static void a_queue_that_stands_in_the_way_is_told_with_its_numbers(void **state)
{
    (void)state;
    struct small_state s;
    struct explanation e;

    small_state_begin(&s);
    put_quota(&s, "small", 1, 2, 0);
    put_node(&s, "n1", 8, NULL, 0);
    put_gang(&s, "g", (struct gang_like){.queue = "small"});
    put_sized(&s, "g", "p", 3, NULL);
    ask(&s, "g", &e);

    assert_int_equal(e.tried.code, VERDICT_OVER_LIMIT);
    assert_int_equal(e.tried.pod, NO_ID);
    assert_int_equal(e.queue_count, 1);
    assert_true(e.queues[0].quota[SHARE_GPU] == 1);
    assert_true(e.queues[0].limit[SHARE_GPU] == 2);
    assert_true(e.queues[0].asked[SHARE_GPU] == 3);
    assert_true(e.queues[0].allocated[SHARE_GPU] == 0);
    explanation_done(&e);
    small_state_end(&s);
}

static void those_who_hold_the_room_say_why_they_stay(void **state)
{
    (void)state;
    struct small_state s;
    struct explanation e;
    struct pod_spec foreign = pod_with(NULL, "system", 1, "n1");

    small_state_begin(&s);
    put_quota(&s, "mine", 2, -1, 600 * NSEC_PER_SEC);
    put_quota(&s, "theirs", 2, -1, 0);
    put_node(&s, "n1", 8, NULL, 0);
    put_gang(&s, "fixed", (struct gang_like){.queue = "mine", .is_fixed = true, .priority = 10});
    put_sized(&s, "fixed", "fixed-0", 1, "n1");
    put_gang(&s, "equal", (struct gang_like){.queue = "mine", .priority = 50});
    put_sized(&s, "equal", "equal-0", 1, "n1");
    put_gang(&s, "young", (struct gang_like){.queue = "mine", .priority = 10, .started = NOW - NSEC_PER_SEC});
    put_sized(&s, "young", "young-0", 1, "n1");
    put_gang(&s, "neighbour", (struct gang_like){.queue = "theirs", .priority = 10});
    put_sized(&s, "neighbour", "neighbour-0", 2, "n1");
    foreign.is_foreign = true;
    put_pod(&s, &foreign);
    put_gang(&s, "g", (struct gang_like){.queue = "mine", .priority = 50});
    put_sized(&s, "g", "p", 4, NULL);
    ask(&s, "g", &e);

    assert_int_equal(e.holder_count, 5);
    assert_int_equal(holder_called(&s, &e, "fixed")->refusal, REFUSAL_FIXED);
    assert_int_equal(holder_called(&s, &e, "equal")->refusal, REFUSAL_PRIORITY);
    assert_int_equal(holder_called(&s, &e, "young")->refusal, REFUSAL_MIN_RUNTIME);
    assert_int_equal(holder_called(&s, &e, "young")->until, NOW + 599 * NSEC_PER_SEC);
    assert_int_equal(holder_called(&s, &e, "neighbour")->refusal, REFUSAL_OWN_SHARE);
    assert_int_equal(holder_called(&s, &e, "")->refusal, REFUSAL_FOREIGN);
    assert_true(e.holders[0].held[SHARE_GPU] == 2);
    explanation_done(&e);
    small_state_end(&s);
}

static void a_shared_gpu_is_held_by_those_who_share_it_and_not_by_its_reservation(void **state)
{
    (void)state;
    const char *group = "gpu-0";
    struct small_state s;
    struct explanation e;
    struct pod_spec reservation = pod_with(NULL, "reservation", 1, "n1");
    struct pod_spec half = pod_with("shares", "half", 0, "n1");

    small_state_begin(&s);
    put_node(&s, "n1", 1, NULL, 0);
    reservation.is_foreign = true;
    reservation.is_reservation = true;
    put_pod(&s, &reservation);
    put_gang(&s, "shares", (struct gang_like){.is_fixed = true});
    half.request.kind = REQUEST_FRACTION;
    half.request.portion = 0.5;
    half.gpu_groups = &group;
    half.gpu_group_count = 1;
    put_pod(&s, &half);
    put_gang(&s, "g", (struct gang_like){0});
    put_sized(&s, "g", "p", 1, NULL);
    ask(&s, "g", &e);

    assert_int_equal(e.holder_count, 1);
    assert_true(holder_called(&s, &e, "shares")->held[SHARE_GPU] == 0.5);
    explanation_done(&e);
    small_state_end(&s);
}

static void a_queue_within_its_quota_keeps_what_it_has(void **state)
{
    (void)state;
    struct small_state s;
    struct explanation e;

    small_state_begin(&s);
    put_quota(&s, "mine", 4, -1, 0);
    put_quota(&s, "theirs", 4, -1, 0);
    put_node(&s, "n1", 8, NULL, 0);
    put_gang(&s, "own", (struct gang_like){.queue = "mine", .is_fixed = true});
    put_sized(&s, "own", "own-0", 2, "n1");
    put_gang(&s, "neighbour", (struct gang_like){.queue = "theirs"});
    put_sized(&s, "neighbour", "neighbour-0", 4, "n1");
    put_gang(&s, "blocker", (struct gang_like){.queue = "q", .is_fixed = true});
    put_sized(&s, "blocker", "blocker-0", 2, "n1");
    put_gang(&s, "g", (struct gang_like){.queue = "mine"});
    put_sized(&s, "g", "p", 2, NULL);
    ask(&s, "g", &e);

    assert_int_equal(holder_called(&s, &e, "neighbour")->refusal, REFUSAL_IN_QUOTA);
    explanation_done(&e);
    small_state_end(&s);
}

static void a_delay_protects_everybody_until_it_ends(void **state)
{
    (void)state;
    struct small_state s;
    struct explanation e;

    small_state_begin(&s);
    put_node(&s, "n1", 2, NULL, 0);
    put_gang(&s, "low", (struct gang_like){.priority = 10});
    put_sized(&s, "low", "low-0", 2, "n1");
    put_gang(&s, "g", (struct gang_like){.priority = 50, .created = NOW - NSEC_PER_SEC, .delay = 60 * NSEC_PER_SEC});
    put_sized(&s, "g", "p", 2, NULL);
    ask(&s, "g", &e);

    assert_int_equal(e.delay_until, NOW + 59 * NSEC_PER_SEC);
    assert_int_equal(holder_called(&s, &e, "low")->refusal, REFUSAL_DELAY);
    assert_int_equal(holder_called(&s, &e, "low")->until, e.delay_until);
    explanation_done(&e);
    small_state_end(&s);
}

static void put_racks(struct small_state *s)
{
    static const struct str_pair r1[] = {{"rack", "r1"}};
    static const struct str_pair r2[] = {{"rack", "r2"}};
    static const struct str_pair levels[] = {{"rack", NULL}};
    const struct topology_spec topology = {"racks", levels, 1};

    assert_int_equal(state_put_topology(s->state, &topology, NULL), 0);
    put_node(s, "a1", 2, r1, 1);
    put_node(s, "a2", 2, r1, 1);
    put_node(s, "b1", 4, r2, 1);
}

static void domains_tell_how_many_pods_they_could_take(void **state)
{
    (void)state;
    struct small_state s;
    struct explanation e;

    small_state_begin(&s);
    put_racks(&s);
    put_gang(&s, "g", (struct gang_like){.min = 3, .topology = {"racks", "rack", NULL}});
    put_sized(&s, "g", "p0", 2, NULL);
    put_sized(&s, "g", "p1", 2, NULL);
    put_sized(&s, "g", "p2", 2, NULL);
    ask(&s, "g", &e);

    assert_int_equal(e.tried.code, VERDICT_TOPOLOGY_TOO_SMALL);
    assert_false(e.start_is_full);
    assert_int_equal(e.domain_need, 3);
    assert_int_equal(e.domain_count, 2);
    assert_true(e.domains_are_counted);
    assert_string_equal(e.domains[0].name, "r1");
    assert_int_equal(e.domains[0].pods, 2);
    assert_string_equal(e.domains[1].name, "r2");
    assert_int_equal(e.domains[1].pods, 2);
    explanation_done(&e);
    small_state_end(&s);
}

static void pods_of_different_kinds_are_not_counted_but_measured(void **state)
{
    (void)state;
    struct small_state s;
    struct explanation e;

    small_state_begin(&s);
    put_racks(&s);
    put_gang(&s, "g", (struct gang_like){.min = 3, .topology = {"racks", "rack", NULL}});
    put_sized(&s, "g", "p0", 2, NULL);
    put_sized(&s, "g", "p1", 3, NULL);
    put_sized(&s, "g", "p2", 0, NULL);
    ask(&s, "g", &e);

    assert_int_equal(e.tried.code, VERDICT_TOPOLOGY_TOO_SMALL);
    assert_false(e.domains_are_counted);
    assert_int_equal(e.domains[0].pods, -1);
    assert_int_equal(e.domains[0].lacks, 1 << RES_GPU);
    explanation_done(&e);
    small_state_end(&s);
}

static void a_gang_that_fits_would_be_placed(void **state)
{
    (void)state;
    struct small_state s;
    struct explanation e;

    small_state_begin(&s);
    put_node(&s, "n1", 2, NULL, 0);
    put_gang(&s, "g", (struct gang_like){0});
    put_sized(&s, "g", "p", 2, NULL);
    small_state_open(&s);
    explain(s.engine, state_find_gang(s.state, "ns", "g"), &e);
    assert_true(e.would_be_placed);
    assert_int_equal(e.pod, NO_ID);
    explanation_done(&e);
    small_state_end(&s);
}

static void a_gang_without_a_queue_has_nothing_but_its_verdict(void **state)
{
    (void)state;
    struct small_state s;
    struct explanation e;

    small_state_begin(&s);
    put_node(&s, "n1", 2, NULL, 0);
    put_gang(&s, "g", (struct gang_like){.queue = "missing"});
    put_sized(&s, "g", "p", 2, NULL);
    ask(&s, "g", &e);
    assert_int_equal(e.queue_count, 0);
    assert_int_equal(e.node_count, 0);
    assert_int_equal(e.pod, NO_ID);
    explanation_done(&e);
    small_state_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_node_counts_under_the_first_test_that_it_fails),
        cmocka_unit_test(all_causes_are_listed_with_names_and_counts),
        cmocka_unit_test(pods_that_find_a_place_first_are_placed_while_nodes_are_looked_at),
        cmocka_unit_test(a_queue_that_stands_in_the_way_is_told_with_its_numbers),
        cmocka_unit_test(those_who_hold_the_room_say_why_they_stay),
        cmocka_unit_test(a_shared_gpu_is_held_by_those_who_share_it_and_not_by_its_reservation),
        cmocka_unit_test(a_queue_within_its_quota_keeps_what_it_has),
        cmocka_unit_test(a_delay_protects_everybody_until_it_ends),
        cmocka_unit_test(domains_tell_how_many_pods_they_could_take),
        cmocka_unit_test(pods_of_different_kinds_are_not_counted_but_measured),
        cmocka_unit_test(a_gang_that_fits_would_be_placed),
        cmocka_unit_test(a_gang_without_a_queue_has_nothing_but_its_verdict),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
