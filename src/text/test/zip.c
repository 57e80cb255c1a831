/* SPDX-License-Identifier: Apache-2.0 */
#include "text/zip/zip.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <zip.h>

#include "base/err.h"
#include "base/mem.h"

/* An archive in memory that holds one file of `len` bytes. */
static char *make_archive(const char *member, const void *content, size_t len, size_t *ret_len)
{
    zip_error_t error;
    zip_stat_t stat;

    zip_error_init(&error);
    zip_source_t *target = zip_source_buffer_create(NULL, 0, 0, &error);
    zip_source_keep(target);
    zip_t *zip = zip_open_from_source(target, ZIP_TRUNCATE, &error);
    assert_non_null(zip);
    assert_true(zip_file_add(zip, member, zip_source_buffer(zip, content, len, 0), 0) >= 0);
    assert_int_equal(zip_close(zip), 0);

    assert_int_equal(zip_source_open(target), 0);
    assert_int_equal(zip_source_stat(target, &stat), 0);
    char *data = xmalloc(stat.size + 1);
    *ret_len = (size_t)zip_source_read(target, data, stat.size);
    zip_source_close(target);
    zip_source_free(target);
    zip_error_fini(&error);
    return data;
}

static int read_archive(const char *data, size_t len, size_t max, struct err *err)
{
    _cleanup_(freep) char *text = NULL;
    size_t text_len = 0;

    return zip_read_member(data, len, "snapshot.zip", "snapshot.json", max, &text, &text_len, err);
}

static void a_file_is_unpacked(void **state)
{
    (void)state;
    _cleanup_(freep) char *text = NULL;
    struct err err = {0};
    size_t len = 0;
    size_t text_len = 0;
    _cleanup_(freep) char *archive = make_archive("snapshot.json", "{\"a\": 1}", 8, &len);

    assert_true(zip_is_archive(archive, len));
    assert_false(zip_is_archive("{}", 2));
    assert_int_equal(zip_read_member(archive, len, "snapshot.zip", "snapshot.json", 1000, &text, &text_len, &err), 0);
    assert_int_equal(text_len, 8);
    assert_string_equal(text, "{\"a\": 1}");
}

static void a_file_that_is_not_there_is_named(void **state)
{
    (void)state;
    struct err err = {0};
    size_t len = 0;
    _cleanup_(freep) char *archive = make_archive("other.json", "{}", 2, &len);

    assert_int_equal(read_archive(archive, len, 1000, &err), -ENOENT);
    assert_string_equal(err.text, "snapshot.zip: contains no file snapshot.json");
}

static void a_cut_archive_is_refused_wherever_it_is_cut(void **state)
{
    (void)state;
    char content[5000];
    size_t len = 0;

    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (char)('a' + i * i % 23);
    _cleanup_(freep) char *archive = make_archive("snapshot.json", content, sizeof content, &len);
    for (size_t cut = 0; cut < len; cut++) {
        struct err err = {0};

        if (read_archive(archive, cut, sizeof content, &err) != -EBADMSG)
            fail_msg("cut at %zu: %s", cut, err.text);
        assert_ptr_equal(strstr(err.text, "snapshot.zip: the archive is truncated or damaged: "), err.text);
    }
}

static void a_bomb_is_refused(void **state)
{
    (void)state;
    enum { BOMB = ZIP_RATIO_FREE + 1000000 };
    _cleanup_(freep) char *zeros = xcalloc(1, BOMB);
    struct err err = {0};
    size_t len = 0;
    _cleanup_(freep) char *archive = make_archive("snapshot.json", zeros, BOMB, &len);

    assert_true(len < BOMB / 900);
    assert_int_equal(read_archive(archive, len, 1u << 30, &err), -EFBIG);
    assert_string_equal(err.text, "snapshot.zip: snapshot.json unpacks to more than 64 MiB");
    assert_int_equal(read_archive(archive, len, 1 << 20, &err), -EFBIG);
    assert_string_equal(err.text, "snapshot.zip: snapshot.json unpacks to more than 1 MiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_unpacked),
        cmocka_unit_test(a_file_that_is_not_there_is_named),
        cmocka_unit_test(a_cut_archive_is_refused_wherever_it_is_cut),
        cmocka_unit_test(a_bomb_is_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
