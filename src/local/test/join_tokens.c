/* SPDX-License-Identifier: Apache-2.0 */

/* Tokens to join with, and leases that end pods in time. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "local/machines/join_tokens.h"
#include "local/shim/node_lease.h"

#define NOW (1000 * NSEC_PER_SEC)

static void a_token_is_taken_once(void **state)
{
    struct join_tokens tokens = {0};
    char one[JOIN_SECRET_MAX], other[JOIN_SECRET_MAX];

    (void)state;
    assert_int_equal(join_tokens_make(&tokens, NOW, NSEC_PER_HOUR, one), 0);
    assert_int_equal(join_tokens_make(&tokens, NOW, NSEC_PER_HOUR, other), 0);
    assert_string_not_equal(one, other);
    assert_int_equal(join_tokens_take(&tokens, NOW, ""), -ENOKEY);
    assert_int_equal(join_tokens_take(&tokens, NOW, "0123"), -ENOKEY);
    assert_int_equal(join_tokens_take(&tokens, NOW, one), 0);
    assert_int_equal(join_tokens_take(&tokens, NOW, one), -ENOKEY);
    assert_int_equal(join_tokens_take(&tokens, NOW, other), 0);
    join_tokens_done(&tokens);
}

static void a_token_has_its_time(void **state)
{
    struct join_tokens tokens = {0};
    char secret[JOIN_SECRET_MAX];

    (void)state;
    assert_int_equal(join_tokens_make(&tokens, NOW, NSEC_PER_MIN, secret), 0);
    assert_int_equal(join_tokens_take(&tokens, NOW + NSEC_PER_MIN, secret), -ENOKEY);
    join_tokens_done(&tokens);
}

static void there_are_no_more_tokens_than_so_many(void **state)
{
    struct join_tokens tokens = {0};
    char secret[JOIN_SECRET_MAX];

    (void)state;
    for (int i = 0; i < JOIN_TOKENS_MAX; i++)
        assert_int_equal(join_tokens_make(&tokens, NOW, NSEC_PER_MIN, secret), 0);
    assert_int_equal(join_tokens_make(&tokens, NOW, NSEC_PER_MIN, secret), -EUSERS);
    assert_int_equal(join_tokens_make(&tokens, NOW + NSEC_PER_MIN, NSEC_PER_MIN, secret), 0);
    join_tokens_done(&tokens);
}

static void pods_are_killed_before_the_lease_is_over(void **state)
{
    (void)state;
    for (nsec_t duration = 5 * NSEC_PER_SEC; duration <= NSEC_PER_HOUR; duration += NSEC_PER_SEC) {
        const struct node_lease lease = node_lease_of(duration, NOW);

        assert_true(lease.until > NOW + duration / 4);
        assert_true(lease.grace >= 2 * NSEC_PER_SEC);
        assert_true(lease.until + lease.grace < NOW + duration);
    }
}

static void a_lease_that_is_over_counts_as_none(void **state)
{
    char path[] = "/tmp/muster-lease-XXXXXX";
    struct node_lease lease = {.until = nsec_now_boot() + NSEC_PER_HOUR, .grace = 2}, found = {0};

    (void)state;
    (void)close(mkstemp(path));
    assert_false(node_lease_read(path, &found));
    assert_int_equal(node_lease_write(path, &lease, NULL), 0);
    assert_true(node_lease_read(path, &found));
    assert_int_equal(found.until, lease.until);
    assert_int_equal(found.grace, lease.grace);
    lease.until = nsec_now_boot();
    assert_int_equal(node_lease_write(path, &lease, NULL), 0);
    assert_false(node_lease_read(path, &found));
    FILE *file = fopen(path, "w");
    (void)fprintf(file, "{\"bootId\":\"another\",\"until\":%lld,\"grace\":2}", (long long)INT64_MAX);
    (void)fclose(file);
    assert_false(node_lease_read(path, &found));
    (void)unlink(path);
    assert_false(node_lease_read(path, &found));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_is_taken_once),
        cmocka_unit_test(a_token_has_its_time),
        cmocka_unit_test(there_are_no_more_tokens_than_so_many),
        cmocka_unit_test(pods_are_killed_before_the_lease_is_over),
        cmocka_unit_test(a_lease_that_is_over_counts_as_none),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
