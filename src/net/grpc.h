/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/time.h"
#include "net/http.h"

/*
 * A call of gRPC with one message each way, without TLS: to a server on a Unix socket, such as the kubelet's, or at an address.
 * Messages are bytes here: protobuf is the caller's.
 */
struct grpc_call;

struct grpc_answer {
    int status;           // gRPC's own: 0 is OK; -1 when the server gave none
    struct err err;       // code 0: the message came, whole
    const char *message;  // borrowed until the callback returns; never NULL
    size_t message_len;
};

/* The call is over, successful or not. It is freed after this returns, and so is the answer. */
typedef void (*grpc_done_fn)(void *arg, const struct grpc_answer *answer);

struct grpc_request {
    const char *unix_path;  // NULL: by the address
    const char *address;    // "127.0.0.1:5000"; NULL: by the path
    const char *method;     // "/package.Service/Method"
    const char *message;    // encoded; NULL: an empty one
    size_t message_len;
    nsec_t timeout;
    size_t answer_max;  // bytes; a longer message is an error
    grpc_done_fn on_done;
    void *arg;
};

/* Starts a call; copies what it needs. `on_done` is called exactly once, and not before this has returned. */
struct grpc_call *grpc_start(struct http_client *client, const struct grpc_request *request);

/* Ends a call; no callback comes after it. To be called from anywhere but the call's own `on_done`. */
void grpc_cancel(struct grpc_call *call);

/*
 * Takes the message from the body of an answer: a byte that says whether it is compressed, its length in four bytes, and
 * the message, with nothing after it. Returns 0, or -EBADMSG when the body is anything else.
 */
MUST_CHECK int grpc_unwrap(const char *body, size_t len, const char **ret_message, size_t *ret_len, struct err *err);
