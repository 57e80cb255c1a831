/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/victims/signature.h"
#include "base/arena.h"
#include "engine/test/running.h"

struct fixture {
    struct cluster c;
    struct arena arena;
    struct signatures *signatures;
};

static void begin(struct fixture *f)
{
    cluster_begin(&f->c, 8);
    put_queue(&f->c, queue_with("q", NULL, 8, 1));
    put_queue(&f->c, queue_with("r", NULL, 8, 1));
    arena_init(&f->arena);
}

static void open_fixture(struct fixture *f)
{
    engine_take_in(f->c.engine);
    f->signatures = signatures_new(f->c.engine, &f->arena);
}

static void end(struct fixture *f)
{
    signatures_free(f->signatures);
    arena_done(&f->arena);
    cluster_end(&f->c);
}

static void put_tolerant(struct fixture *f, const char *gang)
{
    static const struct toleration_spec all[] = {{.exists = true, .any_effect = true}};
    char name[64];
    (void)snprintf(name, sizeof name, "%s-t", gang);
    const struct pod_spec spec = {
        .name = name,
        .gang = gang,
        .status = POD_PENDING,
        .request = {.kind = REQUEST_REGULAR, .gpus = 1},
        .constraints = {.tolerations = all, .toleration_count = 1},
    };

    assert_int_equal(state_put_pod(f->c.state, &spec, NULL), 0);
}

static void gangs_are_alike_whatever_they_ask_for(void **state)
{
    (void)state;
    struct fixture f;

    begin(&f);
    gang_id a = put_waiting(&f.c, "a", "q", 1, 1);
    gang_id b = put_waiting(&f.c, "b", "q", 1, 4);
    gang_id d = put_gang(&f.c, "d", "q", (struct gang_options){.min = 1});
    put_tolerant(&f, "d");
    open_fixture(&f);
    queue_id q = state_find_queue(f.c.state, "q");
    assert_true(signature_of(f.signatures, a, q) == signature_of(f.signatures, b, q));
    assert_true(signature_of(f.signatures, a, q) != signature_of(f.signatures, d, q));
    assert_true(signature_of(f.signatures, a, q) != signature_of(f.signatures, a, NO_ID));
    end(&f);
}

static void a_gang_like_one_that_failed_is_tried_only_when_it_asks_for_less(void **state)
{
    (void)state;
    struct fixture f;

    begin(&f);
    gang_id two = put_waiting(&f.c, "two", "q", 2, 2);
    gang_id same = put_waiting(&f.c, "same", "q", 2, 2);
    gang_id fewer = put_waiting(&f.c, "fewer", "q", 1, 8);
    gang_id smaller = put_waiting(&f.c, "smaller", "q", 2, 1);
    gang_id more = put_waiting(&f.c, "more", "q", 3, 2);
    gang_id larger = put_waiting(&f.c, "larger", "q", 2, 4);
    open_fixture(&f);
    assert_true(signatures_may_try(f.signatures, 1, two));
    signatures_failed(f.signatures, 1, two);
    assert_false(signatures_may_try(f.signatures, 1, two));
    assert_false(signatures_may_try(f.signatures, 1, same));
    assert_true(signatures_may_try(f.signatures, 1, fewer));
    assert_true(signatures_may_try(f.signatures, 1, smaller));
    assert_false(signatures_may_try(f.signatures, 1, more));
    assert_false(signatures_may_try(f.signatures, 1, larger));
    assert_true(signatures_may_try(f.signatures, 2, larger));
    end(&f);
}

static void the_smallest_that_failed_stands_for_the_others(void **state)
{
    (void)state;
    struct fixture f;

    begin(&f);
    gang_id large = put_waiting(&f.c, "large", "q", 2, 4);
    gang_id middle = put_waiting(&f.c, "middle", "q", 2, 2);
    gang_id small = put_waiting(&f.c, "small", "q", 2, 1);
    open_fixture(&f);
    signatures_failed(f.signatures, 1, large);
    signatures_failed(f.signatures, 1, small);
    assert_false(signatures_may_try(f.signatures, 1, middle));
    signatures_failed(f.signatures, 1, large);
    assert_false(signatures_may_try(f.signatures, 1, middle));
    end(&f);
}

static void running_pods_do_not_count(void **state)
{
    (void)state;
    struct fixture f;

    begin(&f);
    gang_id part = put_gang(&f.c, "part", "q", (struct gang_options){.min = 2, .running = 1, .pending = 1});
    gang_id whole = put_waiting(&f.c, "whole", "q", 1, 1);
    open_fixture(&f);
    assert_true(signature_of(f.signatures, part, 0) == signature_of(f.signatures, whole, 0));
    signatures_failed(f.signatures, 1, part);
    assert_false(signatures_may_try(f.signatures, 1, whole));
    end(&f);
}

static void an_action_skips_gangs_like_one_that_failed(void **state)
{
    (void)state;
    struct cluster c;

    for (int uses = 0; uses < 2; uses++) {
        struct config config;
        config_init(&config);
        config.uses_signatures = uses > 0;
        cluster_begin(&c, 2);
        put_gpu_node(&c, "n2", 2);
        use_config(&c, &config);
        put_queue(&c, queue_with("q", NULL, 4, 1));
        put_running(&c, "a", "q", "node", 1);
        put_running(&c, "b", "q", "n2", 1);
        /* Both would fit into what is free, but not on one node: four GPUs are asked of nodes that have two. */
        put_waiting(&c, "w", "q", 1, 2);
        put_waiting(&c, "x", "q", 1, 2);
        run_at(&c, 100, ACTION_CONSOLIDATION);
        assert_decisions(&c, "evict b-0 node, pipeline b-0 node, pipeline w-0 n2");
        cluster_end(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gangs_are_alike_whatever_they_ask_for),
        cmocka_unit_test(a_gang_like_one_that_failed_is_tried_only_when_it_asks_for_less),
        cmocka_unit_test(the_smallest_that_failed_stands_for_the_others),
        cmocka_unit_test(running_pods_do_not_count),
        cmocka_unit_test(an_action_skips_gangs_like_one_that_failed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
