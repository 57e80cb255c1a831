/* SPDX-License-Identifier: Apache-2.0 */

/* The table of routes and the decoding of paths and queries, without a server. */
#include "net/rest/routes.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/mem.h"

static void nothing(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    (void)exchange;
}

static const struct rest_route kube_routes[] = {
    REST_ROUTE("GET", "/", nothing),
    REST_ROUTE("GET", "/version", nothing),
    REST_ROUTE("GET", "/apis/{group}/{version}/{plural}", nothing),
    REST_ROUTE("POST", "/apis/{group}/{version}/{plural}", nothing),
    REST_ROUTE("GET", "/apis/{group}/{version}/namespaces/{namespace}/{plural}/{name}", nothing),
    REST_ROUTE("GET", "/apis/apps/v1/deployments", nothing),
    REST_ROUTE("PATCH", "/apis/apps/v1/deployments", nothing),
    REST_ROUTE("DELETE", "/apis/{group}/{version}/namespaces/{namespace}/{plural}/{name}", nothing),
    REST_ROUTE("GET", "/files/{path...}", nothing),
    REST_ROUTE("GET", "/files/index", nothing),
};

/* What a request finds: the row's path with its parameters, or a status. */
static const char *found(const struct rest_routes *routes, const char *method, const char *text)
{
    static char said[512];
    struct url_path path;
    struct rest_row *row = NULL;
    char allow[64] = "";
    int r = url_path_parse(text, &path);

    if (r == 0)
        r = rest_routes_find(routes, method, &path, &row, allow);
    if (r == -EOPNOTSUPP)
        (void)snprintf(said, sizeof said, "405 %s", allow);
    else if (r < 0)
        (void)snprintf(said, sizeof said, "%s", r == -ENOENT ? "404" : r == -EILSEQ ? "400" : "414");
    else
        (void)snprintf(said, sizeof said, "%s", row->route->path);
    for (size_t i = 0; r == 0 && i < row->parameter_count; i++) {
        size_t used = strlen(said);
        size_t at = row->parameters[i].segment;

        (void)snprintf(said + used, sizeof said - used, " %s", at < path.count ? url_path_segment(&path, at) : "-");
    }
    url_path_done(&path);
    return said;
}

static void a_path_finds_its_row(void **state)
{
    struct rest_routes *routes = NULL;
    struct err err = {0};

    (void)state;
    assert_int_equal(rest_routes_new(&(struct rest_set){kube_routes, ARRAY_LEN(kube_routes), NULL}, 1, &routes, &err),
                     0);
    assert_string_equal(found(routes, "GET", "/"), "/");
    assert_string_equal(found(routes, "GET", "/version"), "/version");
    assert_string_equal(found(routes, "HEAD", "/version/"), "/version");
    assert_string_equal(found(routes, "GET", "http://10.0.0.1:80/version"), "/version");
    assert_string_equal(found(routes, "GET", "/apis/batch/v1/jobs"), "/apis/{group}/{version}/{plural} batch v1 jobs");
    /* A plain segment is preferred, but does not hide what only a parameter can take. */
    assert_string_equal(found(routes, "GET", "/apis/apps/v1/deployments"), "/apis/apps/v1/deployments");
    assert_string_equal(found(routes, "POST", "/apis/apps/v1/deployments"),
                        "/apis/{group}/{version}/{plural} apps v1 deployments");
    assert_string_equal(found(routes, "GET", "/apis/apps/v1/daemonsets"),
                        "/apis/{group}/{version}/{plural} apps v1 daemonsets");
    assert_string_equal(found(routes, "GET", "/apis/apps/v2/deployments"),
                        "/apis/{group}/{version}/{plural} apps v2 deployments");
    assert_string_equal(found(routes, "DELETE", "/apis/g/v/namespaces/n%20s/pods/%c3%a9"),
                        "/apis/{group}/{version}/namespaces/{namespace}/{plural}/{name} g v n s pods \u00e9");
    assert_string_equal(found(routes, "GET", "/files"), "/files/{path...} -");
    assert_string_equal(found(routes, "GET", "/files/a/b/c"), "/files/{path...} a");
    assert_string_equal(found(routes, "GET", "/files/index"), "/files/index");
    assert_string_equal(found(routes, "GET", "/files/index/x"), "/files/{path...} index");
    rest_routes_free(routes);
}

static void a_path_without_a_row_is_told_why(void **state)
{
    struct rest_routes *routes = NULL;
    char text[URL_PATH_MAX + 8];

    (void)state;
    assert_int_equal(rest_routes_new(&(struct rest_set){kube_routes, ARRAY_LEN(kube_routes), NULL}, 1, &routes, NULL),
                     0);
    assert_string_equal(found(routes, "GET", "/versions"), "404");
    assert_string_equal(found(routes, "GET", "/apis/g"), "404");
    assert_string_equal(found(routes, "GET", "/apis//v1/jobs"), "404");
    assert_string_equal(found(routes, "PUT", "/version"), "405 GET, HEAD");
    assert_string_equal(found(routes, "BREW", "/version"), "405 GET, HEAD");
    /* All rows that have the path count, not only the nearest. */
    assert_string_equal(found(routes, "PUT", "/apis/apps/v1/deployments"), "405 GET, HEAD, POST, PATCH");
    assert_string_equal(found(routes, "GET", "/files/%"), "400");
    assert_string_equal(found(routes, "GET", "/files/%4"), "400");
    assert_string_equal(found(routes, "GET", "/files/%zz"), "400");
    assert_string_equal(found(routes, "GET", "/files/%00"), "400");
    assert_string_equal(found(routes, "GET", "/files/a%0ab"), "400");
    assert_string_equal(found(routes, "GET", "/files/%ff"), "400");
    assert_string_equal(found(routes, "GET", "/files/../secret"), "400");
    assert_string_equal(found(routes, "GET", "/files/%2e%2E/secret"), "400");
    assert_string_equal(found(routes, "GET", "/files/..%2fsecret"), "400");
    assert_string_equal(found(routes, "GET", "*"), "400");
    assert_string_equal(found(routes, "GET", ""), "400");
    memset(text, 'a', sizeof text);
    text[0] = '/';
    text[URL_PATH_MAX + 1] = '\0';
    assert_string_equal(found(routes, "GET", text), "414");
    text[URL_PATH_MAX] = '\0';
    assert_string_equal(found(routes, "GET", text), "404");
    for (size_t i = 0; i < 2 * URL_SEGMENTS_MAX + 2; i += 2)
        text[i] = '/';
    text[(size_t)2 * URL_SEGMENTS_MAX + 2] = '\0';
    assert_string_equal(found(routes, "GET", text), "414");
    rest_routes_free(routes);
}

static void a_wrong_table_is_refused(void **state)
{
    static const struct {
        struct rest_route route;
        int code;
    } cases[] = {
        {REST_ROUTE("GET", "version", nothing), -EINVAL},
        {REST_ROUTE("HEAD", "/version", nothing), -EINVAL},
        {REST_ROUTE("get", "/version", nothing), -EINVAL},
        {REST_ROUTE("GET", "/a", NULL), -EINVAL},
        {REST_ROUTE("GET", "/a//b", nothing), -EINVAL},
        {REST_ROUTE("GET", "/{", nothing), -EINVAL},
        {REST_ROUTE("GET", "/{}", nothing), -EINVAL},
        {REST_ROUTE("GET", "/{...}", nothing), -EINVAL},
        {REST_ROUTE("GET", "/a{b}", nothing), -EINVAL},
        {REST_ROUTE("GET", "/{a}b", nothing), -EINVAL},
        {REST_ROUTE("GET", "/{a...}/b", nothing), -EINVAL},
        {REST_ROUTE("GET", "/{a}/{a}", nothing), -EINVAL},
        {REST_ROUTE("GET", "/%41", nothing), -EINVAL},
        {REST_ROUTE("GET", "/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}", nothing), -EINVAL},
        {REST_ROUTE("GET", "/apis/{a}/{b}/{c}", nothing), -EEXIST},
        {REST_ROUTE("GET", "/files/{other...}", nothing), -EEXIST},
        {REST_ROUTE("PUT", "/apis/{a}/{b}/{c}", nothing), 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct rest_set sets[] = {{kube_routes, ARRAY_LEN(kube_routes), NULL}, {&cases[i].route, 1, NULL}};
        struct rest_routes *routes = NULL;
        struct err err = {0};
        int r = rest_routes_new(sets, ARRAY_LEN(sets), &routes, &err);

        if (r != cases[i].code || (r < 0 && !strstr(err.text, cases[i].route.path)))
            fail_msg("%s %s: %d %s", cases[i].route.method, cases[i].route.path, r, err.text);
        rest_routes_free(routes);
    }
}

/* As many rows as a table may have: each is found, whatever the order in which they came. */
static void thousands_of_rows_are_told_apart(void **state)
{
    struct rest_route *rows = xcalloc(REST_ROUTES_MAX + 1, sizeof *rows);
    char(*paths)[32] = xcalloc(REST_ROUTES_MAX + 1, sizeof *paths);
    struct rest_routes *routes = NULL;
    char text[64];
    char expected[64];

    (void)state;
    for (size_t i = 0; i <= REST_ROUTES_MAX; i++) {
        (void)snprintf(paths[i], sizeof paths[i], "/%zx/{name}/x%zu", i * 2654435761U % 65536, i);
        rows[i] = (struct rest_route)REST_ROUTE("GET", paths[i], nothing);
    }
    assert_int_equal(rest_routes_new(&(struct rest_set){rows, REST_ROUTES_MAX + 1, NULL}, 1, &routes, NULL), -EINVAL);
    assert_int_equal(rest_routes_new(&(struct rest_set){rows, REST_ROUTES_MAX, NULL}, 1, &routes, NULL), 0);
    for (size_t i = 0; i < REST_ROUTES_MAX; i++) {
        (void)snprintf(text, sizeof text, "/%zx/n/x%zu", i * 2654435761U % 65536, i);
        (void)snprintf(expected, sizeof expected, "%s n", paths[i]);
        assert_string_equal(found(routes, "GET", text), expected);
    }
    rest_routes_free(routes);
    free(paths);
    free(rows);
}

static void a_query_is_taken_apart(void **state)
{
    struct url_query query;

    (void)state;
    assert_int_equal(url_query_parse("command=sh&command=-c&q=a+b%2Bc%26&empty=&flag&&%6eame=x=y", &query), 0);
    assert_int_equal(query.count, 6);
    assert_string_equal(url_query_get(&query, "command"), "sh");
    assert_string_equal(url_query_get(&query, "q"), "a b+c&");
    assert_string_equal(url_query_get(&query, "empty"), "");
    assert_string_equal(url_query_get(&query, "flag"), "");
    assert_string_equal(url_query_get(&query, "name"), "x=y");
    assert_null(url_query_get(&query, "comm"));
    url_query_done(&query);
    assert_int_equal(url_query_parse("", &query), 0);
    assert_int_equal(query.count, 0);
    url_query_done(&query);
}

static void a_query_has_its_limits(void **state)
{
    static const char *const damaged[] = {"a=%", "a=%1", "%g1=a", "a=%00", "a=%ff", "%00"};
    struct url_query query;
    struct strbuf text;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(damaged); i++) {
        if (url_query_parse(damaged[i], &query) != -EILSEQ)
            fail_msg("%s", damaged[i]);
        url_query_done(&query);
    }
    strbuf_init(&text, 1 << 20);
    for (int i = 0; i < URL_PARAMETERS_MAX; i++)
        strbuf_addf(&text, "%sa%d", i ? "&" : "", i);
    assert_int_equal(url_query_parse(text.text, &query), 0);
    assert_int_equal(query.count, URL_PARAMETERS_MAX);
    url_query_done(&query);
    strbuf_addstr(&text, "&b");
    assert_int_equal(url_query_parse(text.text, &query), -E2BIG);
    url_query_done(&query);

    strbuf_clear(&text);
    strbuf_addstr(&text, "a=");
    while (text.len < URL_QUERY_MAX)
        strbuf_addch(&text, 'x');
    assert_int_equal(url_query_parse(text.text, &query), 0);
    assert_int_equal(strlen(url_query_get(&query, "a")), URL_QUERY_MAX - 2);
    url_query_done(&query);
    strbuf_addch(&text, 'x');
    assert_int_equal(url_query_parse(text.text, &query), -E2BIG);
    url_query_done(&query);
    strbuf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_finds_its_row),     cmocka_unit_test(a_path_without_a_row_is_told_why),
        cmocka_unit_test(a_wrong_table_is_refused), cmocka_unit_test(thousands_of_rows_are_told_apart),
        cmocka_unit_test(a_query_is_taken_apart),   cmocka_unit_test(a_query_has_its_limits),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
