/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queues/order.h"

#include "engine/test/plain_order.h"

static uint64_t random_state;

/* A small generator of its own: the same numbers everywhere. */
static int pick(int below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((random_state >> 33) % (uint64_t)below);
}

static void expect(struct cluster *c, struct order *order, const char *gang)
{
    assert_false(order_is_empty(order));
    assert_string_equal(gang_name(c, order_pop(order)), gang);
}

static void place_chunk(struct cluster *c, const struct gang_view *view)
{
    pod_id pods[64];
    uint32_t count = view->chunk_count;

    memcpy(pods, view->chunk, count * sizeof *pods);
    for (uint32_t i = 0; i < count; i++)
        promise(c, pods[i]);
}

static bool everyone(void *context, gang_id gang)
{
    (void)context;
    (void)gang;
    return true;
}

static void equal_queues_take_turns_in_the_order_of_creation(void **unused)
{
    (void)unused;
    struct cluster c;
    cluster_begin(&c, 30);
    put_queue(&c, queue_with("q1", NULL, 1, 1));
    put_queue(&c, queue_with("q2", NULL, 1, 1));
    put_queue(&c, queue_with("q3", NULL, 1, 1));
    for (int i = 0; i < 6; i++) {
        char name[8] = {'g', (char)('0' + i), '\0'};
        char queue[8] = {'q', (char)('1' + i % 3), '\0'};
        waiting_gang(&c, name, queue, 1);
    }
    cluster_open(&c);

    static const char *const expected[] = {"g0", "g1", "g2", "g3", "g4", "g5"};
    struct order *order = order_of_waiting(c.engine, &c.engine->scratch, ACTION_ALLOCATE);
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        assert_false(order_is_empty(order));
        const struct gang_view *view = order_pop(order);
        assert_string_equal(gang_name(&c, view), expected[i]);
        place_chunk(&c, view);
        kept_orders_gang_changed(c.engine, view->gang);
    }
    assert_true(order_is_empty(order));
    cluster_end(&c);
}

static void victims_go_lowest_priority_first_and_from_the_younger_queue(void **unused)
{
    (void)unused;
    struct cluster c;
    cluster_begin(&c, 6);
    put_queue(&c, queue_with("q1", NULL, 0, 1));
    put_queue(&c, queue_with("q2", NULL, 0, 1));
    for (int i = 0; i < 6; i++) {
        char name[8] = {i < 3 ? 'a' : 'b', (char)('0' + i % 3), '\0'};
        put_gang(&c, name, i < 3 ? "q1" : "q2", (struct gang_options){.priority = 100 - i % 3, .min = 1, .running = 1});
    }
    put_gang(&c, "fixed1", "q1", (struct gang_options){.min = 1, .running = 1, .is_fixed = true});
    put_gang(&c, "fixed2", "q2", (struct gang_options){.min = 1, .running = 1, .is_fixed = true});
    put_gang(&c, "waits", "q1", (struct gang_options){.min = 1, .pending = 1});
    cluster_open(&c);

    struct order *order = order_of_victims(c.engine, &c.engine->scratch, NULL, everyone, NULL);
    static const char *const expected[] = {"b2", "a2", "b1", "a1", "b0", "a0"};
    for (size_t i = 0; i < ARRAY_LEN(expected); i++)
        expect(&c, order, expected[i]);
    assert_true(order_is_empty(order));
    cluster_end(&c);
}

static void gangs_go_by_priority_then_need_then_age_then_uid(void **unused)
{
    (void)unused;
    struct cluster c;
    cluster_begin(&c, 30);
    put_queue(&c, queue_with("q", NULL, 0, 1));
    put_gang(&c, "above", "q", (struct gang_options){.min = 1, .running = 2, .pending = 1, .created = 1});
    put_gang(&c, "at-min", "q", (struct gang_options){.min = 1, .running = 1, .pending = 1, .created = 1});
    put_gang(&c, "young", "q", (struct gang_options){.min = 1, .pending = 1, .created = 9});
    put_gang(&c, "old-b", "q", (struct gang_options){.min = 1, .pending = 1, .created = 8});
    put_gang(&c, "old-a", "q", (struct gang_options){.min = 1, .pending = 1, .created = 8});
    put_gang(&c, "urgent", "q",
             (struct gang_options){.priority = 1, .min = 1, .running = 2, .pending = 1, .created = 9});
    cluster_open(&c);

    static const char *const expected[] = {"urgent", "old-a", "old-b", "young", "at-min", "above"};
    struct order *order = order_of_waiting(c.engine, &c.engine->scratch, ACTION_ALLOCATE);
    for (size_t i = 0; i < ARRAY_LEN(expected); i++)
        expect(&c, order, expected[i]);
    assert_true(order_is_empty(order));
    cluster_end(&c);
}

static void the_order_of_all_that_wait_can_be_asked_for(void **unused)
{
    (void)unused;
    struct cluster c;
    struct arena arena;
    uint32_t count;

    cluster_begin(&c, 1);
    put_queue(&c, queue_with("q", NULL, 1, 1));
    gang_id young = put_gang(&c, "young", "q", (struct gang_options){.min = 1, .pending = 1, .created = 2});
    gang_id old = put_gang(&c, "old", "q", (struct gang_options){.min = 1, .pending = 1, .created = 1});
    gang_id high =
        put_gang(&c, "high", "q", (struct gang_options){.min = 1, .pending = 1, .priority = 9, .created = 3});
    put_gang(&c, "runs", "q", (struct gang_options){.min = 1, .running = 1});
    arena_init(&arena);
    engine_take_in(c.engine);
    engine_open(c.engine, 0);
    const gang_id *gangs = engine_waiting(c.engine, &arena, &count);

    assert_int_equal(count, 3);
    assert_int_equal(gangs[0], high);
    assert_int_equal(gangs[1], old);
    assert_int_equal(gangs[2], young);
    engine_close(c.engine);
    arena_done(&arena);
    cluster_end(&c);
}

static void what_may_not_be_tried_gets_a_verdict(void **unused)
{
    (void)unused;
    struct cluster c;
    cluster_begin(&c, 30);
    put_queue(&c, queue_with("parent", NULL, 0, 1));
    put_queue(&c, queue_with("q", "parent", 0, 1));
    put_queue(&c, queue_with("lost", "nowhere", 0, 1));
    gang_id unready = put_gang(&c, "unready", "q", (struct gang_options){.min = 2, .pending = 1});
    gang_id inner = waiting_gang(&c, "inner", "parent", 1);
    gang_id nowhere = waiting_gang(&c, "nowhere", "no-such-queue", 1);
    gang_id orphan = waiting_gang(&c, "orphan", "lost", 1);
    gang_id delayed =
        put_gang(&c, "delayed", "q", (struct gang_options){.min = 1, .pending = 1, .created = -5, .delay = 9});
    put_gang(&c, "fixed", "q", (struct gang_options){.min = 1, .pending = 1, .created = 7, .is_fixed = true});
    cluster_open(&c);

    struct order *order = order_of_waiting(c.engine, &c.engine->scratch, ACTION_ALLOCATE);
    expect(&c, order, "delayed");
    expect(&c, order, "fixed");
    assert_true(order_is_empty(order));
    assert_int_equal(engine_verdict(c.engine, unready).code, VERDICT_NOT_READY);
    assert_int_equal(engine_verdict(c.engine, inner).code, VERDICT_QUEUE_NOT_LEAF);
    assert_int_equal(engine_verdict(c.engine, nowhere).code, VERDICT_NO_QUEUE);
    assert_int_equal(engine_verdict(c.engine, orphan).code, VERDICT_NO_QUEUE);

    order = order_of_waiting(c.engine, &c.engine->scratch, ACTION_RECLAIM);
    expect(&c, order, "fixed");
    assert_true(order_is_empty(order));
    assert_int_equal(engine_verdict(c.engine, delayed).code, VERDICT_PREEMPTION_DELAY);
    assert_int_equal(engine_verdict(c.engine, delayed).until, 4);
    assert_true(order_is_empty(order_of_waiting(c.engine, &c.engine->scratch, ACTION_CONSOLIDATION)));
    cluster_end(&c);
}

static void a_queue_offers_no_more_gangs_than_its_depth(void **unused)
{
    (void)unused;
    struct cluster c;
    cluster_begin(&c, 30);
    put_queue(&c, queue_with("q", NULL, 0, 1));
    /* Pushed by uid, and always the last of the array is dropped: in the end "a", though "b" is worse. */
    put_gang(&c, "d", "q", (struct gang_options){.min = 1, .pending = 1, .created = 1});
    put_gang(&c, "c", "q", (struct gang_options){.min = 1, .pending = 1, .created = 4});
    put_gang(&c, "b", "q", (struct gang_options){.min = 1, .pending = 1, .created = 3});
    gang_id a = put_gang(&c, "a", "q", (struct gang_options){.min = 1, .pending = 1, .created = 2});
    c.engine->config.queue_depth[ACTION_ALLOCATE] = 2;
    c.engine->config.queue_depth[ACTION_RECLAIM] = 1;
    cluster_open(&c);

    struct order *order = order_of_waiting(c.engine, &c.engine->scratch, ACTION_ALLOCATE);
    expect(&c, order, "d");
    expect(&c, order, "b");
    assert_true(order_is_empty(order));
    assert_int_equal(engine_verdict(c.engine, a).code, VERDICT_QUEUE_DEPTH);
    gang_id b = state_find_gang(c.state, NULL, "b");
    assert_int_equal(engine_verdict(c.engine, b).code, VERDICT_NONE);

    /* One is the best one. */
    order = order_of_waiting(c.engine, &c.engine->scratch, ACTION_RECLAIM);
    expect(&c, order, "d");
    assert_true(order_is_empty(order));
    assert_int_equal(engine_verdict(c.engine, b).code, VERDICT_QUEUE_DEPTH);
    cluster_end(&c);
}

static void a_gang_that_loses_pods_while_it_waits_is_compared_anew(void **unused)
{
    (void)unused;
    struct cluster c;
    cluster_begin(&c, 30);
    put_queue(&c, queue_with("q", NULL, 0, 1));
    put_gang(&c, "first", "q", (struct gang_options){.min = 1, .pending = 1, .created = 1});
    put_gang(&c, "second", "q", (struct gang_options){.min = 1, .running = 1, .pending = 1, .created = 2});
    gang_id third =
        put_gang(&c, "third", "q", (struct gang_options){.min = 1, .running = 1, .pending = 1, .created = 3});
    cluster_open(&c);

    struct order *order = order_of_waiting(c.engine, &c.engine->scratch, ACTION_RECLAIM);
    expect(&c, order, "first");
    pod_set_status(c.state, pod_of(&c, "third", 0), POD_RELEASING);
    kept_orders_gang_changed(c.engine, third);
    order_push(order, view_of(c.engine, state_find_gang(c.state, NULL, "first")));
    expect(&c, order, "first");
    expect(&c, order, "third");
    expect(&c, order, "second");
    cluster_end(&c);
}

/* Trees of queues with gangs of all kinds; quotas are such that what a gang asks for often decides. */
static void random_cluster(struct cluster *c, uint64_t seed, int gangs)
{
    char names[16][16];
    int queues = 0;

    random_state = seed;
    cluster_begin(c, 40 + pick(60));
    for (; queues < 2; queues++) {
        (void)snprintf(names[queues], sizeof names[queues], "r%d", queues);
        put_queue(c, queue_with(names[queues], NULL, pick(60), pick(3)));
    }
    int roots = queues;
    for (; queues < roots + 5; queues++) {
        struct queue_spec spec;
        (void)snprintf(names[queues], sizeof names[queues], "q%d", queues);
        spec = queue_with(names[queues], names[queues == roots ? 0 : pick(roots)], pick(40), pick(3));
        spec.priority = 100 + (pick(4) == 0);
        spec.created = 100 + pick(3);
        put_queue(c, spec);
    }
    for (int i = 0; i < gangs; i++) {
        char name[16];
        struct gang_options options = {
            .priority = 50 + pick(2) * pick(3),
            .min = 1 + pick(3),
            .gpus = 1 + pick(4),
            .created = pick(20),
            .is_fixed = pick(8) == 0,
        };
        options.running = pick(2) ? options.min + pick(2) : 0;
        options.pending = options.running ? pick(3) : options.min + pick(2);
        (void)snprintf(name, sizeof name, "g%d", i);
        put_gang(c, name, names[roots + pick(5)], options);
    }
    cluster_open(c);
}

static bool is_in_leaf(const struct cluster *c, gang_id gang)
{
    const struct gang *g = &c->state->gangs.items[gang];
    return g->queue != NO_ID && c->state->queues.items[g->queue].children.len == 0;
}

static void waiting_gangs_come_off_as_they_would_one_by_one(void **unused)
{
    (void)unused;
    static struct plain_order plain;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct cluster c;
        random_cluster(&c, seed, 10 + (int)(seed % 60));
        plain_begin(&plain, &c, false);
        for (gang_id gang = 0; gang < c.state->gangs.len; gang++) {
            const struct gang *g = &c.state->gangs.items[gang];
            if (is_in_leaf(&c, gang) && g->pending > 0 && gang_is_ready(g))
                plain_add(&plain, (struct plain_item){.gang = gang});
        }
        plain_link_all(&plain);
        struct order *order = order_of_waiting(c.engine, &c.engine->scratch, ACTION_ALLOCATE);
        while (!plain_is_empty(&plain)) {
            assert_false(order_is_empty(order));
            const struct gang_view *view = order_pop(order);
            assert_int_equal(plain_pop(&plain).gang, view->gang);
            if (pick(3) == 0)
                continue;
            place_chunk(&c, view);
            kept_orders_gang_changed(c.engine, view->gang);
            if (c.state->gangs.items[view->gang].pending > 0) {
                plain_push(&plain, (struct plain_item){.gang = view->gang});
                order_push(order, view_of(c.engine, view->gang));
            }
        }
        assert_true(order_is_empty(order));
        cluster_end(&c);
    }
}

static bool some_queues(void *context, queue_id queue)
{
    return (queue + *(uint32_t *)context) % 4 != 0;
}

static bool some_gangs(void *context, gang_id gang)
{
    return (gang * 7 + *(uint32_t *)context) % 5 != 0;
}

static void victims_come_off_as_they_would_one_by_one(void **unused)
{
    (void)unused;
    static struct plain_order plain;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct cluster c;
        uint32_t salt = (uint32_t)seed;
        random_cluster(&c, seed, 10 + (int)(seed % 60));
        plain_begin(&plain, &c, true);
        for (gang_id gang = 0; gang < c.state->gangs.len; gang++) {
            const struct gang *g = &c.state->gangs.items[gang];
            if (is_in_leaf(&c, gang) && g->active_allocated > 0 && g->is_preemptible && some_queues(&salt, g->queue) &&
                some_gangs(&salt, gang))
                plain_add(&plain, (struct plain_item){.gang = gang});
        }
        plain_link_all(&plain);
        struct order *order = order_of_victims(c.engine, &c.engine->scratch, some_queues, some_gangs, &salt);
        while (!plain_is_empty(&plain)) {
            assert_false(order_is_empty(order));
            const struct gang_view *view = order_pop(order);
            struct plain_item item = plain_pop(&plain);
            assert_int_equal(item.gang, view->gang);
            bool more;
            uint32_t count;
            const pod_id *pods = view_eviction(c.engine, &c.engine->scratch, view, &count, &more);
            if (more && pick(4) > 0) {
                const struct gang_view *rest = view_rest(c.engine, &c.engine->scratch, view, pods, count);
                plain_push(&plain, (struct plain_item){view->gang, rest});
                order_push(order, rest);
            }
        }
        assert_true(order_is_empty(order));
        cluster_end(&c);
    }
}

/* Evicts victims and pops a simulation beside a plain one, in which those that are not placed come off as well. */
static void simulate(struct cluster *c, struct plain_order *plain, gang_id prober)
{
    struct engine *engine = c->engine;
    const struct gang_view *view = view_of(engine, prober);
    const struct gang_view *probe =
        view_probe(engine, &engine->scratch, prober, view->chunk, 1 + (uint32_t)pick((int)view->chunk_count));
    gang_id victims[PLAIN_GANGS];
    bool is_victim[PLAIN_GANGS] = {0};
    uint32_t count = 0;

    c->state->undo.is_recording = true;
    for (int i = pick(6); i >= 0; i--) {
        gang_id gang = (gang_id)pick((int)c->state->gangs.len);
        if (gang == prober || c->state->gangs.items[gang].active_allocated == 0 || !is_in_leaf(c, gang))
            continue;
        uint32_t pods;
        bool more;
        const pod_id *evicted = view_eviction(engine, &engine->scratch, view_of(engine, gang), &pods, &more);
        for (uint32_t p = 0; p < pods; p++)
            evict(c, evicted[p]);
        victims[count++] = gang;
        is_victim[gang] = true;
    }
    plain_begin(plain, c, false);
    for (gang_id gang = 0; gang < c->state->gangs.len; gang++) {
        if (is_in_leaf(c, gang) && (c->state->gangs.items[gang].pending > 0 || is_victim[gang]))
            plain_add(plain, (struct plain_item){gang, gang == prober ? probe : NULL});
    }
    plain_link_all(plain);

    struct order *order = order_of_simulation(engine, &engine->scratch, probe, victims, count);
    while (!order_is_empty(order)) {
        view = order_pop(order);
        struct plain_item item;
        do
            item = plain_pop(plain);
        while (item.gang != prober && !is_victim[item.gang]);
        assert_int_equal(item.gang, view->gang);
        if (pick(3) > 0)
            place_chunk(c, view);
    }
    while (!plain_is_empty(plain)) {
        struct plain_item item = plain_pop(plain);
        assert_true(item.gang != prober && !is_victim[item.gang]);
    }
    undo_back_to(&c->state->undo, 0);
    c->state->undo.is_recording = false;
}

static void simulations_come_off_as_they_would_one_by_one(void **unused)
{
    (void)unused;
    static struct plain_order plain;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        struct cluster c;
        random_cluster(&c, seed, seed % 20 == 0 ? 400 : 30 + (int)(seed % 50));
        for (int i = 0; i < 10; i++) {
            gang_id prober = (gang_id)pick((int)c.state->gangs.len);
            const struct gang *g = &c.state->gangs.items[prober];
            if (g->pending > 0 && is_in_leaf(&c, prober) && view_of(c.engine, prober)->chunk_count > 0)
                simulate(&c, &plain, prober);
            /* Now and then something is committed, and gangs change their places in the lists. */
            if (i % 3 == 2) {
                prober = (gang_id)pick((int)c.state->gangs.len);
                place_chunk(&c, view_of(c.engine, prober));
                kept_orders_gang_changed(c.engine, prober);
            }
        }
        cluster_end(&c);
    }
}

static void lists_that_are_kept_equal_lists_that_are_made_anew(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct cluster c;
        random_cluster(&c, seed, 300);
        for (int i = 0; i < 40; i++) {
            char name[16];
            gang_id gang = (gang_id)pick((int)c.state->gangs.len);
            (void)snprintf(name, sizeof name, "g%d", pick(320));
            struct gang_options options = {.priority = pick(3), .min = 1, .running = pick(2), .pending = pick(2)};
            if (pick(3) == 0)
                state_drop_gang(c.state, NULL, name);
            else if (pick(2) == 0)
                put_gang(&c, name, "q3", options);
            else if (c.state->gangs.items[gang].is_present)
                place_chunk(&c, view_of(c.engine, gang));
            if (pick(4) == 0)
                cluster_open(&c);
        }
        cluster_open(&c);
        struct config config;
        config_init(&config);
        struct engine *fresh = engine_new(c.state, &config);
        for (gang_id gang = 0; gang < c.state->gangs.len; gang++)
            id_set_add(&c.state->changes.gangs, gang);
        engine_take_in(fresh);
        engine_open(fresh, 0);
        struct order *kept = order_of_waiting(c.engine, &c.engine->scratch, ACTION_ALLOCATE);
        struct order *anew = order_of_waiting(fresh, &fresh->scratch, ACTION_ALLOCATE);
        while (!order_is_empty(anew))
            assert_int_equal(order_pop(kept)->gang, order_pop(anew)->gang);
        assert_true(order_is_empty(kept));
        kept = order_of_victims(c.engine, &c.engine->scratch, NULL, everyone, NULL);
        anew = order_of_victims(fresh, &fresh->scratch, NULL, everyone, NULL);
        while (!order_is_empty(anew))
            assert_int_equal(order_pop(kept)->gang, order_pop(anew)->gang);
        assert_true(order_is_empty(kept));
        engine_free(fresh);
        cluster_end(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_queues_take_turns_in_the_order_of_creation),
        cmocka_unit_test(victims_go_lowest_priority_first_and_from_the_younger_queue),
        cmocka_unit_test(gangs_go_by_priority_then_need_then_age_then_uid),
        cmocka_unit_test(the_order_of_all_that_wait_can_be_asked_for),
        cmocka_unit_test(what_may_not_be_tried_gets_a_verdict),
        cmocka_unit_test(a_queue_offers_no_more_gangs_than_its_depth),
        cmocka_unit_test(a_gang_that_loses_pods_while_it_waits_is_compared_anew),
        cmocka_unit_test(waiting_gangs_come_off_as_they_would_one_by_one),
        cmocka_unit_test(victims_come_off_as_they_would_one_by_one),
        cmocka_unit_test(simulations_come_off_as_they_would_one_by_one),
        cmocka_unit_test(lists_that_are_kept_equal_lists_that_are_made_anew),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
