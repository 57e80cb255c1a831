/* SPDX-License-Identifier: Apache-2.0 */

/* Any bytes parse or fail with a message; the documents can be written as JSON, and every value knows its line. */
#include "text/yaml.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "fuzz.h"
#include "text/json.h"

/* Walks over all values: none may be deeper than JSON may be, and all have a place in the text. */
static size_t count_values(const struct yaml_doc *doc, const struct json_at *at, int depth)
{
    size_t count = 1;

    BUG_ON(depth > JSON_DEPTH_MAX + 1);
    BUG_ON(yaml_where(doc, at->val).line == 0);
    for (struct json_at item = {0}; json_next(at, &item);)
        count += count_values(doc, &item, depth + 1) + (item.key != NULL);
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yaml_docs docs = {0};
    struct err err = {0};

    if (yaml_parse((const char *)data, size, "fuzz", &docs, &err) < 0)
        BUG_ON(docs.len || err.text[0] == '\0' || strchr(err.text, '\n'));
    vec_foreach (&docs, doc) {
        struct json_at root = json_root(doc->json);
        _cleanup_(freep) char *text = yyjson_write(doc->json, 0, NULL);

        BUG_ON(count_values(doc, &root, 0) != doc->mark_count);
        BUG_ON(!text);
    }
    yaml_docs_done(&docs);
    return 0;
}
