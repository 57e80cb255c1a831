/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/lease/lease.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kube/client/meta.h"
#include "kube/lease/lease_internal.h"
#include "text/json.h"

static void times_have_six_digits(void **state)
{
    (void)state;
    char text[TIME_TEXT_MAX];

    assert_string_equal(micro_time_format(0, text), "1970-01-01T00:00:00.000000Z");
    assert_string_equal(micro_time_format(1234567890123456789, text), "2009-02-13T23:31:30.123456Z");
    assert_string_equal(micro_time_format(-1, text), "1969-12-31T23:59:59.999999Z");
}

static void a_lease_is_taken_when_it_is_free_or_old(void **state)
{
    (void)state;
    struct lease_record record = {.holder = "other", .duration = 15 * NSEC_PER_SEC};

    assert_int_equal(lease_decide(NULL, "me", 0, 0), LEASE_CREATE);
    assert_int_equal(lease_decide(&record, "me", 100, 100), LEASE_WAIT);
    assert_int_equal(lease_decide(&record, "me", 100, 99 + 15 * NSEC_PER_SEC), LEASE_WAIT);
    assert_int_equal(lease_decide(&record, "me", 100, 100 + 15 * NSEC_PER_SEC), LEASE_TAKE);
    assert_int_equal(lease_decide(&record, "other", 100, 100), LEASE_RENEW);
    record.holder[0] = '\0';
    assert_int_equal(lease_decide(&record, "me", 100, 100), LEASE_TAKE);
}

static yyjson_doc *read_back(yyjson_mut_doc *made, struct lease_record *record)
{
    yyjson_doc *doc = yyjson_mut_doc_imut_copy(made, NULL);

    assert_non_null(doc);
    lease_record_read(yyjson_doc_get_root(doc), record);
    yyjson_mut_doc_free(made);
    return doc;
}

static void what_is_written_says_who_and_since_when(void **state)
{
    (void)state;
    struct lease_claim claim = {
        .namespace = "n", .name = "l", .identity = "me", .duration = 15 * NSEC_PER_SEC, .now = 1000 * NSEC_PER_SEC};
    struct lease_record record;

    yyjson_doc *first = read_back(lease_claim_encode(&claim, NULL, LEASE_CREATE), &record);
    assert_string_equal(record.holder, "me");
    assert_int_equal(record.duration, 15 * NSEC_PER_SEC);
    assert_int_equal(record.renewed, 1000 * NSEC_PER_SEC);
    assert_int_equal(record.transitions, 0);
    assert_string_equal(kube_text(yyjson_doc_get_root(first), "metadata", "name"), "l");

    claim.now += 5 * NSEC_PER_SEC;
    yyjson_doc *second = read_back(lease_claim_encode(&claim, yyjson_doc_get_root(first), LEASE_RENEW), &record);
    assert_int_equal(record.renewed, 1005 * NSEC_PER_SEC);
    assert_int_equal(record.acquired, 1000 * NSEC_PER_SEC);
    assert_int_equal(record.transitions, 0);

    claim.identity = "you";
    yyjson_doc *third = read_back(lease_claim_encode(&claim, yyjson_doc_get_root(second), LEASE_TAKE), &record);
    assert_string_equal(record.holder, "you");
    assert_int_equal(record.acquired, 1005 * NSEC_PER_SEC);
    assert_int_equal(record.transitions, 1);

    yyjson_doc *last = read_back(lease_release_encode(yyjson_doc_get_root(third), claim.now), &record);
    assert_string_equal(record.holder, "");
    assert_int_equal(record.duration, NSEC_PER_SEC);
    yyjson_doc_free(first);
    yyjson_doc_free(second);
    yyjson_doc_free(third);
    yyjson_doc_free(last);
}

static void anything_can_be_read_as_a_lease(void **state)
{
    (void)state;
    const char *const texts[] = {
        "{}", "[]", "{\"spec\":1}", "{\"spec\":{\"holderIdentity\":7,\"leaseDurationSeconds\":-5,\"renewTime\":\"x\"}}",
        "{\"spec\":{\"leaseDurationSeconds\":9223372036854775807,\"leaseTransitions\":1e300}}"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        yyjson_doc *doc = yyjson_read(texts[i], strlen(texts[i]), 0);
        struct lease_record record;

        lease_record_read(yyjson_doc_get_root(doc), &record);
        assert_string_equal(record.holder, "");
        assert_true(record.duration >= 0 && record.duration <= 24 * NSEC_PER_HOUR);
        yyjson_doc_free(doc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_have_six_digits),
        cmocka_unit_test(a_lease_is_taken_when_it_is_free_or_old),
        cmocka_unit_test(what_is_written_says_who_and_since_when),
        cmocka_unit_test(anything_can_be_read_as_a_lease),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
