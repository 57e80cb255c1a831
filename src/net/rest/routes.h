/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "net/http_server.h"
#include "net/rest/url.h"

struct err;

enum { REST_ROUTES_MAX = 4096, REST_PARAMETERS_MAX = 8 };

/*
 * One row of a table: which requests it answers, who may send them, and within which limits.
 *
 * A path is a list of segments: plain ones, parameters such as "{name}", which stand for exactly one segment, and as
 * the last one "{name...}", which stands for any number of them. A plain segment is preferred to a parameter, and that
 * to the rest, whatever the order of the rows.
 */
struct rest_route {
    const char *method;  // GET, POST, PUT, PATCH, DELETE or OPTIONS; GET serves HEAD as well
    const char *path;    // "/apis/{group}/{version}/namespaces/{namespace}/pods/{name}"
    http_handler_fn handler;
    const char *role;       // the role that is needed, in the words of the server's owner; NULL: none
    const char *types;      // media types of the body, separated by spaces; NULL: any. Others are 415
    size_t body_max;        // bytes; 0: as the server's options say. More is 413
    uint32_t requests_max;  // at a time, streams and tunnels included; 0: no limit of its own. One more is 429
    bool is_body_streamed;  // the handler reads it by http_body_read(); else it is complete when the handler is called
};

/* A row: REST_ROUTE("PUT", "/v1/groups/{name}", put_group, .role = "admin"), with any members behind the handler. */
#define REST_ROUTE(the_method, the_path, ...) {.method = (the_method), .path = (the_path), .handler = __VA_ARGS__}

/* Rows that share an argument of their handlers. */
struct rest_set {
    const struct rest_route *routes;  // borrowed
    size_t count;
    void *arg;
};

/* The rows of all sets, compiled to a tree of segments: finding one takes a step for each segment of the path. */
struct rest_routes;

/* Returns 0, or -EINVAL for a pattern that is wrong and -EEXIST for two rows that answer the same requests. */
MUST_CHECK int rest_routes_new(const struct rest_set *sets, size_t set_count, struct rest_routes **ret_routes,
                               struct err *err);
void rest_routes_free(struct rest_routes *routes);

/* A row of the compiled table. */
struct rest_row {
    const struct rest_route *route;
    void *arg;          // of its set
    uint32_t requests;  // under way; counted by the server
    struct {
        const char *name;  // without braces, not NUL-terminated
        size_t name_len;
        size_t segment;
    } parameters[REST_PARAMETERS_MAX];
    size_t parameter_count;
    bool has_rest;  // the last parameter takes all segments from its own on
};

/*
 * Finds the row for a request. Returns 0; -ENOENT when no row has the path; -EOPNOTSUPP when those that do have other
 * methods, which `allow` then lists as the header of that name wants them.
 */
MUST_CHECK int rest_routes_find(const struct rest_routes *routes, const char *method, const struct url_path *path,
                                struct rest_row **ret_row, char allow[static 64]);
