/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "console/identity/roles.h"
#include "console/identity/secrets.h"
#include "console/identity/tokens.h"

static const unsigned char key[TOKEN_KEY_BYTES] = "0123456789abcdef0123456789abcde";
static const unsigned char other_key[TOKEN_KEY_BYTES] = "1123456789abcdef0123456789abcde";

static struct token example(void)
{
    return (struct token){.grant = "aa",
                          .subject = "5f0c7f6e-0000-4000-8000-000000000000",
                          .issued = 1000 * NSEC_PER_SEC,
                          .expires = 2000 * NSEC_PER_SEC};
}

static void a_token_comes_back_as_it_was_written_until_it_expires(void **state)
{
    struct token token = example();
    struct token back;
    char text[TOKEN_TEXT_MAX];
    struct err err = {0};

    (void)state;
    token_write(key, &token, text);
    assert_int_equal(token_read(key, text, 1999 * NSEC_PER_SEC, &back, &err), 0);
    assert_string_equal(back.grant, "aa");
    assert_string_equal(back.subject, token.subject);
    assert_int_equal(back.expires, token.expires);
    assert_int_equal(token_read(key, text, 2000 * NSEC_PER_SEC, &back, &err), -ENOKEY);
}

static void a_token_of_another_key_or_with_any_byte_changed_is_refused(void **state)
{
    struct token token = example();
    struct token back;
    char text[TOKEN_TEXT_MAX];
    struct err err = {0};

    (void)state;
    token_write(key, &token, text);
    assert_int_equal(token_read(other_key, text, 0, &back, &err), -ENOKEY);
    for (size_t i = 0; i < strlen(text); i++) {
        char was = text[i];

        text[i] = was == 'A' ? 'B' : 'A';
        assert_int_equal(token_read(key, text, 0, &back, &err), -ENOKEY);
        text[i] = was;
    }
    for (size_t len = 0; len < strlen(text); len++) {
        char cut[TOKEN_TEXT_MAX];

        memcpy(cut, text, len);
        cut[len] = '\0';
        assert_int_equal(token_read(key, cut, 0, &back, &err), -ENOKEY);
    }
}

static void a_token_that_asks_for_no_signature_is_refused(void **state)
{
    /* {"alg":"none","typ":"JWT"} and a payload with sub, jti and exp. */
    static const char none[] =
        "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJzdWIiOiJhIiwianRpIjoiYSIsImV4cCI6OTk5OTk5OTk5OX0.";
    struct token back;
    struct err err = {0};

    (void)state;
    assert_int_equal(token_read(key, none, 0, &back, &err), -ENOKEY);
}

static void a_password_matches_its_own_hash_alone(void **state)
{
    char hash[PASSWORD_HASH_MAX];

    (void)state;
    assert_int_equal(password_hash("correct horse battery", hash), 0);
    assert_int_equal(strncmp(hash, "$argon2id$", 10), 0);
    assert_true(password_matches(hash, "correct horse battery"));
    assert_false(password_matches(hash, "correct horse batter"));
    assert_false(password_matches("", "correct horse battery"));
}

static void secrets_and_identifiers_differ_each_time(void **state)
{
    char a[SECRET_TEXT_MAX], b[SECRET_TEXT_MAX], id[UUID_TEXT_MAX];

    (void)state;
    secret_make(a);
    secret_make(b);
    assert_string_not_equal(a, b);
    assert_false(secret_equals(a, b));
    assert_true(secret_equals(a, a));
    uuid_make(id);
    assert_int_equal(strlen(id), 36);
    assert_int_equal(id[14], '4');
    secret_digest("abc", a);
    assert_string_equal(a, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void permissions_are_named_as_in_the_rest(void **state)
{
    enum resource_type type;
    enum action action;

    (void)state;
    assert_true(permission_parse("project:update", &type, &action));
    assert_int_equal(type, RESOURCE_PROJECT);
    assert_int_equal(action, ACTION_UPDATE);
    assert_false(permission_parse("project", &type, &action));
    assert_false(permission_parse("projects:read", &type, &action));
    assert_false(permission_parse("project:write", &type, &action));
    assert_int_equal(_RESOURCE_TYPE_MAX, 43);
}

static void only_the_administrator_changes_people_and_settings(void **state)
{
    (void)state;
    for (size_t i = 0; i < built_in_role_count; i++) {
        bool is_admin = built_in_roles[i].id == 1;

        assert_ptr_equal(role_find(built_in_roles[i].id), &built_in_roles[i]);
        for (int t = 0; t < _RESOURCE_TYPE_MAX; t++) {
            uint8_t writes = role_actions(&built_in_roles[i], (enum resource_type)t) & ~ACTION_READ;

            if (is_admin)
                assert_int_not_equal(writes, 0);
            else if (t == RESOURCE_USERS || t == RESOURCE_SETTINGS || t == RESOURCE_ROLES || t == RESOURCE_CLUSTER)
                assert_int_equal(writes, 0);
        }
    }
    assert_null(role_find(99));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_comes_back_as_it_was_written_until_it_expires),
        cmocka_unit_test(a_token_of_another_key_or_with_any_byte_changed_is_refused),
        cmocka_unit_test(a_token_that_asks_for_no_signature_is_refused),
        cmocka_unit_test(a_password_matches_its_own_hash_alone),
        cmocka_unit_test(secrets_and_identifiers_differ_each_time),
        cmocka_unit_test(permissions_are_named_as_in_the_rest),
        cmocka_unit_test(only_the_administrator_changes_people_and_settings),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
