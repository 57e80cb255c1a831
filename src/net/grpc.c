/* SPDX-License-Identifier: Apache-2.0 */

/* gRPC over our HTTP client: a POST with HTTP/2, whose body is one framed message and whose outcome is in the trailers. */
#include "net/grpc.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"

enum { FRAME_HEAD = 5 };

struct grpc_call {
    struct http_call *http;
    grpc_done_fn on_done;
    void *arg;
};

int grpc_unwrap(const char *body, size_t len, const char **ret_message, size_t *ret_len, struct err *err)
{
    const unsigned char *bytes = (const unsigned char *)body;

    if (len < FRAME_HEAD)
        return err_set(err, -EBADMSG, "the answer has no message");
    if (bytes[0] != 0)
        return err_set(err, -EBADMSG, "the message is compressed, although compression was not requested");
    size_t size = (size_t)bytes[1] << 24 | (size_t)bytes[2] << 16 | (size_t)bytes[3] << 8 | bytes[4];
    if (size != len - FRAME_HEAD)
        return err_set(err, -EBADMSG, "the answer has %zu bytes, but its header announces a message of %zu",
                       len - FRAME_HEAD, size);
    *ret_message = body + FRAME_HEAD;
    *ret_len = size;
    return 0;
}

/* -1 for anything that is no status. */
static int read_status(const char *text)
{
    char *end = NULL;
    long status = text && *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : -1;

    return end && *end == '\0' && status <= INT16_MAX ? (int)status : -1;
}

static int read_answer(const struct http_response *response, struct grpc_answer *answer)
{
    const char *said = http_response_header(response, "grpc-message");

    answer->status = read_status(http_response_header(response, "grpc-status"));
    answer->err = response->err;
    if (response->err.code < 0)
        return response->err.code;
    if (response->status != 200)
        return err_set(&answer->err, -EPROTO, "the server answers with HTTP status %d", response->status);
    if (answer->status < 0)
        return err_set(&answer->err, -EPROTO, "the server's answer has no gRPC status");
    if (answer->status > 0)
        return err_set(&answer->err, -EREMOTEIO, "gRPC status %d: %s", answer->status,
                       said && *said ? said : "no reason is given");
    return grpc_unwrap(response->body, response->body_len, &answer->message, &answer->message_len, &answer->err);
}

static void on_response(void *arg, const struct http_response *response)
{
    _cleanup_(freep) struct grpc_call *call = arg;
    struct grpc_answer answer = {.message = ""};

    (void)read_answer(response, &answer);
    call->on_done(call->arg, &answer);
}

struct grpc_call *grpc_start(struct http_client *client, const struct grpc_request *request)
{
    static const char *const headers[] = {"Content-Type: application/grpc", "TE: trailers", NULL};
    struct grpc_call *call = xcalloc(1, sizeof *call);
    size_t len = request->message_len;
    _cleanup_(freep) char *frame = xcalloc(1, FRAME_HEAD + len);
    char url[512];

    BUG_ON(len > UINT32_MAX || request->answer_max > UINT32_MAX);
    for (int i = 1; i < FRAME_HEAD; i++)
        frame[i] = (char)(len >> (32 - 8 * i) & 0xff);
    if (len)
        memcpy(frame + FRAME_HEAD, request->message, len);
    BUG_ON((size_t)snprintf(url, sizeof url, "http://%s%s", request->address ? request->address : "localhost",
                            request->method) >= sizeof url);
    call->on_done = request->on_done;
    call->arg = request->arg;
    call->http = http_start(client, &(struct http_request){
                                        .method = "POST",
                                        .url = url,
                                        .unix_path = request->unix_path,
                                        .proxy = "",
                                        .speaks_http2 = true,
                                        .headers = headers,
                                        .body = frame,
                                        .body_len = FRAME_HEAD + len,
                                        .timeout = request->timeout,
                                        .body_max = FRAME_HEAD + request->answer_max,
                                        .on_done = on_response,
                                        .arg = call,
                                    });
    return call;
}

void grpc_cancel(struct grpc_call *call)
{
    http_cancel(call->http);
    free(call);
}
