/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct point {
    int x;
    int y;
};

static void pieces_are_aligned_and_do_not_overlap(void **state)
{
    (void)state;
    struct arena a;
    char *pieces[200];

    arena_init(&a);
    for (size_t i = 0; i < 200; i++) {
        pieces[i] = arena_alloc(&a, i);
        assert_int_equal((uintptr_t)pieces[i] % 16, 0);
        memset(pieces[i], (int)i, i);
    }
    for (size_t i = 0; i < 200; i++) {
        for (size_t byte = 0; byte < i; byte++)
            assert_int_equal((unsigned char)pieces[i][byte], i);
    }
    arena_done(&a);
    assert_int_equal(arena_bytes(&a), 0);
}

static void new_objects_are_zeros_also_in_used_memory(void **state)
{
    (void)state;
    struct arena a;

    arena_init(&a);
    memset(arena_alloc(&a, 4000), 0xff, 4000);
    arena_clear(&a);
    const struct point *point = ARENA_NEW(&a, struct point);
    assert_int_equal(point->x, 0);
    assert_int_equal(point->y, 0);
    const int *numbers = arena_calloc(&a, 100, sizeof *numbers);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(numbers[i], 0);
    assert_string_equal(arena_strdup(&a, "gpu-1"), "gpu-1");
    arena_done(&a);
}

static void a_piece_larger_than_any_block_fits(void **state)
{
    (void)state;
    struct arena a;
    size_t size = (size_t)5 << 20;

    arena_init(&a);
    char *piece = arena_alloc(&a, size);
    memset(piece, 1, size);
    assert_true(arena_bytes(&a) >= size);
    arena_done(&a);
}

static void after_clearing_the_same_use_takes_no_more_from_the_heap(void **state)
{
    (void)state;
    struct arena a;
    size_t held = 0;

    arena_init(&a);
    arena_clear(&a);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 1000; i++)
            (void)arena_alloc(&a, 100);
        if (round == 2)
            held = arena_bytes(&a);
        if (round > 2)
            assert_int_equal(arena_bytes(&a), held);
        arena_clear(&a);
    }
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_and_do_not_overlap),
        cmocka_unit_test(new_objects_are_zeros_also_in_used_memory),
        cmocka_unit_test(a_piece_larger_than_any_block_fits),
        cmocka_unit_test(after_clearing_the_same_use_takes_no_more_from_the_heap),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
