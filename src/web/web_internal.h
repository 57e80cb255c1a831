/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "net/loop.h"
#include "net/rest/rest.h"
#include "web/logins_internal.h"

struct asks;
struct http_server;
struct picture;
struct service;

struct web_flags {
    const char *listen;
    const char *socket;
};

/* What the files of this folder share. */
struct web {
    struct service *service;
    const struct web_flags *flags;
    struct http_server *page;    // NULL: the page is not served
    struct http_server *socket;  // NULL: nor is the socket
    struct logins logins;
    struct picture *picture;
    struct list streams;  // struct stream
    struct asks *asks;
    struct loop_timer beat;
    char epoch[16];  // of this process: sequences of another one mean nothing
};

/* Roles in the tables of routes. */
#define ROLE_ANYONE "anyone"    // the login and its files
#define ROLE_SESSION "session"  // a browser that has logged in
#define ROLE_LOCAL "local"      // over the socket, the owner of the process or root

/* The rows of the page's port and of the socket; their argument is a struct web. */
extern const struct rest_route web_page_routes[];
extern const size_t web_page_route_count;
extern const struct rest_route web_socket_routes[];
extern const size_t web_socket_route_count;

/* Who may send what: names in Host and Origin, cookies, peers of the socket. A rest_allow_fn. */
int gate_allows(void *arg, struct http_exchange *exchange, const struct rest_route *route, struct err *err);

/* Handlers. */
void serve_link(void *arg, struct http_exchange *exchange);
void serve_login(void *arg, struct http_exchange *exchange);
void serve_logout(void *arg, struct http_exchange *exchange);
void serve_login_file(void *arg, struct http_exchange *exchange);
void serve_page_file(void *arg, struct http_exchange *exchange);
void serve_state(void *arg, struct http_exchange *exchange);
void serve_nodes(void *arg, struct http_exchange *exchange);
void serve_queues(void *arg, struct http_exchange *exchange);
void serve_workloads(void *arg, struct http_exchange *exchange);
void serve_stream(void *arg, struct http_exchange *exchange);
void serve_why(void *arg, struct http_exchange *exchange);
void serve_events(void *arg, struct http_exchange *exchange);

/* Rows have changed. */
void streams_wake(struct web *web);

/* Lets clients know that the server is there. */
void streams_beat(struct web *web);

/* Ends all streams: so does the service. */
void streams_end(struct web *web);
