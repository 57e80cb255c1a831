/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads objects that Kubernetes' own encoders wrote, one JSON object a line: {"name", "wire", "json"}. The protobuf bytes
 * must give the same JSON; and the JSON must be in its normal form already. Prints TAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/mem.h"
#include "kube/access/base64.h"
#include "local/wire/normal.h"
#include "local/wire/types.h"
#include "local/wire/wire.h"
#include "text/file.h"
#include "text/json.h"

enum { SAMPLES_BYTES_MAX = 64 << 20 };

static void show_difference(const char *what, yyjson_mut_val *found, yyjson_mut_val *expected)
{
    _cleanup_(freep) char *is = yyjson_mut_val_write(found, YYJSON_WRITE_NOFLAG, NULL);
    _cleanup_(freep) char *should = yyjson_mut_val_write(expected, YYJSON_WRITE_NOFLAG, NULL);

    printf("# %s\n# found:    %s\n# expected: %s\n", what, is ? is : "nothing", should);
}

/* Shows the first member or element that differs, so that a difference deep in an object can be read. */
static bool is_equal(const char *path, yyjson_mut_val *found, yyjson_mut_val *expected)
{
    yyjson_mut_obj_iter members = yyjson_mut_obj_iter_with(expected);
    yyjson_mut_arr_iter items = yyjson_mut_arr_iter_with(expected);
    char below[512];

    if (yyjson_mut_equals(found, expected))
        return true;
    for (yyjson_mut_val *key; yyjson_mut_is_obj(found) && (key = yyjson_mut_obj_iter_next(&members));) {
        const char *name = yyjson_mut_get_str(key);
        (void)snprintf(below, sizeof below, "%s.%s", path, name ? name : "");
        if (!is_equal(below, yyjson_mut_obj_get(found, name), yyjson_mut_obj_iter_get_val(key)))
            return false;
    }
    for (yyjson_mut_val *item; yyjson_mut_is_arr(found) && (item = yyjson_mut_arr_iter_next(&items));) {
        (void)snprintf(below, sizeof below, "%s[%zu]", path, items.idx - 1);
        if (!is_equal(below, yyjson_mut_arr_get(found, items.idx - 1), item))
            return false;
    }
    show_difference(path, found, expected);
    return false;
}

static bool wire_gives(yyjson_val *sample, yyjson_mut_doc *expected)
{
    _cleanup_(freep) char *bytes = NULL;
    yyjson_mut_doc *doc = NULL;
    struct err err = {0};
    size_t len;

    if (base64_decode(yyjson_get_str(yyjson_obj_get(sample, "wire")), &bytes, &len) < 0 ||
        wire_read(bytes, len, &doc, &err) < 0) {
        printf("# %s\n", err.text);
        return false;
    }
    bool is_same = is_equal("protobuf", yyjson_mut_doc_get_root(doc), yyjson_mut_doc_get_root(expected));
    yyjson_mut_doc_free(doc);
    return is_same;
}

static bool is_normal(yyjson_mut_doc *expected)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_mut_copy(expected, NULL);
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    const char *version = yyjson_mut_get_str(yyjson_mut_obj_get(root, "apiVersion"));
    struct field_faults faults = {0};
    struct err err = {0};

    const struct type *type = type_find_in(version, yyjson_mut_get_str(yyjson_mut_obj_get(root, "kind")));
    bool is_same = type && normal_form(type, doc, &faults, &err) == 0 && faults.texts.len == 0 &&
                   is_equal("JSON", root, yyjson_mut_doc_get_root(expected));
    if (!is_same)
        printf("# %s\n", faults.texts.len ? faults.texts.items[0] : err.text);
    field_faults_done(&faults);
    yyjson_mut_doc_free(doc);
    return is_same;
}

static bool try_sample(char *line, size_t number)
{
    yyjson_doc *read = yyjson_read(line, strlen(line), 0);
    yyjson_val *sample = yyjson_doc_get_root(read);
    yyjson_mut_doc *expected = yyjson_mut_doc_new(NULL);

    yyjson_mut_doc_set_root(expected, yyjson_val_mut_copy(expected, yyjson_obj_get(sample, "json")));
    bool is_right = wire_gives(sample, expected) && is_normal(expected);
    printf("%s %zu - %s\n", is_right ? "ok" : "not ok", number, yyjson_get_str(yyjson_obj_get(sample, "name")));
    yyjson_mut_doc_free(expected);
    yyjson_doc_free(read);
    return is_right;
}

int main(int argc, char **argv)
{
    _cleanup_(freep) char *text = NULL;
    struct err err = {0};
    size_t len;
    size_t count = 0;
    size_t failed = 0;
    char *rest = NULL;

    if (argc != 2 || file_read(argv[1], SAMPLES_BYTES_MAX, &text, &len, &err) < 0) {
        printf("Bail out! %s\n", err.text);
        return 1;
    }
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        failed += !try_sample(line, ++count);
    printf("1..%zu\n", count);
    return failed > 0;
}
