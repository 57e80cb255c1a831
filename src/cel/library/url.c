/* SPDX-License-Identifier: Apache-2.0 */

/* URLs in the form of a request: absolute, or a path from the root; as Go reads them. */
#include <ctype.h>
#include <string.h>

#include "cel/library/library.h"

#define URL "kubernetes.URL"

struct url {
    struct cel_text whole;
    struct cel_text scheme;
    struct cel_text host;  // with the port
    struct cel_text path;
    struct cel_text query;
};

static struct cel_text part(const char *start, const char *end)
{
    return (struct cel_text){start, (size_t)(end - start)};
}

static const char *find(struct cel_text text, const char *any)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.bytes[i] && strchr(any, text.bytes[i]))
            return text.bytes + i;
    return text.bytes + text.len;
}

static bool are_escapes_right(struct cel_text text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.bytes[i] == '%' && (i + 2 >= text.len || !isxdigit((unsigned char)text.bytes[i + 1]) ||
                                     !isxdigit((unsigned char)text.bytes[i + 2])))
            return false;
    return true;
}

static bool has_control(struct cel_text text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.bytes[i] < 0x20 || text.bytes[i] == 0x7f)
            return true;
    return false;
}

/* The length of "scheme:"; 0 when there is none, -1 when what looks like one is wrong. */
static int scheme_len(struct cel_text text)
{
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.bytes[i];
        if (isalpha((unsigned char)c))
            continue;
        if (c == ':')
            return i ? (int)i : -1;
        if (!isdigit((unsigned char)c) && !strchr("+-.", c))
            return 0;
        if (i == 0)
            return 0;
    }
    return 0;
}

static bool is_port(struct cel_text text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!isdigit((unsigned char)text.bytes[i]))
            return false;
    return true;
}

/* Characters that a host name may have as they are. */
static bool are_host_characters(struct cel_text host)
{
    for (size_t i = 0; i < host.len; i++) {
        const char c = host.bytes[i];
        if (!isalnum((unsigned char)c) && (unsigned char)c < 128 && !strchr("-_.~!$&'()*+,;=:[]<>\"%", c))
            return false;
        /* Only characters beyond ASCII may be escaped in a host. */
        if (c == '%' && !(i + 2 < host.len && strchr("89abcdefABCDEF", host.bytes[i + 1])))
            return false;
    }
    return are_escapes_right(host);
}

static bool read_host(struct cel_text host)
{
    if (host.len && *host.bytes == '[') {
        const char *close = memrchr(host.bytes, ']', host.len);
        if (!close)
            return false;
        struct cel_text port = part(close + 1, host.bytes + host.len);
        return port.len == 0 || (*port.bytes == ':' && is_port(part(port.bytes + 1, port.bytes + port.len)));
    }
    const char *colon = memrchr(host.bytes, ':', host.len);
    if (colon && !is_port(part(colon + 1, host.bytes + host.len)))
        return false;
    return are_host_characters(host);
}

static bool is_user_info(struct cel_text text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!isalnum((unsigned char)text.bytes[i]) && !strchr("-._:~!$&'()*+,;=%@", text.bytes[i]))
            return false;
    return are_escapes_right(text);
}

static bool read_authority(struct cel_text authority, struct url *url)
{
    const char *at = memrchr(authority.bytes, '@', authority.len);

    url->host = at ? part(at + 1, authority.bytes + authority.len) : authority;
    return read_host(url->host) && (!at || is_user_info(part(authority.bytes, at)));
}

static bool read_url(struct cel_text text, struct url *ret_url)
{
    struct cel_text rest = text;
    int scheme = scheme_len(text);

    *ret_url = (struct url){.whole = text, .scheme = {text.bytes, 0}, .host = {text.bytes, 0}};
    if (text.len == 0 || has_control(text) || scheme < 0)
        return false;
    if (scheme > 0) {
        ret_url->scheme = part(text.bytes, text.bytes + scheme);
        rest = part(text.bytes + scheme + 1, text.bytes + text.len);
    }
    const char *question = find(rest, "?");
    const char *end = rest.bytes + rest.len;
    ret_url->query = question < end ? part(question + 1, end) : part(end, end);
    rest = part(rest.bytes, question);
    ret_url->path = rest;
    if (rest.len == 0 || *rest.bytes != '/')
        return scheme > 0 && (rest.len > 0);
    if (rest.len >= 2 && rest.bytes[1] == '/' && (scheme > 0 || (rest.len < 3 || rest.bytes[2] != '/'))) {
        const char *slash = find(part(rest.bytes + 2, rest.bytes + rest.len), "/");
        if (scheme > 0) {
            if (!read_authority(part(rest.bytes + 2, slash), ret_url))
                return false;
            ret_url->path = part(slash, rest.bytes + rest.len);
        }
    }
    return are_escapes_right(ret_url->path);
}

bool is_request_uri(struct cel_text text)
{
    struct url url;

    return read_url(text, &url);
}

bool url_equals(const void *a, const void *b)
{
    return text_compare(((const struct url *)a)->whole, ((const struct url *)b)->whole) == 0;
}

static struct cel_value is_url(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    return cel_bool(is_request_uri(args[0].text));
}

static struct cel_value url(struct run *run, const struct cel_value *args, int count)
{
    struct url *read = run_alloc(run, sizeof *read);

    (void)count;
    if (!read)
        return stopped_value(run);
    /* A fragment is cut off here, and is part of the path when a text is only asked whether it is a URL. */
    if (!read_url(args[0].text, read) || !read_url(part(args[0].text.bytes, find(args[0].text, "#")), read))
        return error_value(CEL_FAILED, "URL parse error during conversion from string");
    read->whole = args[0].text;
    return (struct cel_value){.kind = CEL_URL, .other = read};
}

static const struct url *url_of(struct cel_value value)
{
    return value.other;
}

static struct cel_value get_scheme(struct run *run, const struct cel_value *args, int count)
{
    char lower[64];
    const struct cel_text scheme = url_of(args[0])->scheme;
    size_t len = MIN(scheme.len, sizeof lower);

    (void)count;
    for (size_t i = 0; i < len; i++)
        lower[i] = (char)tolower((unsigned char)scheme.bytes[i]);
    return text_copy(run, lower, len);
}

static struct cel_value get_host(struct run *run, const struct cel_value *args, int count)
{
    const struct cel_text host = url_of(args[0])->host;

    (void)run;
    (void)count;
    return text_value(host.bytes, host.len);
}

/* Where the port's colon is, or the end. */
static const char *port_of(struct cel_text host)
{
    const char *end = host.bytes + host.len;
    const char *colon = memrchr(host.bytes, ':', host.len);
    const char *close = memrchr(host.bytes, ']', host.len);

    return colon && (!close || colon > close) ? colon : end;
}

static struct cel_value get_hostname(struct run *run, const struct cel_value *args, int count)
{
    const struct cel_text host = url_of(args[0])->host;
    const char *end = port_of(host);
    const char *start = host.bytes;

    (void)run;
    (void)count;
    if (end > start && *start == '[' && end[-1] == ']') {
        start++;
        end--;
    }
    return text_value(start, (size_t)(end - start));
}

static struct cel_value get_port(struct run *run, const struct cel_value *args, int count)
{
    const struct cel_text host = url_of(args[0])->host;
    const char *colon = port_of(host);
    const char *end = host.bytes + host.len;

    (void)run;
    (void)count;
    return colon < end ? text_value(colon + 1, (size_t)(end - colon - 1)) : text_value(end, 0);
}

/* Characters of a path are written as they are or escaped, as Go writes them. */
static struct cel_value get_escaped_path(struct run *run, const struct cel_value *args, int count)
{
    static const char hex[] = "0123456789ABCDEF";
    const struct cel_text path = url_of(args[0])->path;
    char *out = run_alloc(run, 3 * path.len);
    size_t len = 0;

    (void)count;
    if (!out)
        return stopped_value(run);
    for (size_t i = 0; i < path.len; i++) {
        const unsigned char c = (unsigned char)path.bytes[i];
        if (isalnum(c) || (c && c < 128 && strchr("%-_.~!$&'()*+,;=:@/[]", c))) {
            out[len++] = (char)c;
            continue;
        }
        out[len++] = '%';
        out[len++] = hex[c >> 4];
        out[len++] = hex[c & 15];
    }
    return text_value(out, len);
}

static int hex_digit(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* A part of a query without its escapes; an error value when one of them is wrong. */
static struct cel_value unescape(struct run *run, struct cel_text text)
{
    char *out = run_alloc(run, text.len);
    size_t len = 0;

    if (!out)
        return stopped_value(run);
    if (!are_escapes_right(text))
        return no_overload();
    for (size_t i = 0; i < text.len; i++) {
        if (text.bytes[i] == '%') {
            out[len++] = (char)(hex_digit(text.bytes[i + 1]) * 16 + hex_digit(text.bytes[i + 2]));
            i += 2;
        } else {
            out[len] = text.bytes[i];
            if (out[len] == '+')
                out[len] = ' ';
            len++;
        }
    }
    return text_value(out, len);
}

static void add_query(struct run *run, struct cel_map *map, struct cel_value key, struct cel_value value)
{
    for (size_t i = 0; i < map->len && !run->stopped; i++) {
        if (value_equal(run, map->entries[i].key, key) == 1) {
            map->entries[i].value = list_append(run, map->entries[i].value, &value, 1);
            return;
        }
    }
    map->entries[map->len++] = (struct map_entry){key, list_copy(run, &value, 1)};
}

static struct cel_value get_query(struct run *run, const struct cel_value *args, int count)
{
    struct cel_text query = url_of(args[0])->query;
    size_t parts = 1;

    (void)count;
    for (size_t i = 0; i < query.len; i++)
        parts += query.bytes[i] == '&';
    struct cel_map *map = run_alloc(run, sizeof *map);
    struct map_entry *entries = run_alloc(run, parts * sizeof *entries);
    if (!map || !entries)
        return stopped_value(run);
    *map = (struct cel_map){.entries = entries, .cap = parts};
    while (query.len && !run->stopped) {
        struct cel_text pair = part(query.bytes, find(query, "&"));
        size_t taken = MIN(pair.len + 1, query.len);
        query = part(query.bytes + taken, query.bytes + query.len);
        if (pair.len == 0 || memchr(pair.bytes, ';', pair.len))
            continue;
        const char *equals = find(pair, "=");
        const char *end = pair.bytes + pair.len;
        struct cel_value key = unescape(run, part(pair.bytes, equals));
        struct cel_value value = unescape(run, equals < end ? part(equals + 1, end) : part(end, end));
        if (key.kind == CEL_STRING && value.kind == CEL_STRING)
            add_query(run, map, key, value);
    }
    return run->stopped ? stopped_value(run) : cel_map_value(map);
}

static const struct overload rows[] = {
    {"url", "string_to_url", "(string) " URL, url},
    {"isURL", "is_url_string", "(string) bool", is_url},
    {"getScheme", "url_get_scheme", ".(" URL ") string", get_scheme},
    {"getHost", "url_get_host", ".(" URL ") string", get_host},
    {"getHostname", "url_get_hostname", ".(" URL ") string", get_hostname},
    {"getPort", "url_get_port", ".(" URL ") string", get_port},
    {"getEscapedPath", "url_get_escaped_path", ".(" URL ") string", get_escaped_path},
    {"getQuery", "url_get_query", ".(" URL ") map(string, list(string))", get_query},
};

const struct overload_table url_table = {rows, ARRAY_LEN(rows)};
