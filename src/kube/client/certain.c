/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/client/certain.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macros.h"
#include "base/mem.h"
#include "kube/client/backoff.h"
#include "kube/client/client_internal.h"
#include "net/loop.h"

/*
 * A try whose connection was cut may still be with the server, which is slow, or was stopped for a while. From the first
 * object that can be read afterwards on it has so long to show up; only then a refusal of a later try counts for it, too.
 */
#define LATE_WRITE_TIME (2 * NSEC_PER_SEC)

#define REST_FIRST (50 * NSEC_PER_MSEC)
#define REST_MAX NSEC_PER_SEC

/* Until a caller that wants to wait is asked again, which costs nothing. */
#define ASK_AGAIN (20 * NSEC_PER_MSEC)

struct kube_certain {
    struct kube_client *client;
    struct kube_certain_request request;
    char *texts[6];  // of the request, owned
    char *body;
    struct kube_call *call;  // the write or the read
    struct loop_timer rest;  // before the next of either
    void (*next)(struct kube_certain *certain);
    struct backoff backoff;
    bool was_sent;          // the server may have seen it
    bool is_unknown;        // a try of it got no answer that says whether it was done
    bool is_withdrawn;      // it must not be tried again
    nsec_t readable_since;  // after the last such try; 0: the object has not been read since
    int refusal;            // status of the last try; 0: it was not refused
    struct err refused;
};

static void certain_free(struct kube_certain *certain)
{
    loop_timer_done(&certain->rest);
    for (size_t i = 0; i < ARRAY_LEN(certain->texts); i++)
        free(certain->texts[i]);
    free(certain->body);
    free(certain);
}

static void finish(struct kube_certain *certain, const struct kube_answer *answer)
{
    certain->request.on_done(certain->request.arg, answer);
    certain_free(certain);
}

static void finish_refused(struct kube_certain *certain)
{
    struct kube_answer answer = {.status = certain->refusal, .err = certain->refused, .reason = "", .body = ""};

    finish(certain, &answer);
}

static void finish_withdrawn(struct kube_certain *certain)
{
    struct kube_answer answer = {.reason = "", .body = ""};

    (void)err_set(&answer.err, -ESTALE, "%s %s was not done, and is out of date", certain->request.resource->plural,
                  certain->request.name);
    finish(certain, &answer);
}

static void on_rested(void *arg)
{
    struct kube_certain *certain = arg;

    certain->next(certain);
}

static void rest(struct kube_certain *certain, void (*next)(struct kube_certain *certain))
{
    certain->next = next;
    loop_timer_start(&certain->rest, backoff_next(&certain->backoff, chance_next(kube_client_chance(certain->client))));
}

static void write_object(struct kube_certain *certain);
static void read_object(struct kube_certain *certain);

static void write_again(struct kube_certain *certain)
{
    const struct kube_certain_request *request = &certain->request;
    enum kube_repeat repeat = request->may_repeat ? request->may_repeat(request->arg) : KUBE_REPEAT_NOW;

    switch (repeat) {
    case KUBE_REPEAT_NOW:
        write_object(certain);
        break;
    case KUBE_REPEAT_LATER:
        certain->next = write_again;
        loop_timer_start(&certain->rest, ASK_AGAIN);
        break;
    case KUBE_REPEAT_NEVER:
        certain->is_withdrawn = true;
        read_object(certain);
        break;
    }
}

/* The object shows that the write has not been done so far. */
static void take_not_done(struct kube_certain *certain)
{
    nsec_t now = nsec_now_monotonic();

    if (certain->readable_since == 0)
        certain->readable_since = now;
    bool is_late = certain->is_unknown && now - certain->readable_since < LATE_WRITE_TIME;
    if (is_late)
        rest(certain, certain->is_withdrawn ? read_object : write_again);
    else if (certain->is_withdrawn)
        finish_withdrawn(certain);
    else if (certain->refusal != 0)
        finish_refused(certain);
    else
        rest(certain, write_again);
}

static void on_read(void *arg, const struct kube_answer *answer)
{
    struct kube_certain *certain = arg;
    struct kube_answer verdict = *answer;
    yyjson_val *object = NULL;
    struct err err = {0};

    certain->call = NULL;
    if (answer->status != 404 && (answer->err.code < 0 || kube_answer_object(answer, &object, &err) < 0)) {
        rest(certain, read_object);
        return;
    }
    verdict.err = (struct err){0};
    switch (certain->request.judge(certain->request.arg, object, &verdict.err)) {
    case KUBE_SHOWS_NOT_DONE:
        take_not_done(certain);
        break;
    case KUBE_SHOWS_DONE:
        verdict.err = (struct err){0};
        finish(certain, &verdict);
        break;
    case KUBE_SHOWS_IMPOSSIBLE:
        finish(certain, &verdict);
        break;
    }
}

static void read_object(struct kube_certain *certain)
{
    /* Without a version, so that the server asks its store and not its cache. */
    certain->call = kube_send(certain->client, &(struct kube_request){
                                                   .verb = KUBE_GET,
                                                   .resource = certain->request.resource,
                                                   .namespace = certain->request.namespace,
                                                   .name = certain->request.name,
                                                   .on_done = on_read,
                                                   .arg = certain,
                                               });
}

static void note_answer(struct kube_certain *certain, const struct kube_answer *answer)
{
    certain->was_sent |= !answer->is_unsent;
    certain->refusal = answer->status / 100 == 4 ? answer->status : 0;
    certain->refused = answer->err;
    if (!answer->is_unclear)
        return;
    certain->readable_since = 0;
    if (!certain->is_unknown && certain->request.on_unknown)
        certain->request.on_unknown(certain->request.arg, &answer->err);
    certain->is_unknown = true;
}

static void on_written(void *arg, const struct kube_answer *answer)
{
    struct kube_certain *certain = arg;
    bool is_asking = certain->request.may_repeat;

    certain->call = NULL;
    note_answer(certain, answer);
    if (is_asking && answer->status == 429) {
        rest(certain, write_again);
        return;
    }
    /* A read waits for a server that cannot be reached, and is asked for by all together when it is back. */
    if (is_asking && answer->is_unsent && !kube_is_hopeless(answer->err.code)) {
        read_object(certain);
        return;
    }
    /* What the server finds in the way may be what an earlier scheduler, or a try of ours, has done. */
    if (answer->err.code == 0 || (!certain->is_unknown && answer->status != 409))
        finish(certain, answer);
    else
        read_object(certain);
}

static void write_object(struct kube_certain *certain)
{
    struct kube_request write = certain->request.write;

    /* The client would repeat it without a question. */
    write.is_repeatable = !certain->request.may_repeat;
    write.tries = certain->request.may_repeat ? 1 : 0;
    write.on_done = on_written;
    write.arg = certain;
    certain->call = kube_send(certain->client, &write);
}

static const char *keep(struct kube_certain *certain, int at, const char *text)
{
    certain->texts[at] = text ? xstrdup(text) : NULL;
    return certain->texts[at];
}

struct kube_certain *kube_certain_start(struct kube_client *client, const struct kube_certain_request *request)
{
    struct kube_certain *certain = xcalloc(1, sizeof *certain);
    struct kube_request *write = &certain->request.write;

    certain->client = client;
    certain->request = *request;
    certain->request.namespace = keep(certain, 0, request->namespace);
    certain->request.name = keep(certain, 1, request->name);
    write->namespace = keep(certain, 2, request->write.namespace);
    write->name = keep(certain, 3, request->write.name);
    write->subresource = keep(certain, 4, request->write.subresource);
    write->field_manager = keep(certain, 5, request->write.field_manager);
    /* A text that was cut within a character is for the server to judge, and no reason to stop. */
    certain->body = yyjson_mut_write(request->doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &write->body_len);
    BUG_ON(!certain->body);
    write->body = certain->body;
    certain->backoff = (struct backoff){.first = REST_FIRST, .max = REST_MAX};
    loop_timer_init(&certain->rest, kube_client_loop(client), on_rested, certain);
    write_object(certain);
    return certain;
}

void kube_certain_cancel(struct kube_certain *certain)
{
    if (!certain)
        return;
    kube_cancel(certain->call);
    certain_free(certain);
}

bool kube_certain_is_unsent(const struct kube_certain *certain)
{
    return !certain->was_sent && (!certain->call || !kube_call_may_be_done(certain->call));
}
