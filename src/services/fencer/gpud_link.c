/* SPDX-License-Identifier: Apache-2.0 */
#include "services/fencer/gpud_link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "net/http.h"
#include "text/json.h"

enum { ANSWER_MAX = 16 << 20, PATH_LEN_MAX = 4096 };
#define ANSWER_TIMEOUT (10 * NSEC_PER_SEC)

struct gpud_link {
    struct http_client *http;
    struct http_call *call;  // NULL: nothing is asked
    char *socket;
    gpud_answer_fn fn;
    void *arg;
};

struct gpud_link *gpud_link_new(struct loop *loop, const char *gpud_folder)
{
    struct gpud_link *link = xcalloc(1, sizeof *link);
    struct strbuf path;

    strbuf_init(&path, PATH_LEN_MAX);
    strbuf_addf(&path, "%s/api.sock", gpud_folder);
    link->http = http_client_new(loop);
    link->socket = strbuf_take(&path);
    strbuf_done(&path);
    return link;
}

void gpud_link_free(struct gpud_link *link)
{
    if (!link)
        return;
    http_client_free(link->http);
    free(link->socket);
    free(link);
}

bool gpud_is_asked(const struct gpud_link *link)
{
    return link->call;
}

static void read_refusal(struct gpud_answer *answer)
{
    const char *text = yyjson_get_str(yyjson_obj_get(answer->value, "error"));

    /* The daemon's server knows the size of the request, and not what is in it. */
    if (answer->status == 413)
        text = "the pod's GPU annotations are too long";
    (void)err_set(&answer->err, -EINVAL, "%s", text ? text : "the GPU daemon refused the request without a reason");
}

static void on_done(void *arg, const struct http_response *response)
{
    struct gpud_link *link = arg;
    struct gpud_answer answer = {.status = response->status, .err = response->err};
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;

    link->call = NULL;
    if (answer.err.code < 0) {
        answer.status = 0;
        (void)err_wrap(&answer.err, answer.err.code, "the GPU daemon does not answer at %s", link->socket);
    } else {
        if (json_parse(response->body, response->body_len, "the answer", &doc, NULL) == 0)
            answer.value = yyjson_doc_get_root(doc);
        if (response->status >= 300)
            read_refusal(&answer);
    }
    link->fn(link->arg, &answer);
}

void gpud_ask(struct gpud_link *link, const char *method, const char *path, const char *body, gpud_answer_fn fn,
              void *arg)
{
    char url[256];

    BUG_ON(link->call);
    (void)snprintf(url, sizeof url, "http://gpud%s", path);
    link->fn = fn;
    link->arg = arg;
    link->call = http_start(link->http, &(struct http_request){
                                            .method = method,
                                            .url = url,
                                            .unix_path = link->socket,
                                            .proxy = "",
                                            .body = body,
                                            .body_len = body ? strlen(body) : 0,
                                            .timeout = ANSWER_TIMEOUT,
                                            .body_max = ANSWER_MAX,
                                            .on_done = on_done,
                                            .arg = link,
                                        });
}
