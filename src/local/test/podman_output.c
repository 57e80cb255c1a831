/* SPDX-License-Identifier: Apache-2.0 */
#include "local/node/image/podman.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct process_result printed(const char *text)
{
    return (struct process_result){.output = text, .output_len = strlen(text), .complaints = ""};
}

static struct process_result failed(const char *text)
{
    return (struct process_result){.exit_status = 125, .output = "", .complaints = text};
}

static void an_inspected_image_has_an_id_and_a_size(void **state)
{
    static const char good[] = "{\"id\":\"" ID "\",\"digests\":[],\"size\":12,\"config\":{}}\n";
    static const char *const bad[] = {"", "[]", "{}", "{\"id\":\"1\",\"config\":{}}",
                                      "{\"id\":\"" ID "\",\"config\":1}"};
    struct podman_image image = {0};
    struct process_result result = printed(good);

    (void)state;
    assert_int_equal(podman_read_image(&result, &image, NULL), 0);
    assert_string_equal(image.id, ID);
    assert_int_equal(image.bytes, 12);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        result = printed(bad[i]);
        assert_true(podman_read_image(&result, &image, NULL) < 0);
    }
}

static void an_image_that_is_missing_is_told_from_other_problems(void **state)
{
    struct podman_image image = {0};
    struct err err = {0};
    struct process_result result = failed("time=x level=warning\nError: inspecting object: a:1: image not known\n");

    (void)state;
    assert_int_equal(podman_read_image(&result, &image, &err), -ENOENT);
    assert_string_equal(err.text, "inspecting object: a:1: image not known");
    result = failed("Error: pinging registry: Error: refused\n");
    assert_int_equal(podman_read_image(&result, &image, &err), -EIO);
    assert_string_equal(err.text, "pinging registry: Error: refused");
    result = failed("");
    assert_int_equal(podman_read_nothing(&result, &err), -EIO);
    assert_non_null(strstr(err.text, "125"));
    result = (struct process_result){.err = {.code = -ETIMEDOUT, .text = "late"}, .output = "", .complaints = ""};
    assert_int_equal(podman_read_nothing(&result, &err), -ETIMEDOUT);
}

static void the_last_line_of_a_pull_is_the_id(void **state)
{
    char id[PODMAN_ID_MAX] = "";
    struct process_result result = printed("some text\n" ID "\n\n");

    (void)state;
    assert_int_equal(podman_read_pulled(&result, id, NULL), 0);
    assert_string_equal(id, ID);
    result = printed(ID "0\n");
    assert_int_equal(podman_read_pulled(&result, id, NULL), -EPROTO);
    result = printed("");
    assert_int_equal(podman_read_pulled(&result, id, NULL), -EPROTO);
}

static void a_mount_is_an_absolute_path(void **state)
{
    char path[PATH_MAX] = "";
    struct process_result result = printed("/a folder/merged\n");

    (void)state;
    assert_int_equal(podman_read_mount(&result, path, NULL), 0);
    assert_string_equal(path, "/a folder/merged");
    result = printed("merged\n");
    assert_int_equal(podman_read_mount(&result, path, NULL), -EPROTO);
    result = printed("\n");
    assert_int_equal(podman_read_mount(&result, path, NULL), -EPROTO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_inspected_image_has_an_id_and_a_size),
        cmocka_unit_test(an_image_that_is_missing_is_told_from_other_problems),
        cmocka_unit_test(the_last_line_of_a_pull_is_the_id),
        cmocka_unit_test(a_mount_is_an_absolute_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
