/* SPDX-License-Identifier: Apache-2.0 */
#include "local/node/pod/expand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"

static const char *find(void *arg, const char *name, size_t len)
{
    (void)arg;
    if (len == 1 && name[0] == 'A')
        return "one";
    return len == 5 && strncmp(name, "EMPTY", len) == 0 ? "" : NULL;
}

static void check(const char *text, const char *wanted)
{
    struct strbuf to;

    strbuf_init(&to, 1024);
    expand(&to, text, find, NULL);
    assert_string_equal(to.text, wanted);
    strbuf_done(&to);
}

static void known_variables_are_replaced(void **state)
{
    (void)state;
    check("$(A)", "one");
    check("x$(A)y$(A)", "xoneyone");
    check("$(EMPTY)", "");
}

static void unknown_variables_stay_as_they_are_written(void **state)
{
    (void)state;
    check("$(NONE) $(", "$(NONE) $(");
    check("$()", "$()");
    check("$A ${A}", "$A ${A}");
}

static void two_dollar_signs_are_one(void **state)
{
    (void)state;
    check("$$(A)", "$(A)");
    check("$$$(A)", "$one");
    check("a$", "a$");
    check("$$$$", "$$");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_variables_are_replaced),
        cmocka_unit_test(unknown_variables_stay_as_they_are_written),
        cmocka_unit_test(two_dollar_signs_are_one),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
