/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/delta.h"

/* As the versions of Muster that wrote these forms have computed them. */
static const uint64_t fingerprints[] = {
    [1] = UINT64_C(0xe524870b8a45e84c), [2] = UINT64_C(0xa0cc456f15f2329b), [3] = UINT64_C(0x445edd7713f4b48e),
    [4] = UINT64_C(0x3dc254386afe14d9), [5] = UINT64_C(0x2c2895a4b8614cb8), [6] = UINT64_C(0xa496223909e7c96e),
    [7] = UINT64_C(0x11966aa57d274332),
};

/*
 * It fails when a table in record.c has changed. Journals of the present form would no longer be read, so the change has to
 * be a new form: `.since` and `.until` in its rows, RECORD_FORM one higher, and its fingerprint here.
 */
static void every_form_is_what_was_written(void **unused)
{
    (void)unused;
    assert_int_equal(ARRAY_LEN(fingerprints), RECORD_FORM + 1);
    for (uint32_t form = 1; form <= RECORD_FORM; form++) {
        assert_int_equal(record_fingerprint(form), fingerprints[form]);
        assert_int_equal(record_form(fingerprints[form]), form);
    }
}

static void an_unknown_fingerprint_is_of_no_form(void **unused)
{
    (void)unused;
    assert_int_equal(record_form(0), 0);
    assert_int_equal(record_form(fingerprints[1] + 1), 0);
}

static struct record read_delta(struct arena *arena, const uint8_t *bytes, size_t len, uint32_t form)
{
    struct wire_in in = {.at = bytes, .end = bytes + len, .arena = arena, .budget = 4096, .form = form};
    struct record record;

    assert_true(record_get(&in, &record));
    assert_ptr_equal(in.at, in.end);
    assert_int_equal(record.kind, RECORD_DELTA);
    return record;
}

static void a_device_class_of_the_first_form_is_its_name(void **unused)
{
    static const uint8_t bytes[] = {RECORD_DELTA, DELTA_PUT_DEVICE_CLASS, 0, 4, 'g', 'p', 'u'};
    struct arena arena;

    (void)unused;
    arena_init(&arena);
    struct record record = read_delta(&arena, bytes, sizeof bytes, 1);
    const struct device_class_spec *spec = record.delta.spec;

    assert_int_equal(record.delta.kind, DELTA_PUT_DEVICE_CLASS);
    assert_string_equal(spec->name, "gpu");
    assert_null(spec->resource);
    assert_null(spec->driver);
    assert_int_equal(spec->selector_count, 0);
    arena_done(&arena);
}

static void a_claim_of_the_third_form_has_no_requests(void **unused)
{
    /* clang-format off */
    static const uint8_t bytes[] = {
        RECORD_DELTA, DELTA_PUT_CLAIM,
        3, 'n', 's', 2, 'c', 2, 'g', 0,  // namespace, name, class, labels
        4, 0, 1,                         // two devices; not synthetic, allocated
        1, 1, 2, 'd', 1, 2, '0',         // device 0 of driver d; its pool has no name
        0,                               // reserved for nobody
    };
    /* clang-format on */
    // reserved for nobody
    struct arena arena;

    (void)unused;
    arena_init(&arena);
    struct record record = read_delta(&arena, bytes, sizeof bytes, 3);
    const struct claim_spec *spec = record.delta.spec;

    assert_string_equal(spec->name, "c");
    assert_int_equal(spec->count, 2);
    assert_true(spec->is_allocated);
    assert_int_equal(spec->device_count, 1);
    assert_string_equal(spec->devices[0].device, "0");
    assert_null(spec->devices[0].request);
    assert_int_equal(spec->ask.request_count, 0);
    arena_done(&arena);
}

static void what_is_read_in_an_older_form_is_written_in_the_last(void **unused)
{
    static const uint8_t bytes[] = {RECORD_DELTA, DELTA_PUT_DEVICE_CLASS, 0, 4, 'g', 'p', 'u'};
    struct wire_bytes written = {0};
    struct arena arena;

    (void)unused;
    arena_init(&arena);
    struct record before = read_delta(&arena, bytes, sizeof bytes, 1);

    record_put(&written, &before);
    struct record after = read_delta(&arena, written.items, written.len, RECORD_FORM);
    const struct device_class_spec *spec = after.delta.spec;

    assert_string_equal(spec->name, "gpu");
    assert_null(spec->driver);
    vec_done(&written);
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_is_what_was_written),
        cmocka_unit_test(an_unknown_fingerprint_is_of_no_form),
        cmocka_unit_test(a_device_class_of_the_first_form_is_its_name),
        cmocka_unit_test(a_claim_of_the_third_form_has_no_requests),
        cmocka_unit_test(what_is_read_in_an_older_form_is_written_in_the_last),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
