/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "engine/test/running.h"
#include "engine/victims/top_list.h"

/* ---- The best of many numbers. ---- */

static void the_best_numbers_are_kept_as_they_grow(void **state)
{
    (void)state;
    struct arena arena;
    struct top_list list;

    arena_init(&arena);
    top_list_init(&list, &arena, 2, 0);
    top_list_raise(&list, 1, 1);
    top_list_raise(&list, 2, 3);
    top_list_raise(&list, 3, 2);
    assert_int_equal(list.len, 2);
    assert_int_equal(list.items[0].id, 2);
    assert_int_equal(list.items[1].id, 3);
    top_list_raise(&list, 1, 4);
    assert_int_equal(list.items[0].id, 1);
    assert_int_equal(list.items[1].id, 2);
    top_list_raise(&list, 2, 5);
    assert_int_equal(list.items[0].id, 2);
    assert_true(top_list_takes(&list, (const double[]){4, 3}, 2));
    assert_false(top_list_takes(&list, (const double[]){4.5, 4.5}, 2));
    arena_done(&arena);
}

static void equal_whole_demands_are_counted(void **state)
{
    (void)state;
    const double demands[] = {2, 2, 2};
    struct arena arena;
    struct top_list list;

    arena_init(&arena);
    top_list_init(&list, &arena, 3, 2);
    top_list_raise(&list, 1, 3.5);
    top_list_raise(&list, 2, 1);
    assert_int_equal(list.units, 1);
    assert_false(top_list_takes(&list, demands, 3));
    top_list_raise(&list, 2, 4);
    assert_int_equal(list.units, 3);
    assert_true(top_list_takes(&list, demands, 3));
    arena_done(&arena);
}

static void what_just_does_not_reach_a_whole_number_does_not_count(void **state)
{
    (void)state;
    /* Six times 0.05 and 0.2 is less than a half in doubles. */
    double sum = 0;
    for (int i = 0; i < 6; i++)
        sum += 0.05;
    sum += 0.2;

    assert_int_equal(units_in(sum, 0.5), sum < 0.5 ? 0 : 1);
    assert_int_equal(units_in(8.999999999999998, 3), 2);
    assert_int_equal(units_in(9, 3), 3);
    assert_int_equal(units_in(-1, 1), 0);
}

/* ---- Reclaim. ---- */

/* Queue "have" holds all four GPUs of "node", queue "want" nothing; each deserves two. */
static void put_unequal(struct cluster *c)
{
    cluster_begin(c, 4);
    put_queue(c, queue_with("have", NULL, 2, 1));
    put_queue(c, queue_with("want", NULL, 2, 1));
    put_running(c, "a", "have", "node", 1);
    put_running(c, "b", "have", "node", 1);
    put_running(c, "d", "have", "node", 1);
    put_running(c, "e", "have", "node", 1);
}

static void reclaim_takes_the_newest_of_a_queue_beyond_its_share(void **state)
{
    (void)state;
    struct cluster c;

    put_unequal(&c);
    gang_id gang = put_waiting(&c, "w", "want", 1, 1);
    run_at(&c, 100, ACTION_RECLAIM);
    assert_decisions(&c, "evict e-0 node, pipeline w-0 node");
    assert_int_equal(engine_verdict(c.engine, gang).code, VERDICT_PROMISED);
    cluster_end(&c);
}

static void a_gang_gets_victims_for_all_of_its_pods_or_none(void **state)
{
    (void)state;
    struct cluster c;

    put_unequal(&c);
    put_waiting(&c, "w", "want", 2, 1);
    run_at(&c, 100, ACTION_RECLAIM);
    assert_decisions(&c, "evict e-0 node, evict d-0 node, pipeline w-0 node, pipeline w-1 node");
    cluster_end(&c);

    put_unequal(&c);
    gang_id gang = put_waiting(&c, "w", "want", 3, 1);
    run_at(&c, 100, ACTION_RECLAIM);
    assert_decisions(&c, "");
    assert_int_equal(engine_verdict(c.engine, gang).code, VERDICT_OVER_FAIR_SHARE);
    cluster_end(&c);
}

/* Eviction plans that were simulated for the last gang that was searched for, and those that there were. */
static uint32_t simulated(const struct cluster *c, uint32_t *ret_emitted)
{
    const struct search_report *report = &vec_last(&c->engine->searches);

    *ret_emitted = report->generators[0].emitted + report->generators[1].emitted;
    return report->generators[0].simulated + report->generators[1].simulated;
}

/*
 * Queue "want" comes after "have" because of the large gang that it would be served with first, so that what is evicted
 * for the small one behind it returns before it. One simulation shows it, and rehearses the rest; `checks` also simulates
 * what they refute.
 */
static void run_behind_a_large_gang(struct cluster *c, bool checks)
{
    put_unequal(c);
    put_waiting(c, "large", "want", 1, 16);
    put_waiting(c, "small", "want", 1, 1);
    c->engine->checks_rehearsals = checks;
    run_at(c, 100, ACTION_RECLAIM);
    assert_decisions(c, "");
}

static void what_returns_before_its_turn_is_simulated_once(void **state)
{
    (void)state;
    struct cluster c;
    uint32_t emitted;

    run_behind_a_large_gang(&c, false);
    assert_int_equal(simulated(&c, &emitted), 1);
    assert_true(emitted > 1);
    cluster_end(&c);

    run_behind_a_large_gang(&c, true);
    assert_true(simulated(&c, &emitted) > 1);
    cluster_end(&c);
}

/* A pod of the gang's waits beside the one that runs, and another is leaving: neither changes that it returns at its turn. */
static void a_gang_with_pods_that_wait_returns_before_its_turn(void **state)
{
    (void)state;
    uint32_t emitted;

    for (int checks = 0; checks <= 1; checks++) {
        struct cluster c;

        cluster_begin(&c, 4);
        put_queue(&c, queue_with("have", NULL, 2, 1));
        put_queue(&c, queue_with("want", NULL, 2, 1));
        put_running(&c, "a", "have", "node", 1);
        put_gang(&c, "b", "have", (struct gang_options){.min = 1, .running = 1, .pending = 2, .created = 2});
        put_gang(&c, "d", "have", (struct gang_options){.min = 1, .running = 2, .created = 3});
        state_move_pod(c.state, pod_of(&c, "d", 1), POD_RELEASING, state_find_node(c.state, "node"),
                       (struct group_list){0});
        put_running(&c, "e", "have", "node", 1);
        put_waiting(&c, "large", "want", 1, 16);
        put_waiting(&c, "small", "want", 1, 2);
        c.engine->checks_rehearsals = checks;
        run_at(&c, 100, ACTION_RECLAIM);
        assert_decisions(&c, "");
        assert_int_equal(simulated(&c, &emitted) > 1, checks);
        assert_true(emitted > 1);
        cluster_end(&c);
    }
}

static void victims_come_from_several_queues_in_turn(void **state)
{
    (void)state;
    struct cluster c;

    cluster_begin(&c, 6);
    put_queue(&c, queue_with("root", NULL, 1, 1));
    put_queue(&c, queue_with("q0", "root", 1, 1));
    put_queue(&c, queue_with("q1", "root", 1, 1));
    put_queue(&c, queue_with("q2", "root", 2, 0));
    for (int i = 0; i < 6; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "r%d", i);
        put_running(&c, name, i % 2 ? "q1" : "q0", "node", 1);
    }
    put_waiting(&c, "w", "q2", 2, 1);
    run_at(&c, 100, ACTION_RECLAIM);
    assert_decisions(&c, "evict r5-0 node, evict r4-0 node, pipeline w-0 node, pipeline w-1 node");
    cluster_end(&c);
}

static void an_elastic_gang_gives_its_last_pod(void **state)
{
    (void)state;
    struct cluster c;

    cluster_begin(&c, 2);
    put_queue(&c, queue_with("have", NULL, 1, 1));
    put_queue(&c, queue_with("want", NULL, 1, 1));
    put_gang(&c, "a", "have", (struct gang_options){.min = 1, .running = 2});
    put_waiting(&c, "w", "want", 1, 1);
    run_at(&c, 100, ACTION_RECLAIM);
    assert_decisions(&c, "evict a-1 node, pipeline w-0 node");
    cluster_end(&c);
}

static void a_queue_within_its_quota_is_not_even_tried(void **state)
{
    (void)state;
    struct cluster c;

    cluster_begin(&c, 4);
    put_queue(&c, queue_with("have", NULL, 4, 1));
    put_queue(&c, queue_with("want", NULL, 2, 1));
    for (int i = 0; i < 4; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "r%d", i);
        put_running(&c, name, "have", "node", 1);
    }
    gang_id gang = put_waiting(&c, "w", "want", 2, 1);
    run_at(&c, 100, ACTION_RECLAIM);
    assert_decisions(&c, "");
    assert_int_equal(engine_placements(c.engine), 0);
    assert_int_equal(engine_verdict(c.engine, gang).code, VERDICT_NO_VICTIMS);
    cluster_end(&c);
}

static void a_queue_that_may_give_too_little_is_not_even_tried(void **state)
{
    (void)state;
    struct cluster c;

    for (int pods = 1; pods <= 4; pods += 3) {
        cluster_begin(&c, 8);
        put_queue(&c, queue_with("have", NULL, 7, 1));
        put_queue(&c, queue_with("want", NULL, 4, 1));
        for (int i = 0; i < 8; i++) {
            char name[16];
            (void)snprintf(name, sizeof name, "r%d", i);
            put_running(&c, name, "have", "node", 1);
        }
        put_waiting(&c, "w", "want", pods, 1);
        run_at(&c, 100, ACTION_RECLAIM);
        assert_decisions(&c, pods == 1 ? "evict r7-0 node, pipeline w-0 node" : "");
        assert_int_equal(engine_placements(c.engine) > 0, pods == 1);
        cluster_end(&c);
    }
}

static void a_search_tells_how_it_ended(void **state)
{
    (void)state;
    struct cluster c;
    size_t count;

    put_unequal(&c);
    gang_id gang = put_waiting(&c, "w", "want", 2, 1);
    run_at(&c, 100, ACTION_RECLAIM);
    const struct search_report *reports = engine_searches(c.engine, &count);
    assert_int_equal(count, 1);
    assert_int_equal(reports[0].action, ACTION_RECLAIM);
    assert_int_equal(reports[0].gang, gang);
    assert_int_equal(reports[0].result, SEARCH_SOLVED);
    assert_false(reports[0].ended_action);
    assert_true(reports[0].generators[0].simulated > 0);
    assert_true(reports[0].generators[0].emitted >= reports[0].generators[0].simulated);
    engine_close(c.engine);
    run_at(&c, 101, ACTION_ALLOCATE);
    (void)engine_searches(c.engine, &count);
    assert_int_equal(count, 0);
    cluster_end(&c);

    cluster_begin(&c, 2);
    put_queue(&c, queue_with("have", NULL, 2, 1));
    put_queue(&c, queue_with("want", NULL, 2, 1));
    put_running(&c, "r0", "have", "node", 1);
    put_running(&c, "r1", "have", "node", 1);
    put_waiting(&c, "w", "want", 1, 1);
    run_at(&c, 100, ACTION_RECLAIM);
    reports = engine_searches(c.engine, &count);
    assert_int_equal(count, 1);
    assert_int_equal(reports[0].result, SEARCH_HOPELESS);
    assert_int_equal(reports[0].generators[0].emitted, 0);
    cluster_end(&c);
}

static void a_gang_over_several_nodes_needs_the_second_generator(void **state)
{
    (void)state;
    struct cluster c;

    cluster_begin(&c, 2);
    put_gpu_node(&c, "n2", 2);
    put_gpu_node(&c, "n3", 2);
    put_gpu_node(&c, "n4", 2);
    put_queue(&c, queue_with("have", NULL, 0, 1));
    put_queue(&c, queue_with("want", NULL, 8, 1));
    put_running(&c, "a", "have", "node", 2);
    put_running(&c, "b", "have", "n2", 2);
    put_running(&c, "d", "have", "n3", 2);
    put_running(&c, "e", "have", "n4", 2);
    put_waiting(&c, "w", "want", 4, 2);
    run_at(&c, 100, ACTION_RECLAIM);
    assert_decisions(&c, "evict e-0 n4, evict d-0 n3, evict b-0 n2, evict a-0 node, pipeline w-0 n2, pipeline w-1 n3, "
                         "pipeline w-2 n4, pipeline w-3 node");
    cluster_end(&c);
}

/* ---- Consolidation. ---- */

static void put_fragmented(struct cluster *c)
{
    cluster_begin(c, 4);
    put_gpu_node(c, "n2", 4);
    put_queue(c, queue_with("q", NULL, 8, 1));
    put_running(c, "a", "q", "node", 2);
    put_running(c, "b", "q", "n2", 2);
}

static void consolidation_moves_a_pod_so_that_another_fits(void **state)
{
    (void)state;
    struct cluster c;

    put_fragmented(&c);
    put_waiting(&c, "w", "q", 1, 3);
    put_waiting(&c, "x", "q", 1, 2);
    run_at(&c, 100, ACTION_CONSOLIDATION);
    assert_decisions(&c, "evict b-0 node, pipeline b-0 node, pipeline w-0 n2");
    cluster_end(&c);
}

static void consolidation_loses_nobody(void **state)
{
    (void)state;
    struct cluster c;

    put_fragmented(&c);
    put_running(&c, "d", "q", "n2", 2);
    put_waiting(&c, "w", "q", 1, 3);
    run_at(&c, 100, ACTION_CONSOLIDATION);
    assert_decisions(&c, "");
    cluster_end(&c);
}

static void consolidation_may_be_turned_off_or_limited(void **state)
{
    (void)state;
    struct config config;
    struct cluster c;

    config_init(&config);
    config.max_consolidation_preemptees = 0;
    put_fragmented(&c);
    use_config(&c, &config);
    put_waiting(&c, "w", "q", 1, 3);
    run_at(&c, 100, ACTION_CONSOLIDATION);
    assert_decisions(&c, "");
    cluster_end(&c);

    config.max_consolidation_preemptees = 1;
    put_fragmented(&c);
    use_config(&c, &config);
    put_waiting(&c, "w", "q", 1, 3);
    run_at(&c, 100, ACTION_CONSOLIDATION);
    assert_decisions(&c, "evict b-0 node, pipeline b-0 node, pipeline w-0 n2");
    cluster_end(&c);
}

/* ---- Preempt. ---- */

static void preempt_takes_only_lower_priority_of_the_same_queue(void **state)
{
    (void)state;
    struct cluster c;

    cluster_begin(&c, 3);
    put_queue(&c, queue_with("q", NULL, 3, 1));
    put_queue(&c, queue_with("other", NULL, 0, 1));
    put_gang(&c, "low", "q", (struct gang_options){.min = 1, .running = 1, .priority = 10, .created = 1});
    put_gang(&c, "same", "q", (struct gang_options){.min = 1, .running = 1, .priority = 20, .created = 2});
    put_gang(&c, "away", "other", (struct gang_options){.min = 1, .running = 1, .priority = 1, .created = 3});
    put_gang(&c, "w", "q", (struct gang_options){.min = 1, .pending = 1, .priority = 20, .created = 4});
    put_gang(&c, "x", "q", (struct gang_options){.min = 1, .pending = 1, .priority = 20, .created = 5});
    run_at(&c, 100, ACTION_PREEMPT);
    assert_decisions(&c, "evict low-0 node, pipeline w-0 node");
    cluster_end(&c);
}

/* ---- Limits. ---- */

static void a_limit_on_placements_ends_a_search_and_is_told(void **state)
{
    (void)state;
    struct config config;
    struct cluster c;

    config_init(&config);
    config.max_placements = 1;
    put_unequal(&c);
    use_config(&c, &config);
    gang_id gang = put_waiting(&c, "w", "want", 2, 1);
    run_at(&c, 100, ACTION_RECLAIM);
    assert_decisions(&c, "");
    assert_int_equal(engine_verdict(c.engine, gang).code, VERDICT_SEARCH_LIMIT);
    cluster_end(&c);
}

static bool stop_at(void *context, enum search_stage stage, uint32_t which)
{
    (void)which;
    return stage == *(const enum search_stage *)context;
}

static void the_clock_ends_an_action_a_gang_or_a_generator(void **state)
{
    (void)state;

    for (enum search_stage stage = SEARCH_ACTION; stage <= SEARCH_GENERATOR; stage++) {
        struct cluster c;
        put_unequal(&c);
        put_waiting(&c, "w", "want", 1, 1);
        engine_set_clock(c.engine, stop_at, &stage);
        run_at(&c, 100, ACTION_RECLAIM);
        assert_decisions(&c, "");
        engine_set_clock(c.engine, NULL, NULL);
        run_at(&c, 100, ACTION_RECLAIM);
        assert_decisions(&c, "evict e-0 node, pipeline w-0 node");
        cluster_end(&c);
    }
}

/* ---- Allocate and stale gangs. ---- */

static void a_gang_that_is_short_of_idle_places_waits_as_a_whole(void **state)
{
    (void)state;
    struct cluster c;

    cluster_begin(&c, 2);
    put_queue(&c, queue_with("q", NULL, 2, 1));
    put_running(&c, "a", "q", "node", 1);
    state_move_pod(c.state, pod_of(&c, "a", 0), POD_RELEASING, state_find_node(c.state, "node"),
                   (struct group_list){0});
    gang_id gang = put_waiting(&c, "w", "q", 2, 1);
    run_at(&c, 100, ACTION_ALLOCATE);
    /* The one that found an idle place comes last: its place was turned into a promise. */
    assert_decisions(&c, "pipeline w-1 node, pipeline w-0 node");
    assert_int_equal(engine_verdict(c.engine, gang).code, VERDICT_PROMISED);
    assert_int_equal(c.state->gangs.items[gang].last_start, 0);
    cluster_end(&c);
}

static void an_elastic_gang_grows_pod_by_pod_and_starts_once(void **state)
{
    (void)state;
    struct cluster c;

    cluster_begin(&c, 3);
    put_queue(&c, queue_with("q", NULL, 3, 1));
    gang_id gang = put_gang(&c, "w", "q", (struct gang_options){.min = 1, .pending = 4});
    run_at(&c, 100, ACTION_ALLOCATE);
    assert_decisions(&c, "bind w-0 node, bind w-1 node, bind w-2 node");
    assert_int_equal(c.state->gangs.items[gang].last_start, 100);
    assert_int_equal(engine_verdict(c.engine, gang).code, VERDICT_NO_ROOM);
    cluster_end(&c);
}

static void a_stale_gang_is_evicted_after_its_grace(void **state)
{
    (void)state;
    struct config config;
    struct cluster c;

    config_init(&config);
    config.staleness_grace = 60;
    cluster_begin(&c, 4);
    use_config(&c, &config);
    put_queue(&c, queue_with("q", NULL, 4, 1));
    gang_id gang = put_gang(&c, "g", "q", (struct gang_options){.min = 3, .running = 2});
    put_running(&c, "fine", "q", "node", 1);
    run_at(&c, 100, ACTION_STALE_GANG);
    assert_decisions(&c, "");
    assert_int_equal(c.state->gangs.items[gang].stale_since, 100);
    engine_close(c.engine);
    run_at(&c, 159, ACTION_STALE_GANG);
    assert_decisions(&c, "");
    engine_close(c.engine);
    run_at(&c, 160, ACTION_STALE_GANG);
    assert_decisions(&c, "evict g-0 node, evict g-1 node");
    assert_int_equal(c.state->gangs.items[gang].last_eviction, 0);
    cluster_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_numbers_are_kept_as_they_grow),
        cmocka_unit_test(equal_whole_demands_are_counted),
        cmocka_unit_test(what_just_does_not_reach_a_whole_number_does_not_count),
        cmocka_unit_test(reclaim_takes_the_newest_of_a_queue_beyond_its_share),
        cmocka_unit_test(a_gang_gets_victims_for_all_of_its_pods_or_none),
        cmocka_unit_test(what_returns_before_its_turn_is_simulated_once),
        cmocka_unit_test(a_gang_with_pods_that_wait_returns_before_its_turn),
        cmocka_unit_test(victims_come_from_several_queues_in_turn),
        cmocka_unit_test(an_elastic_gang_gives_its_last_pod),
        cmocka_unit_test(a_queue_within_its_quota_is_not_even_tried),
        cmocka_unit_test(a_queue_that_may_give_too_little_is_not_even_tried),
        cmocka_unit_test(a_search_tells_how_it_ended),
        cmocka_unit_test(a_gang_over_several_nodes_needs_the_second_generator),
        cmocka_unit_test(consolidation_moves_a_pod_so_that_another_fits),
        cmocka_unit_test(consolidation_loses_nobody),
        cmocka_unit_test(consolidation_may_be_turned_off_or_limited),
        cmocka_unit_test(preempt_takes_only_lower_priority_of_the_same_queue),
        cmocka_unit_test(a_limit_on_placements_ends_a_search_and_is_told),
        cmocka_unit_test(the_clock_ends_an_action_a_gang_or_a_generator),
        cmocka_unit_test(a_gang_that_is_short_of_idle_places_waits_as_a_whole),
        cmocka_unit_test(an_elastic_gang_grows_pod_by_pod_and_starts_once),
        cmocka_unit_test(a_stale_gang_is_evicted_after_its_grace),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
