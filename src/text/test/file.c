/* SPDX-License-Identifier: Apache-2.0 */
#include "text/file.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"

/* A file that is gone after the test. */
struct temporary {
    char path[32];
};

static void temporary_done(struct temporary *file)
{
    (void)unlink(file->path);
}

static struct temporary temporary_with(const void *data, size_t len)
{
    struct temporary file = {.path = "/tmp/muster-test-XXXXXX"};
    int fd = mkstemp(file.path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, len), (ssize_t)len);
    assert_int_equal(close(fd), 0);
    return file;
}

/* `len` bytes as a gzip member; returns its size. */
static size_t pack(const void *data, size_t len, unsigned char *packed, size_t size)
{
    z_stream stream = {0};

    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)(uintptr_t)data;
    stream.avail_in = (uInt)len;
    stream.next_out = packed;
    stream.avail_out = (uInt)size;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t used = stream.total_out;
    assert_int_equal(deflateEnd(&stream), Z_OK);
    return used;
}

static void a_file_up_to_the_bound_is_read_whole(void **state)
{
    (void)state;
    _cleanup_(temporary_done) struct temporary file = temporary_with("a\0b", 3);
    _cleanup_(freep) char *data = NULL;
    struct err err = {0};
    char expected[128];
    size_t len = 0;

    assert_int_equal(file_read(file.path, 3, &data, &len, NULL), 0);
    assert_int_equal(len, 3);
    assert_memory_equal(data, "a\0b", 4);

    char *none = NULL;
    assert_int_equal(file_read(file.path, 2, &none, &len, &err), -EFBIG);
    assert_null(none);
    (void)snprintf(expected, sizeof expected, "%s: is larger than the limit of 2 bytes", file.path);
    assert_string_equal(err.text, expected);
}

static void an_empty_file_is_an_empty_string(void **state)
{
    (void)state;
    _cleanup_(temporary_done) struct temporary file = temporary_with("", 0);
    _cleanup_(freep) char *data = NULL;
    size_t len = 1;

    assert_int_equal(file_read(file.path, 0, &data, &len, NULL), 0);
    assert_int_equal(len, 0);
    assert_string_equal(data, "");
}

static void a_file_larger_than_one_read_is_read_whole(void **state)
{
    (void)state;
    enum { SIZE = 1 << 20 };
    _cleanup_(freep) char *written = xmalloc(SIZE);
    _cleanup_(freep) char *data = NULL;
    size_t len = 0;

    for (size_t i = 0; i < SIZE; i++)
        written[i] = (char)(i * 31 >> 3);
    _cleanup_(temporary_done) struct temporary file = temporary_with(written, SIZE);
    assert_int_equal(file_read(file.path, SIZE, &data, &len, NULL), 0);
    assert_int_equal(len, SIZE);
    assert_memory_equal(data, written, SIZE);
}

static void gzip_is_unpacked_member_after_member(void **state)
{
    (void)state;
    unsigned char packed[256];
    size_t first = pack("hello ", 6, packed, sizeof packed);
    size_t second = pack("world", 5, packed + first, sizeof packed - first);
    _cleanup_(temporary_done) struct temporary file = temporary_with(packed, first + second);
    _cleanup_(freep) char *data = NULL;
    size_t len = 0;

    assert_int_equal(file_read(file.path, 1000, &data, &len, NULL), 0);
    assert_int_equal(len, 11);
    assert_string_equal(data, "hello world");
}

static void a_gzip_bomb_stops_at_the_bound(void **state)
{
    (void)state;
    enum { SIZE = 1 << 22 };
    _cleanup_(freep) char *zeros = xcalloc(1, SIZE);
    _cleanup_(freep) unsigned char *packed = xmalloc(SIZE);
    size_t used = pack(zeros, SIZE, packed, SIZE);
    char *data = NULL;
    size_t len = 0;
    struct err err = {0};

    assert_true(used < 10000);
    assert_int_equal(file_gunzip(packed, used, SIZE - 1, &data, &len, &err), -EFBIG);
    assert_null(data);
    assert_int_equal(file_gunzip(packed, used, SIZE, &data, &len, &err), 0);
    assert_int_equal(len, SIZE);
    free(data);
}

static void damaged_gzip_is_refused_at_every_length(void **state)
{
    (void)state;
    unsigned char packed[256];
    size_t used = pack("hello world", 11, packed, sizeof packed);
    struct err err = {0};
    char *data = NULL;
    size_t len = 0;

    for (size_t cut = 0; cut < used; cut++) {
        assert_int_equal(file_gunzip(packed, cut, 1000, &data, &len, &err), -EBADMSG);
        assert_string_equal(err.text, "gzip data ends too early");
    }
    packed[used - 5] ^= 1;
    assert_int_equal(file_gunzip(packed, used, 1000, &data, &len, &err), -EBADMSG);
    assert_string_equal(err.text, "damaged gzip data: incorrect data check");
    assert_null(data);
}

static void what_cannot_be_opened_is_named(void **state)
{
    (void)state;
    struct err err = {0};
    char *data = NULL;
    size_t len = 0;

    assert_int_equal(file_read("no-such-file", 10, &data, &len, &err), -ENOENT);
    assert_string_equal(err.text, "no-such-file: No such file or directory");
    assert_int_equal(file_read("/", 10, &data, &len, &err), -EISDIR);
    assert_string_equal(err.text, "/: Is a directory");
    assert_string_equal(file_name("-"), "standard input");
}

static void a_dash_reads_standard_input(void **state)
{
    (void)state;
    int ends[2];
    int saved = dup(STDIN_FILENO);
    _cleanup_(freep) char *data = NULL;
    size_t len = 0;

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "piped", 5), 5);
    assert_int_equal(close(ends[1]), 0);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(file_read("-", 100, &data, &len, NULL), 0);
    assert_string_equal(data, "piped");
    assert_int_equal(close(ends[0]), 0);
    if (saved >= 0) {
        assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
        assert_int_equal(close(saved), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_up_to_the_bound_is_read_whole),
        cmocka_unit_test(an_empty_file_is_an_empty_string),
        cmocka_unit_test(a_file_larger_than_one_read_is_read_whole),
        cmocka_unit_test(gzip_is_unpacked_member_after_member),
        cmocka_unit_test(a_gzip_bomb_stops_at_the_bound),
        cmocka_unit_test(damaged_gzip_is_refused_at_every_length),
        cmocka_unit_test(what_cannot_be_opened_is_named),
        cmocka_unit_test(a_dash_reads_standard_input),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
