/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/list.h"
#include "base/strbuf.h"
#include "kube/access/config.h"
#include "kube/access/credentials.h"
#include "kube/client/backoff.h"
#include "kube/client/bucket.h"
#include "kube/client/client.h"
#include "kube/client/prober.h"
#include "kube/client/split.h"
#include "net/http.h"
#include "net/loop.h"

enum call_state {
    CALL_QUEUED,   // waits for its turn
    CALL_RUNNING,  // with the server
    CALL_RESTING,  // backs off before another try
};

struct kube_call {
    struct kube_client *client;
    struct list_link of_client;
    struct list_link in_queue;
    enum call_state state;
    struct kube_request request;  // texts in it are not kept, but for what follows
    char *what;                   // "create pods default/x", for messages
    char *url;
    char *body;
    const char *accept;
    struct http_call *http;
    struct loop_timer rest;
    struct backoff backoff;
    struct kube_wait back;  // the server may come back before the rest is over
    bool was_woken;         // by that, which happens once
    uint32_t tries_left;
    bool has_new_login;
    bool was_sent;    // the server may have seen a try before this one
    bool is_unclear;  // the server may have done it, and the answer got lost
    bool has_items;   // some were handed out: the request cannot be made again
    bool is_reading;  // its items are being handed out
    bool is_cancelled;
    struct split split;
    struct err split_err;
    yyjson_doc *doc;  // of the answer, when somebody asked for it
};

struct kube_client {
    struct loop *loop;
    struct kube_config *config;
    struct kube_client_options options;
    char *user_agent;
    struct kube_credentials credentials;
    struct http_client *http;
    struct chance chance;
    struct bucket bucket;
    struct loop_timer timer;  // when the rate allows the next request
    struct loop_task pump;
    struct list urgent, usual;  // calls that are queued
    struct list feeds;          // watches that are shared
    struct list calls;          // all of them
    uint32_t in_flight;         // requests with the server, watches left out
    uint32_t busy;              // nesting of calls back, which may free the client
    bool is_freed;
    bool (*may_write)(void *arg);  // NULL: always
    void *may_write_arg;
    struct kube_prober *prober;  // NULL: nobody has waited yet
};

struct kube_call *kube_call_new(struct kube_client *client, const struct kube_request *request);
void kube_call_free(struct kube_call *call);

/* Gives it to the server. */
void kube_call_start(struct kube_call *call);

/* No answer could even be asked for. */
void kube_call_fail(struct kube_call *call, const struct err *err);

/* A try that ended with this code would end the same way again: untrusted, too large. */
bool kube_is_hopeless(int code);

/* Puts it at the end of its queue. */
void kube_client_queue(struct kube_client *client, struct kube_call *call);
void kube_client_unqueue(struct kube_client *client, struct kube_call *call);

/* Around whatever calls back. */
void kube_client_enter(struct kube_client *client);
void kube_client_leave(struct kube_client *client);

/* Fills in the error of an answer that is a refusal, with the server's own text; borrowed from the call's document. */
void kube_answer_describe(struct kube_answer *answer);

/* Fills in what an answer of the server means. */
void kube_answer_explain(struct kube_answer *answer, const char *what);
