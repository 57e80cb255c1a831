/* SPDX-License-Identifier: Apache-2.0 */
#include "web/logins_internal.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const nsec_t now = 1000 * NSEC_PER_HOUR;

static const struct session *begin(struct logins *logins, nsec_t when)
{
    const struct session *session = NULL;
    char code[LOGIN_TEXT_MAX];

    assert_int_equal(logins_make_code(logins, 1000, when, code), 0);
    assert_int_equal(logins_begin(logins, code, when, &session), 0);
    return session;
}

static void a_code_is_good_once(void **state)
{
    struct logins logins = {0};
    const struct session *session = NULL;
    char code[LOGIN_TEXT_MAX];

    (void)state;
    assert_int_equal(logins_make_code(&logins, 1000, now, code), 0);
    assert_int_equal(strlen(code), 32);
    assert_int_equal(logins_begin(&logins, code, now, &session), 0);
    assert_int_equal(session->uid, 1000);
    assert_int_equal(logins_begin(&logins, code, now, &session), -ENOKEY);
    logins_done(&logins);
}

static void a_code_expires(void **state)
{
    struct logins logins = {0};
    const struct session *session = NULL;
    char code[LOGIN_TEXT_MAX];

    (void)state;
    assert_int_equal(logins_make_code(&logins, 1000, now, code), 0);
    assert_int_equal(logins_begin(&logins, code, now + LOGIN_CODE_LIFETIME, &session), -ENOKEY);
    assert_int_equal(logins_begin(&logins, code, now, &session), -ENOKEY);
    logins_done(&logins);
}

static void guesses_are_no_codes(void **state)
{
    struct logins logins = {0};
    const struct session *session = NULL;
    char code[LOGIN_TEXT_MAX];

    (void)state;
    assert_int_equal(logins_make_code(&logins, 1000, now, code), 0);
    assert_int_equal(logins_begin(&logins, "", now, &session), -ENOKEY);
    assert_int_equal(logins_begin(&logins, "0123", now, &session), -ENOKEY);
    logins_done(&logins);
}

static void a_session_needs_its_path_and_its_key(void **state)
{
    struct logins logins = {0};
    const struct session *a = begin(&logins, now);
    const struct session *b = begin(&logins, now);

    (void)state;
    assert_int_equal(logins_check(&logins, a->path, a->key, now), 0);
    assert_int_equal(logins_check(&logins, a->path, b->key, now), -ENOKEY);
    assert_int_equal(logins_check(&logins, a->path, "", now), -ENOKEY);
    assert_int_equal(logins_check(&logins, "", a->key, now), -ENOKEY);
    assert_int_equal(logins_check(&logins, a->key, a->path, now), -ENOKEY);
    logins_done(&logins);
}

static void a_session_lasts_while_it_is_used(void **state)
{
    struct logins logins = {0};
    const struct session *session = begin(&logins, now);
    nsec_t later = now + LOGIN_SESSION_LIFETIME - 1;
    char path[LOGIN_TEXT_MAX];
    char key[LOGIN_TEXT_MAX];

    (void)state;
    memcpy(path, session->path, sizeof path);
    memcpy(key, session->key, sizeof key);
    assert_int_equal(logins_check(&logins, path, key, later), 0);
    assert_int_equal(logins_check(&logins, path, key, later + LOGIN_SESSION_LIFETIME - 1), 0);
    assert_int_equal(logins_check(&logins, path, key, later + 3 * LOGIN_SESSION_LIFETIME), -ENOKEY);
    assert_int_equal(logins_check(&logins, path, key, now), -ENOKEY);
    logins_done(&logins);
}

static void a_session_can_be_ended(void **state)
{
    struct logins logins = {0};
    const struct session *session = begin(&logins, now);
    char path[LOGIN_TEXT_MAX];
    char key[LOGIN_TEXT_MAX];

    (void)state;
    memcpy(path, session->path, sizeof path);
    memcpy(key, session->key, sizeof key);
    logins_end(&logins, path);
    logins_end(&logins, path);
    assert_int_equal(logins_check(&logins, path, key, now), -ENOKEY);
    logins_done(&logins);
}

static void there_are_not_too_many(void **state)
{
    struct logins logins = {0};
    char code[LOGIN_TEXT_MAX];
    char first[LOGIN_TEXT_MAX];

    (void)state;
    memcpy(first, begin(&logins, now)->path, sizeof first);
    for (int i = 1; i <= LOGIN_SESSIONS_MAX; i++)
        (void)begin(&logins, now + i);
    assert_int_equal(logins.sessions.len, LOGIN_SESSIONS_MAX);
    assert_null(strmap_get(&logins.sessions, "", first));
    for (int i = 0; i < LOGIN_CODES_MAX; i++)
        assert_int_equal(logins_make_code(&logins, 1000, now, code), 0);
    assert_int_equal(logins_make_code(&logins, 1000, now, code), -EUSERS);
    assert_int_equal(logins_make_code(&logins, 1000, now + LOGIN_CODE_LIFETIME, code), 0);
    logins_done(&logins);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_code_is_good_once),
        cmocka_unit_test(a_code_expires),
        cmocka_unit_test(guesses_are_no_codes),
        cmocka_unit_test(a_session_needs_its_path_and_its_key),
        cmocka_unit_test(a_session_lasts_while_it_is_used),
        cmocka_unit_test(a_session_can_be_ended),
        cmocka_unit_test(there_are_not_too_many),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
