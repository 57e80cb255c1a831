/* SPDX-License-Identifier: Apache-2.0 */
#include "base/macros.h"
#include "base/mem.h"
#include "net/http.h"
#include "net/loop.h"

struct asking {
    struct loop *loop;
    struct http_answer *answer;
};

static void on_done(void *arg, const struct http_response *response)
{
    struct asking *asking = arg;

    *asking->answer = (struct http_answer){.status = response->status,
                                           .err = response->err,
                                           .body = xstrndup(response->body, response->body_len),
                                           .body_len = response->body_len};
    loop_stop(asking->loop);
}

void http_ask(const struct http_request *request, struct http_answer *ret_answer)
{
    _cleanup_(loop_freep) struct loop *loop = loop_new();
    struct http_client *client = http_client_new(loop);
    struct asking asking = {.loop = loop, .answer = ret_answer};
    struct http_request own = *request;

    *ret_answer = (struct http_answer){0};
    own.on_done = on_done;
    own.arg = &asking;
    (void)http_start(client, &own);
    loop_run(loop);
    http_client_free(client);
    BUG_ON(!ret_answer->body);
}
