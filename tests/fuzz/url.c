/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Any text is a path, a query or neither. What is taken apart is UTF-8, within its limits, and nothing that a file
 * system would read as something else than a name.
 */
#include "net/rest/url.h"

#include <string.h>

#include "base/macros.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "fuzz.h"

static void check_path(const char *text)
{
    struct url_path path;

    if (url_path_parse(text, &path) == 0) {
        BUG_ON(path.count > URL_SEGMENTS_MAX || path.texts.is_cut);
        for (size_t i = 0; i < path.count; i++) {
            const char *segment = url_path_segment(&path, i);

            BUG_ON(!*segment || strlen(segment) > strlen(text) || !utf8_is_valid(segment));
            BUG_ON(strchr(segment, '/') || strcmp(segment, ".") == 0 || strcmp(segment, "..") == 0);
        }
    }
    url_path_done(&path);
}

static void check_query(const char *text)
{
    struct url_query query;

    if (url_query_parse(text, &query) == 0) {
        BUG_ON(query.count > URL_PARAMETERS_MAX || query.texts.is_cut);
        for (size_t i = 0; i < query.count; i++) {
            const char *name = query.texts.text + query.items[i].name;
            const char *value = query.texts.text + query.items[i].value;

            BUG_ON(strlen(name) + strlen(value) > strlen(text));
            BUG_ON(!utf8_is_valid(name) || !utf8_is_valid(value) || !url_query_get(&query, name));
        }
    }
    url_query_done(&query);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);

    check_path(text);
    check_query(text);
    return 0;
}
