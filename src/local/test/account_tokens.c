/* SPDX-License-Identifier: Apache-2.0 */
#include "local/rights/account_tokens.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static const struct token_key key = {.bytes = "0123456789abcdef0123456789abcde"};
static const struct token_key other_key = {.bytes = "1123456789abcdef0123456789abcde"};

static char *make(void)
{
    struct account_claims claims = {.namespace = xstrdup("a"),
                                    .name = xstrdup("robot"),
                                    .uid = xstrdup("u-1"),
                                    .pod = xstrdup("p"),
                                    .pod_uid = xstrdup("p-1"),
                                    .issued = 1000,
                                    .expires = 2000};

    vec_push(&claims.audiences, xstrdup("x"));
    char *token = account_token_make(&key, &claims);
    account_claims_done(&claims);
    return token;
}

static void a_token_says_what_was_put_into_it(void **state)
{
    struct account_claims claims = {0};
    char *token = make();

    (void)state;
    assert_int_equal(account_token_read(&key, token, 1500 * NSEC_PER_SEC, &claims), 0);
    assert_string_equal(claims.namespace, "a");
    assert_string_equal(claims.name, "robot");
    assert_string_equal(claims.uid, "u-1");
    assert_string_equal(claims.pod, "p");
    assert_string_equal(claims.pod_uid, "p-1");
    assert_int_equal(claims.audiences.len, 1);
    assert_int_equal(claims.expires, 2000);
    account_claims_done(&claims);
    free(token);
}

static void a_token_is_good_until_it_expires(void **state)
{
    struct account_claims claims = {0};
    char *token = make();

    (void)state;
    assert_int_equal(account_token_read(&key, token, 2000 * NSEC_PER_SEC, &claims), -ENOKEY);
    assert_int_equal(account_token_read(&other_key, token, 1500 * NSEC_PER_SEC, &claims), -ENOKEY);
    free(token);
}

static void a_token_with_any_character_changed_is_refused(void **state)
{
    struct account_claims claims = {0};
    char *token = make();
    size_t len = strlen(token);

    (void)state;
    /* The last character has bits that mean nothing: 32 bytes are 42 2/3 characters. */
    for (size_t i = 0; i + 1 < len; i++) {
        char kept = token[i];
        token[i] = kept == 'A' ? 'B' : 'A';
        assert_int_equal(account_token_read(&key, token, 1500 * NSEC_PER_SEC, &claims), -ENOKEY);
        token[i] = '\0';
        assert_int_equal(account_token_read(&key, token, 1500 * NSEC_PER_SEC, &claims), -ENOKEY);
        token[i] = kept;
    }
    free(token);
}

static void texts_that_are_no_tokens_are_refused(void **state)
{
    static const char *const texts[] = {"", ".", "..", "...", "a.b.c", "a.b.", ".b.c", "\xff.\xff.\xff"};
    struct account_claims claims = {0};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(account_token_read(&key, texts[i], 1500 * NSEC_PER_SEC, &claims), -ENOKEY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_says_what_was_put_into_it),
        cmocka_unit_test(a_token_is_good_until_it_expires),
        cmocka_unit_test(a_token_with_any_character_changed_is_refused),
        cmocka_unit_test(texts_that_are_no_tokens_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
