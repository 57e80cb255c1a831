/* SPDX-License-Identifier: Apache-2.0 */

/* The table of routes as the application of an HTTP server. */
#include "net/rest/rest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/mem.h"
#include "net/rest/rest_internal.h"

enum { BODY_MAX_DEFAULT = 1 << 20 };

/* Shared by the server and the requests under way, which may outlive it. */
struct app {
    size_t references;
    struct rest_routes *routes;
    enum rest_error_form errors;
    rest_allow_fn allow;
    void *allow_arg;
    size_t body_max;
};

/* The state of one request. */
struct call {
    struct app *app;
    struct rest_row *row;  // NULL: none, or the request is refused
    const struct rest_row *matched;
    struct url_path path;
    struct url_query query;
    struct strbuf rest;  // of the path, for the parameter that takes it
    int status;          // of a refusal
    char allow[64];
    struct err refusal;
    void *attached;  // of the owner's; NULL: nothing
    void (*free_attached)(void *thing);
};

static void app_unref(void *arg)
{
    struct app *app = arg;

    if (--app->references > 0)
        return;
    rest_routes_free(app->routes);
    free(app);
}

static void call_free(void *arg)
{
    struct call *call = arg;

    if (call->row)
        call->row->requests--;
    url_path_done(&call->path);
    url_query_done(&call->query);
    strbuf_done(&call->rest);
    if (call->attached)
        call->free_attached(call->attached);
    app_unref(call->app);
    free(call);
}

static struct call *call_new(struct app *app, struct http_exchange *exchange)
{
    struct call *call = xcalloc(1, sizeof *call);

    app->references++;
    call->app = app;
    strbuf_init(&call->rest, URL_PATH_MAX);
    http_exchange_attach(exchange, call, call_free);
    return call;
}

static const struct call *call_of(const struct http_exchange *exchange)
{
    return http_exchange_attached(exchange);
}

void rest_attach(struct http_exchange *exchange, void *thing, void (*free_thing)(void *thing))
{
    struct call *call = http_exchange_attached(exchange);

    BUG_ON(call->attached);
    call->attached = thing;
    call->free_attached = free_thing;
}

void *rest_attached(const struct http_exchange *exchange)
{
    return call_of(exchange)->attached;
}

enum rest_error_form rest_error_form(const struct http_exchange *exchange)
{
    return call_of(exchange)->app->errors;
}

/* The rest of the path, put together again. */
static void join_rest(struct call *call)
{
    const struct rest_row *row = call->matched;

    if (!row->has_rest)
        return;
    size_t first = row->parameters[row->parameter_count - 1].segment;

    for (size_t i = first; i < call->path.count; i++) {
        if (i > first)
            strbuf_addch(&call->rest, '/');
        strbuf_addstr(&call->rest, url_path_segment(&call->path, i));
    }
}

static int find_row(struct call *call, struct http_exchange *exchange, struct rest_row **ret_row)
{
    int r = url_path_parse(http_exchange_path(exchange), &call->path);

    if (r == -ENAMETOOLONG) {
        call->status = 414;
        return err_set(&call->refusal, r, "the path is longer than %d bytes or %d segments", URL_PATH_MAX,
                       URL_SEGMENTS_MAX);
    }
    if (r == -EILSEQ)
        return err_set(&call->refusal, r, "the path is malformed: it must be percent-encoded UTF-8, without . and ..");
    if (r == 0)
        r = rest_routes_find(call->app->routes, http_exchange_method(exchange), &call->path, ret_row, call->allow);
    if (r == -EOPNOTSUPP)
        return err_set(&call->refusal, -ENOTTY, "%s is not allowed here; allowed: %s", http_exchange_method(exchange),
                       call->allow);
    if (r < 0)
        return err_set(&call->refusal, -ENOENT, "no resource at %.200s", http_exchange_path(exchange));
    return 0;
}

static int read_query(struct call *call, struct http_exchange *exchange)
{
    int r = url_query_parse(http_exchange_query(exchange), &call->query);

    if (r == -E2BIG) {
        call->status = 414;
        return err_set(&call->refusal, r, "the query is longer than %d bytes or %d parameters", URL_QUERY_MAX,
                       URL_PARAMETERS_MAX);
    }
    if (r < 0)
        return err_set(&call->refusal, r, "the query is malformed: it must be percent-encoded UTF-8");
    return 0;
}

/* Whether the list, which is separated by spaces, has the media type; parameters such as the charset do not count. */
static bool has_type(const char *list, const char *type)
{
    size_t len = strcspn(type, "; \t");

    for (const char *at = list; *at;) {
        size_t item = strcspn(at, " ");

        if (item == len && strncasecmp(at, type, len) == 0)
            return true;
        at += item + strspn(at + item, " ");
    }
    return false;
}

static int check_type(struct call *call, struct http_exchange *exchange, const struct rest_route *route)
{
    const char *type = http_exchange_header(exchange, "Content-Type");

    /* Some clients send JSON without a Content-Type. */
    if (!route->types || !type || !*type || !http_exchange_has_body(exchange) || has_type(route->types, type))
        return 0;
    return err_set(&call->refusal, -EMEDIUMTYPE, "the body is %.100s, which is not supported here; supported: %s", type,
                   route->types);
}

static int check(struct call *call, struct http_exchange *exchange, struct rest_row *row)
{
    const struct rest_route *route = row->route;
    struct app *app = call->app;
    int r = app->allow ? app->allow(app->allow_arg, exchange, route, &call->refusal) : 0;

    if (r < 0) {
        call->refusal.code = r;
        return r;
    }
    r = check_type(call, exchange, route);
    if (r < 0)
        return r;
    if (route->requests_max && row->requests >= route->requests_max)
        return err_set(&call->refusal, -EAGAIN,
                       "%u requests of this kind are in progress, which is the limit; try again later", row->requests);
    return 0;
}

static void refuse(void *arg, struct http_exchange *exchange)
{
    const struct call *call = call_of(exchange);

    (void)arg;
    if (call->refusal.code == -ENOTTY)
        http_reply_header(exchange, "Allow", call->allow);
    rest_fail_problem(exchange, &(struct rest_problem){
                                    .code = call->refusal.code, .status = call->status, .message = call->refusal.text});
}

static void on_head(void *arg, struct http_exchange *exchange, struct http_plan *plan)
{
    struct call *call = call_new(arg, exchange);
    struct rest_row *row = NULL;
    int r = find_row(call, exchange, &row);

    if (r == 0)
        r = read_query(call, exchange);
    if (r == 0 && row) {
        call->matched = row;
        join_rest(call);
        r = check(call, exchange, row);
    }
    if (r < 0 || !row) {
        *plan = (struct http_plan){.handler = refuse, .is_refusal = true};
        return;
    }
    call->row = row;
    row->requests++;
    *plan = (struct http_plan){
        .handler = row->route->handler,
        .arg = row->arg,
        .body_max = row->route->body_max ? row->route->body_max : call->app->body_max,
        .is_body_streamed = row->route->is_body_streamed,
    };
}

static void on_malformed(void *arg, struct http_exchange *exchange, int status, const char *message)
{
    if (!http_exchange_attached(exchange))
        (void)call_new(arg, exchange);
    rest_fail_problem(exchange, &(struct rest_problem){.status = status, .message = message});
}

static int check_roles(const struct rest_options *options, struct err *err)
{
    for (size_t i = 0; i < options->set_count; i++) {
        for (size_t j = 0; j < options->sets[i].count; j++) {
            const struct rest_route *route = &options->sets[i].routes[j];

            if (route->role && !options->allow)
                return err_set(err, -EINVAL, "route %s %s needs the role %s, and the server checks none", route->method,
                               route->path, route->role);
        }
    }
    return 0;
}

int rest_server_start(struct loop *loop, const struct rest_options *options, struct http_server **ret_server,
                      struct err *err)
{
    struct app *app = xcalloc(1, sizeof *app);
    int r = check_roles(options, err);

    app->references = 1;
    app->errors = options->errors;
    app->allow = options->allow;
    app->allow_arg = options->allow_arg;
    app->body_max = options->body_max ? options->body_max : BODY_MAX_DEFAULT;
    if (r == 0)
        r = rest_routes_new(options->sets, options->set_count, &app->routes, err);
    if (r < 0) {
        app_unref(app);
        return r;
    }
    struct http_app http = {.on_head = on_head, .on_malformed = on_malformed, .free = app_unref, .arg = app};

    return http_server_start(loop, &options->http, &http, ret_server, err);
}

const char *rest_param(const struct http_exchange *exchange, const char *name)
{
    const struct call *call = call_of(exchange);
    const struct rest_row *row = call->matched;
    size_t len = strlen(name);

    for (size_t i = 0; i < row->parameter_count; i++) {
        if (row->parameters[i].name_len != len || memcmp(row->parameters[i].name, name, len) != 0)
            continue;
        bool is_rest = row->has_rest && i + 1 == row->parameter_count;

        return is_rest ? call->rest.text : url_path_segment(&call->path, row->parameters[i].segment);
    }
    bug_abort(__FILE__, __LINE__, "a parameter that the route's path does not have");
}

const char *rest_query(const struct http_exchange *exchange, const char *name)
{
    return url_query_get(&call_of(exchange)->query, name);
}

bool rest_query_is_true(const struct http_exchange *exchange, const char *name)
{
    const char *value = rest_query(exchange, name);

    return value && (!*value || strcmp(value, "1") == 0 || strcmp(value, "true") == 0);
}

bool rest_query_next(const struct http_exchange *exchange, size_t *at, const char **ret_name, const char **ret_value)
{
    const struct url_query *query = &call_of(exchange)->query;

    if (*at >= query->count)
        return false;
    *ret_name = query->texts.text + query->items[*at].name;
    *ret_value = query->texts.text + query->items[*at].value;
    (*at)++;
    return true;
}
