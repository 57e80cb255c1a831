/* SPDX-License-Identifier: Apache-2.0 */
#include "text/suggest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char *suggest(const char *typed, char text[static SUGGESTION_MAX])
{
    struct suggestion suggestion;

    suggestion_init(&suggestion, typed);
    suggestion_offer(&suggestion, "research");
    suggestion_offer(&suggestion, "vision");
    suggestion_offer(&suggestion, "run");
    suggestion_offer(&suggestion, "a-very-long-name-of-a-training-job-for-language-models");
    return suggestion_text(&suggestion, "", text);
}

static void the_nearest_word_is_suggested(void **state)
{
    (void)state;
    char text[SUGGESTION_MAX];

    assert_string_equal(suggest("reserch", text), "; did you mean research?");
    assert_string_equal(suggest("visoin", text), "; did you mean vision?");
    assert_string_equal(suggest("a-very-long-name-of-a-training-job-for-langage-models", text),
                        "; did you mean a-very-long-name-of-a-training-job-for-language-models?");
    assert_string_equal(suggest("product", text), "");
}

static void two_letters_in_the_wrong_order_are_one_mistake(void **state)
{
    (void)state;
    char text[SUGGESTION_MAX];

    assert_string_equal(suggest("urn", text), "; did you mean run?");
    assert_string_equal(suggest("ruin", text), "; did you mean run?");
    assert_string_equal(suggest("nur", text), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_word_is_suggested),
        cmocka_unit_test(two_letters_in_the_wrong_order_are_one_mistake),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
