/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strbuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "base/mem.h"

static void text_grows_piece_by_piece(void **state)
{
    (void)state;
    struct strbuf sb;

    strbuf_init(&sb, 1000);
    assert_string_equal(sb.text, "");
    strbuf_add(&sb, "gpu-1", 3);
    strbuf_addch(&sb, '-');
    strbuf_addf(&sb, "%d:%s", 42, "ready");
    strbuf_addstr(&sb, "!");
    assert_string_equal(sb.text, "gpu-42:ready!");
    assert_int_equal(sb.len, strlen(sb.text));
    assert_false(sb.is_cut);
    strbuf_clear(&sb);
    assert_string_equal(sb.text, "");
    strbuf_done(&sb);
}

static void nothing_goes_beyond_the_limit(void **state)
{
    (void)state;
    struct strbuf sb;

    strbuf_init(&sb, 5);
    strbuf_add(&sb, "abc", 3);
    strbuf_addf(&sb, "%s", "defgh");
    assert_string_equal(sb.text, "abcde");
    assert_true(sb.is_cut);
    strbuf_addch(&sb, 'x');
    assert_string_equal(sb.text, "abcde");
    strbuf_clear(&sb);
    assert_false(sb.is_cut);
    for (int i = 0; i < 100; i++)
        strbuf_addch(&sb, 'y');
    assert_string_equal(sb.text, "yyyyy");
    strbuf_done(&sb);

    strbuf_init(&sb, 0);
    strbuf_addf(&sb, "%d", 7);
    assert_string_equal(sb.text, "");
    assert_true(sb.is_cut);
    strbuf_done(&sb);
}

static void taken_text_belongs_to_the_caller(void **state)
{
    (void)state;
    struct strbuf sb;

    strbuf_init(&sb, 100);
    _cleanup_(freep) char *nothing = strbuf_take(&sb);
    assert_string_equal(nothing, "");
    strbuf_addstr(&sb, "mine");
    _cleanup_(freep) char *text = strbuf_take(&sb);
    assert_string_equal(sb.text, "");
    strbuf_addstr(&sb, "next");
    assert_string_equal(text, "mine");
    assert_string_equal(sb.text, "next");
    strbuf_done(&sb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_grows_piece_by_piece),
        cmocka_unit_test(nothing_goes_beyond_the_limit),
        cmocka_unit_test(taken_text_belongs_to_the_caller),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
