/* SPDX-License-Identifier: Apache-2.0 */

/* Certificates of clients: requests, names that the authority decides on, fingerprints. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/certificates/certificate.h"

#define BEGIN (1800000000 * NSEC_PER_SEC)

static void make_authority(struct certificate *authority)
{
    const struct certificate_request request = {
        .common_name = "authority", .not_before = BEGIN, .not_after = BEGIN + NSEC_PER_HOUR};

    assert_int_equal(certificate_make_authority(&request, authority, NULL), 0);
}

static struct certificate_client client_of(const char *name)
{
    static const char *const organisations[] = {"system:nodes", "muster:node:1"};

    return (struct certificate_client){.common_name = name,
                                       .organisations = organisations,
                                       .organisation_count = 2,
                                       .not_before = BEGIN,
                                       .not_after = BEGIN + NSEC_PER_HOUR};
}

static void a_request_becomes_a_certificate_for_its_key(void **state)
{
    _cleanup_(certificate_done) struct certificate authority = {0};
    _cleanup_(certificate_done) struct certificate request = {0};
    _cleanup_(freep) char *pem = NULL;
    const struct certificate_client client = client_of("system:node:a");
    struct certificate_facts facts;

    (void)state;
    make_authority(&authority);
    assert_int_equal(certificate_make_request(&request, NULL), 0);
    assert_null(strstr(request.cert_pem, "PRIVATE"));
    assert_int_equal(certificate_issue_client(&authority, &client, request.cert_pem, &pem, NULL), 0);
    assert_true(certificate_has_key(pem, request.key_pem));
    assert_true(certificate_is_signed_by(pem, authority.cert_pem));
    assert_int_equal(certificate_read(pem, &facts, NULL), 0);
    assert_string_equal(facts.common_name, "system:node:a");
    assert_false(facts.is_authority);
    assert_false(certificate_is_for(pem, "localhost"));
}

static void a_request_that_was_changed_or_is_none_is_refused(void **state)
{
    _cleanup_(certificate_done) struct certificate authority = {0};
    _cleanup_(certificate_done) struct certificate request = {0};
    const struct certificate_client client = client_of("system:node:a");
    char *pem = NULL;

    (void)state;
    make_authority(&authority);
    assert_int_equal(certificate_make_request(&request, NULL), 0);
    assert_int_equal(certificate_issue_client(&authority, &client, "", &pem, NULL), -EINVAL);
    assert_int_equal(certificate_issue_client(&authority, &client, authority.cert_pem, &pem, NULL), -EINVAL);
    /* A character in the middle, of the key or of the signature. */
    char *middle = request.cert_pem + strlen(request.cert_pem) / 2;

    *middle = *middle == 'A' ? 'B' : 'A';
    assert_int_equal(certificate_issue_client(&authority, &client, request.cert_pem, &pem, NULL), -EINVAL);
}

static void names_that_are_too_long_are_refused(void **state)
{
    _cleanup_(certificate_done) struct certificate authority = {0};
    _cleanup_(certificate_done) struct certificate request = {0};
    const struct certificate_client client =
        client_of("system:node:0123456789012345678901234567890123456789012345678901234567890123456789");
    char *pem = NULL;

    (void)state;
    make_authority(&authority);
    assert_int_equal(certificate_make_request(&request, NULL), 0);
    assert_int_equal(certificate_issue_client(&authority, &client, request.cert_pem, &pem, NULL), -EINVAL);
}

static void a_fingerprint_tells_authorities_apart(void **state)
{
    _cleanup_(certificate_done) struct certificate one = {0};
    _cleanup_(certificate_done) struct certificate other = {0};
    char a[CERTIFICATE_FINGERPRINT_MAX], again[CERTIFICATE_FINGERPRINT_MAX], b[CERTIFICATE_FINGERPRINT_MAX];

    (void)state;
    make_authority(&one);
    make_authority(&other);
    assert_int_equal(certificate_fingerprint(one.cert_pem, a), 0);
    assert_int_equal(certificate_fingerprint(one.cert_pem, again), 0);
    assert_int_equal(certificate_fingerprint(other.cert_pem, b), 0);
    assert_int_equal(strspn(a, "0123456789abcdef"), CERTIFICATE_FINGERPRINT_MAX - 1);
    assert_string_equal(a, again);
    assert_string_not_equal(a, b);
    assert_int_equal(certificate_fingerprint("nothing", a), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_becomes_a_certificate_for_its_key),
        cmocka_unit_test(a_request_that_was_changed_or_is_none_is_refused),
        cmocka_unit_test(names_that_are_too_long_are_refused),
        cmocka_unit_test(a_fingerprint_tells_authorities_apart),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
