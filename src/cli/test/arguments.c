/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "cli/commands.h"
#include "text/terminal.h"

static const char *const colours[] = {"red", "blue", NULL};

static const struct command_option options[] = {
    {'c', "colour", "red|blue", colours, "which"},
    {'v', "verbose", NULL, NULL, "more"},
    {0, "count", "N", NULL, "how many"},
};

static const struct command command = {
    .name = "test", .summary = "test", .usage = "", .options = options, .option_count = ARRAY_LEN(options)};

#define ARGUMENTS(a, ...)                         \
    const char *words[] = {__VA_ARGS__};          \
    _cleanup_(arguments_done) struct arguments a; \
    arguments_init(&a, &command, (int)ARRAY_LEN(words), words)

static void options_and_operands_may_be_mixed(void **state)
{
    (void)state;
    ARGUMENTS(a, "one", "-vc", "red", "two", "--count=3", "--", "-v");

    assert_int_equal(arguments_next(&a), 1);
    assert_int_equal(arguments_next(&a), 0);
    assert_string_equal(a.value, "red");
    assert_int_equal(arguments_next(&a), 2);
    assert_string_equal(a.value, "3");
    assert_int_equal(arguments_next(&a), ARGUMENT_END);
    assert_int_equal(a.operand_count, 3);
    assert_string_equal(a.operands[1], "two");
    assert_string_equal(a.operands[2], "-v");
}

static void a_single_dash_is_an_operand(void **state)
{
    (void)state;
    ARGUMENTS(a, "-");

    assert_int_equal(arguments_next(&a), ARGUMENT_END);
    assert_string_equal(a.operands[0], "-");
}

static void a_value_may_be_attached_to_a_short_option(void **state)
{
    (void)state;
    ARGUMENTS(a, "-cblue");

    assert_int_equal(arguments_next(&a), 0);
    assert_string_equal(a.value, "blue");
}

static void help_is_known_to_every_command(void **state)
{
    (void)state;
    ARGUMENTS(a, "-h", "--help");

    assert_int_equal(arguments_next(&a), ARGUMENT_HELP);
    assert_int_equal(arguments_next(&a), ARGUMENT_HELP);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"-x", "--nothing", "--verbose=1", "--colour=green", "--count", "-c"};

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        char word[32];

        (void)strcpy(word, wrong[i]);
        ARGUMENTS(a, word);
        assert_int_equal(arguments_next(&a), ARGUMENT_WRONG);
    }
}

static void numbers_are_checked_for_their_range(void **state)
{
    (void)state;
    struct arguments a = {.command = &command};
    long number = 0;

    a.value = "12";
    assert_true(arguments_number(&a, "count", 1, 12, &number));
    assert_int_equal(number, 12);
    static const char *const wrong[] = {"0", "13", "", "1x", "99999999999999999999"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        a.value = wrong[i];
        assert_false(arguments_number(&a, "count", 1, 12, &number));
    }
}

static void options_end_at_the_program_that_is_run(void **state)
{
    (void)state;
    static const struct command runs = {.name = "test run",
                                        .summary = "test",
                                        .usage = "",
                                        .options = options,
                                        .option_count = ARRAY_LEN(options),
                                        .operands = OPERANDS_PROGRAM};
    const char *words[] = {"-v", "program", "-c", "--", "x"};
    _cleanup_(arguments_done) struct arguments a;

    arguments_init(&a, &runs, (int)ARRAY_LEN(words), words);
    assert_int_equal(arguments_next(&a), 1);
    assert_int_equal(arguments_next(&a), ARGUMENT_END);
    assert_int_equal(a.operand_count, 4);
    assert_string_equal(a.operands[0], "program");
    assert_string_equal(a.operands[2], "--");
}

static void color_is_known_to_every_command(void **state)
{
    (void)state;
    ARGUMENTS(a, "--color", "always", "-v", "--color=never");

    assert_int_equal(arguments_next(&a), 1);
    assert_true(terminal_of(stdout).has_colour);
    assert_int_equal(arguments_next(&a), ARGUMENT_END);
    assert_false(terminal_of(stdout).has_colour);
}

static void is_complete(const struct command *each)
{
    assert_non_null(each->summary);
    assert_non_null(each->usage);
    assert_non_null(each->examples);
    assert_int_equal(each->verbs != NULL, each->run == NULL);
}

static void every_command_and_verb_is_found_and_complete(void **state)
{
    (void)state;
    const struct command *found;

    for (const struct command *const *each = commands; *each; each++) {
        const char *words[] = {(*each)->name, NULL};

        is_complete(*each);
        assert_int_equal(command_find(words, 1, &found), EXIT_FINE);
        assert_ptr_equal(found, *each);
        for (const struct command *const *verb = (*each)->verbs; verb && *verb; verb++) {
            is_complete(*verb);
            words[1] = command_word(*verb);
            assert_int_equal(command_find(words, 2, &found), EXIT_FINE);
            assert_ptr_equal(found, *verb);
        }
    }
    assert_int_equal(command_find((const char *[]){"nothing"}, 1, &found), EXIT_WRONG_CALL);
    assert_int_equal(command_find((const char *[]){"gpu", "nothing"}, 2, &found), EXIT_WRONG_CALL);
    assert_int_equal(command_find((const char *[]){"why", "nothing"}, 2, &found), EXIT_WRONG_CALL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_and_operands_may_be_mixed),
        cmocka_unit_test(a_single_dash_is_an_operand),
        cmocka_unit_test(a_value_may_be_attached_to_a_short_option),
        cmocka_unit_test(help_is_known_to_every_command),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(numbers_are_checked_for_their_range),
        cmocka_unit_test(options_end_at_the_program_that_is_run),
        cmocka_unit_test(color_is_known_to_every_command),
        cmocka_unit_test(every_command_and_verb_is_found_and_complete),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
