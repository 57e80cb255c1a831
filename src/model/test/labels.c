/* SPDX-License-Identifier: Apache-2.0 */
#include "model/test/helper.h"

#include "model/parts.h"

static const struct str_pair pairs[] = {{"zone", "b"}, {"disk", "ssd"}, {"zone", "a"}, {"size", "12"}, {"empty", ""}};

static void labels_are_the_same_set_in_any_order_and_the_last_value_counts(void **unused)
{
    struct state *state = state_new();
    const struct str_pair other[] = {{"empty", NULL}, {"size", "12"}, {"disk", "ssd"}, {"zone", "a"}};
    labels_id id = labels_add(state, pairs, ARRAY_LEN(pairs));
    struct labels labels = state_labels(state, id);

    (void)unused;
    assert_int_equal(labels_add(state, other, ARRAY_LEN(other)), id);
    assert_int_not_equal(labels_add(state, other, 3), id);
    assert_int_equal(labels.count, 4);
    assert_string_equal(state_name(state, labels_get(labels, name_add(state, "zone"))), "a");
    assert_int_equal(labels_get(labels, name_add(state, "empty")), 0);
    assert_int_equal(labels_get(labels, name_add(state, "none")), NO_ID);
    state_free(state);
}

static void selectors_match_as_in_kubernetes(void **unused)
{
    static const struct {
        enum match_op op;
        const char *key;
        const char *value;
        bool is_match;
    } cases[] = {
        {MATCH_IN, "zone", "a", true},           {MATCH_IN, "zone", "c", false},
        {MATCH_IN, "none", "a", false},          {MATCH_NOT_IN, "zone", "a", false},
        {MATCH_NOT_IN, "zone", "c", true},       {MATCH_NOT_IN, "none", "a", true},
        {MATCH_EXISTS, "disk", NULL, true},      {MATCH_EXISTS, "none", NULL, false},
        {MATCH_NOT_EXISTS, "disk", NULL, false}, {MATCH_NOT_EXISTS, "none", NULL, true},
        {MATCH_GREATER, "size", "11", true},     {MATCH_GREATER, "size", "12", false},
        {MATCH_LESS, "size", "+13", true},       {MATCH_LESS, "size", "-13", false},
        {MATCH_LESS, "size", "x", false},        {MATCH_LESS, "size", " 13", false},
        {MATCH_LESS, "size", "13x", false},      {MATCH_LESS, "disk", "13", false},
        {MATCH_LESS, "none", "13", false},       {MATCH_FIELD_NAME_IN, "", "me", true},
        {MATCH_FIELD_NAME_IN, "", "you", false}, {MATCH_FIELD_NAME_NOT_IN, "", "me", false},
        {_MATCH_OP_MAX, "zone", "a", false},
    };
    struct state *state = state_new();
    struct labels labels = state_labels(state, labels_add(state, pairs, ARRAY_LEN(pairs)));

    (void)unused;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        name_id value = name_add(state, cases[i].value);
        struct match match = {cases[i].op, name_add(state, cases[i].key), &value, cases[i].value ? 1 : 0};
        struct selector selector = {&match, 1};

        if (selector_matches(state, selector, labels, name_add(state, "me")) != cases[i].is_match)
            fail_msg("case %zu", i);
    }
    assert_true(selector_matches(state, (struct selector){0}, labels, 0));
    state_free(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_the_same_set_in_any_order_and_the_last_value_counts),
        cmocka_unit_test(selectors_match_as_in_kubernetes),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
