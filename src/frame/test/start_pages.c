/* SPDX-License-Identifier: Apache-2.0 */

/* What is given back of the program and its libraries, by what the kernel counts. */
#include "frame/start_pages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* KiB of pages that come from files. */
static long file_pages(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long found = -1;

    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "RssFile: %ld kB", &found) == 1)
            break;
    (void)fclose(file);
    assert_true(found > 0);
    return found;
}

static int changed_since_the_start = 1;
static const char *const relocated = "relocated";

static void pages_go_and_what_was_written_stays(void **state)
{
    (void)state;
    changed_since_the_start = 2;
    long before = file_pages();

    start_pages_drop();
    long after = file_pages();

    assert_true(after < before * 3 / 4);
    assert_int_equal(changed_since_the_start, 2);
    assert_string_equal(relocated, "relocated");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_go_and_what_was_written_stays),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
