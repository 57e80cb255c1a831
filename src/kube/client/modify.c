/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/client/modify.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "kube/client/backoff.h"
#include "kube/client/meta.h"
#include "net/loop.h"

enum { TRIES = 10 };

/* So long after the object could first be read a write whose answer was lost may still show up. */
#define LATE_WRITE_TIME (2 * NSEC_PER_SEC)

struct kube_modify {
    struct kube_client *client;
    struct kube_modify_request request;
    char *namespace;
    char *name;
    char *subresource;
    yyjson_mut_doc *doc;  // that is to be changed and written first
    struct kube_call *call;
    struct loop_timer timer;
    struct backoff backoff;
    uint32_t tries_left;
    bool is_unknown;        // a write may have been done, and its answer got lost
    nsec_t readable_since;  // after the last such write; 0: the object has not been read since
};

static void modify_free(struct kube_modify *modify)
{
    loop_timer_done(&modify->timer);
    yyjson_mut_doc_free(modify->doc);
    free(modify->namespace);
    free(modify->name);
    free(modify->subresource);
    free(modify);
}

static void finish(struct kube_modify *modify, const struct kube_answer *answer)
{
    modify->request.on_done(modify->request.arg, answer);
    modify_free(modify);
}

static void rest(struct kube_modify *modify)
{
    loop_timer_start(&modify->timer, backoff_next(&modify->backoff, chance_next(kube_client_chance(modify->client))));
}

static bool may_show_up_late(const struct kube_modify *modify)
{
    return modify->is_unknown &&
           (modify->readable_since == 0 || nsec_now_monotonic() - modify->readable_since < LATE_WRITE_TIME);
}

static void on_written(void *arg, const struct kube_answer *answer)
{
    struct kube_modify *modify = arg;

    modify->call = NULL;
    if (answer->is_unclear) {
        modify->is_unknown = true;
        modify->readable_since = 0;
    }
    bool is_awaited = answer->err.code < 0 && may_show_up_late(modify);

    if (!is_awaited && (!kube_answer_is_conflict(answer) || --modify->tries_left == 0))
        finish(modify, answer);
    else
        rest(modify);
}

/* Changes the object and writes it. Returns 1 when the write is under way, else as kube_modify_fn. */
static int change_and_write(struct kube_modify *modify, yyjson_mut_doc *doc, struct err *err)
{
    const struct kube_modify_request *request = &modify->request;
    size_t len = 0;
    int r = request->change(request->arg, doc, yyjson_mut_doc_get_root(doc), err);

    if (r <= 0)
        return r;
    _cleanup_(freep) char *body = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);
    if (!body)
        return err_set(err, -EINVAL, "%s %s: cannot be written as JSON", request->resource->plural, modify->name);
    modify->call = kube_send(modify->client, &(struct kube_request){
                                                 .verb = KUBE_UPDATE,
                                                 .resource = request->resource,
                                                 .namespace = modify->namespace,
                                                 .name = modify->name,
                                                 .subresource = modify->subresource,
                                                 .body = body,
                                                 .body_len = len,
                                                 /* The version in it makes a second one harmless. */
                                                 .is_repeatable = true,
                                                 .is_urgent = request->is_urgent,
                                                 .on_done = on_written,
                                                 .arg = modify,
                                             });
    return 1;
}

static void on_read(void *arg, const struct kube_answer *answer)
{
    struct kube_modify *modify = arg;
    struct kube_answer last = *answer;
    yyjson_val *object = NULL;

    modify->call = NULL;
    if (answer->err.code < 0 && answer->status != 404 && modify->is_unknown) {
        rest(modify);
        return;
    }
    if (modify->is_unknown && modify->readable_since == 0)
        modify->readable_since = nsec_now_monotonic();
    if (answer->err.code == 0 && kube_answer_object(answer, &object, &last.err) == 0) {
        yyjson_mut_doc *doc = kube_copy(object);
        int r = change_and_write(modify, doc, &last.err);

        yyjson_mut_doc_free(doc);
        if (r > 0)
            return;
        if (r < 0 && last.err.code == 0)
            (void)err_set(&last.err, r, "%s %s: was not changed", modify->request.resource->plural, modify->name);
    }
    finish(modify, &last);
}

static void read_object(void *arg)
{
    struct kube_modify *modify = arg;

    modify->call = kube_send(modify->client, &(struct kube_request){
                                                 .verb = KUBE_GET,
                                                 .resource = modify->request.resource,
                                                 .namespace = modify->namespace,
                                                 .name = modify->name,
                                                 .is_urgent = modify->request.is_urgent,
                                                 .on_done = on_read,
                                                 .arg = modify,
                                             });
}

/* The first attempt, with the object as it was given. */
static void on_start(void *arg)
{
    struct kube_modify *modify = arg;
    yyjson_mut_doc *doc = TAKE_PTR(modify->doc);

    if (!doc) {
        read_object(modify);
        return;
    }
    struct kube_answer answer = {.status = 200, .reason = "", .body = ""};
    int r = change_and_write(modify, doc, &answer.err);

    yyjson_mut_doc_free(doc);
    if (r > 0)
        return;
    if (r < 0 && answer.err.code == 0)
        (void)err_set(&answer.err, r, "%s %s: was not changed", modify->request.resource->plural, modify->name);
    finish(modify, &answer);
}

static char *copy(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

struct kube_modify *kube_modify_start(struct kube_client *client, const struct kube_modify_request *request)
{
    struct kube_modify *modify = xcalloc(1, sizeof *modify);

    modify->client = client;
    modify->request = *request;
    modify->namespace = copy(request->namespace);
    modify->name = copy(request->name);
    modify->subresource = copy(request->subresource);
    modify->doc = kube_copy(request->object);
    modify->tries_left = request->tries ? request->tries : TRIES;
    modify->backoff = (struct backoff){.first = 10 * NSEC_PER_MSEC, .max = NSEC_PER_SEC};
    loop_timer_init(&modify->timer, kube_client_loop(client), on_start, modify);
    loop_timer_start(&modify->timer, 0);
    return modify;
}

void kube_modify_cancel(struct kube_modify *modify)
{
    if (!modify)
        return;
    kube_cancel(modify->call);
    modify_free(modify);
}
