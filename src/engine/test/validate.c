/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/victims/validate.h"
#include "engine/test/running.h"

/* ---- Minimum runtimes. ---- */

/* root (50) over mine and side (30) over victim; far is a root of its own (70) over out (10). */
static void put_tree(struct cluster *c, queue_id *ret_mine, queue_id *ret_victim, queue_id *ret_out)
{
    struct queue_spec root = queue_with("root", NULL, 4, 1);
    struct queue_spec side = queue_with("side", "root", 2, 1);
    struct queue_spec far = queue_with("far", NULL, 4, 1);
    struct queue_spec out = queue_with("out", "far", 4, 1);

    root.has_reclaim_min_runtime = side.has_preempt_min_runtime = true;
    root.reclaim_min_runtime = 50;
    side.preempt_min_runtime = 30;
    far.has_reclaim_min_runtime = out.has_reclaim_min_runtime = true;
    far.reclaim_min_runtime = 70;
    out.reclaim_min_runtime = 10;
    put_queue(c, root);
    put_queue(c, side);
    put_queue(c, far);
    *ret_mine = put_queue(c, queue_with("mine", "root", 2, 1));
    *ret_victim = put_queue(c, queue_with("victim", "side", 2, 1));
    *ret_out = put_queue(c, out);
    engine_take_in(c->engine);
}

static void a_minimum_runtime_is_found_on_the_way_up(void **state)
{
    (void)state;
    struct cluster c;
    queue_id mine;
    queue_id victim;
    queue_id out;

    cluster_begin(&c, 4);
    c.engine->config.default_preempt_min_runtime = 5;
    put_tree(&c, &mine, &victim, &out);
    assert_int_equal(preempt_min_runtime(c.engine, victim), 30);
    assert_int_equal(preempt_min_runtime(c.engine, mine), 5);
    /* From the queue below the common ancestor on; between roots, that of the victim's root. */
    assert_int_equal(reclaim_min_runtime(c.engine, mine, victim), 50);
    assert_int_equal(reclaim_min_runtime(c.engine, mine, out), 70);
    assert_int_equal(reclaim_min_runtime(c.engine, mine, mine), 50);
    c.engine->config.reclaim_runtime_method = RECLAIM_RUNTIME_QUEUE;
    assert_int_equal(reclaim_min_runtime(c.engine, mine, out), 10);
    cluster_end(&c);
}

/* "have" holds all four GPUs with one gang of the given minimum, "want" waits with one pod; each deserves two. */
static void put_young(struct cluster *c, int32_t min)
{
    struct queue_spec have = queue_with("have", NULL, 2, 1);

    have.has_reclaim_min_runtime = true;
    have.reclaim_min_runtime = 60;
    cluster_begin(c, 4);
    put_queue(c, have);
    put_queue(c, queue_with("want", NULL, 2, 1));
    gang_id gang = put_gang(c, "a", "have", (struct gang_options){.min = min, .running = 4, .created = 1});
    state_set_gang_times(c->state, gang, 1000, 0, 0);
    put_waiting(c, "w", "want", 1, 1);
}

static void who_started_lately_is_left_alone(void **state)
{
    (void)state;
    struct cluster c;

    put_young(&c, 4);
    run_at(&c, 1059, ACTION_RECLAIM);
    assert_decisions(&c, "");
    assert_int_equal(engine_placements(c.engine), 0);
    run_at(&c, 1060, ACTION_RECLAIM);
    assert_decisions(&c, "evict a-0 node, evict a-1 node, evict a-2 node, evict a-3 node, pipeline w-0 node");
    cluster_end(&c);
}

static void what_an_elastic_gang_has_beyond_its_minimum_may_go_at_once(void **state)
{
    (void)state;
    struct cluster c;

    put_young(&c, 3);
    run_at(&c, 1001, ACTION_RECLAIM);
    assert_decisions(&c, "evict a-3 node, pipeline w-0 node");
    cluster_end(&c);

    put_young(&c, 3);
    put_waiting(&c, "x", "want", 1, 1);
    run_at(&c, 1001, ACTION_RECLAIM);
    assert_decisions(&c, "evict a-3 node, pipeline w-0 node");
    cluster_end(&c);
}

/* ---- What may be reclaimed. ---- */

static void the_last_item_may_take_a_queue_below_its_share_but_none_after_it(void **state)
{
    (void)state;
    struct cluster c;

    cluster_begin(&c, 6);
    put_queue(&c, queue_with("have", NULL, 3, 1));
    put_queue(&c, queue_with("want", NULL, 3, 1));
    put_running(&c, "a", "have", "node", 2);
    put_running(&c, "b", "have", "node", 2);
    put_running(&c, "d", "have", "node", 2);
    /* 6 and 4 are above 3: two items of two GPUs may go, the second one to 2. */
    put_waiting(&c, "w", "want", 3, 1);
    run_at(&c, 100, ACTION_RECLAIM);
    assert_decisions(&c, "evict d-0 node, evict b-0 node, pipeline w-0 node, pipeline w-1 node, pipeline w-2 node");
    cluster_end(&c);
}

static void work_that_may_not_be_preempted_reclaims_within_its_quota_only(void **state)
{
    (void)state;
    struct cluster c;

    for (int fixed = 0; fixed < 2; fixed++) {
        cluster_begin(&c, 4);
        put_queue(&c, queue_with("have", NULL, 0, 1));
        put_queue(&c, queue_with("want", NULL, 0, 1));
        put_running(&c, "a", "have", "node", 2);
        put_running(&c, "b", "have", "node", 2);
        put_gang(&c, "w", "want",
                 (struct gang_options){.min = 1, .pending = 1, .gpus = 2, .is_fixed = fixed > 0, .created = 9});
        run_at(&c, 100, ACTION_RECLAIM);
        assert_decisions(&c, fixed ? "" : "evict b-0 node, pipeline w-0 node");
        cluster_end(&c);
    }
}

static void a_moved_victim_is_not_reclaimed_unless_the_settings_say_so(void **state)
{
    (void)state;
    struct config config;
    struct cluster c;

    config_init(&config);
    for (int counts = 0; counts < 2; counts++) {
        /* "have" is within its quota: its pod may move to n2 but not be lost. */
        config.allows_consolidating_reclaim = counts == 0;
        cluster_begin(&c, 2);
        put_gpu_node(&c, "n2", 1);
        use_config(&c, &config);
        put_queue(&c, queue_with("have", NULL, 1, 1));
        put_queue(&c, queue_with("want", NULL, 2, 1));
        put_running(&c, "a", "have", "node", 1);
        put_waiting(&c, "w", "want", 1, 2);
        run_at(&c, 100, ACTION_RECLAIM);
        assert_decisions(&c, counts ? "" : "evict a-0 n2, pipeline a-0 n2, pipeline w-0 node");
        cluster_end(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_minimum_runtime_is_found_on_the_way_up),
        cmocka_unit_test(who_started_lately_is_left_alone),
        cmocka_unit_test(what_an_elastic_gang_has_beyond_its_minimum_may_go_at_once),
        cmocka_unit_test(the_last_item_may_take_a_queue_below_its_share_but_none_after_it),
        cmocka_unit_test(work_that_may_not_be_preempted_reclaims_within_its_quota_only),
        cmocka_unit_test(a_moved_victim_is_not_reclaimed_unless_the_settings_say_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
