/* SPDX-License-Identifier: Apache-2.0 */

/* One row is enough: filters, scores and orders that only this test knows, and what follows from their columns. */
#include "engine/nodes/filter.h"
#include "engine/nodes/score.h"
#include "engine/queues/order_rows.h"
#include "engine/reasons/explain.h"
#include "engine/test/running.h"

enum { ROWS_MAX = 32 };

/* The standard tables with one row more; they live as long as a test. */
static struct filter filter_rows[ROWS_MAX];
static struct score score_rows[ROWS_MAX];
static struct gang_order gang_rows[ROWS_MAX];
static struct queue_order queue_rows[ROWS_MAX];

static void add_filter(struct cluster *c, struct filter row)
{
    uint32_t count = standard_filters.count;

    assert_true(count < ROWS_MAX);
    memcpy(filter_rows, standard_filters.rows, count * sizeof *filter_rows);
    filter_rows[count] = row;
    c->engine->filters = (struct filter_table){filter_rows, count + 1};
}

static void add_score(struct cluster *c, struct score row)
{
    uint32_t count = standard_scores.count;

    assert_true(count < ROWS_MAX);
    memcpy(score_rows, standard_scores.rows, count * sizeof *score_rows);
    score_rows[count] = row;
    c->engine->scores = (struct node_score_table){score_rows, count + 1};
}

static void add_gang_order(struct cluster *c, struct gang_order row, uint32_t at)
{
    uint32_t count = standard_gang_orders.count;

    memcpy(gang_rows, standard_gang_orders.rows, at * sizeof *gang_rows);
    gang_rows[at] = row;
    memcpy(gang_rows + at + 1, standard_gang_orders.rows + at, (count - at) * sizeof *gang_rows);
    c->engine->gang_orders = (struct gang_order_table){gang_rows, count + 1};
}

static void add_queue_order(struct cluster *c, struct queue_order row)
{
    uint32_t count = standard_queue_orders.count;

    assert_true(count < ROWS_MAX);
    memcpy(queue_rows + 1, standard_queue_orders.rows, count * sizeof *queue_rows);
    queue_rows[0] = row;
    c->engine->queue_orders = (struct queue_order_table){queue_rows, count + 1};
}

static bool not_on_first(struct engine *engine, pod_id pod, node_id node)
{
    (void)pod;
    return strcmp(state_name(engine->state, engine->state->nodes.items[node].name), "node") != 0;
}

static bool anywhere(struct engine *engine, pod_id pod, node_id node)
{
    (void)engine;
    (void)pod;
    (void)node;
    return true;
}

static bool to_none(const struct engine *engine, const struct request *request, const struct constraints *constraints)
{
    (void)engine;
    (void)request;
    (void)constraints;
    return false;
}

static bool is_any_node(const struct node *node)
{
    (void)node;
    return true;
}

static void a_filter_of_ones_own_keeps_pods_away(void **state)
{
    (void)state;
    struct cluster c;

    cluster_begin(&c, 4);
    put_gpu_node(&c, "other", 4);
    put_queue(&c, queue_with("q", NULL, 8, 1));
    put_waiting(&c, "w", "q", 1, 1);
    add_filter(&c, (struct filter){
                       .name = "own", .plugin = PLUGIN_PREDICATES, .scope = FILTER_STATIC, .passes = not_on_first});
    run_at(&c, 100, ACTION_ALLOCATE);
    assert_decisions(&c, "bind w-0 other");
    cluster_end(&c);
}

static void an_explanation_tells_which_nodes_fail_it(void **state)
{
    (void)state;
    struct cluster c;
    struct explanation e;

    cluster_begin(&c, 4);
    put_gpu_node(&c, "other", 1);
    put_queue(&c, queue_with("q", NULL, 8, 1));
    gang_id gang = put_waiting(&c, "w", "q", 1, 2);
    add_filter(&c, (struct filter){
                       .name = "own",
                       .plugin = PLUGIN_PREDICATES,
                       .scope = FILTER_STATIC,
                       .passes = not_on_first,
                       .text = "own text",
                       .problem = "own problem",
                   });
    run_at(&c, 100, ACTION_ALLOCATE);
    explain_all(c.engine, gang, &e);
    assert_int_equal(e.test_count, standard_filters.count + 2);
    assert_string_equal(e.tests[e.test_count - 1].name, "own");
    assert_string_equal(e.tests[e.test_count - 1].text, "own text");
    assert_int_equal(e.tests[e.test_count - 1].nodes, 1);
    assert_int_equal(e.cause_count, 1);
    assert_string_equal(e.causes[0].text, "own problem");
    assert_int_equal(e.causes[0].nodes, 1);
    assert_int_equal(e.eligible_nodes, 1);
    explanation_done(&e);
    cluster_end(&c);
}

static double likes_last(struct engine *engine, pod_id pod, node_id node)
{
    return not_on_first(engine, pod, node) ? 100000 : 0;
}

static void a_score_of_ones_own_chooses_the_node(void **state)
{
    (void)state;
    static const enum score_kind kinds[] = {SCORE_TIER, SCORE_EXTRA};
    struct cluster c;

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        cluster_begin(&c, 4);
        put_gpu_node(&c, "zoo", 4);
        put_queue(&c, queue_with("q", NULL, 8, 1));
        put_waiting(&c, "w", "q", 1, 1);
        add_score(&c,
                  (struct score){.name = "own", .plugin = PLUGIN_PREDICATES, .kind = kinds[i], .value = likes_last});
        run_at(&c, 100, ACTION_ALLOCATE);
        assert_decisions(&c, "bind w-0 zoo");
        cluster_end(&c);
    }
}

static uint64_t larger_first(const struct gang *gang, enum elastic_state elastic)
{
    (void)elastic;
    return 15 - gang->groups[1].pods.len;
}

static const struct gang_order own_gang_order = {
    .name = "own", .plugin = PLUGIN_PREDICATES, .bits = 4, .value = larger_first};

static void an_order_of_gangs_of_ones_own_decides_who_is_next(void **state)
{
    (void)state;
    struct cluster c;

    cluster_begin(&c, 2);
    put_queue(&c, queue_with("q", NULL, 2, 1));
    put_waiting(&c, "small", "q", 1, 1);
    put_waiting(&c, "large", "q", 2, 1);
    add_gang_order(&c, own_gang_order, 0);
    run_at(&c, 100, ACTION_ALLOCATE);
    assert_decisions(&c, "bind large-0 node, bind large-1 node");
    cluster_end(&c);
}

static uint64_t younger_first(const struct engine *engine, const struct queue_figures *figures)
{
    return 15 - (uint64_t)engine->state->queues.items[figures->queue].created;
}

static void an_order_of_queues_of_ones_own_decides_who_is_next(void **state)
{
    (void)state;
    struct cluster c;

    cluster_begin(&c, 1);
    put_queue(&c, queue_with("old", NULL, 1, 1));
    put_queue(&c, queue_with("young", NULL, 1, 1));
    put_waiting(&c, "a", "old", 1, 1);
    put_waiting(&c, "b", "young", 1, 1);
    add_queue_order(
        &c, (struct queue_order){.name = "own", .plugin = PLUGIN_PREDICATES, .bits = 4, .whole = younger_first});
    run_at(&c, 100, ACTION_ALLOCATE);
    assert_decisions(&c, "bind b-0 node");
    cluster_end(&c);
}

/* ---- Rehearsals. ---- */

/*
 * Queue "want" comes after "have" because of the large gang that it would be served with first, so that what is evicted
 * for the small one returns before it. The first eviction plan is simulated, and rehearsals refute the others.
 */
static void put_hopeless(struct cluster *c)
{
    cluster_begin(c, 4);
    put_queue(c, queue_with("have", NULL, 2, 1));
    put_queue(c, queue_with("want", NULL, 2, 1));
    put_running(c, "a", "have", "node", 1);
    put_running(c, "b", "have", "node", 1);
    put_running(c, "d", "have", "node", 1);
    put_running(c, "e", "have", "node", 1);
    put_waiting(c, "large", "want", 1, 16);
    put_waiting(c, "small", "want", 1, 1);
}

/* Runs reclaim: does a rehearsal refute plans after the first? */
static bool is_rehearsed(struct cluster *c)
{
    run_at(c, 100, ACTION_RECLAIM);
    assert_decisions(c, "");
    const struct search_report *report = &vec_last(&c->engine->searches);
    uint32_t simulated = report->generators[0].simulated + report->generators[1].simulated;
    uint32_t emitted = report->generators[0].emitted + report->generators[1].emitted;
    assert_true(emitted > 1);
    cluster_end(c);
    return simulated == 1;
}

static void a_rehearsal_leaves_pods_alone_that_a_filter_applies_to(void **state)
{
    (void)state;
    struct filter own = {.name = "own", .plugin = PLUGIN_PREDICATES, .scope = FILTER_CLUSTER, .passes = anywhere};
    struct cluster c;

    put_hopeless(&c);
    assert_true(is_rehearsed(&c));
    put_hopeless(&c);
    add_filter(&c, own);
    assert_false(is_rehearsed(&c));

    own.applies = to_none;
    put_hopeless(&c);
    add_filter(&c, own);
    assert_true(is_rehearsed(&c));

    own.applies = NULL;
    own.rehearsal.node = is_any_node;
    put_hopeless(&c);
    add_filter(&c, own);
    assert_true(is_rehearsed(&c));

    own.plugin = PLUGIN_SOFT_TAINTS;  // off
    own.rehearsal.node = NULL;
    put_hopeless(&c);
    add_filter(&c, own);
    assert_true(is_rehearsed(&c));
}

static bool to_no_pod(const struct engine *engine, pod_id pod)
{
    (void)engine;
    (void)pod;
    return false;
}

static void a_rehearsal_leaves_pods_alone_that_a_score_applies_to(void **state)
{
    (void)state;
    struct score own = {.name = "own", .plugin = PLUGIN_PREDICATES, .kind = SCORE_EXTRA, .value = likes_last};
    struct cluster c;

    put_hopeless(&c);
    add_score(&c, own);
    assert_false(is_rehearsed(&c));

    own.applies = to_no_pod;
    put_hopeless(&c);
    add_score(&c, own);
    assert_true(is_rehearsed(&c));
}

static uint64_t nothing(const struct engine *engine, const struct queue_figures *figures)
{
    (void)engine;
    (void)figures;
    return 0;
}

static void a_rehearsal_needs_orders_that_it_can_follow(void **state)
{
    (void)state;
    struct queue_order own = {.name = "own", .plugin = PLUGIN_PREDICATES, .bits = 1, .whole = nothing};
    struct cluster c;

    put_hopeless(&c);
    add_queue_order(&c, own);
    assert_false(is_rehearsed(&c));
    own.is_monotone = true;
    put_hopeless(&c);
    add_queue_order(&c, own);
    assert_true(is_rehearsed(&c));

    /* Before how complete a gang is, it is one more priority; behind that, turns cannot be told. */
    put_hopeless(&c);
    add_gang_order(&c, own_gang_order, standard_gang_orders.count);
    assert_false(is_rehearsed(&c));
    put_hopeless(&c);
    add_gang_order(&c, own_gang_order, 0);
    assert_true(is_rehearsed(&c));
}

static void ranks_have_room_for_all_rows(void **state)
{
    (void)state;
    uint32_t gang_bits = 0;
    uint32_t queue_bits = 0;
    uint32_t fractions = 0;

    for (uint32_t i = 0; i < standard_gang_orders.count; i++)
        gang_bits += standard_gang_orders.rows[i].bits;
    for (uint32_t i = 0; i < standard_queue_orders.count; i++) {
        const struct queue_order *row = &standard_queue_orders.rows[i];
        assert_true(row->bits == 0 || (row->whole && fractions == 0));
        queue_bits += row->bits;
        fractions += row->fraction_count;
    }
    assert_true(gang_bits <= 64 && queue_bits <= 64 && fractions <= QUEUE_FRACTIONS_MAX);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_filter_of_ones_own_keeps_pods_away),
        cmocka_unit_test(an_explanation_tells_which_nodes_fail_it),
        cmocka_unit_test(a_score_of_ones_own_chooses_the_node),
        cmocka_unit_test(an_order_of_gangs_of_ones_own_decides_who_is_next),
        cmocka_unit_test(an_order_of_queues_of_ones_own_decides_who_is_next),
        cmocka_unit_test(a_rehearsal_leaves_pods_alone_that_a_filter_applies_to),
        cmocka_unit_test(a_rehearsal_leaves_pods_alone_that_a_score_applies_to),
        cmocka_unit_test(a_rehearsal_needs_orders_that_it_can_follow),
        cmocka_unit_test(ranks_have_room_for_all_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
