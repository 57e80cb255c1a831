/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/client/websocket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/client/client_internal.h"
#include "net/websocket_client.h"

enum { URL_MAX = 1 << 20 };

#define PLUGIN_PAUSE (20 * NSEC_PER_MSEC)

static void on_pause(void *arg)
{
    loop_stop(arg);
}

static int await_credentials(struct kube_client *client, struct err *err)
{
    struct loop_timer timer = {0};
    int code;

    loop_timer_init(&timer, client->loop, on_pause, client->loop);
    while ((code = kube_credentials_ready(&client->credentials, err)) == 0) {
        loop_timer_start(&timer, PLUGIN_PAUSE);
        loop_run(client->loop);
    }
    loop_timer_done(&timer);
    return code < 0 ? code : 0;
}

/* The server's own text, where it has one. */
static int explain(const struct websocket_refusal *refusal, int code, struct err *err)
{
    struct kube_answer answer = {.status = refusal->status, .body = refusal->body, .body_len = strlen(refusal->body)};
    struct kube_call call = {.what = (char *)""};

    if (refusal->status == 0 || refusal->status == 101)
        return code;
    answer.call = &call;
    kube_answer_describe(&answer);
    yyjson_doc_free(call.doc);
    *err = answer.err;
    return err->code;
}

static int connect_to(struct kube_client *client, const char *url, const char *protocols,
                      const struct websocket_client_handler *handler, struct websocket_client **ret, struct err *err)
{
    const struct kube_config *config = client->config;
    struct websocket_refusal *refusal = xcalloc(1, sizeof *refusal);
    struct kube_strings headers = {0};

    kube_credentials_headers(&client->credentials, &headers);
    vec_push(&headers, NULL);
    int code = websocket_connect(client->loop,
                                 &(struct http_request){
                                     .url = url,
                                     .tls = client->credentials.tls,
                                     .proxy = config->proxy,
                                     .unix_path = config->unix_path,
                                     .headers = (const char *const *)headers.items,
                                 },
                                 protocols, handler, ret, refusal, err);
    if (code < 0)
        code = explain(refusal, code, err);
    vec_foreach (&headers, header)
        free(*header);
    vec_done(&headers);
    free(refusal);
    return code;
}

int kube_websocket(struct kube_client *client, const char *path, const char *protocols,
                   const struct websocket_client_handler *handler, struct websocket_client **ret, struct err *err)
{
    int code = await_credentials(client, err);
    struct strbuf url;

    strbuf_init(&url, URL_MAX);
    strbuf_addf(&url, "%s%s", client->config->server, path);
    if (code == 0 && url.is_cut)
        code = err_set(err, -EINVAL, "the request is longer than %d bytes", URL_MAX);
    if (code == 0)
        code = connect_to(client, url.text, protocols, handler, ret, err);
    strbuf_done(&url);
    return code;
}
