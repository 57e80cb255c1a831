/* SPDX-License-Identifier: Apache-2.0 */

/* The tables of paths: the same REST for browsers, below a session's path, and for programs on the socket. */
#include "web/web.h"
#include "web/web_internal.h"

enum { STREAMS_MAX = 64, WHY_MAX = 4, EVENTS_MAX = 16, LOGIN_BODY_MAX = 256 };

#define REST(prefix, the_role)                                                                                    \
    REST_ROUTE("GET", prefix "/state", serve_state, .role = (the_role)),                                          \
        REST_ROUTE("GET", prefix "/nodes", serve_nodes, .role = (the_role)),                                      \
        REST_ROUTE("GET", prefix "/queues", serve_queues, .role = (the_role)),                                    \
        REST_ROUTE("GET", prefix "/workloads", serve_workloads, .role = (the_role)),                              \
        REST_ROUTE("GET", prefix "/stream", serve_stream, .role = (the_role), .requests_max = STREAMS_MAX),       \
        REST_ROUTE("GET", prefix "/workloads/{namespace}/{kind}/{name}/why", serve_why, .role = (the_role),       \
                   .requests_max = WHY_MAX),                                                                      \
        REST_ROUTE("GET", prefix "/workloads/{namespace}/{kind}/{name}/events", serve_events, .role = (the_role), \
                   .requests_max = EVENTS_MAX)

const struct rest_route web_page_routes[] = {
    REST_ROUTE("GET", "/{file...}", serve_login_file, .role = ROLE_ANYONE),
    REST_ROUTE("POST", "/login", serve_login, .role = ROLE_ANYONE, .types = "text/plain", .body_max = LOGIN_BODY_MAX),
    REST_ROUTE("POST", "/p/{session}/logout", serve_logout, .role = ROLE_SESSION),
    REST_ROUTE("GET", "/p/{session}/{file...}", serve_page_file, .role = ROLE_SESSION),
    REST("/p/{session}/api/muster/v1", ROLE_SESSION),
};
const size_t web_page_route_count = ARRAY_LEN(web_page_routes);

const struct rest_route web_socket_routes[] = {
    REST_ROUTE("POST", WEB_LINK_PATH, serve_link, .role = ROLE_LOCAL),
    REST("/api/muster/v1", ROLE_LOCAL),
};
const size_t web_socket_route_count = ARRAY_LEN(web_socket_routes);
