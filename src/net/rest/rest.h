/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"
#include "net/http_server.h"
#include "net/rest/errors.h"
#include "net/rest/routes.h"

/*
 * Servers with a table of routes. All HTTP servers of Muster are started here:
 *
 *     static const struct rest_route routes[] = {
 *         REST_ROUTE("GET", "/v1/groups/{name}", get_group),
 *         REST_ROUTE("PUT", "/v1/groups/{name}", put_group, .role = "admin", .body_max = 64 << 10),
 *     };
 *     struct rest_set set = {routes, ARRAY_LEN(routes), daemon};
 *     r = rest_server_start(loop, &(struct rest_options){.http = {.unix_path = path}, .sets = &set, .set_count = 1},
 *                           &server, &err);
 *
 * When the head of a request has arrived the server looks for the row (404, or 405 with Allow), checks the client's
 * rights (401, 403), looks at the type of the body (415) and at the limits of the row (413, 429); only then is the body
 * read and the handler called. The handler answers by http_reply() and its like, or by rest_fail().
 *
 * Several owners may contribute routes to one server: each gives a set. Everything else, stopping included, is in
 * http_server.h.
 */

/*
 * Whether this client may send this request: 0, or a negative errno for the answer (-ENOKEY: who are you? -EACCES: you
 * may not) with the reason in `err`. Asked for every request that has a row, also for rows without a role, so that it
 * can look at the headers Host and Origin as well. The path's and the query's parameters are known; the body is not. Must
 * not answer the exchange.
 */
typedef int (*rest_allow_fn)(void *arg, struct http_exchange *exchange, const struct rest_route *route,
                             struct err *err);

struct rest_options {
    struct http_server_options http;
    const struct rest_set *sets;  // the array is copied, the rows are borrowed
    size_t set_count;
    enum rest_error_form errors;  // the form of all error bodies of this server
    rest_allow_fn allow;          // required when a row has a role; NULL: everyone may do everything
    void *allow_arg;
    size_t body_max;  // of requests whose row has no limit of its own; 0: 1 MiB
};

/* Compiles the table and listens. Returns 0, the error of rest_routes_new(), or the error of the system. */
MUST_CHECK int rest_server_start(struct loop *loop, const struct rest_options *options, struct http_server **ret_server,
                                 struct err *err);

/* Something of the server's owner that belongs to the request, such as who sends it: given once, by a rest_allow_fn, and
 * freed with the request. NULL where none was given. */
void rest_attach(struct http_exchange *exchange, void *thing, void (*free_thing)(void *thing));
void *rest_attached(const struct http_exchange *exchange);

/* The value of a parameter of the path, decoded; never empty, unless it is the rest of the path. The row must have it. */
const char *rest_param(const struct http_exchange *exchange, const char *name);

/* The value of a parameter of the query, decoded: the first of that name, NULL when there is none. */
const char *rest_query(const struct http_exchange *exchange, const char *name);

/* Whether a parameter of the query is there and is empty, "1" or "true". */
bool rest_query_is_true(const struct http_exchange *exchange, const char *name);

/*
 * All parameters of the query in their order, for those that may be given several times:
 *
 *     for (size_t at = 0; rest_query_next(exchange, &at, &name, &value);)
 */
bool rest_query_next(const struct http_exchange *exchange, size_t *at, const char **ret_name, const char **ret_value);
