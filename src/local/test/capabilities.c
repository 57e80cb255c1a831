/* SPDX-License-Identifier: Apache-2.0 */
#include "local/shim/capabilities.h"

#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static uint64_t of(const char *add, const char *drop)
{
    yyjson_doc *more = yyjson_read(add, strlen(add), 0), *less = yyjson_read(drop, strlen(drop), 0);
    uint64_t bits = capabilities_of(yyjson_doc_get_root(more), yyjson_doc_get_root(less));

    yyjson_doc_free(more);
    yyjson_doc_free(less);
    return bits;
}

static void containers_have_the_usual_capabilities(void **state)
{
    uint64_t bits = capabilities_of(NULL, NULL);

    (void)state;
    assert_true(bits & (uint64_t)1 << CAP_CHOWN);
    assert_false(bits & (uint64_t)1 << CAP_NET_ADMIN);
    assert_false(bits & (uint64_t)1 << CAP_SYS_ADMIN);
}

static void capabilities_are_added_and_dropped_by_name(void **state)
{
    (void)state;
    assert_true(of("[\"NET_ADMIN\"]", "[]") & (uint64_t)1 << CAP_NET_ADMIN);
    assert_true(of("[\"CAP_SYS_PTRACE\"]", "[]") & (uint64_t)1 << CAP_SYS_PTRACE);
    assert_false(of("[]", "[\"CHOWN\"]") & (uint64_t)1 << CAP_CHOWN);
    assert_int_equal(of("[]", "[\"ALL\"]"), 0);
    assert_int_equal(of("[\"CHOWN\"]", "[\"ALL\"]"), (uint64_t)1 << CAP_CHOWN);
    assert_true(of("[\"ALL\"]", "[\"CHOWN\"]") == ~((uint64_t)1 << CAP_CHOWN));
    assert_int_equal(of("[\"no such\"]", "[5]"), capabilities_of(NULL, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(containers_have_the_usual_capabilities),
        cmocka_unit_test(capabilities_are_added_and_dropped_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
