/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/time.h"

struct loop;

/*
 * The HTTP client: HTTP/2 where the server offers it over TLS, with many requests on one connection, otherwise
 * HTTP/1.1. Servers are verified. Proxies are those of the environment (HTTPS_PROXY, NO_PROXY) unless one is named.
 * Redirects are not followed: a request may carry a token that is meant for one server only. Retrying is up to the
 * caller.
 */
struct http_client;
struct http_call;

struct http_client *http_client_new(struct loop *loop);

/* Calls in progress end without a callback. */
void http_client_free(struct http_client *client);

/* Which servers to trust, and our own certificate. Shared by the requests that use it and immutable: make a new one for
 * new keys. */
struct http_tls;

struct http_tls_options {
    const char *ca_pem;       // certificates to trust instead of the system's
    const char *cert_pem;     // our own certificate, followed by its chain
    const char *key_pem;      // and its key
    const char *server_name;  // name that the server's certificate must have, instead of the URL's host
    bool skips_verify;        // accepts any server; only when the user asks for it
};

/* Copies the options. They are used when a connection is made, and the call fails if they are invalid. */
struct http_tls *http_tls_new(const struct http_tls_options *options);
struct http_tls *http_tls_ref(struct http_tls *tls);
void http_tls_unref(struct http_tls *tls);

struct http_response {
    int status;        // of HTTP; 0 when no answer came
    int http_version;  // 1 or 2; 0 when no answer came
    struct err err;    // code 0: the answer came, whole
    bool is_unsent;    // the server cannot have seen the request
    const char *body;  // the part that was kept, NUL-terminated; never NULL
    size_t body_len;
    struct http_call *call;
};

/* The value of a header or trailer of the answer, NULL when it is not there; borrowed until the callback returns. */
const char *http_response_header(const struct http_response *response, const char *name);

/* Bytes of the body of a good answer, as they come. Returns 0, or a negative errno that ends the call with it. */
typedef int (*http_data_fn)(void *arg, const char *bytes, size_t len);

/* The headers of a good answer have come, and its body follows. */
typedef void (*http_begun_fn)(void *arg);

/* The call is over, successful or not. It is freed after this returns, and so is the response. */
typedef void (*http_done_fn)(void *arg, const struct http_response *response);

/* Whether a connection to this address may be made; asked after names are resolved, for each address of a name. */
struct sockaddr;
typedef bool (*http_address_fn)(void *arg, const struct sockaddr *address);

struct http_request {
    const char *method;
    const char *url;             // http: or https:
    struct http_tls *tls;        // NULL: the system's certificates, no own one
    const char *proxy;           // NULL: that of the environment
    const char *unix_path;       // the socket to connect to, whatever the URL's host; NULL: by the URL
    bool speaks_http2;           // without TLS, as gRPC servers do; each request has its own connection
    const char *const *headers;  // "Name: value", up to a NULL; may be NULL
    const char *body;            // NULL: none
    size_t body_len;
    bool accepts_gzip;

    /* For addresses that users gave. Such requests take no proxy and no connection that another request has made. NULL:
     * every address. */
    http_address_fn may_connect;
    void *may_connect_arg;  // outlives the call

    nsec_t connect_timeout;  // 0: 10 s
    nsec_t timeout;          // for the whole call; 0: none
    nsec_t idle_timeout;     // longest time without a byte from the server; 0: unlimited
    size_t body_max;         // bytes to keep; an answer with more is an error

    /* Asked with `arg` at the last moment, when a connection is there: false ends the call with -ECANCELED, unsent. NULL: it may. */
    bool (*may_send)(void *arg);

    http_begun_fn on_begun;  // may be NULL; neither cancels the call nor ends the client
    http_data_fn on_data;    // takes the body of answers with a status of 2xx instead of keeping it; may be NULL
    http_done_fn on_done;
    void *arg;
};

/* Starts a call; copies what it needs. `on_done` is called exactly once, and not before this has returned. */
struct http_call *http_start(struct http_client *client, const struct http_request *request);

struct http_answer {
    int status;  // 0 when no answer came
    struct err err;
    char *body;  // NUL-terminated and never NULL; the caller frees it
    size_t body_len;
};

/* Makes a request and waits until it is over, in a loop of its own. `on_done` and `arg` of the request are not used. */
void http_ask(const struct http_request *request, struct http_answer *ret_answer);

/* Ends a call; no callback comes after it. To be called from anywhere but the call's own `on_done`. */
void http_cancel(struct http_call *call);

/* Calls that have been started and are not over. */
size_t http_client_calls(const struct http_client *client);
