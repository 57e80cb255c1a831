/* SPDX-License-Identifier: Apache-2.0 */

/* The certificates of the webhooks over the years, without waiting for them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"
#include "services/admission/keyring.h"
#include "text/json.h"

#define START (1800000000 * NSEC_PER_SEC)
#define DAY (24 * NSEC_PER_HOUR)

static const char *const names[] = {"admission.kai-scheduler.svc", "queue-controller.kai-scheduler.svc"};

static struct keyring_wishes wishes = {.dns_names = names,
                                       .dns_name_count = 2,
                                       .server_lifetime = 90 * DAY,
                                       .authority_lifetime = 3 * 365 * DAY,
                                       .is_next_trusted = true};

static int advance(struct keyring *ring, nsec_t now)
{
    char why[KEYRING_WHY_MAX];
    struct err err = {0};
    int r = keyring_advance(ring, &wishes, now, why, &err);

    assert_true(r >= 0);
    assert_int_equal(r > 0, why[0] != '\0');
    return r;
}

/* The keyring as another replica reads it from the Secret. */
static void reread(struct keyring *ring)
{
    yyjson_mut_doc *doc = keyring_write(ring, NULL, "kai-scheduler", "secret");
    yyjson_doc *read = yyjson_mut_doc_imut_copy(doc, NULL);

    keyring_done(ring);
    keyring_read(yyjson_doc_get_root(read), ring);
    yyjson_doc_free(read);
    yyjson_mut_doc_free(doc);
}

static void the_first_certificates_are_made_once(void **state)
{
    struct keyring ring = {0};

    (void)state;
    assert_false(keyring_can_serve(&ring, START));
    assert_int_equal(advance(&ring, START), 1);
    assert_true(keyring_can_serve(&ring, START));
    assert_true(certificate_is_signed_by(ring.server.cert_pem, ring.authority.cert_pem));
    assert_true(certificate_is_for(ring.server.cert_pem, names[1]));
    reread(&ring);
    assert_int_equal(advance(&ring, START), 0);
    assert_int_equal(advance(&ring, START + 30 * DAY), 0);
    keyring_done(&ring);
}

static void a_serving_certificate_is_renewed_when_a_third_is_left(void **state)
{
    struct keyring ring = {0};

    (void)state;
    (void)advance(&ring, START);
    _cleanup_(freep) char *authority = xstrdup(ring.authority.cert_pem);
    _cleanup_(freep) char *served = xstrdup(ring.server.cert_pem);
    assert_int_equal(advance(&ring, START + 59 * DAY), 0);
    assert_int_equal(advance(&ring, START + 61 * DAY), 1);
    assert_string_equal(ring.authority.cert_pem, authority);
    assert_string_not_equal(ring.server.cert_pem, served);
    keyring_done(&ring);
}

static void names_that_are_new_are_added(void **state)
{
    static const char *const more[] = {"admission.kai-scheduler.svc", "other.kai-scheduler.svc"};
    struct keyring ring = {0};

    (void)state;
    (void)advance(&ring, START);
    wishes.dns_names = more;
    assert_int_equal(advance(&ring, START + DAY), 1);
    assert_true(certificate_is_for(ring.server.cert_pem, more[1]));
    wishes.dns_names = names;
    keyring_done(&ring);
}

/* Whatever certificate is served, a client with any of the bundles of that time trusts it. */
static void both_authorities_are_trusted_during_a_rotation(void **state)
{
    struct keyring ring = {0};
    nsec_t now = START;

    (void)state;
    (void)advance(&ring, now);
    _cleanup_(freep) char *bundle = keyring_bundle(&ring, "", now);
    _cleanup_(freep) char *first = xstrdup(ring.authority.cert_pem);
    assert_string_equal(bundle, first);

    now += 2 * 365 * DAY + DAY;
    wishes.is_next_trusted = false;
    (void)advance(&ring, now);
    assert_non_null(ring.next.cert_pem);
    assert_string_equal(ring.authority.cert_pem, first);
    _cleanup_(freep) char *both = keyring_bundle(&ring, bundle, now);
    assert_false(keyring_bundle_has_next(&ring, bundle));
    assert_true(keyring_bundle_has_next(&ring, both));
    assert_non_null(strstr(both, first));
    assert_null(keyring_bundle(&ring, both, now));

    /* It does not sign before it is trusted, however long that takes. */
    (void)advance(&ring, now + 10 * DAY);
    assert_string_equal(ring.authority.cert_pem, first);
    wishes.is_next_trusted = true;
    assert_int_equal(advance(&ring, now + 11 * DAY), 1);
    reread(&ring);
    assert_string_not_equal(ring.authority.cert_pem, first);
    assert_true(certificate_is_signed_by(ring.server.cert_pem, ring.authority.cert_pem));
    assert_string_equal(ring.previous_pem, first);
    assert_null(keyring_bundle(&ring, both, now + 11 * DAY));
    assert_int_equal(advance(&ring, now + 11 * DAY), 0);

    /* When the first has expired it is forgotten. */
    (void)advance(&ring, START + 3 * 365 * DAY + DAY);
    assert_null(ring.previous_pem);
    keyring_done(&ring);
}

static void a_replica_with_an_older_keyring_takes_nothing_away(void **state)
{
    struct keyring older = {0};
    struct keyring newer = {0};

    (void)state;
    (void)advance(&older, START);
    (void)advance(&newer, START);
    _cleanup_(freep) char *bundle = keyring_bundle(&newer, "", START);
    _cleanup_(freep) char *both = keyring_bundle(&older, bundle, START);
    assert_non_null(strstr(both, newer.authority.cert_pem));
    assert_null(keyring_bundle(&newer, both, START));
    /* Expired ones, and those of strangers, are dropped with the next write. */
    struct keyring later = {0};
    (void)advance(&later, START + 4 * 365 * DAY);
    _cleanup_(freep) char *fresh = keyring_bundle(&later, both, START + 4 * 365 * DAY);
    assert_string_equal(fresh, later.authority.cert_pem);
    keyring_done(&older);
    keyring_done(&newer);
    keyring_done(&later);
}

static void a_secret_that_holds_something_else_is_replaced(void **state)
{
    static const char *const secrets[] = {
        "{}", "{\"data\":{\"tls.crt\":\"%%%\",\"ca.crt\":7}}",
        "{\"data\":{\"tls.crt\":\"bm9uZQ==\",\"tls.key\":\"bm9uZQ==\",\"ca.crt\":\"bm9uZQ==\",\"ca.key\":\"AA==\"}}"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(secrets); i++) {
        _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
        struct keyring ring;

        assert_int_equal(json_parse(secrets[i], strlen(secrets[i]), "test", &doc, NULL), 0);
        keyring_read(yyjson_doc_get_root(doc), &ring);
        assert_int_equal(advance(&ring, START), 1);
        assert_true(keyring_can_serve(&ring, START));
        keyring_done(&ring);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_certificates_are_made_once),
        cmocka_unit_test(a_serving_certificate_is_renewed_when_a_third_is_left),
        cmocka_unit_test(names_that_are_new_are_added),
        cmocka_unit_test(both_authorities_are_trusted_during_a_rotation),
        cmocka_unit_test(a_replica_with_an_older_keyring_takes_nothing_away),
        cmocka_unit_test(a_secret_that_holds_something_else_is_replaced),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
