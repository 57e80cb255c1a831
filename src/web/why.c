/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Why a workload waits, as `muster why -o json` says it. It is a process of its own: remedies are tried on copies of the
 * cluster, which may take seconds and memory that the service must not spend.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "frame/service.h"
#include "net/process.h"
#include "web/web_internal.h"

enum { ANSWER_MAX = 16 << 20, NAME_MAX_BYTES = 1024, EXIT_NOT_FOUND = 2 };

#define WHY_TIMEOUT (30 * NSEC_PER_SEC)

struct ask {
    struct list_link in_web;
    struct web *web;
    struct http_exchange *exchange;
    struct process *process;
};

static void ask_end(struct ask *ask)
{
    list_remove(&ask->web->asks, &ask->in_web);
    free(ask);
}

/* The first line of what it complained about, without the name of the program. */
static void fail_with(struct http_exchange *exchange, int code, const char *complaints)
{
    static const char prefix[] = "muster: ";
    const char *text = strncmp(complaints, prefix, strlen(prefix)) == 0 ? complaints + strlen(prefix) : complaints;

    rest_fail(exchange, code, "%.*s", (int)strcspn(text, "\n"), *text ? text : "no answer");
}

static void on_done(void *arg, const struct process_result *result)
{
    struct ask *ask = arg;

    if (result->err.code < 0)
        rest_fail_err(ask->exchange, &result->err);
    else if (result->exit_status == 0)
        http_reply(ask->exchange, 200, "application/json", result->output, result->output_len);
    else
        fail_with(ask->exchange, result->exit_status == EXIT_NOT_FOUND ? -ENOENT : -EIO, result->complaints);
    ask_end(ask);
}

static void on_cancel(void *arg)
{
    struct ask *ask = arg;

    process_cancel(ask->process);
    rest_fail(ask->exchange, -ECANCELED, "the request was canceled: the client or the server closed the connection");
    ask_end(ask);
}

void serve_why(void *arg, struct http_exchange *exchange)
{
    struct web *web = arg;
    struct ask *ask = xcalloc(1, sizeof *ask);
    struct err err = {0};
    struct strbuf name;

    *ask = (struct ask){.web = web, .exchange = exchange};
    strbuf_init(&name, NAME_MAX_BYTES);
    strbuf_addf(&name, "%s/%s", rest_param(exchange, "namespace"), rest_param(exchange, "name"));
    const char *const argv[] = {
        "/proc/self/exe", "why",   "-o", "json", "--kubeconfig", web->service->settings.kubeconfig, "--",
        name.text,        "kube:", NULL};
    int r = process_start(web->service->loop,
                          &(struct process_request){
                              .argv = argv,
                              .output_max = ANSWER_MAX,
                              .timeout = WHY_TIMEOUT,
                              .on_done = on_done,
                              .arg = ask,
                          },
                          &ask->process, &err);

    strbuf_done(&name);
    if (r < 0) {
        rest_fail_err(exchange, &err);
        free(ask);
        return;
    }
    list_push(&web->asks, &ask->in_web);
    http_on_cancel(exchange, on_cancel, ask);
}

void asks_end(struct web *web)
{
    for (struct list_link *link = web->asks.first, *next; link; link = next) {
        next = link->next;
        on_cancel(list_item(link, struct ask, in_web));
    }
}
