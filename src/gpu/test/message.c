/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/protocol/message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "gpu/protocol/pages.h"

static const struct gpu_message samples[] = {
    {.type = GPU_HELLO, .sequence = 1, .hello = {GPU_HELLO_RETURNS, 4711, UINT64_MAX, INT64_MAX, "python3"}},
    {.type = GPU_ATTACH, .sequence = 2, .memory = {.gpu = 15, .bytes = GPU_BYTES_MAX, .context_bytes = 5}},
    {.type = GPU_RESERVE, .sequence = UINT32_MAX, .memory = {.gpu = 1, .kind = GPU_KIND_CONTEXT, .bytes = 12345}},
    {.type = GPU_RELEASE, .memory = {.gpu = 1, .bytes = 1}},
    {.type = GPU_QUERY, .memory = {.gpu = 3}},
    {.type = GPU_PING, .ping = {UINT64_MAX}},
    {.type = GPU_ASK, .lease = {.gpu = 2, .word = 0xfffffffc}},
    {.type = GPU_YIELD, .lease = {.gpu = 2, .word = 5, .busy_ns = 20000000, .launches = 9}},
    {.type = GPU_DRAINED, .lease = {.gpu = 2, .word = 5, .flags = GPU_DRAINED_HAS_MORE, .busy_ns = 1}},
    {.type = GPU_GREW, .memory = {.gpu = 15}},
    {.type = GPU_UNHOOKED, .notice = {.text = "cuMemAlloc"}},
    {.type = GPU_STOPPED,
     .park = {15, GPU_BYTES_MAX, GPU_BYTES_MAX, GPU_BYTES_MAX, GPU_BYTES_MAX, GPU_BYTES_MAX, GPU_BYTES_MAX}},
    {.type = GPU_PARKED,
     .park = {.gpu = 1, .bytes = 5, .host_us = 1, .copy_us = 2, .clear_us = 3, .map_us = UINT32_MAX}},
    {.type = GPU_RESUMED, .park = {.bytes = GPU_BYTES_MAX}},
    {.type = GPU_WELCOME, .welcome = {1, 4096, 4096, GPU_WELCOME_PARKABLE | GPU_WELCOME_PARKED, 42, 43}},
    {.type = GPU_WELCOME, .welcome = {GPU_MAX, 4096, 4096, 0, 42, 43}},
    {.type = GPU_REFUSED, .notice = {GPU_REASON_PEER, 0, "uid 1000 is not 0"}},
    {.type = GPU_GRANT, .sequence = 7, .memory = {.gpu = 1, .bytes = 1 << 20}},
    {.type = GPU_DENY, .memory = {.gpu = 1, .reason = GPU_REASON_LIMIT, .bytes = 1 << 20, .free_bytes = 77}},
    {.type = GPU_INFO, .memory = {.gpu = 1, .free_bytes = 77, .total_bytes = 99}},
    {.type = GPU_PONG, .ping = {1}},
    {.type = GPU_DRAIN, .lease = {.gpu = 0, .word = 9}},
    {.type = GPU_TRIM, .memory = {.gpu = 0, .bytes = 9}},
    {.type = GPU_NOTICE, .notice = {GPU_REASON_OUTSIDE, 3, "ends in 10 s"}},
    {.type = GPU_PARK, .park = {.gpu = 3}},
    {.type = GPU_MOVE, .park = {.gpu = 3, .bytes = 1 << 21}},
    {.type = GPU_RESUME, .park = {.bytes = 1 << 21}},
};

static void every_message_survives_its_journey(void **state)
{
    uint8_t bytes[GPU_MESSAGE_SIZE];
    struct gpu_message back;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
        uint8_t again[GPU_MESSAGE_SIZE];

        gpu_message_encode(&samples[i], bytes);
        assert_int_equal(gpu_message_decode(bytes, sizeof bytes, &back), GPU_MESSAGE_FINE);
        assert_int_equal(back.type, samples[i].type);
        assert_int_equal(back.sequence, samples[i].sequence);
        gpu_message_encode(&back, again);
        assert_memory_equal(bytes, again, sizeof bytes);
    }
    gpu_message_encode(&samples[0], bytes);
    assert_int_equal(gpu_message_decode(bytes, sizeof bytes, &back), GPU_MESSAGE_FINE);
    assert_int_equal(back.hello.pid, 4711);
    assert_string_equal(back.hello.name, "python3");
    gpu_message_encode(&samples[8], bytes);
    assert_int_equal(gpu_message_decode(bytes, sizeof bytes, &back), GPU_MESSAGE_FINE);
    assert_int_equal(back.lease.flags, GPU_DRAINED_HAS_MORE);
    assert_int_equal(back.lease.word, 5);
}

static void the_bytes_are_little_endian(void **state)
{
    static const uint8_t expected[GPU_MESSAGE_SIZE] = {1, 0, 3,    0,    0x78, 0x56, 0x34, 0x12, 2, 0, 0,
                                                       0, 1, 0,    0,    0,    0,    0,    0,    0, 0, 0,
                                                       0, 0, 0xef, 0xcd, 0xab, 0,    0,    0,    0, 0};
    const struct gpu_message message = {
        .type = GPU_RESERVE, .sequence = 0x12345678, .memory = {.gpu = 2, .kind = 1, .bytes = 0xabcdef}};
    uint8_t bytes[GPU_MESSAGE_SIZE];

    (void)state;
    gpu_message_encode(&message, bytes);
    assert_memory_equal(bytes, expected, sizeof bytes);
}

static void what_is_out_of_bounds_is_refused(void **state)
{
    static const struct {
        size_t at;
        uint8_t value;
        enum gpu_message_error error;
    } cases[] = {
        {0, 2, GPU_MESSAGE_BAD_VERSION}, {1, 1, GPU_MESSAGE_BAD_VERSION}, {2, 0, GPU_MESSAGE_BAD_TYPE},
        {2, 15, GPU_MESSAGE_BAD_TYPE},   {2, 255, GPU_MESSAGE_BAD_TYPE},  {3, 1, GPU_MESSAGE_BAD_TYPE},
        {8, 16, GPU_MESSAGE_BAD_VALUE},  {12, 2, GPU_MESSAGE_BAD_VALUE},  {31, 1, GPU_MESSAGE_BAD_VALUE},
        {20, 1, GPU_MESSAGE_BAD_VALUE},  {63, 1, GPU_MESSAGE_BAD_VALUE},
    };
    struct gpu_message back = {.sequence = 99};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint8_t bytes[GPU_MESSAGE_SIZE];

        gpu_message_encode(&samples[2], bytes);
        bytes[cases[i].at] = cases[i].value;
        assert_int_equal(gpu_message_decode(bytes, sizeof bytes, &back), cases[i].error);
    }
    assert_int_equal(back.sequence, 99);
}

static void a_packet_has_one_size(void **state)
{
    uint8_t bytes[GPU_MESSAGE_SIZE + 1] = {0};
    struct gpu_message back;

    (void)state;
    gpu_message_encode(&samples[0], bytes);
    assert_int_equal(gpu_message_decode(bytes, 0, &back), GPU_MESSAGE_BAD_SIZE);
    assert_int_equal(gpu_message_decode(bytes, GPU_MESSAGE_SIZE - 1, &back), GPU_MESSAGE_BAD_SIZE);
    assert_int_equal(gpu_message_decode(bytes, GPU_MESSAGE_SIZE + 1, &back), GPU_MESSAGE_BAD_SIZE);
}

static void texts_are_ended_and_harmless(void **state)
{
    uint8_t bytes[GPU_MESSAGE_SIZE];
    struct gpu_message back;

    (void)state;
    gpu_message_encode(&samples[0], bytes);
    bytes[32] = '\n';
    bytes[33] = 0x1b;
    assert_int_equal(gpu_message_decode(bytes, sizeof bytes, &back), GPU_MESSAGE_FINE);
    assert_string_equal(back.hello.name, "??thon3");
    memset(bytes + 32, 'x', GPU_NAME_SIZE);
    assert_int_equal(gpu_message_decode(bytes, sizeof bytes, &back), GPU_MESSAGE_BAD_VALUE);
    gpu_message_encode(&samples[0], bytes);
    bytes[32 + GPU_NAME_SIZE - 1] = 'x';  // behind the end of the text
    assert_int_equal(gpu_message_decode(bytes, sizeof bytes, &back), GPU_MESSAGE_BAD_VALUE);
}

static void credit_is_taken_only_where_it_is(void **state)
{
    struct gpu_tenant_line line = {.credit_bytes = 10};

    (void)state;
    assert_false(gpu_credit_take(&line, 11));
    assert_true(gpu_credit_take(&line, 4));
    assert_true(gpu_credit_take(&line, 6));
    assert_false(gpu_credit_take(&line, 1));
    assert_true(gpu_credit_take(&line, 0));
    gpu_credit_give(&line, 3);
    assert_int_equal(line.credit_bytes, 3);
}

static void a_gate_passes_only_the_allowed_word(void **state)
{
    struct gpu_control_line line = {.word = GPU_GATE_GENERATION | GPU_GATE_OPEN};
    _Atomic uint32_t allowed = GPU_GATE_NEVER;

    (void)state;
    assert_false(gpu_gate_passes(&line, &allowed));
    allowed = GPU_GATE_GENERATION | GPU_GATE_OPEN;
    assert_true(gpu_gate_passes(&line, &allowed));
    line.word = 2 * GPU_GATE_GENERATION | GPU_GATE_CLOSED;
    assert_false(gpu_gate_passes(&line, &allowed));
    assert_int_equal(gpu_gate_state(line.word), GPU_GATE_CLOSED);
}

static void every_reason_has_a_name(void **state)
{
    (void)state;
    for (int i = 0; i < GPU_REASON_COUNT_; i++) {
        assert_non_null(gpu_reason_name((enum gpu_reason)i));
        assert_non_null(gpu_reason_text((enum gpu_reason)i));
    }
    assert_string_equal(gpu_reason_name((enum gpu_reason)99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_survives_its_journey),  cmocka_unit_test(the_bytes_are_little_endian),
        cmocka_unit_test(what_is_out_of_bounds_is_refused),    cmocka_unit_test(a_packet_has_one_size),
        cmocka_unit_test(texts_are_ended_and_harmless),        cmocka_unit_test(credit_is_taken_only_where_it_is),
        cmocka_unit_test(a_gate_passes_only_the_allowed_word), cmocka_unit_test(every_reason_has_a_name),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
