/* SPDX-License-Identifier: Apache-2.0 */
#include "text/zip/zip_write.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"
#include "text/zip/zip.h"

static void what_comes_in_pieces_is_read_as_one(void **unused)
{
    struct zip_writer *writer = zip_writer_new("a.json", 1 << 20);
    _cleanup_(freep) char *whole = xcalloc(1, 2 << 20);
    _cleanup_(freep) char *archive = NULL;
    _cleanup_(freep) char *text = NULL;
    struct err err = {0};
    size_t len = 0;
    size_t archive_len = 0;
    size_t text_len = 0;

    (void)unused;
    for (int i = 0; i < 50000; i++) {
        int n = snprintf(whole + len, 64, "{\"number\":%d}\n", i);

        zip_writer_add(writer, whole + len, (size_t)n);
        len += (size_t)n;
    }
    assert_int_equal(zip_writer_finish(writer, &archive, &archive_len, &err), 0);
    assert_true(archive_len < len / 3);
    assert_int_equal(zip_read_member(archive, archive_len, "x.zip", "a.json", 2 << 20, &text, &text_len, &err), 0);
    assert_int_equal(text_len, len);
    assert_memory_equal(text, whole, len);
    zip_writer_free(writer);
}

static void nothing_at_all_is_an_empty_file(void **unused)
{
    struct zip_writer *writer = zip_writer_new("a.json", 1 << 20);
    _cleanup_(freep) char *archive = NULL;
    _cleanup_(freep) char *text = NULL;
    size_t archive_len = 0;
    size_t text_len = 1;

    (void)unused;
    assert_int_equal(zip_writer_finish(writer, &archive, &archive_len, NULL), 0);
    assert_int_equal(zip_read_member(archive, archive_len, "x.zip", "a.json", 1000, &text, &text_len, NULL), 0);
    assert_int_equal(text_len, 0);
    zip_writer_free(writer);
}

static void what_does_not_fit_is_refused(void **unused)
{
    struct zip_writer *writer = zip_writer_new("a.json", 1 << 20);
    char *archive = NULL;
    struct err err = {0};
    size_t archive_len = 0;
    char noise[4096];
    uint64_t seed = 1;

    (void)unused;
    for (int i = 0; i < 1000; i++) {
        for (size_t k = 0; k < sizeof noise; k++) {
            seed = seed * 6364136223846793005U + 1442695040888963407U;
            noise[k] = (char)(seed >> 56);
        }
        zip_writer_add(writer, noise, sizeof noise);
    }
    assert_int_equal(zip_writer_finish(writer, &archive, &archive_len, &err), -EFBIG);
    assert_string_equal(err.text, "a.json takes more than 1 MiB packed");
    zip_writer_free(writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_in_pieces_is_read_as_one),
        cmocka_unit_test(nothing_at_all_is_an_empty_file),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
