/* SPDX-License-Identifier: Apache-2.0 */
#include "text/terminal.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

/* A terminal of 100 columns and 30 lines that knows escape sequences, and nothing else in the environment. */
static FILE *open_terminal(int *ret_other_end)
{
    int ours = posix_openpt(O_RDWR | O_NOCTTY);
    const struct winsize size = {.ws_col = 100, .ws_row = 30};

    assert_true(ours >= 0 && grantpt(ours) == 0 && unlockpt(ours) == 0);
    int theirs = open(ptsname(ours), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(theirs >= 0);
    assert_int_equal(ioctl(theirs, TIOCSWINSZ, &size), 0);
    *ret_other_end = ours;
    assert_int_equal(setenv("TERM", "xterm-256color", 1), 0);
    assert_int_equal(unsetenv("NO_COLOR"), 0);
    assert_int_equal(unsetenv("COLUMNS"), 0);
    terminal_choose_colour(COLOUR_AUTO);
    return fdopen(theirs, "r+");
}

static void close_terminal(FILE *terminal, int other_end)
{
    assert_int_equal(fclose(terminal), 0);
    assert_int_equal(close(other_end), 0);
}

static void a_file_has_any_size_and_no_colour_unless_it_is_asked_for(void **state)
{
    (void)state;
    FILE *out = tmpfile();

    assert_non_null(out);
    assert_int_equal(setenv("COLUMNS", "40", 1), 0);
    terminal_choose_colour(COLOUR_AUTO);
    struct terminal terminal = terminal_of(out);
    assert_int_equal(terminal.width, 0);
    assert_int_equal(terminal.height, 0);
    assert_false(terminal.has_colour);
    assert_false(terminal.can_redraw);
    terminal_choose_colour(COLOUR_ALWAYS);
    assert_true(terminal_of(out).has_colour);
    assert_int_equal(terminal_of(out).width, 0);
    assert_int_equal(fclose(out), 0);
}

static void a_terminal_reports_its_size_unless_columns_is_set(void **state)
{
    (void)state;
    int other_end;
    FILE *out = open_terminal(&other_end);

    assert_int_equal(terminal_of(out).width, 100);
    assert_int_equal(terminal_of(out).height, 30);
    assert_int_equal(setenv("COLUMNS", "40", 1), 0);
    assert_int_equal(terminal_of(out).width, 40);
    assert_int_equal(setenv("COLUMNS", "-3", 1), 0);
    assert_int_equal(terminal_of(out).width, 100);
    close_terminal(out, other_end);
}

static void a_terminal_has_colour_unless_the_environment_refuses(void **state)
{
    (void)state;
    int other_end;
    FILE *out = open_terminal(&other_end);

    assert_true(terminal_of(out).has_colour);
    assert_true(terminal_of(out).can_redraw);
    assert_int_equal(setenv("NO_COLOR", "1", 1), 0);
    assert_false(terminal_of(out).has_colour);
    assert_true(terminal_of(out).can_redraw);
    assert_int_equal(setenv("NO_COLOR", "", 1), 0);
    assert_true(terminal_of(out).has_colour);
    assert_int_equal(setenv("TERM", "dumb", 1), 0);
    assert_false(terminal_of(out).has_colour);
    assert_false(terminal_of(out).can_redraw);
    assert_int_equal(unsetenv("TERM"), 0);
    assert_false(terminal_of(out).has_colour);
    close_terminal(out, other_end);
}

static void the_option_wins_over_the_environment(void **state)
{
    (void)state;
    int other_end;
    FILE *out = open_terminal(&other_end);

    terminal_choose_colour(COLOUR_NEVER);
    assert_false(terminal_of(out).has_colour);
    assert_true(terminal_of(out).can_redraw);
    assert_int_equal(setenv("NO_COLOR", "1", 1), 0);
    assert_int_equal(setenv("TERM", "dumb", 1), 0);
    terminal_choose_colour(COLOUR_ALWAYS);
    assert_true(terminal_of(out).has_colour);
    assert_false(terminal_of(out).can_redraw);
    close_terminal(out, other_end);
}

static void styles_are_ended_where_they_were_started(void **state)
{
    (void)state;
    assert_string_equal(style_start(STYLE_BAD, true), "\033[31m");
    assert_string_equal(style_end(STYLE_BAD, true), "\033[0m");
    assert_string_equal(style_start(STYLE_PLAIN, true), "");
    assert_string_equal(style_end(STYLE_PLAIN, true), "");
    assert_string_equal(style_start(STYLE_BOLD, false), "");
    assert_string_equal(style_end(STYLE_BOLD, false), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_has_any_size_and_no_colour_unless_it_is_asked_for),
        cmocka_unit_test(a_terminal_reports_its_size_unless_columns_is_set),
        cmocka_unit_test(a_terminal_has_colour_unless_the_environment_refuses),
        cmocka_unit_test(the_option_wins_over_the_environment),
        cmocka_unit_test(styles_are_ended_where_they_were_started),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
