/* SPDX-License-Identifier: Apache-2.0 */
#include "net/rest/url.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/utf8.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes "%xx", and "+" when it stands for a space, behind the texts that are there, with a NUL. */
static int decode(const char *from, size_t len, bool has_plus, struct strbuf *to)
{
    size_t start = to->len;

    for (size_t i = 0; i < len; i++) {
        char c = (char)(from[i] == '+' && has_plus ? ' ' : from[i]);

        if (c == '%') {
            int high = i + 2 < len ? hex_digit(from[i + 1]) : -1;
            int low = i + 2 < len ? hex_digit(from[i + 2]) : -1;

            if (high < 0 || low < 0)
                return -EILSEQ;
            c = (char)(high * 16 + low);
            i += 2;
        }
        if (c == '\0')
            return -EILSEQ;
        strbuf_addch(to, c);
    }
    strbuf_addch(to, '\0');
    return utf8_is_valid(to->text + start) ? 0 : -EILSEQ;
}

static bool is_plain_segment(const char *text)
{
    if (strcmp(text, ".") == 0 || strcmp(text, "..") == 0)
        return false;
    for (; *text; text++) {
        if (*text == '/' || (unsigned char)*text < ' ' || *text == '\x7f')
            return false;
    }
    return true;
}

static int add_segment(struct url_path *path, const char *text, size_t len)
{
    if (len == 0)
        return -ENOENT;
    if (path->count == URL_SEGMENTS_MAX)
        return -ENAMETOOLONG;
    path->at[path->count] = path->texts.len;
    int r = decode(text, len, false, &path->texts);
    if (r < 0)
        return r;
    return is_plain_segment(url_path_segment(path, path->count++)) ? 0 : -EILSEQ;
}

/* A client that takes us for a proxy sends "http://host/path": the path is what counts. */
static const char *skip_origin(const char *text)
{
    size_t scheme = strncasecmp(text, "http://", 7) == 0 ? 7 : strncasecmp(text, "https://", 8) == 0 ? 8 : 0;

    if (scheme == 0)
        return text;
    text += scheme + strcspn(text + scheme, "/");
    return *text ? text : "/";
}

int url_path_parse(const char *text, struct url_path *ret_path)
{
    int r = 0;

    *ret_path = (struct url_path){0};
    strbuf_init(&ret_path->texts, URL_PATH_MAX + 1);
    if (strlen(text) > URL_PATH_MAX)
        return -ENAMETOOLONG;
    text = skip_origin(text);
    if (*text != '/')
        return -EILSEQ;
    for (const char *at = text + 1; *at && r == 0;) {
        size_t len = strcspn(at, "/");

        r = add_segment(ret_path, at, len);
        at += len + (at[len] == '/');
    }
    return r;
}

void url_path_done(struct url_path *path)
{
    strbuf_done(&path->texts);
}

const char *url_path_segment(const struct url_path *path, size_t i)
{
    return path->texts.text + path->at[i];
}

static int add_parameter(struct url_query *query, const char *text, size_t len)
{
    size_t name_len = strcspn(text, "=&");
    size_t skip = MIN(name_len + 1, len);

    if (query->count == URL_PARAMETERS_MAX)
        return -E2BIG;
    query->items[query->count].name = query->texts.len;
    int r = decode(text, name_len, true, &query->texts);
    if (r < 0)
        return r;
    query->items[query->count].value = query->texts.len;
    query->count++;
    return decode(text + skip, len - skip, true, &query->texts);
}

int url_query_parse(const char *text, struct url_query *ret_query)
{
    int r = 0;

    *ret_query = (struct url_query){0};
    /* Each parameter may add one NUL to the bytes that it has. */
    strbuf_init(&ret_query->texts, URL_QUERY_MAX + (size_t)2 * URL_PARAMETERS_MAX);
    if (strlen(text) > URL_QUERY_MAX)
        return -E2BIG;
    while (*text && r == 0) {
        size_t len = strcspn(text, "&");

        if (len > 0)
            r = add_parameter(ret_query, text, len);
        text += len + (text[len] == '&');
    }
    return r;
}

void url_query_done(struct url_query *query)
{
    strbuf_done(&query->texts);
}

const char *url_query_get(const struct url_query *query, const char *name)
{
    for (size_t i = 0; i < query->count; i++) {
        if (strcmp(query->texts.text + query->items[i].name, name) == 0)
            return query->texts.text + query->items[i].value;
    }
    return NULL;
}
