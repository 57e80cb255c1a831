/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/test/small_state.h"

static const char *const web[] = {"web"};
static const struct match_spec is_web[] = {{.op = MATCH_IN, .key = "app", .values = web, .value_count = 1}};

static struct pod_term_spec term_on(const char *key)
{
    return (struct pod_term_spec){.selector = {is_web, 1}, .topology_key = key};
}

/* n1 and n2 in rack r1, n3 in r2, n4 in none. */
static void put_racks(struct small_state *s, node_id ret[4])
{
    static const struct str_pair r1[] = {{"rack", "r1"}};
    static const struct str_pair r2[] = {{"rack", "r2"}};

    put_gang(s, "g", (struct gang_like){0});
    ret[0] = put_node(s, "n1", 8, r1, 1);
    ret[1] = put_node(s, "n2", 8, r1, 1);
    ret[2] = put_node(s, "n3", 8, r2, 1);
    ret[3] = put_node(s, "n4", 8, NULL, 0);
}

static pod_id put_labelled(struct small_state *s, const char *name, const char *app, const char *node)
{
    struct pod_spec spec = pod_with("g", name, 1, node);
    const struct str_pair labels[] = {{"app", app}};

    spec.labels = labels;
    spec.label_count = 1;
    return put_pod(s, &spec);
}

static pod_id put_affine(struct small_state *s, const char *name, const char *app, const char *node, bool is_anti)
{
    struct pod_spec spec = pod_with("g", name, 1, node);
    const struct str_pair labels[] = {{"app", app}};
    const struct pod_term_spec terms[] = {term_on("rack")};

    spec.labels = labels;
    spec.label_count = 1;
    if (is_anti) {
        spec.constraints.anti_affinity = terms;
        spec.constraints.anti_affinity_count = 1;
    } else {
        spec.constraints.affinity = terms;
        spec.constraints.affinity_count = 1;
    }
    return put_pod(s, &spec);
}

static void assert_passes(struct small_state *s, pod_id pod, const node_id nodes[4], const char *expected)
{
    char got[5] = "";

    for (int i = 0; i < 4; i++)
        got[i] = affinity_passes(s->engine, pod, nodes[i]) ? 'y' : 'n';
    assert_string_equal(got, expected);
}

static void affinity_asks_for_a_partner_in_the_same_domain(void **state)
{
    (void)state;
    struct small_state s;
    node_id nodes[4];

    small_state_begin(&s);
    put_racks(&s, nodes);
    put_labelled(&s, "web", "web", "n1");
    pod_id pod = put_affine(&s, "p", "db", NULL, false);
    small_state_open(&s);
    assert_true(affinity_is_relevant(s.engine, pod));
    assert_passes(&s, pod, nodes, "yynn");
    small_state_end(&s);
}

static void the_first_of_a_group_that_likes_itself_may_start_anywhere(void **state)
{
    (void)state;
    struct small_state s;
    node_id nodes[4];

    small_state_begin(&s);
    put_racks(&s, nodes);
    pod_id first = put_affine(&s, "p1", "web", NULL, false);
    pod_id second = put_affine(&s, "p2", "web", NULL, false);
    pod_id other = put_affine(&s, "p3", "db", NULL, false);
    small_state_open(&s);
    assert_passes(&s, first, nodes, "yyyn");
    assert_passes(&s, other, nodes, "nnnn");
    place(&s, first, nodes[2]);
    assert_passes(&s, second, nodes, "nnyn");
    assert_passes(&s, other, nodes, "nnyn");
    small_state_end(&s);
}

static void anti_affinity_holds_both_ways(void **state)
{
    (void)state;
    struct small_state s;
    node_id nodes[4];

    small_state_begin(&s);
    put_racks(&s, nodes);
    put_labelled(&s, "web", "web", "n3");
    put_affine(&s, "lonely", "db", "n1", true);
    pod_id shy = put_affine(&s, "shy", "db", NULL, true);
    pod_id guest = put_labelled(&s, "guest", "web", NULL);
    pod_id neutral = put_labelled(&s, "neutral", "db", NULL);
    small_state_open(&s);
    assert_passes(&s, shy, nodes, "yyny");
    assert_passes(&s, guest, nodes, "nnyy");
    assert_true(affinity_is_relevant(s.engine, guest));
    assert_false(affinity_is_relevant(s.engine, neutral));
    small_state_end(&s);
}

/* What KAI does: to be found irrelevant once is to be irrelevant for the cycle. */
static void a_pod_without_concern_is_not_asked_again_in_the_cycle(void **state)
{
    (void)state;
    struct small_state s;
    node_id nodes[4];

    small_state_begin(&s);
    put_racks(&s, nodes);
    pod_id guest = put_labelled(&s, "guest", "web", NULL);
    pod_id late = put_labelled(&s, "late", "web", NULL);
    pod_id shy = put_affine(&s, "shy", "db", NULL, true);
    small_state_open(&s);
    assert_false(affinity_is_relevant(s.engine, guest));
    place(&s, shy, nodes[0]);
    assert_passes(&s, guest, nodes, "yyyy");
    assert_passes(&s, late, nodes, "nnyy");
    small_state_open(&s);
    assert_passes(&s, guest, nodes, "nnyy");
    small_state_end(&s);
}

static void terms_look_at_their_own_namespace_unless_they_name_others(void **state)
{
    (void)state;
    static const char *const elsewhere[] = {"elsewhere"};
    struct small_state s;
    node_id nodes[4];

    small_state_begin(&s);
    put_racks(&s, nodes);
    struct pod_spec foreign = pod_with(NULL, "web", 1, "n1");
    const struct str_pair labels[] = {{"app", "web"}};
    foreign.namespace = "elsewhere";
    foreign.labels = labels;
    foreign.label_count = 1;
    put_pod(&s, &foreign);
    pod_id own = put_affine(&s, "own", "db", NULL, true);
    struct pod_term_spec term = term_on("rack");
    term.namespaces = elsewhere;
    term.namespace_count = 1;
    struct pod_spec spec = pod_with("g", "there", 1, NULL);
    spec.constraints.anti_affinity = &term;
    spec.constraints.anti_affinity_count = 1;
    pod_id there = put_pod(&s, &spec);
    small_state_open(&s);
    assert_passes(&s, own, nodes, "yyyy");
    assert_passes(&s, there, nodes, "nnyy");
    small_state_end(&s);
}

static void preferences_add_up_from_both_sides(void **state)
{
    (void)state;
    struct small_state s;
    node_id nodes[4];
    struct pod_term_spec likes = term_on("rack");
    struct pod_term_spec dislikes = term_on("rack");

    small_state_begin(&s);
    put_racks(&s, nodes);
    likes.weight = 5;
    dislikes.weight = -2;
    put_labelled(&s, "web1", "web", "n1");
    put_labelled(&s, "web2", "web", "n2");
    struct pod_spec grumpy = pod_with("g", "grumpy", 1, "n3");
    grumpy.constraints.preferred_pods = &dislikes;
    grumpy.constraints.preferred_pod_count = 1;
    put_pod(&s, &grumpy);
    struct pod_spec spec = pod_with("g", "p", 1, NULL);
    const struct str_pair labels[] = {{"app", "web"}};
    spec.labels = labels;
    spec.label_count = 1;
    spec.constraints.preferred_pods = &likes;
    spec.constraints.preferred_pod_count = 1;
    pod_id pod = put_pod(&s, &spec);
    small_state_open(&s);
    assert_int_equal(affinity_score(s.engine, pod, nodes[0]), 10);
    assert_int_equal(affinity_score(s.engine, pod, nodes[1]), 10);
    assert_int_equal(affinity_score(s.engine, pod, nodes[2]), -2);
    assert_int_equal(affinity_score(s.engine, pod, nodes[3]), 0);
    assert_true(affinity_passes(s.engine, pod, nodes[3]));
    small_state_end(&s);
}

static void spread_keeps_the_skew(void **state)
{
    (void)state;
    struct small_state s;
    node_id nodes[4];
    const struct spread_spec spread = {.selector = {is_web, 1}, .topology_key = "rack", .max_skew = 1, .is_hard = true};

    small_state_begin(&s);
    put_racks(&s, nodes);
    put_labelled(&s, "web1", "web", "n1");
    struct pod_spec spec = pod_with("g", "p", 1, NULL);
    const struct str_pair labels[] = {{"app", "web"}};
    spec.labels = labels;
    spec.label_count = 1;
    spec.constraints.spread = &spread;
    spec.constraints.spread_count = 1;
    pod_id pod = put_pod(&s, &spec);
    pod_id other = put_labelled(&s, "web2", "web", NULL);
    small_state_open(&s);
    assert_false(spread_passes(s.engine, pod, nodes[0]));
    assert_false(spread_passes(s.engine, pod, nodes[1]));
    assert_true(spread_passes(s.engine, pod, nodes[2]));
    assert_false(spread_passes(s.engine, pod, nodes[3]));
    place(&s, other, nodes[2]);
    assert_true(spread_passes(s.engine, pod, nodes[0]));
    small_state_end(&s);
}

static void volumes_must_exist_and_tie_pods_to_their_nodes(void **state)
{
    (void)state;
    static const char *const r2[] = {"r2"};
    static const struct match_spec in_r2[] = {{.op = MATCH_IN, .key = "rack", .values = r2, .value_count = 1}};
    static const struct selector_spec terms[] = {{in_r2, 1}};
    static const char *const names[] = {"data"};
    struct volume_spec volume = {.namespace = "ns", .name = "data"};
    struct small_state s;
    node_id nodes[4];

    small_state_begin(&s);
    put_racks(&s, nodes);
    struct pod_spec spec = pod_with("g", "p", 1, NULL);
    spec.constraints.volume_claims = names;
    spec.constraints.volume_claim_count = 1;
    pod_id pod = put_pod(&s, &spec);
    small_state_open(&s);
    assert_false(volumes_exist(s.engine, pod));

    assert_int_equal(state_put_volume(s.state, &volume, NULL), 0);
    assert_false(volumes_exist(s.engine, pod));
    volume.waits_for_consumer = true;
    assert_int_equal(state_put_volume(s.state, &volume, NULL), 0);
    assert_true(volumes_exist(s.engine, pod));
    assert_true(volumes_pass(s.engine, pod, nodes[0]));
    volume.is_bound = true;
    volume.node_terms = terms;
    volume.node_term_count = 1;
    assert_int_equal(state_put_volume(s.state, &volume, NULL), 0);
    assert_true(volumes_exist(s.engine, pod));
    assert_false(volumes_pass(s.engine, pod, nodes[0]));
    assert_true(volumes_pass(s.engine, pod, nodes[2]));
    volume.is_lost = true;
    assert_int_equal(state_put_volume(s.state, &volume, NULL), 0);
    assert_false(volumes_exist(s.engine, pod));
    small_state_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(affinity_asks_for_a_partner_in_the_same_domain),
        cmocka_unit_test(the_first_of_a_group_that_likes_itself_may_start_anywhere),
        cmocka_unit_test(anti_affinity_holds_both_ways),
        cmocka_unit_test(a_pod_without_concern_is_not_asked_again_in_the_cycle),
        cmocka_unit_test(terms_look_at_their_own_namespace_unless_they_name_others),
        cmocka_unit_test(preferences_add_up_from_both_sides),
        cmocka_unit_test(spread_keeps_the_skew),
        cmocka_unit_test(volumes_must_exist_and_tie_pods_to_their_nodes),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
