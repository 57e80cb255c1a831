/* SPDX-License-Identifier: Apache-2.0 */

/* One request from its first try to its last. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/client/client_internal.h"
#include "kube/client/retry.h"

enum { URL_MAX = 64 * 1024, BODY_MAX = 16 << 20, ENVELOPE_MAX = 1 << 20, TRIES = 6 };

/* How much longer than it was told to may the server take to end a watch. */
#define WATCH_GRACE (30 * NSEC_PER_SEC)

/* What a verb is in HTTP. */
static const struct verb_row {
    const char *name;
    const char *method;
    const char *content_type;
    bool is_reading;
    bool needs_manager;
} verbs[] = {
    [KUBE_GET] = {"get", "GET", NULL, true, false},
    [KUBE_LIST] = {"list", "GET", NULL, true, false},
    [KUBE_WATCH] = {"watch", "GET", NULL, true, false},
    [KUBE_CREATE] = {"create", "POST", "application/json", false, false},
    [KUBE_UPDATE] = {"update", "PUT", "application/json", false, false},
    [KUBE_PATCH_MERGE] = {"patch", "PATCH", "application/merge-patch+json", false, false},
    [KUBE_PATCH_STRATEGIC] = {"patch", "PATCH", "application/strategic-merge-patch+json", false, false},
    [KUBE_PATCH_JSON] = {"patch", "PATCH", "application/json-patch+json", false, false},
    [KUBE_APPLY] = {"apply", "PATCH", "application/apply-patch+yaml", false, true},
    [KUBE_DELETE] = {"delete", "DELETE", "application/json", false, false},
    [KUBE_DELETE_ALL] = {"delete all", "DELETE", "application/json", false, false},
};
_Static_assert(ARRAY_LEN(verbs) == _KUBE_VERB_MAX, "every verb has a row");

static const struct verb_row *row_of(enum kube_verb verb)
{
    BUG_ON((unsigned)verb >= ARRAY_LEN(verbs));
    return &verbs[verb];
}

static const char *accept_of(const struct kube_request *request)
{
    if (request->is_raw)
        return "Accept: */*";
    if (!request->is_metadata_only)
        return "Accept: application/json";
    if (request->verb == KUBE_LIST)
        return "Accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    return "Accept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
}

static void add_number(struct strbuf *url, const char *name, uint32_t value)
{
    char text[16];

    (void)snprintf(text, sizeof text, "%u", value);
    kube_query(url, name, value ? text : NULL);
}

static bool has_fields(enum kube_verb verb)
{
    return !verbs[verb].is_reading && verb != KUBE_DELETE && verb != KUBE_DELETE_ALL;
}

static char *url_of(const struct kube_client *client, const struct kube_request *request)
{
    const struct verb_row *row = row_of(request->verb);
    const char *manager = request->field_manager;
    struct strbuf url;

    if (!manager && row->needs_manager)
        manager = client->user_agent;
    strbuf_init(&url, URL_MAX);
    strbuf_addstr(&url, client->config->server);
    if (request->path)
        strbuf_addstr(&url, request->path);
    else
        kube_path(&url, request->resource, request->namespace, request->name, request->subresource);
    kube_query(&url, "watch", request->verb == KUBE_WATCH ? "true" : NULL);
    kube_query(&url, "labelSelector", request->label_selector);
    kube_query(&url, "fieldSelector", request->field_selector);
    kube_query(&url, "resourceVersion", request->resource_version);
    kube_query(&url, "resourceVersionMatch", request->resource_version_match);
    add_number(&url, "limit", request->limit);
    kube_query(&url, "continue", request->continue_token);
    add_number(&url, "timeoutSeconds", request->timeout_s);
    kube_query(&url, "allowWatchBookmarks", request->wants_bookmarks ? "true" : NULL);
    kube_query(&url, "sendInitialEvents", request->wants_initial_events ? "true" : NULL);
    kube_query(&url, "fieldManager", manager);
    /* The server would look for fields that it does not know, and tell us; nobody would read it. */
    kube_query(&url, "fieldValidation", has_fields(request->verb) ? "Ignore" : NULL);
    kube_query(&url, "force", request->verb == KUBE_APPLY && request->is_forced ? "true" : NULL);
    kube_query(&url, "dryRun", request->is_dry_run ? "All" : NULL);
    return strbuf_take(&url);
}

/* "create pods default/x" */
static char *what_of(const struct kube_request *request)
{
    struct strbuf what;

    strbuf_init(&what, 512);
    strbuf_addf(&what, "%s %s", row_of(request->verb)->name, request->path ? request->path : request->resource->plural);
    if (request->subresource && request->subresource[0])
        strbuf_addf(&what, "/%s", request->subresource);
    if (request->namespace && request->namespace[0])
        strbuf_addf(&what, " %s", request->namespace);
    if (request->name && request->name[0])
        strbuf_addf(&what, "%c%s", request->namespace && request->namespace[0] ? '/' : ' ', request->name);
    return strbuf_take(&what);
}

static void on_rested(void *arg)
{
    struct kube_call *call = arg;

    kube_wait_cancel(call->client, &call->back);
    kube_client_queue(call->client, call);
}

static void on_server_back(void *arg)
{
    struct kube_call *call = arg;

    call->was_woken = true;
    loop_timer_stop(&call->rest);
    kube_client_queue(call->client, call);
}

struct kube_call *kube_call_new(struct kube_client *client, const struct kube_request *request)
{
    struct kube_call *call = xcalloc(1, sizeof *call);

    call->client = client;
    list_push(&client->calls, &call->of_client);
    call->request = *request;
    call->what = what_of(request);
    call->url = url_of(client, request);
    call->accept = accept_of(request);
    if (request->body) {
        call->body = xmalloc(request->body_len + 1);
        memcpy(call->body, request->body, request->body_len);
        call->body[request->body_len] = '\0';
    }
    call->request.body = call->body;
    call->tries_left = request->tries ? request->tries : TRIES;
    call->backoff = (struct backoff){.first = 50 * NSEC_PER_MSEC, .max = 5 * NSEC_PER_SEC};
    split_init(&call->split, request->verb == KUBE_WATCH ? SPLIT_STREAM : SPLIT_LIST, KUBE_ITEM_BYTES_MAX,
               ENVELOPE_MAX);
    loop_timer_init(&call->rest, client->loop, on_rested, call);
    call->back = (struct kube_wait){.on_back = on_server_back, .arg = call};
    return call;
}

/* It is no longer with the server. */
static void leave_server(struct kube_call *call)
{
    call->http = NULL;
    if (call->request.verb == KUBE_WATCH)
        return;
    call->client->in_flight--;
    loop_task_queue(&call->client->pump);
}

void kube_call_free(struct kube_call *call)
{
    if (call->state == CALL_QUEUED)
        kube_client_unqueue(call->client, call);
    if (call->http) {
        http_cancel(call->http);
        leave_server(call);
    }
    kube_wait_cancel(call->client, &call->back);
    list_remove(&call->client->calls, &call->of_client);
    split_done(&call->split);
    loop_timer_done(&call->rest);
    yyjson_doc_free(call->doc);
    free(call->what);
    free(call->url);
    free(call->body);
    free(call);
}

/* Calls back and frees the call. */
static void finish(struct kube_call *call, struct kube_answer *answer)
{
    struct kube_client *client = call->client;

    answer->call = call;
    kube_answer_explain(answer, call->what);
    /* From here on nothing is left to cancel. */
    call->state = CALL_RUNNING;
    kube_client_enter(client);
    call->request.on_done(call->request.arg, answer);
    kube_call_free(call);
    kube_client_leave(client);
}

bool kube_is_hopeless(int code)
{
    return code == -EKEYREJECTED || code == -EFBIG || code == -EINVAL || code == -EBADMSG;
}

/* A 4xx is a refusal, and a whole 2xx is an answer; whatever else comes back from a write leaves open what became of it.
 * That holds for a 5xx, too: the server may have lost sight of its store after it had handed the write over. */
static bool is_unclear(const struct kube_call *call, const struct kube_answer *answer, bool is_unsent)
{
    bool is_done = answer->status / 100 == 2 && answer->err.code == 0;

    return !is_unsent && !row_of(call->request.verb)->is_reading && !is_done && answer->status / 100 != 4;
}

/* How this try ended is noted in the call, and the answer says how all of them did. */
static void sum_up(struct kube_call *call, struct kube_answer *answer, bool is_unsent)
{
    bool is_done = answer->status / 100 == 2 && answer->err.code == 0;

    call->was_sent |= !is_unsent;
    call->is_unclear |= is_unclear(call, answer, is_unsent);
    answer->is_unsent = !call->was_sent;
    answer->is_unclear = call->is_unclear && !is_done;
}

/* Makes the request again, if that makes sense. */
static bool try_again(struct kube_call *call, const struct kube_answer *answer, bool is_unsent, nsec_t retry_after)
{
    struct kube_client *client = call->client;
    struct kube_outcome outcome = {
        .status = answer->status,
        .is_whole = answer->err.code == 0,
        .is_unsent = is_unsent,
        .is_repeatable = row_of(call->request.verb)->is_reading || call->request.is_repeatable,
        .is_hopeless = kube_is_hopeless(answer->err.code) || call->has_items,
        .has_new_login = call->has_new_login,
        .retry_after = retry_after,
    };
    enum kube_retry retry = kube_retry_of(&outcome);

    if (retry == RETRY_NO || (retry == RETRY_LATER && call->tries_left <= 1))
        return false;
    split_clear(&call->split);
    if (retry == RETRY_LOGIN) {
        kube_credentials_refuse(&client->credentials);
        call->has_new_login = true;
        kube_client_queue(client, call);
        return true;
    }
    nsec_t wait = backoff_next(&call->backoff, chance_next(&client->chance));

    call->tries_left--;
    call->state = CALL_RESTING;
    loop_timer_start(&call->rest, MAX(wait, retry_after));
    /* A server that asks for patience gets it, unless it asks because it is starting: then it says when it is ready. */
    call->back.is_patient = answer->status / 100 == 4 || retry_after >= 0;
    if (!call->was_woken)
        kube_await_server(client, &call->back);
    return true;
}

static void on_http_done(void *arg, const struct http_response *response)
{
    struct kube_call *call = arg;
    bool is_stream = call->request.on_item && response->status / 100 == 2;
    struct kube_answer answer = {
        .status = response->status,
        .err = response->err,
        .body = is_stream ? call->split.envelope.text : response->body,
        .body_len = is_stream ? call->split.envelope.len : response->body_len,
    };

    leave_server(call);
    if (call->split_err.code)
        answer.err = call->split_err;
    if (is_stream && !call->request.is_raw && answer.err.code == 0)
        (void)!split_end(&call->split, &answer.err);
    sum_up(call, &answer, response->is_unsent);
    if (!try_again(call, &answer, response->is_unsent, kube_retry_after(http_response_header(response, "Retry-After"))))
        finish(call, &answer);
}

static void on_begun(void *arg)
{
    struct kube_call *call = arg;

    call->request.on_begun(call->request.arg);
}

static int on_item(void *arg, const char *text, size_t len)
{
    struct kube_call *call = arg;

    call->has_items = true;
    int r = call->request.on_item(call->request.arg, text, len);

    return call->is_cancelled || call->client->is_freed ? -ECANCELED : r;
}

/* Whoever takes the items may cancel the call or free the client: that is done when the bytes are no longer needed. */
static int on_bytes(void *arg, const char *bytes, size_t len)
{
    struct kube_call *call = arg;
    struct kube_client *client = call->client;

    kube_client_enter(client);
    call->is_reading = true;
    int r = call->request.is_raw ? on_item(call, bytes, len)
                                 : split_feed(&call->split, bytes, len, on_item, call, &call->split_err);
    call->is_reading = false;
    if (call->is_cancelled)
        kube_call_free(call);
    kube_client_leave(client);
    return r;
}

static void free_headers(struct kube_strings *headers)
{
    vec_foreach (headers, at)
        free(*at);
    vec_done(headers);
}

static nsec_t timeout_of(const struct kube_call *call)
{
    const struct kube_request *request = &call->request;

    if (request->timeout)
        return request->timeout;
    if (request->verb == KUBE_WATCH)
        return request->timeout_s ? request->timeout_s * NSEC_PER_SEC + WATCH_GRACE : 0;
    return call->client->options.timeout;
}

static bool may_write(void *arg)
{
    const struct kube_client *client = ((const struct kube_call *)arg)->client;

    return client->may_write(client->may_write_arg);
}

static bool is_guarded(const struct kube_call *call)
{
    return call->client->may_write && !row_of(call->request.verb)->is_reading &&
           call->request.resource != kube_known(KUBE_LEASES);
}

void kube_call_start(struct kube_call *call)
{
    struct kube_client *client = call->client;
    const struct verb_row *row = row_of(call->request.verb);
    struct kube_strings headers = {0};
    struct strbuf line;

    strbuf_init(&line, 512);
    vec_push(&headers, xstrdup(call->accept));
    strbuf_addf(&line, "User-Agent: %s", client->user_agent);
    vec_push(&headers, strbuf_take(&line));
    if (call->body) {
        strbuf_addf(&line, "Content-Type: %s", row->content_type);
        vec_push(&headers, strbuf_take(&line));
    }
    kube_credentials_headers(&client->credentials, &headers);
    vec_push(&headers, NULL);

    call->state = CALL_RUNNING;
    call->split_err = (struct err){0};
    client->in_flight += call->request.verb != KUBE_WATCH;
    call->http = http_start(client->http, &(struct http_request){
                                              .method = row->method,
                                              .url = call->url,
                                              .tls = client->credentials.tls,
                                              .proxy = client->config->proxy,
                                              .unix_path = client->config->unix_path,
                                              .headers = (const char *const *)headers.items,
                                              .body = call->body,
                                              .body_len = call->request.body_len,
                                              .accepts_gzip = client->options.accepts_gzip,
                                              .timeout = timeout_of(call),
                                              .idle_timeout = call->request.idle_timeout,
                                              .body_max = call->request.body_max ? call->request.body_max : BODY_MAX,
                                              .may_send = is_guarded(call) ? may_write : NULL,
                                              .on_begun = call->request.on_begun ? on_begun : NULL,
                                              .on_data = call->request.on_item ? on_bytes : NULL,
                                              .on_done = on_http_done,
                                              .arg = call,
                                          });
    free_headers(&headers);
    strbuf_done(&line);
}

void kube_call_fail(struct kube_call *call, const struct err *err)
{
    struct kube_answer answer = {.err = *err, .body = ""};

    call->state = CALL_RUNNING;
    sum_up(call, &answer, true);
    if (!try_again(call, &answer, true, -1))
        finish(call, &answer);
}

bool kube_call_may_be_done(const struct kube_call *call)
{
    return call->is_unclear || call->http;
}
