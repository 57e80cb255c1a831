/* SPDX-License-Identifier: Apache-2.0 */
#include "services/binder/attempt.h"

#include <stdlib.h>

#include "base/mem.h"
#include "kube/client/backoff.h"
#include "net/loop.h"
#include "services/binder/documents/document.h"
#include "text/json.h"

enum { TRIES = 8 };

struct attempt {
    struct attempts *of;
    struct list_link under_way;
    struct kube_request request;
    char *namespace;
    char *name;
    char *subresource;
    char *body;
    kube_done_fn on_done;
    void *arg;
    struct kube_call *call;
    struct loop_timer timer;
    struct backoff backoff;
    uint32_t tries_left;
};

void attempts_init(struct attempts *attempts, struct kube_client *client)
{
    *attempts = (struct attempts){.client = client};
}

static void attempt_free(struct attempts *of, struct attempt *attempt)
{
    list_remove(&of->under_way, &attempt->under_way);
    loop_timer_done(&attempt->timer);
    free(attempt->namespace);
    free(attempt->name);
    free(attempt->subresource);
    free(attempt->body);
    free(attempt);
}

void attempt_cancel(struct attempt *attempt)
{
    if (!attempt)
        return;
    kube_cancel(attempt->call);
    attempt_free(attempt->of, attempt);
}

void attempts_done(struct attempts *attempts)
{
    struct attempt *attempt;

    while ((attempt = list_first(&attempts->under_way, struct attempt, under_way))) {
        kube_cancel(attempt->call);
        attempt_free(attempts, attempt);
    }
}

static void send_request(void *arg)
{
    struct attempt *attempt = arg;

    attempt->call = kube_send(attempt->of->client, &attempt->request);
}

static void on_answer(void *arg, const struct kube_answer *answer)
{
    struct attempt *attempt = arg;
    struct attempts *of = attempt->of;
    kube_done_fn on_done = attempt->on_done;
    void *done_arg = attempt->arg;

    attempt->call = NULL;
    if (kube_answer_is_conflict(answer) && --attempt->tries_left > 0) {
        if (!attempt->timer.handle)
            loop_timer_init(&attempt->timer, kube_client_loop(of->client), send_request, attempt);
        loop_timer_start(&attempt->timer, backoff_next(&attempt->backoff, chance_next(kube_client_chance(of->client))));
        return;
    }
    attempt_free(of, attempt);
    on_done(done_arg, answer);
}

static char *copy(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

struct attempt *attempt_start(struct attempts *attempts, const struct attempt_request *request)
{
    struct attempt *attempt = xcalloc(1, sizeof *attempt);
    size_t body_len = 0;

    attempt->of = attempts;
    attempt->namespace = copy(request->namespace);
    attempt->name = copy(request->name);
    attempt->subresource = copy(request->subresource);
    attempt->body =
        request->body ? yyjson_mut_write(request->body, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &body_len) : NULL;
    attempt->on_done = request->on_done;
    attempt->arg = request->arg;
    attempt->tries_left = TRIES;
    attempt->backoff = (struct backoff){.first = 20 * NSEC_PER_MSEC, .max = NSEC_PER_SEC};
    attempt->request = (struct kube_request){
        .verb = request->verb,
        .resource = request->resource,
        .namespace = attempt->namespace,
        .name = attempt->name,
        .subresource = attempt->subresource,
        .body = attempt->body,
        .body_len = body_len,
        .is_repeatable = true,
        .on_done = on_answer,
        .arg = attempt,
    };
    list_push(&attempts->under_way, &attempt->under_way);
    send_request(attempt);
    return attempt;
}

struct attempt *attempt_delete(struct attempts *attempts, const struct kube_resource *resource, const char *namespace,
                               const char *name, const char *uid, bool has_grace, kube_done_fn on_done, void *arg)
{
    _cleanup_(document_freep) yyjson_mut_doc *options = json_new_object(NULL);
    yyjson_mut_val *root = yyjson_mut_doc_get_root(options);

    document_set(options, root, "apiVersion", "v1");
    document_set(options, root, "kind", "DeleteOptions");
    if (!has_grace)
        document_set_int(options, root, "gracePeriodSeconds", 0);
    if (uid)
        document_set(options, document_member(options, root, "preconditions"), "uid", uid);
    return attempt_start(attempts, &(struct attempt_request){
                                       .verb = KUBE_DELETE,
                                       .resource = resource,
                                       .namespace = namespace,
                                       .name = name,
                                       .body = options,
                                       .on_done = on_done,
                                       .arg = arg,
                                   });
}
