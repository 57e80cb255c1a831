/* SPDX-License-Identifier: Apache-2.0 */
#include "base/chunks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint64_t *append(struct chunks *chunks, uint64_t value)
{
    chunks_make_room(chunks);
    uint64_t *item = chunks_at(chunks, chunks->len++);

    *item = value;
    return item;
}

static void items_stay_in_place_while_it_grows(void **state)
{
    (void)state;
    enum { COUNT = 5 * CHUNK_ITEMS + 3 };
    struct chunks chunks;

    chunks_init(&chunks, sizeof(uint64_t));
    const uint64_t *first = append(&chunks, 0);
    for (uint64_t i = 1; i < COUNT; i++)
        (void)append(&chunks, i * i);
    assert_ptr_equal(chunks_at(&chunks, 0), first);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(*(const uint64_t *)chunks_at(&chunks, i), (uint64_t)i * i);
    assert_true(chunks_bytes(&chunks) >= COUNT * sizeof(uint64_t));
    chunks_done(&chunks);
    assert_int_equal(chunks_bytes(&chunks), 0);
}

static void a_length_set_back_uses_its_blocks_again(void **state)
{
    (void)state;
    struct chunks chunks;

    chunks_init(&chunks, sizeof(uint64_t));
    for (uint64_t i = 0; i < 2 * CHUNK_ITEMS; i++)
        (void)append(&chunks, i);
    size_t held = chunks_bytes(&chunks);
    chunks.len = 1;
    for (uint64_t i = 1; i < 2 * CHUNK_ITEMS; i++)
        (void)append(&chunks, i);
    assert_int_equal(chunks_bytes(&chunks), held);
    chunks_done(&chunks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_stay_in_place_while_it_grows),
        cmocka_unit_test(a_length_set_back_uses_its_blocks_again),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
