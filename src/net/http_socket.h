/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "net/http_internal.h"

/*
 * Calls over Unix sockets in HTTP/1.1. Several parts of one program talk to each other this way, thousands of times a
 * second, and curl takes longer for a small request than the server does to answer it.
 */

/* Whether a request is one for this file: plain HTTP/1.1 over a Unix socket. */
bool http_socket_takes(const struct http_request *request);

/* What the call sends, and to whom. A method, URL or header with a space or line end too many becomes call->err. */
void http_socket_prepare(struct http_call *call, const struct http_request *request);

/* Gives the call to an idle connection or a new one. To be called between http_client_enter and _leave, as it may call
 * back. */
void http_socket_start(struct http_call *call);

/* The call is over, or has been called off: its connection is closed unless it can carry another one. */
void http_socket_release(struct http_call *call);

/* A header of the answer; NULL: it has none of that name. */
const char *http_socket_header(const struct http_call *call, const char *name);

/* Closes all connections; no call is under way. */
void http_socket_close_all(struct http_client *client);
