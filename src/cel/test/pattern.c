/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/pattern.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"

static void a_pattern_takes_time_in_proportion_to_the_text(void **state)
{
    struct pattern *pattern = NULL;
    size_t len = 200000;
    char *text = malloc(len + 1);

    (void)state;
    /* A matcher that backtracks would try every way to divide the text between the two loops. */
    assert_int_equal(pattern_new("^(a+)+(a|aa)*b$", &pattern, NULL), 0);
    memset(text, 'a', len);
    text[len] = '\0';
    assert_false(pattern_matches(pattern, text, len));
    text[len - 1] = 'b';
    assert_true(pattern_matches(pattern, text, len));
    pattern_free(pattern);
    free(text);
}

static void a_pattern_means_what_re2_means(void **state)
{
    static const struct {
        const char *pattern;
        const char *text;
        bool matches;
    } cases[] = {
        {"a$", "a\n", false},     {"^a|b$", "xb", true},     {"\\v", "\v", true},    {"\\Qa.b\\E", "a.b", true},
        {"\\Qa.b", "axb", false}, {"[[a]", "[", true},       {"[]a]", "]", true},    {"a{,2}", "a{,2}", true},
        {"(?P<n>a)", "a", true},  {"(?s)a.b", "a\nb", true}, {"\\x{e9}", "é", true}, {"x*?y", "xxy", true},
        {"\\pN", "7", true},      {"^$", "", true},          {"\\z", "", true},      {"(?i:A)b", "ab", true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct pattern *pattern = NULL;
        struct err err = {0};
        if (pattern_new(cases[i].pattern, &pattern, &err) < 0)
            fail_msg("%s: %s", cases[i].pattern, err.text);
        if (pattern_matches(pattern, cases[i].text, strlen(cases[i].text)) != cases[i].matches)
            fail_msg("%s, %s", cases[i].pattern, cases[i].text);
        pattern_free(pattern);
    }
}

static void what_re2_does_not_have_is_refused(void **state)
{
    static const char *const refused[] = {"(?=a)", "(?<=a)", "(?<!a)", "(?>a)", "\\1", "a++", "a**", "\\K",    "\\G",
                                          "(?R)",  "(?1)",   "(*F)",   "\\C",   "(",   ")",   "[",   "a{2000}"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        struct pattern *pattern = NULL;
        if (pattern_new(refused[i], &pattern, NULL) == 0)
            fail_msg("%s is taken", refused[i]);
    }
}

static void a_match_is_placed_where_the_expression_prefers_it(void **state)
{
    static const struct {
        const char *pattern;
        const char *text;
        size_t from;
        size_t start;
        size_t end;
    } cases[] = {
        {"a+", "xaay", 0, 1, 3}, {"a+?", "xaay", 0, 1, 2}, {"a|aa", "aa", 0, 0, 1},
        {"", "abc", 2, 2, 2},    {"b", "abcb", 2, 3, 4},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct pattern *pattern = NULL;
        struct pattern_place place = {0};
        uint64_t steps = 100000;
        assert_int_equal(pattern_new(cases[i].pattern, &pattern, NULL), 0);
        assert_int_equal(pattern_find(pattern, cases[i].text, strlen(cases[i].text), cases[i].from, &steps, &place), 1);
        assert_int_equal(place.start, cases[i].start);
        assert_int_equal(place.end, cases[i].end);
        assert_true(steps < 100000);
        pattern_free(pattern);
    }
}

static void a_search_ends_when_its_steps_are_taken(void **state)
{
    struct pattern *pattern = NULL;
    struct pattern_place place;
    char text[64];
    uint64_t steps = 100000;

    (void)state;
    memset(text, 'a', sizeof text);
    assert_int_equal(pattern_new("(a|aa)*[bc]", &pattern, NULL), 0);
    assert_int_equal(pattern_matches_within(pattern, text, sizeof text, &steps), 0);
    text[63] = 'c';
    assert_int_equal(pattern_matches_within(pattern, text, sizeof text, &steps), 1);
    steps = 1;
    assert_int_equal(pattern_matches_within(pattern, text, sizeof text, &steps), -E2BIG);
    assert_int_equal(steps, 0);
    /* With no b or c at all it is known before that nothing can match. */
    text[62] = 'd';
    text[63] = 'd';
    steps = 100;
    assert_true(pattern_find(pattern, text, sizeof text, 0, &steps, &place) <= 0);
    pattern_free(pattern);
}

static void a_short_expression_that_stands_for_a_long_one_says_so(void **state)
{
    struct pattern *few = NULL;
    struct pattern *many = NULL;

    (void)state;
    assert_int_equal(pattern_new("ab", &few, NULL), 0);
    assert_int_equal(pattern_new("(a{40}){40}", &many, NULL), 0);
    assert_true(pattern_bytes(many) > 10 * pattern_bytes(few));
    pattern_free(few);
    pattern_free(many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_takes_time_in_proportion_to_the_text),
        cmocka_unit_test(a_pattern_means_what_re2_means),
        cmocka_unit_test(what_re2_does_not_have_is_refused),
        cmocka_unit_test(a_match_is_placed_where_the_expression_prefers_it),
        cmocka_unit_test(a_search_ends_when_its_steps_are_taken),
        cmocka_unit_test(a_short_expression_that_stands_for_a_long_one_says_so),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
