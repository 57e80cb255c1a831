/* SPDX-License-Identifier: Apache-2.0 */
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
#include "net/certificates/certificate.h"

#define BEGIN (1800000000 * NSEC_PER_SEC)
#define DAY (24 * NSEC_PER_HOUR)

static const char *const names[] = {"admission.kai-scheduler.svc", "admission.kai-scheduler.svc.cluster.local"};

static struct certificate_request ask(const char *name)
{
    return (struct certificate_request){.common_name = name,
                                        .dns_names = names,
                                        .dns_name_count = 2,
                                        .not_before = BEGIN,
                                        .not_after = BEGIN + 90 * DAY};
}

static void an_authority_signs_what_clients_accept(void **state)
{
    struct certificate_request request = ask("authority");
    struct certificate authority = {0};
    struct certificate other = {0};
    struct certificate server = {0};
    struct certificate_facts facts;

    (void)state;
    assert_int_equal(certificate_make_authority(&request, &authority, NULL), 0);
    assert_int_equal(certificate_make_authority(&request, &other, NULL), 0);
    request.common_name = names[0];
    assert_int_equal(certificate_issue(&authority, &request, &server, NULL), 0);

    assert_true(certificate_is_signed_by(server.cert_pem, authority.cert_pem));
    assert_false(certificate_is_signed_by(server.cert_pem, other.cert_pem));
    assert_true(certificate_has_key(server.cert_pem, server.key_pem));
    assert_false(certificate_has_key(server.cert_pem, authority.key_pem));
    assert_true(certificate_is_for(server.cert_pem, names[1]));
    assert_false(certificate_is_for(server.cert_pem, "admission.other.svc"));

    assert_int_equal(certificate_read(server.cert_pem, &facts, NULL), 0);
    assert_string_equal(facts.common_name, names[0]);
    assert_int_equal(facts.not_before, BEGIN);
    assert_int_equal(facts.not_after, BEGIN + 90 * DAY);
    assert_false(facts.is_authority);
    assert_int_equal(certificate_read(authority.cert_pem, &facts, NULL), 0);
    assert_true(facts.is_authority);
    certificate_done(&authority);
    certificate_done(&other);
    certificate_done(&server);
}

static void an_authority_without_its_key_signs_nothing(void **state)
{
    struct certificate_request request = ask("authority");
    struct certificate authority = {0};
    struct certificate other = {0};
    struct certificate server = {0};
    struct err err = {0};

    (void)state;
    assert_int_equal(certificate_make_authority(&request, &authority, NULL), 0);
    assert_int_equal(certificate_make_authority(&request, &other, NULL), 0);
    struct certificate mixed = {.cert_pem = authority.cert_pem, .key_pem = other.key_pem};
    assert_int_equal(certificate_issue(&mixed, &request, &server, &err), -EKEYREJECTED);
    assert_string_equal(err.text, "the key of the certificate authority does not match its certificate");
    certificate_done(&authority);
    certificate_done(&other);
}

static void names_that_are_none_are_refused(void **state)
{
    static const char *const odd[] = {"", "a,DNS:evil.example", "a b", "*.svc"};
    struct certificate_request request = ask("authority");
    struct certificate authority = {0};
    struct certificate server = {0};

    (void)state;
    assert_int_equal(certificate_make_authority(&request, &authority, NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        request.dns_names = &odd[i];
        request.dns_name_count = 1;
        assert_int_equal(certificate_issue(&authority, &request, &server, NULL), -EINVAL);
    }
    request = ask("");
    assert_int_equal(certificate_make_authority(&request, &server, NULL), -EINVAL);
    certificate_done(&authority);
}

static void bundles_are_taken_apart(void **state)
{
    struct certificate_request request = ask("one");
    struct certificate one = {0};
    struct certificate two = {0};
    char bundle[8192];
    const char *at = bundle;
    struct certificate_facts facts;

    (void)state;
    assert_int_equal(certificate_make_authority(&request, &one, NULL), 0);
    request.common_name = "two";
    assert_int_equal(certificate_make_authority(&request, &two, NULL), 0);
    (void)snprintf(bundle, sizeof bundle, "text before\n%s\n%s-----BEGIN CERTIFICATE-----\ncut", one.cert_pem,
                   two.cert_pem);
    _cleanup_(freep) char *first = certificate_next(&at);
    _cleanup_(freep) char *second = certificate_next(&at);
    assert_int_equal(certificate_read(first, &facts, NULL), 0);
    assert_string_equal(facts.common_name, "one");
    assert_string_equal(second, two.cert_pem);
    assert_null(certificate_next(&at));
    assert_int_equal(certificate_read("nothing", &facts, NULL), -EINVAL);
    certificate_done(&one);
    certificate_done(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_authority_signs_what_clients_accept),
        cmocka_unit_test(an_authority_without_its_key_signs_nothing),
        cmocka_unit_test(names_that_are_none_are_refused),
        cmocka_unit_test(bundles_are_taken_apart),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
