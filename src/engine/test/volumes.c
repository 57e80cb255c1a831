/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strbuf.h"
#include "engine/nodes/volumes_internal.h"
#include "engine/test/small_state.h"
#include "model/retell/retell.h"

static const char *const zone_a[] = {"a"};
static const struct match_spec in_a[] = {{.op = MATCH_IN, .key = "zone", .values = zone_a, .value_count = 1}};
static const struct selector_spec terms_a[] = {{in_a, 1}};

/* n1 in zone a, n2 in zone b. */
static void begin(struct small_state *s, node_id nodes[2])
{
    static const struct str_pair a[] = {{"zone", "a"}};
    static const struct str_pair b[] = {{"zone", "b"}};

    small_state_begin(s);
    put_gang(s, "g", (struct gang_like){0});
    nodes[0] = put_node(s, "n1", 8, a, 1);
    nodes[1] = put_node(s, "n2", 8, b, 1);
}

static void put_volume(struct small_state *s, struct volume_spec spec)
{
    spec.namespace = "ns";
    spec.is_bound = spec.handle != NULL;
    spec.waits_for_consumer = !spec.is_bound;
    assert_int_equal(state_put_volume(s->state, &spec, NULL), 0);
}

/* Up to two claims; NULL: none. */
static pod_id put_user(struct small_state *s, const char *gang, const char *name, const char *first, const char *second,
                       const char *node)
{
    struct pod_spec spec = pod_with(gang, name, 0, node);
    const char *const claims[] = {first, second};

    spec.constraints.volume_claims = claims;
    spec.constraints.volume_claim_count = second ? 2 : 1;
    return put_pod(s, &spec);
}

static void put_limit(struct small_state *s, const char *name, int64_t count)
{
    const struct amount_spec amounts[] = {{"cpu", 64000}, {"memory", INT64_C(256) << 30}, {"pods", 110}};
    const struct attach_limit_spec limits[] = {{"disks", count}};
    const struct node_spec spec = {
        .name = name,
        .allocatable = amounts,
        .allocatable_count = ARRAY_LEN(amounts),
        .device_count = -1,
        .attach_limits = limits,
        .attach_limit_count = 1,
    };

    assert_int_equal(state_put_node(s->state, &spec, NULL), 0);
}

typedef void name_fn(struct engine *engine, pod_id pod, node_id node, struct strbuf *out);

static void assert_says(struct small_state *s, name_fn *name, pod_id pod, node_id node, const char *expected)
{
    struct strbuf text;

    strbuf_init(&text, 1024);
    name(s->engine, pod, node, &text);
    assert_string_equal(text.text, expected);
    strbuf_done(&text);
}

static void a_class_makes_volumes_for_its_topologies_alone(void **unused)
{
    struct small_state s;
    node_id nodes[2];

    (void)unused;
    begin(&s, nodes);
    put_volume(&s, (struct volume_spec){.name = "c", .class = "fast", .made_terms = terms_a, .made_term_count = 1});
    pod_id pod = put_user(&s, "g", "p", "c", NULL, NULL);
    small_state_open(&s);
    assert_true(volumes_pass(s.engine, pod, nodes[0]));
    assert_says(&s, name_volume_problem, pod, nodes[0], "");
    assert_false(volumes_pass(s.engine, pod, nodes[1]));
    assert_says(&s, name_volume_problem, pod, nodes[1], "claim c: storage class fast does not provision volumes there");
    small_state_end(&s);
}

static void a_volume_that_is_being_made_holds_its_pod_to_the_node(void **unused)
{
    struct small_state s;
    node_id nodes[2];

    (void)unused;
    begin(&s, nodes);
    put_volume(&s, (struct volume_spec){.name = "c", .class = "fast", .made_for = "n2"});
    pod_id pod = put_user(&s, "g", "p", "c", NULL, NULL);
    small_state_open(&s);
    assert_false(volumes_pass(s.engine, pod, nodes[0]));
    assert_says(&s, name_volume_problem, pod, nodes[0], "claim c: its volume is being provisioned for node n2");
    assert_true(volumes_pass(s.engine, pod, nodes[1]));
    small_state_end(&s);
}

static void a_driver_that_tells_its_room_makes_no_larger_volume(void **unused)
{
    struct storage_spec room = {.name = "r", .namespace = "ns", .class = "fast", .nodes = terms_a[0], .bytes = 20};
    struct small_state s;
    node_id nodes[2];

    (void)unused;
    begin(&s, nodes);
    room.bytes <<= 30;
    put_volume(&s,
               (struct volume_spec){.name = "c", .class = "fast", .needs_storage = true, .bytes = INT64_C(30) << 30});
    pod_id pod = put_user(&s, "g", "p", "c", NULL, NULL);
    assert_int_equal(state_put_storage(s.state, &room, NULL), 0);
    small_state_open(&s);
    assert_false(volumes_pass(s.engine, pod, nodes[0]));
    assert_says(&s, name_volume_problem, pod, nodes[0],
                "claim c: 30Gi needed, storage class fast has room for at most 20Gi");
    assert_says(&s, name_volume_problem, pod, nodes[1], "claim c: 30Gi needed, storage class fast has no room there");
    room.bytes <<= 1;
    assert_int_equal(state_put_storage(s.state, &room, NULL), 0);
    assert_true(volumes_pass(s.engine, pod, nodes[0]));
    assert_false(volumes_pass(s.engine, pod, nodes[1]));
    state_drop_storage(s.state, "ns", "r");
    state_drop_storage(s.state, "ns", "r");
    assert_false(volumes_pass(s.engine, pod, nodes[0]));
    room.name = "";
    assert_true(state_put_storage(s.state, &room, NULL) < 0);
    small_state_end(&s);
}

static void a_claim_for_one_pod_waits_until_the_other_has_left(void **unused)
{
    struct small_state s;
    node_id nodes[2];

    (void)unused;
    begin(&s, nodes);
    put_gang(&s, "other", (struct gang_like){0});
    put_volume(&s, (struct volume_spec){.name = "c", .handle = "v", .is_for_one_pod = true});
    pod_id user = put_user(&s, "other", "user", "c", NULL, "n1");
    pod_id pod = put_user(&s, "g", "p", "c", NULL, NULL);
    small_state_open(&s);
    assert_true(volumes_unused(s.engine, user, nodes[0]));
    assert_false(volumes_unused(s.engine, pod, nodes[1]));
    assert_says(&s, name_volume_user, pod, nodes[1], "claim c is used by pod ns/user");

    struct pod_spec leaving = pod_with("other", "user", 0, "n1");
    static const char *const claims[] = {"c"};
    leaving.constraints.volume_claims = claims;
    leaving.constraints.volume_claim_count = 1;
    leaving.status = POD_RELEASING;
    leaving.deleted = NOW;
    put_pod(&s, &leaving);
    small_state_open(&s);
    assert_true(volumes_unused(s.engine, pod, nodes[1]));
    assert_true(volumes_wait(s.engine, pod, nodes[1]));

    state_drop_pod(s.state, "ns", "user");
    small_state_open(&s);
    assert_true(volumes_unused(s.engine, pod, nodes[1]));
    assert_false(volumes_wait(s.engine, pod, nodes[1]));
    small_state_end(&s);
}

static void two_pods_of_a_gang_do_not_share_a_claim_for_one_pod(void **unused)
{
    struct small_state s;
    node_id nodes[2];

    (void)unused;
    begin(&s, nodes);
    put_volume(&s, (struct volume_spec){.name = "c", .handle = "v", .is_for_one_pod = true});
    put_gang(&s, "pair", (struct gang_like){.min = 2});
    put_user(&s, "pair", "p1", "c", NULL, NULL);
    put_user(&s, "pair", "p2", "c", NULL, NULL);
    pod_id single = put_user(&s, "g", "single", "c", NULL, NULL);
    small_state_open(&s);
    engine_run(s.engine, ACTION_ALLOCATE);
    size_t count;
    const struct decision *decisions = engine_decisions(s.engine, &count);
    assert_int_equal(count, 1);
    assert_int_equal(decisions[0].pod, single);
    engine_close(s.engine);
    small_state_end(&s);
}

static void a_node_takes_as_many_volumes_as_it_says(void **unused)
{
    struct small_state s;
    node_id nodes[2];

    (void)unused;
    begin(&s, nodes);
    put_limit(&s, "n1", 2);
    put_volume(&s, (struct volume_spec){.name = "a", .handle = "v-a", .driver = "disks"});
    put_volume(&s, (struct volume_spec){.name = "b", .handle = "v-b", .driver = "disks"});
    put_volume(&s, (struct volume_spec){.name = "new", .class = "fast", .driver = "disks"});
    put_volume(&s, (struct volume_spec){.name = "net", .handle = "v-a", .driver = "files"});
    put_user(&s, "g", "there", "a", "net", "n1");
    pod_id same = put_user(&s, "g", "same", "a", "b", NULL);
    pod_id more = put_user(&s, "g", "more", "b", "new", NULL);
    pod_id files = put_user(&s, "g", "files", "net", NULL, NULL);
    small_state_open(&s);
    /* One more, and the one that is attached. */
    assert_true(volumes_within_limits(s.engine, same, nodes[0]));
    assert_true(volumes_within_limits(s.engine, files, nodes[0]));
    assert_false(volumes_within_limits(s.engine, more, nodes[0]));
    assert_says(&s, name_attach_limit, more, nodes[0], "driver disks: 2 more needed, 1 of 2 attached");
    assert_true(volumes_within_limits(s.engine, more, nodes[1]));
    place(&s, same, nodes[0]);
    assert_says(&s, name_attach_limit, more, nodes[0], "driver disks: 1 more needed, 2 of 2 attached");
    small_state_end(&s);
}

/* The volume of a pod that is leaving is attached until it has left: the next pod is promised its place, not bound. */
static void what_is_leaving_makes_room_later(void **unused)
{
    static const char *const claims[] = {"a"};
    struct small_state s;
    node_id nodes[2];

    (void)unused;
    begin(&s, nodes);
    state_drop_node(s.state, "n2");
    put_limit(&s, "n1", 1);
    put_gang(&s, "old", (struct gang_like){0});
    put_volume(&s, (struct volume_spec){.name = "a", .handle = "v-a", .driver = "disks"});
    put_volume(&s, (struct volume_spec){.name = "b", .handle = "v-b", .driver = "disks"});
    struct pod_spec leaving = pod_with("old", "old", 0, "n1");
    leaving.constraints.volume_claims = claims;
    leaving.constraints.volume_claim_count = 1;
    leaving.status = POD_RELEASING;
    leaving.deleted = NOW;
    put_pod(&s, &leaving);
    pod_id pod = put_user(&s, "g", "p", "b", NULL, NULL);
    small_state_open(&s);
    engine_run(s.engine, ACTION_ALLOCATE);
    size_t count;
    const struct decision *decisions = engine_decisions(s.engine, &count);
    assert_int_equal(count, 1);
    assert_int_equal(decisions[0].pod, pod);
    assert_int_equal(decisions[0].kind, DECISION_PIPELINE);
    engine_close(s.engine);
    small_state_end(&s);
}

/* Where the waiting pod of "g" is placed; the decision is taken back. */
static node_id placed(struct small_state *s)
{
    size_t count;

    small_state_open(s);
    engine_run(s->engine, ACTION_ALLOCATE);
    const struct decision *decisions = engine_decisions(s->engine, &count);
    assert_int_equal(count, 1);
    node_id node = decisions[0].node;
    engine_close(s->engine);
    const struct pod_spec spec = {.namespace = "ns", .name = "p"};
    state_drop_pod(s->state, spec.namespace, spec.name);
    (void)put_user(s, "g", "p", "c", NULL, NULL);
    return node;
}

static void a_node_that_a_volume_could_not_be_made_for_comes_last(void **unused)
{
    struct small_state s;
    node_id nodes[2];

    (void)unused;
    begin(&s, nodes);
    put_volume(&s, (struct volume_spec){.name = "c", .class = "fast"});
    pod_id pod = put_user(&s, "g", "p", "c", NULL, NULL);
    node_id first = placed(&s);
    node_id second = first == nodes[0] ? nodes[1] : nodes[0];
    const char *first_name = state_name(s.state, s.state->nodes.items[first].name);

    /* The provisioner gave up, and the same is known of a copy. */
    put_volume(&s, (struct volume_spec){.name = "c", .class = "fast", .made_for = first_name});
    put_volume(&s, (struct volume_spec){.name = "c", .class = "fast"});
    assert_int_equal(placed(&s), second);
    state_settle(s.state);
    struct state *copy = state_retell(s.state, &RETELL_CHANGE_INIT(NO_ID));
    assert_true(volumes_have_failed(copy, state_find_pod(copy, "ns", "p"), state_find_node(copy, first_name)));
    state_free(copy);

    /* So did the bind to the other: the one that failed first is tried again where it is the only one. */
    pod = state_find_pod(s.state, "ns", "p");
    state_fail_volumes(s.state, pod, s.state->nodes.items[second].name);
    assert_true(volumes_have_failed(s.state, pod, second));
    assert_int_equal(placed(&s), first);
    put_volume(&s, (struct volume_spec){.name = "c", .handle = "v"});
    assert_false(volumes_have_failed(s.state, state_find_pod(s.state, "ns", "p"), NO_ID));
    small_state_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_class_makes_volumes_for_its_topologies_alone),
        cmocka_unit_test(a_volume_that_is_being_made_holds_its_pod_to_the_node),
        cmocka_unit_test(a_driver_that_tells_its_room_makes_no_larger_volume),
        cmocka_unit_test(a_claim_for_one_pod_waits_until_the_other_has_left),
        cmocka_unit_test(two_pods_of_a_gang_do_not_share_a_claim_for_one_pod),
        cmocka_unit_test(a_node_takes_as_many_volumes_as_it_says),
        cmocka_unit_test(what_is_leaving_makes_room_later),
        cmocka_unit_test(a_node_that_a_volume_could_not_be_made_for_comes_last),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
