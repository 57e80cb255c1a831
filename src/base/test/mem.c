/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/macros.h"

static void memory_of_no_bytes_is_memory(void **state)
{
    (void)state;
    void *mem[] = {xmalloc(0), xcalloc(0, 8), xcalloc(8, 0), xrealloc(NULL, 0), xreallocarray(NULL, 0, 4)};

    for (size_t i = 0; i < ARRAY_LEN(mem); i++) {
        assert_non_null(mem[i]);
        free(mem[i]);
    }
}

static void strings_are_copied_up_to_the_bound(void **state)
{
    (void)state;
    static const char raw[3] = {'a', 'b', 'c'};
    _cleanup_(freep) char *whole = xstrdup("gpu");
    _cleanup_(freep) char *part = xstrndup("gpu-1", 3);
    _cleanup_(freep) char *all = xstrndup("gpu", 100);
    _cleanup_(freep) char *without_nul = xstrndup(raw, 3);

    assert_string_equal(whole, "gpu");
    assert_string_equal(part, "gpu");
    assert_string_equal(all, "gpu");
    assert_string_equal(without_nul, "abc");
}

static void an_overflowing_size_aborts(void **state)
{
    (void)state;
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        /* Through a variable, so that the compiler does not see the size. */
        volatile size_t huge = SIZE_MAX / 2;

        (void)close(STDERR_FILENO);
        (void)signal(SIGABRT, SIG_DFL);
        free(xreallocarray(NULL, huge, 4));
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    /* The sanitizers end the program in their own way. */
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_no_bytes_is_memory),
        cmocka_unit_test(strings_are_copied_up_to_the_bound),
        cmocka_unit_test(an_overflowing_size_aborts),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
