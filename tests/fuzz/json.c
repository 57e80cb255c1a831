/* SPDX-License-Identifier: Apache-2.0 */

/* Any bytes parse or fail, and every place of a document can be read as every type. */
#include "text/json.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "fuzz.h"

static void read_members(const struct json_at *at)
{
    struct json_at place;
    struct err err = {0};
    const char *text = "";
    int64_t number = 0;
    double real = 0;
    bool flag = false;

    (void)!json_member_str(at, "name", JSON_REQUIRED, &text, &err);
    (void)!json_member_int64(at, "count", JSON_OPTIONAL, 0, 100, &number, &err);
    (void)!json_member_double(at, "weight", JSON_OPTIONAL, -INFINITY, INFINITY, &real, &err);
    (void)!json_member_bool(at, "ready", JSON_OPTIONAL, &flag, &err);
    (void)!json_member_array(at, "items", JSON_OPTIONAL, &place, &err);
    (void)!json_member_object(at, "spec", JSON_OPTIONAL, &place, &err);
    BUG_ON(number < 0 || number > 100 || !isfinite(real));
}

static void walk(const struct json_at *at)
{
    struct err err = {0};
    const char *text = "";
    int64_t number = 0;

    if (json_str(at, &text, &err) == 0)
        BUG_ON(strlen(text) != yyjson_get_len(at->val));
    if (json_int64(at, -1000, 1000, &number, &err) == 0)
        BUG_ON(number < -1000 || number > 1000);
    read_members(at);
    for (struct json_at item = {0}; json_next(at, &item);)
        walk(&item);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct err err = {0};

    if (json_parse((const char *)data, size, "input", &doc, &err) < 0) {
        BUG_ON(err.text[0] == '\0');
        return 0;
    }
    struct json_at root = json_root(doc);
    walk(&root);
    return 0;
}
