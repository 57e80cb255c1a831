/* SPDX-License-Identifier: Apache-2.0 */
#include "local/node/image/name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/mem.h"

#define DIGEST "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void names_get_a_tag_or_keep_their_digest(void **state)
{
    static const char *const names[][2] = {
        {"busybox", "busybox:latest"},
        {"busybox:1.37", "busybox:1.37"},
        {"library/busybox", "library/busybox:latest"},
        {"host.example:5000/a/b", "host.example:5000/a/b:latest"},
        {"localhost/a_b/c__d/e-f.g:T_1.0-x", "localhost/a_b/c__d/e-f.g:T_1.0-x"},
        {"LOCAL.host:1/a", "LOCAL.host:1/a:latest"},
        {"a@" DIGEST, "a@" DIGEST},
        {"host:5000/a:1@" DIGEST, "host:5000/a@" DIGEST},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        _cleanup_(freep) char *full = NULL;

        assert_int_equal(image_name_full(names[i][0], &full, NULL), 0);
        assert_string_equal(full, names[i][1]);
    }
}

static void texts_that_are_no_names_are_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "A",
        "a b",
        "-a",
        "--all-tags",
        "a:",
        "a:b:c",
        "a/",
        "/a",
        "a//b",
        "a..b",
        "a___b",
        "a-",
        "dir:/etc",
        "oci:/x",
        "docker://a",
        "host:x/a",
        "host:/a",
        ":5000/a",
        "a@",
        "a@sha256:12",
        "a@md5:1234",
        "a:.x",
        "host.:1/a",
        "a\nb",
        "\xff",
        "host:123456/a",
        "a@" DIGEST "0",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err err = {0};
        char *full = NULL;

        assert_int_equal(image_name_full(bad[i], &full, &err), -22);
        assert_null(full);
        assert_true(err.text[0]);
    }
}

static void a_long_name_is_refused(void **state)
{
    char text[4 * IMAGE_NAME_MAX];
    char *full = NULL;

    (void)state;
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_int_equal(image_name_full(text, &full, NULL), -22);
    text[256] = '\0';
    assert_int_equal(image_name_full(text, &full, NULL), -22);
    text[255] = '\0';
    assert_int_equal(image_name_full(text, &full, NULL), 0);
    free(full);
}

static void two_names_stand_for_no_image(void **state)
{
    (void)state;
    assert_true(image_name_is_process("none"));
    assert_true(image_name_is_process("process"));
    assert_false(image_name_is_process("none:1"));
    assert_false(image_name_is_process("host.example/none"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_get_a_tag_or_keep_their_digest),
        cmocka_unit_test(texts_that_are_no_names_are_refused),
        cmocka_unit_test(a_long_name_is_refused),
        cmocka_unit_test(two_names_stand_for_no_image),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
