/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "net/rest/rest.h"

struct server;

/* Answers a request for objects: any path below /api/VERSION and /apis/GROUP/VERSION. */
void request_serve(struct server *server, struct http_exchange *exchange);

/* The rows of all paths; their argument is the server. */
extern const struct rest_route server_routes[];
extern const size_t server_route_count;

/* Who may send what: the names in Host and Origin, and the client's identity. A rest_allow_fn. */
int guard_allows(void *arg, struct http_exchange *exchange, const struct rest_route *route, struct err *err);

/* Handlers; `arg` is the server. */
void serve_version(void *arg, struct http_exchange *exchange);
void serve_health(void *arg, struct http_exchange *exchange);
void serve_process(void *arg, struct http_exchange *exchange);
void serve_token(void *arg, struct http_exchange *exchange);
void serve_backup(void *arg, struct http_exchange *exchange);
void serve_core_versions(void *arg, struct http_exchange *exchange);
void serve_groups(void *arg, struct http_exchange *exchange);
void serve_group(void *arg, struct http_exchange *exchange);
void serve_review(void *arg, struct http_exchange *exchange);
void serve_openapi(void *arg, struct http_exchange *exchange);
void serve_openapi_v2(void *arg, struct http_exchange *exchange);
void serve_openapi_document(void *arg, struct http_exchange *exchange);
void serve_resources(void *arg, struct http_exchange *exchange);

/* Roles in the table of routes. */
#define ROLE_ANYONE "anyone"  // needs no identity: versions and probes
#define ROLE_LOCAL "local"    // administrators, only over the socket
#define ROLE_NODE "node"      // machines that have joined, by their certificates
#define ROLE_USER "user"      // all users, only over the socket
