/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "net/http.h"
#include "net/loop.h"

/* Easy handles that are kept for the next call: a new one costs more than the rest of a small request. */
enum { SPARE_HANDLES = 64 };

struct http_socket;

struct http_client {
    struct loop *loop;
    CURLM *multi;
    struct loop_timer timer;           // curl's own
    struct loop_task settle;           // starts calls and reaps those that were called off
    struct list calls;                 // all of them
    VEC(struct http_call *) starting;  // not yet given to curl, in order
    CURL *spare[SPARE_HANDLES];
    size_t spares;
    struct list sockets, idle_sockets;  // http_socket.c's connections
    char *read_buffer;                  // of them all
    uint32_t busy;                      // nesting of http_client_enter()
    bool is_freed;                      // goes away once it is not busy
};

struct http_call {
    struct http_client *client;
    struct list_link of_client;
    CURL *easy;  // NULL: it is http_socket.c's
    struct curl_slist *headers;
    struct curl_slist *connect_to;
    struct http_tls *tls;
    bool (*may_send)(void *arg);
    http_begun_fn on_begun;
    http_data_fn on_data;
    http_done_fn on_done;
    void *arg;
    struct strbuf body;
    struct loop_timer idle;
    nsec_t idle_timeout;
    nsec_t last_byte;
    bool is_started;    // curl has it
    bool is_reading;    // may be asked twice
    bool is_sent;       // the server may have seen it
    bool is_cancelled;  // is freed without a word as soon as curl can be entered
    struct err err;     // why we, not curl, ended it
    struct http_socket *socket;
    char *socket_path;
    struct strbuf sending;      // the request
    struct strbuf answer_head;  // names and values of its headers, each with its NUL
    nsec_t timeout;
    int status;    // of the answer; 0: none has come
    bool is_head;  // the answer has no body
    http_address_fn may_connect;
    void *may_connect_arg;
    bool is_refused;  // by may_connect, for one address at least
    char curl_text[CURL_ERROR_SIZE];
};

struct http_tls {
    uint32_t refs;
    char *ca_pem;
    char *cert_pem;
    char *key_pem;
    char *server_name;
    bool skips_verify;
};

/* Around whatever calls back: http_client_free() in between takes effect when the last one leaves. */
void http_client_enter(struct http_client *client);
void http_client_leave(struct http_client *client);

/* A call with all its options set, in the list of the client; not started. */
struct http_call *http_call_new(struct http_client *client, const struct http_request *request);

/* The same for a request of http_socket.c. */
struct http_call *http_call_new_by_socket(struct http_client *client, const struct http_request *request);

/* Right before its request leaves. False: it must not, and call->err says so. */
bool http_call_may_send(struct http_call *call);

/* Bytes of the body. Returns whether to go on; call->err may say why not. */
bool http_call_take(struct http_call *call, const char *bytes, size_t len);

/* Frees a call that curl does not have. */
void http_call_free(struct http_call *call);

/* Takes the call from curl, calls back and frees it. To be called between enter and leave. A call of http_socket.c has
 * failed when it has an error. */
void http_call_finish(struct http_call *call, CURLcode result);

/* Sets what `tls` says for a connection to the host of `url`. */
void http_tls_apply(struct http_call *call, const char *url);
