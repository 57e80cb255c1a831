/* SPDX-License-Identifier: Apache-2.0 */
#include "text/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macros.h"
#include "base/mem.h"

static const struct table_column columns[] = {
    {.title = "NODE", .shrink = TABLE_CUT},
    {.title = "GPUS", .align = TABLE_RIGHT},
    {.title = "STATE", .shrink = TABLE_CUT},
};

static void prints_as(const struct table *t, const struct table_view *view, const char *expected)
{
    _cleanup_(freep) char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    table_print(t, view, out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, expected);
}

static void row(struct table *t, const char *node, int gpus, enum text_style style, const char *how)
{
    table_cell(t, STYLE_PLAIN, "%s", node);
    table_cell(t, STYLE_PLAIN, "%d", gpus);
    table_cell(t, style, "%s", how);
}

static void columns_are_as_wide_as_their_widest_cell(void **state)
{
    (void)state;
    struct table t;

    table_init(&t, columns, ARRAY_LEN(columns));
    row(&t, "gpu-1", 8, STYLE_GOOD, "ready");
    row(&t, "gpu-100", 16, STYLE_BAD, "lost");
    table_cell(&t, STYLE_PLAIN, "half a row");
    prints_as(&t, &(struct table_view){0},
              "NODE        GPUS  STATE\n"
              "gpu-1          8  ready\n"
              "gpu-100       16  lost\n");
    table_done(&t);
}

static void characters_count_and_not_bytes(void **state)
{
    (void)state;
    struct table t;

    table_init(&t, columns, ARRAY_LEN(columns));
    row(&t, "köln", 1, STYLE_PLAIN, "ready");
    row(&t, "東京", 2, STYLE_PLAIN, "ready");
    row(&t, "ko\xcc\x88ln", 3, STYLE_PLAIN, "ready");
    row(&t, "oslo", 4, STYLE_PLAIN, "ready");
    prints_as(&t, &(struct table_view){0},
              "NODE  GPUS  STATE\n"
              "köln     1  ready\n"
              "東京     2  ready\n"
              "ko\xcc\x88ln     3  ready\n"
              "oslo     4  ready\n");
    table_done(&t);
}

static void a_narrow_view_cuts_the_widest_column(void **state)
{
    (void)state;
    struct table t;

    table_init(&t, columns, ARRAY_LEN(columns));
    row(&t, "a-very-long-node-name", 8, STYLE_PLAIN, "ready");
    row(&t, "nöde-mit-langem-namen", 8, STYLE_PLAIN, "waiting for power");
    prints_as(&t, &(struct table_view){.width = 34},
              "NODE           GPUS  STATE\n"
              "a-very-long-…     8  ready\n"
              "nöde-mit-lan…     8  waiting for …\n");
    /* Too narrow for anything: columns keep a readable rest. */
    prints_as(&t, &(struct table_view){.width = 1},
              "NODE    GPUS  STATE\n"
              "a-ver…     8  ready\n"
              "nöde-…     8  waiti…\n");
    table_done(&t);
}

static void the_last_column_may_go_on_in_further_lines(void **state)
{
    (void)state;
    static const struct table_column wrapping[] = {
        {.title = "JOB", .shrink = TABLE_CUT},
        {.title = "WHY", .shrink = TABLE_WRAP},
    };
    struct table t;

    table_init(&t, wrapping, ARRAY_LEN(wrapping));
    table_cell(&t, STYLE_PLAIN, "train");
    table_cell(&t, STYLE_BAD, "needs 8 GPUs; queue köln has 4 GPUs");
    table_cell(&t, STYLE_PLAIN, "sweep");
    table_cell(&t, STYLE_PLAIN, "a-name-without-any-space-in-it");
    prints_as(&t, &(struct table_view){.width = 31},
              "JOB    WHY\n"
              "train  needs 8 GPUs; queue köln\n"
              "       has 4 GPUs\n"
              "sweep  a-name-without-any-space\n"
              "       -in-it\n");
    prints_as(&t, &(struct table_view){0},
              "JOB    WHY\n"
              "train  needs 8 GPUs; queue köln has 4 GPUs\n"
              "sweep  a-name-without-any-space-in-it\n");
    prints_as(&t, &(struct table_view){.width = 31, .has_colour = true},
              "\033[2mJOB\033[0m    \033[2mWHY\033[0m\n"
              "train  \033[31mneeds 8 GPUs; queue köln\033[0m\n"
              "       \033[31mhas 4 GPUs\033[0m\n"
              "sweep  a-name-without-any-space\n"
              "       -in-it\n");
    table_done(&t);
}

static void colour_surrounds_the_text_only(void **state)
{
    (void)state;
    struct table t;

    table_init(&t, columns, ARRAY_LEN(columns));
    row(&t, "gpu-1", 8, STYLE_BAD, "lost");
    prints_as(&t, &(struct table_view){.has_colour = true},
              "\033[2mNODE\033[0m   \033[2mGPUS\033[0m  \033[2mSTATE\033[0m\n"
              "gpu-1     8  \033[31mlost\033[0m\n");
    table_done(&t);
}

static void a_name_cannot_drive_the_terminal(void **state)
{
    (void)state;
    struct table t;

    table_init(&t, columns, ARRAY_LEN(columns));
    row(&t, "a\033[2Jb\n", 1, STYLE_PLAIN, "\xff\xc3+\xed");
    row(&t,
        "\xc2\x9b"
        "1m",
        1, STYLE_PLAIN,
        "\xe2\x80\xae"
        "x");
    prints_as(&t, &(struct table_view){0},
              "NODE     GPUS  STATE\n"
              "a?[2Jb      1  ??+?\n"
              "??1m        1  ???x\n");
    table_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
        cmocka_unit_test(characters_count_and_not_bytes),
        cmocka_unit_test(a_narrow_view_cuts_the_widest_column),
        cmocka_unit_test(the_last_column_may_go_on_in_further_lines),
        cmocka_unit_test(colour_surrounds_the_text_only),
        cmocka_unit_test(a_name_cannot_drive_the_terminal),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
