/* SPDX-License-Identifier: Apache-2.0 */
#include "base/macros.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int cleaned;

static void count_up(int *value)
{
    cleaned += *value;
}

static void a_scope_cleans_up_behind_itself(void **state)
{
    (void)state;
    cleaned = 0;
    {
        _cleanup_(count_up) int value = 3;
        (void)value;
        assert_int_equal(cleaned, 0);
    }
    assert_int_equal(cleaned, 3);
}

static void a_taken_pointer_leaves_null_behind(void **state)
{
    (void)state;
    int value = 1;
    int *owner = &value;

    assert_ptr_equal(TAKE_PTR(owner), &value);
    assert_null(owner);
}

static int calls;

static int next(void)
{
    return ++calls;
}

static void arguments_are_evaluated_once_and_macros_nest(void **state)
{
    (void)state;
    calls = 0;
    assert_int_equal(MAX(next(), 0), 1);
    assert_int_equal(MIN(next(), 9), 2);
    assert_int_equal(MAX(MIN(4, 3), MIN(1, 2)), 3);
    assert_int_equal(CLAMP(7, 1, 5), 5);
    assert_int_equal(CLAMP(0, 1, 5), 1);
    assert_int_equal(CLAMP(3, 1, 5), 3);
    assert_int_equal(ARRAY_LEN(((int[]){1, 2, 3})), 3);
}

static void a_broken_invariant_stops_the_program(void **state)
{
    (void)state;
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        (void)close(STDERR_FILENO);
        (void)signal(SIGABRT, SIG_DFL);
        BUG_ON(cleaned >= 0);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scope_cleans_up_behind_itself),
        cmocka_unit_test(a_taken_pointer_leaves_null_behind),
        cmocka_unit_test(arguments_are_evaluated_once_and_macros_nest),
        cmocka_unit_test(a_broken_invariant_stops_the_program),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
