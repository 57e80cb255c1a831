/* SPDX-License-Identifier: Apache-2.0 */
#include "local/node/pod/images.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/macros.h"
#include "text/json.h"

static void images_are_found_with_and_without_their_tag(void **state)
{
    struct image_map *map = NULL;

    (void)state;
    assert_int_equal(image_map_parse("# images\n\n  busybox =/i/busybox  \nhost:5000/a/b = /i/b\r\n"
                                     "host:5000/a/b:2 = /i/b2\n",
                                     "map", &map, NULL),
                     0);
    assert_string_equal(image_map_folder(map, "busybox"), "/i/busybox");
    assert_string_equal(image_map_folder(map, "busybox:1.37"), "/i/busybox");
    assert_string_equal(image_map_folder(map, "busybox@sha256:00"), "/i/busybox");
    assert_string_equal(image_map_folder(map, "host:5000/a/b:1"), "/i/b");
    assert_string_equal(image_map_folder(map, "host:5000/a/b:2"), "/i/b2");
    assert_string_equal(image_map_folder(map, "host:5000/a/b:2@sha256:00"), "/i/b2");
    assert_null(image_map_folder(map, "host"));
    assert_null(image_map_folder(map, "other/busybox"));
    assert_null(image_map_folder(map, ""));
    assert_null(image_map_folder(NULL, "busybox"));
    image_map_free(map);
}

static void lines_that_are_wrong_are_named(void **state)
{
    static const char *const bad[] = {"a\n",         "= /x\n",     "a = x\n",    "a b = /x\n", "a = /x,y\n",
                                      "a = /x:/y\n", "a = /x y\n", "a = /x\\\n", "a =\n"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct image_map *map = NULL;
        struct err err = {0};
        char text[64] = "ok = /ok\n";

        strcat(text, bad[i]);
        assert_true(image_map_parse(text, "map", &map, &err) < 0);
        assert_non_null(strstr(err.text, "map:2: "));
    }
}

static int user_of_text(const char *text, int64_t *uid, int64_t *gid)
{
    struct image image = {0};

    assert_int_equal(json_parse(text, strlen(text), "config", &image.doc, NULL), 0);
    image.config = yyjson_doc_get_root(image.doc);
    int r = image_user(&image, uid, gid, NULL);
    image_done(&image);
    return r;
}

static void users_of_images_are_numbers(void **state)
{
    int64_t uid = 0, gid = 0;

    (void)state;
    assert_int_equal(user_of_text("{}", &uid, &gid), 0);
    assert_int_equal(uid, -1);
    assert_int_equal(user_of_text("{\"User\":\"1000\"}", &uid, &gid), 0);
    assert_int_equal(uid, 1000);
    assert_int_equal(gid, -1);
    assert_int_equal(user_of_text("{\"User\":\"1:2\"}", &uid, &gid), 0);
    assert_int_equal(uid, 1);
    assert_int_equal(gid, 2);
    assert_true(user_of_text("{\"User\":\"name\"}", &uid, &gid) < 0);
    assert_true(user_of_text("{\"User\":\"1:\"}", &uid, &gid) < 0);
    assert_true(user_of_text("{\"User\":\"-1\"}", &uid, &gid) < 0);
    assert_true(user_of_text("{\"User\":\"99999999999999999999\"}", &uid, &gid) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_are_found_with_and_without_their_tag),
        cmocka_unit_test(lines_that_are_wrong_are_named),
        cmocka_unit_test(users_of_images_are_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
