/* SPDX-License-Identifier: Apache-2.0 */
#include "picture/board.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"

struct said {
    char text[4096];
};

static struct said since(const struct board *board, uint64_t sequence)
{
    struct said said;
    struct strbuf out;

    strbuf_init(&out, sizeof said.text - 1);
    board_write_since(board, sequence, &out);
    (void)snprintf(said.text, sizeof said.text, "%s", out.text);
    strbuf_done(&out);
    return said;
}

/* Puts workloads, "name=json" each, as all there are. */
static void put_all(struct board *board, nsec_t now, const char *const *rows)
{
    board_begin(board);
    for (size_t i = 0; rows[i]; i++) {
        const char *equals = strchr(rows[i], '=');
        char name[64];

        (void)snprintf(name, sizeof name, "%.*s", (int)(equals - rows[i]), rows[i]);
        board_put(board, BOARD_WORKLOADS, name, equals + 1, strlen(equals + 1));
    }
    board_end(board, now);
}

#define PUT(board, now, ...) put_all(board, now, (const char *const[]){__VA_ARGS__, NULL})

static void a_new_reader_gets_everything_in_order(void **state)
{
    struct board board;

    (void)state;
    board_init(&board);
    PUT(&board, 1, "b=2", "a=1");
    assert_string_equal(since(&board, 0).text, "\"workloads\":[1,2]");
    board_done(&board);
}

static void rows_that_did_not_change_are_not_told_again(void **state)
{
    struct board board;

    (void)state;
    board_init(&board);
    PUT(&board, 1, "a=1", "b=2");
    uint64_t seen = board.sequence;
    PUT(&board, 2, "a=1", "b=2");
    assert_int_equal(board.sequence, seen);
    assert_string_equal(since(&board, seen).text, "");
    PUT(&board, 3, "a=1", "b=3");
    PUT(&board, 4, "a=1", "b=4");
    assert_string_equal(since(&board, seen).text, "\"workloads\":[4]");
    board_done(&board);
}

static void rows_that_have_gone_are_told_by_name(void **state)
{
    struct board board;

    (void)state;
    board_init(&board);
    PUT(&board, 1, "a=1", "b=2");
    uint64_t seen = board.sequence;
    PUT(&board, 2, "c=3");
    assert_string_equal(since(&board, seen).text, "\"workloads\":[3],\"gone\":{\"workloads\":[\"a\",\"b\"]}");
    assert_string_equal(since(&board, 0).text, "\"workloads\":[3]");
    board_done(&board);
}

static void a_row_may_come_back(void **state)
{
    struct board board;

    (void)state;
    board_init(&board);
    PUT(&board, 1, "a=1", "b=2");
    uint64_t seen = board.sequence;
    PUT(&board, 2, "b=2");
    PUT(&board, 3, "a=1", "b=2");
    assert_string_equal(since(&board, seen).text, "\"workloads\":[1]");
    PUT(&board, 3 + BOARD_GONE_LIFETIME, "a=1", "b=2");
    assert_true(board_knows(&board, seen));
    board_done(&board);
}

static void a_reader_who_was_away_for_too_long_has_to_begin_again(void **state)
{
    struct board board;

    (void)state;
    board_init(&board);
    PUT(&board, 1, "a=1", "b=2");
    uint64_t seen = board.sequence;
    PUT(&board, 2, "b=2");
    assert_true(board_knows(&board, seen));
    uint64_t later = board.sequence;
    PUT(&board, 2 + BOARD_GONE_LIFETIME, "b=2");
    assert_false(board_knows(&board, seen));
    assert_true(board_knows(&board, later));
    assert_false(board_knows(&board, board.sequence + 1));
    board_done(&board);
}

static void not_too_many_are_remembered(void **state)
{
    struct board board;
    char name[16];

    (void)state;
    board_init(&board);
    board_begin(&board);
    for (int i = 0; i < BOARD_GONE_MAX + 10; i++) {
        (void)snprintf(name, sizeof name, "%d", i);
        board_put(&board, BOARD_NODES, name, "0", 1);
    }
    board_end(&board, 1);
    uint64_t seen = board.sequence;
    board_begin(&board);
    board_end(&board, 2);
    assert_int_equal(board.gone.len, BOARD_GONE_MAX);
    assert_int_equal(board.rows[BOARD_NODES].len, BOARD_GONE_MAX);
    assert_false(board_knows(&board, seen));
    board_done(&board);
}

static void one_part_can_be_read_alone(void **state)
{
    struct board board;
    struct strbuf out;

    (void)state;
    board_init(&board);
    board_begin(&board);
    board_put(&board, BOARD_NODES, "n", "{}", 2);
    board_put(&board, BOARD_WORKLOADS, "w", "[]", 2);
    board_end(&board, 1);
    strbuf_init(&out, 100);
    board_write_part(&board, BOARD_NODES, &out);
    board_write_part(&board, BOARD_QUEUES, &out);
    assert_string_equal(out.text, "[{}][]");
    strbuf_done(&out);
    assert_string_equal(board_row(&board, BOARD_WORKLOADS, "w"), "[]");
    assert_null(board_row(&board, BOARD_WORKLOADS, "n"));
    board_done(&board);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_reader_gets_everything_in_order),
        cmocka_unit_test(rows_that_did_not_change_are_not_told_again),
        cmocka_unit_test(rows_that_have_gone_are_told_by_name),
        cmocka_unit_test(a_row_may_come_back),
        cmocka_unit_test(a_reader_who_was_away_for_too_long_has_to_begin_again),
        cmocka_unit_test(not_too_many_are_remembered),
        cmocka_unit_test(one_part_can_be_read_alone),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
