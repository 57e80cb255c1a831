/* SPDX-License-Identifier: Apache-2.0 */
#include "text/wrap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void prints(struct table_view view, enum text_style style, const char *text, const char *expected)
{
    char *printed = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&printed, &len);

    wrap_print(out, &view, "├─ ", "│  ", style, text);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(printed, expected);
    free(printed);
}

static void paragraphs_are_broken_at_spaces(void **state)
{
    (void)state;
    prints((struct table_view){.width = 26}, STYLE_PLAIN, "four nodes of the cluster lack it",
           "├─ four nodes of the\n│  cluster lack it\n");
    prints((struct table_view){0}, STYLE_PLAIN, "four nodes of the cluster lack it",
           "├─ four nodes of the cluster lack it\n");
    prints((struct table_view){.width = 5}, STYLE_PLAIN, "words that are short", "├─ words that are short\n");
    prints((struct table_view){.width = 26}, STYLE_PLAIN, "", "├─ \n");
}

static void colours_cover_the_text_and_names_bring_none(void **state)
{
    (void)state;
    prints((struct table_view){.width = 26, .has_colour = true}, STYLE_BAD, "never runs on any of these nodes",
           "├─ \033[31mnever runs on any of\033[0m\n│  \033[31mthese nodes\033[0m\n");
    prints((struct table_view){0}, STYLE_BAD, "a\033[31mb", "├─ a?[31mb\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paragraphs_are_broken_at_spaces),
        cmocka_unit_test(colours_cover_the_text_and_names_bring_none),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
