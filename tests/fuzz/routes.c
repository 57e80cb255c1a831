/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Any lines but the last are patterns, the last is a path. The tree finds a row exactly when comparing the path with
 * each pattern, segment by segment, finds one.
 */
#include "net/rest/routes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fuzz.h"

enum { ROWS_MAX = 32 };

static void nothing(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    (void)exchange;
}

/* The slow way. */
static bool fits(const char *pattern, const struct url_path *path)
{
    size_t i = 0;

    for (pattern++; *pattern; i++) {
        size_t len = strcspn(pattern, "/");

        if (len > 4 && memcmp(pattern + len - 4, "...}", 4) == 0)
            return true;
        if (i == path->count)
            return false;
        const char *segment = url_path_segment(path, i);

        if (pattern[0] != '{' && (strlen(segment) != len || memcmp(segment, pattern, len) != 0))
            return false;
        pattern += len + (pattern[len] == '/');
    }
    return i == path->count;
}

static void check(const struct rest_route *rows, size_t count, const struct rest_routes *routes,
                  const struct url_path *path)
{
    struct rest_row *row = NULL;
    char allow[64] = "";
    bool is_there = false;
    int found = rest_routes_find(routes, "HEAD", path, &row, allow);

    for (size_t i = 0; i < count; i++)
        is_there |= fits(rows[i].path, path);
    BUG_ON((found == 0) != is_there);
    BUG_ON(found == 0 && !fits(row->route->path, path));
    for (size_t i = 0; found == 0 && i < row->parameter_count; i++)
        BUG_ON(row->parameters[i].segment >= path->count && !row->has_rest);
    found = rest_routes_find(routes, "POST", path, &row, allow);
    BUG_ON(found != (is_there ? -EOPNOTSUPP : -ENOENT));
    BUG_ON(is_there && strcmp(allow, "GET, HEAD") != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    struct rest_route rows[ROWS_MAX];
    struct rest_routes *routes = NULL;
    struct url_path path;
    size_t count = 0;
    char *at = text;

    for (char *end; count < ROWS_MAX && (end = strchr(at, '\n')); at = end + 1) {
        *end = '\0';
        rows[count++] = (struct rest_route)REST_ROUTE("GET", at, nothing);
    }
    if (rest_routes_new(&(struct rest_set){rows, count, NULL}, 1, &routes, NULL) == 0) {
        if (url_path_parse(at, &path) == 0)
            check(rows, count, routes, &path);
        url_path_done(&path);
        rest_routes_free(routes);
    }
    return 0;
}
