/* SPDX-License-Identifier: Apache-2.0 */

/* Texts follow the rows of filters: one that only this test knows has its words, with the names that it asks for. */
#include "engine/node_reason.h"
#include "words/test/saying.h"

static bool never(struct engine *engine, pod_id pod, node_id node)
{
    (void)engine;
    (void)pod;
    (void)node;
    return false;
}

static void two_reasons(struct engine *engine, pod_id pod, node_id node, struct arena *arena, struct node_reason *ret)
{
    (void)engine;
    (void)pod;
    (void)node;
    (void)arena;
    ret->texts[ret->text_count++] = "{node} is closed";
    ret->texts[ret->text_count++] = "{unknown} stays as it is";
}

static void say_with(struct filter own)
{
    enum { ROWS_MAX = 32 };
    static struct filter rows[ROWS_MAX];
    struct pod_spec pod = pod_with("g", "p", 1, NULL);
    struct small_state s;

    small_state_begin(&s);
    put_node(&s, "a", 2, NULL, 0);
    put_node(&s, "b", 2, NULL, 0);
    put_gang(&s, "g", (struct gang_like){0});
    put_pod(&s, &pod);
    assert_true(standard_filters.count < ROWS_MAX);
    memcpy(rows, standard_filters.rows, standard_filters.count * sizeof *rows);
    rows[standard_filters.count] = own;
    s.engine->filters = (struct filter_table){rows, standard_filters.count + 1};
    say(&s, "g");
    small_state_end(&s);
}

static void a_filter_of_ones_own_has_its_text(void **state)
{
    (void)state;
    struct filter own = {
        .name = "own", .plugin = PLUGIN_PREDICATES, .scope = FILTER_STATIC, .passes = never, .text = "no place for it"};

    say_with(own);
    assert_string_equal(said.pod, "no nodes with enough resources were found: 2 no place for it.");
    own.named_text = "no place for {pod} on {node}";
    say_with(own);
    assert_string_equal(
        said.pod, "no nodes with enough resources were found: 1 no place for ns/p on a. \n1 no place for ns/p on b.");
    assert_string_equal(said.detailed_pod,
                        "\n<a>: no place for ns/p on a.\n<b>: no place for ns/p on b.\nno nodes with "
                        "enough resources were found.");
}

static void its_own_reasons_come_first(void **state)
{
    (void)state;
    const struct filter own = {.name = "own",
                               .plugin = PLUGIN_PREDICATES,
                               .scope = FILTER_STATIC,
                               .passes = never,
                               .text = "no place for it",
                               .reason = two_reasons};

    say_with(own);
    assert_string_equal(said.pod, "no nodes with enough resources were found: 1 a is closed. \n1 b is closed. \n2 "
                                  "{unknown} stays as it is.");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_filter_of_ones_own_has_its_text),
        cmocka_unit_test(its_own_reasons_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
