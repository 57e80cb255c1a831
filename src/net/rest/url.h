/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"
#include "base/strbuf.h"

/* The path and the query of a request, taken apart and percent-decoded. All texts are UTF-8 and hold no NUL. */

enum { URL_PATH_MAX = 8 * 1024, URL_SEGMENTS_MAX = 32, URL_QUERY_MAX = 32 * 1024, URL_PARAMETERS_MAX = 128 };

/* "/a/b%20c" has the segments "a" and "b c". All zeros, until url_path_parse() has filled it. */
struct url_path {
    struct strbuf texts;
    size_t at[URL_SEGMENTS_MAX];  // offsets of the segments in `texts`
    size_t count;
};

/*
 * Takes a path apart. One slash at the end does not matter. Returns 0; -ENAMETOOLONG for too many bytes or segments;
 * -ENOENT for empty segments, as in "//"; -EILSEQ for text that cannot be decoded, and for segments that a file system
 * would take for something else: "." and "..", encoded slashes, control characters. Always to be given to
 * url_path_done().
 */
MUST_CHECK int url_path_parse(const char *text, struct url_path *ret_path);
void url_path_done(struct url_path *path);
const char *url_path_segment(const struct url_path *path, size_t i);

/* "a=1&b=x+y&c" has the parameters a, b and c with the values "1", "x y" and "". */
struct url_query {
    struct strbuf texts;
    struct {
        size_t name, value;  // offsets in `texts`
    } items[URL_PARAMETERS_MAX];
    size_t count;
};

/* Returns 0; -E2BIG for too many bytes or parameters; -EILSEQ for text that cannot be decoded. Always to be given to
 * url_query_done(). */
MUST_CHECK int url_query_parse(const char *text, struct url_query *ret_query);
void url_query_done(struct url_query *query);

/* The first value of a parameter; NULL when it is not there. */
const char *url_query_get(const struct url_query *query, const char *name);
