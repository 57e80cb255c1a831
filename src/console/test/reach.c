/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "base/err.h"
#include "console/outside/reach.h"

static bool is_allowed(const struct reach *reach, const char *text, bool is_plain)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    struct sockaddr_in four = {.sin_family = AF_INET};

    if (inet_pton(AF_INET, text, &four.sin_addr) == 1)
        return reach_allows(reach, (const struct sockaddr *)(const void *)&four, is_plain);
    assert_int_equal(inet_pton(AF_INET6, text, &six.sin6_addr), 1);
    return reach_allows(reach, (const struct sockaddr *)(const void *)&six, is_plain);
}

static void public_addresses_are_reached_with_tls_and_others_are_not(void **state)
{
    static const char *const inside[] = {
        "127.0.0.1",     "0.0.0.0",
        "10.1.2.3",      "172.31.255.255",
        "192.168.0.1",   "169.254.169.254",
        "100.64.0.1",    "224.0.0.1",
        "::1",           "::",
        "fe80::1",       "fd00::1",
        "ff02::1",       "::ffff:10.0.0.1",
        "::7f00:1",      "64:ff9b::169.254.169.254",
        "2002:7f00:1::", "255.255.255.255",
    };
    static const char *const outside[] = {"93.184.216.34",        "172.32.0.1",      "172.15.0.1",
                                          "100.128.0.1",          "8.8.8.8",         "2606:4700::1111",
                                          "::ffff:93.184.216.34", "64:ff9b::8.8.8.8"};
    struct reach none = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(inside); i++)
        assert_false(is_allowed(&none, inside[i], false));
    for (size_t i = 0; i < ARRAY_LEN(outside); i++) {
        assert_true(is_allowed(&none, outside[i], false));
        assert_false(is_allowed(&none, outside[i], true));
    }
}

static void listed_networks_are_reached_and_their_neighbours_are_not(void **state)
{
    struct reach reach;
    struct err err = {0};

    (void)state;
    assert_int_equal(reach_parse("10.8.0.0/13,192.168.7.7,fd12::/16", &reach, &err), 0);
    assert_int_equal(reach.count, 3);
    assert_true(is_allowed(&reach, "10.15.255.255", true));
    assert_true(is_allowed(&reach, "::ffff:10.8.0.0", false));
    assert_false(is_allowed(&reach, "10.16.0.0", false));
    assert_false(is_allowed(&reach, "10.7.255.255", false));
    assert_true(is_allowed(&reach, "192.168.7.7", true));
    assert_false(is_allowed(&reach, "192.168.7.6", true));
    assert_true(is_allowed(&reach, "fd12:ffff::1", true));
    assert_false(is_allowed(&reach, "fd13::1", true));
}

static void networks_that_are_none_are_refused(void **state)
{
    static const char *const wrong[] = {"x",           "10.0.0.0/33", "10.0.0.0/",    "10.0.0.0/-1",
                                        "10.0.0.0/8x", "::/129",      "10.0.0.0/8,,", ","};
    struct reach reach;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct err err = {0};

        assert_int_equal(reach_parse(wrong[i], &reach, &err), -EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(public_addresses_are_reached_with_tls_and_others_are_not),
        cmocka_unit_test(listed_networks_are_reached_and_their_neighbours_are_not),
        cmocka_unit_test(networks_that_are_none_are_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
