/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/err.h"
#include "console/rest/handlers.h"
#include "console/rest/routes.h"
#include "net/rest/rest.h"

static void every_row_of_the_table_has_a_permission(void **state)
{
    struct rest_route *rows = NULL;
    struct err err = {0};
    size_t count = 0;

    (void)state;
    assert_int_equal(routes_make(&rows, &count, &err), 0);
    assert_true(count >= 391);
    free(rows);
}

static void a_table_with_a_row_without_a_permission_is_not_served(void **state)
{
    static const char *const wrong[] = {NULL, "", "everybody", "project", "project:", "project:own", "nothing:read"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct rest_route rows[] = {REST_ROUTE("GET", "/a", handle_me, .role = ROLE_SELF),
                                    REST_ROUTE("GET", "/b", handle_me, .role = wrong[i])};
        struct err err = {0};

        assert_int_equal(routes_check(rows, 1, &err), 0);
        assert_int_equal(routes_check(rows, 2, &err), -EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_the_table_has_a_permission),
        cmocka_unit_test(a_table_with_a_row_without_a_permission_is_not_served),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
