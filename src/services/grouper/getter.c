/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Shared reads. A shelf is a question and, for a moment, its answer; those who wait for it are in a list. A shelf lives
 * until it is old and nobody holds it.
 */
#include "services/grouper/getter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "kube/client/client.h"
#include "kube/client/discovery.h"
#include "net/loop.h"
#include "text/json.h"

#define FRESH NSEC_PER_SEC

struct got {
    uint32_t refs;
    yyjson_doc *doc;
};

struct shelf;

struct get_wait {
    struct shelf *shelf;
    got_fn fn;
    void *arg;
    struct get_wait *next;
};

struct shelf {
    struct object_getter *getter;
    struct shelf *next;
    char *api_version, *kind, *namespace, *name;
    char *selector;  // NULL: by name
    bool is_metadata_only;
    struct kube_call *call;
    struct got *got;
    int status;
    struct err err;
    bool is_over;
    bool is_outdated;
    bool is_telling;
    nsec_t at;
    struct get_wait *waits;
    struct loop_task tell;
};

struct object_getter {
    struct kube_client *client;
    struct discovery *discovery;
    struct shelf *shelves;
};

yyjson_val *got_object(const struct got *got)
{
    return yyjson_doc_get_root(got->doc);
}

void got_unref(struct got *got)
{
    if (!got || --got->refs > 0)
        return;
    yyjson_doc_free(got->doc);
    free(got);
}

struct object_getter *getter_new(struct kube_client *client, struct discovery *discovery)
{
    struct object_getter *getter = xcalloc(1, sizeof *getter);

    getter->client = client;
    getter->discovery = discovery;
    return getter;
}

static void shelf_free(struct shelf *shelf)
{
    loop_task_cancel(&shelf->tell);
    kube_cancel(shelf->call);
    for (struct get_wait *wait = shelf->waits, *next; wait; wait = next) {
        next = wait->next;
        free(wait);
    }
    got_unref(shelf->got);
    free(shelf->api_version);
    free(shelf->kind);
    free(shelf->namespace);
    free(shelf->name);
    free(shelf->selector);
    free(shelf);
}

void getter_free(struct object_getter *getter)
{
    if (!getter)
        return;
    for (struct shelf *shelf = getter->shelves, *next; shelf; shelf = next) {
        next = shelf->next;
        shelf_free(shelf);
    }
    free(getter);
}

/* What a list does not hold may be made the next moment, and is then looked for. */
static nsec_t freshness(const struct shelf *shelf)
{
    return shelf->selector || shelf->is_outdated ? 0 : FRESH;
}

/* Takes old answers off. */
static void sweep(struct object_getter *getter, nsec_t now)
{
    for (struct shelf **at = &getter->shelves; *at;) {
        struct shelf *shelf = *at;

        if (shelf->is_over && !shelf->waits && !shelf->is_telling && now - shelf->at >= freshness(shelf)) {
            *at = shelf->next;
            shelf_free(shelf);
        } else {
            at = &shelf->next;
        }
    }
}

void getter_forget_failures(struct object_getter *getter)
{
    for (struct shelf *shelf = getter->shelves; shelf; shelf = shelf->next)
        shelf->is_outdated = shelf->is_over && !shelf->got;
}

/* Tells all who wait. One of them may start another read, or cancel a wait, meanwhile. */
static void tell_all(void *arg)
{
    struct shelf *shelf = arg;

    shelf->is_telling = true;
    while (shelf->waits) {
        struct get_wait *wait = shelf->waits;
        got_fn fn = wait->fn;
        void *fn_arg = wait->arg;

        shelf->waits = wait->next;
        free(wait);
        if (shelf->got)
            shelf->got->refs++;
        fn(fn_arg, shelf->got, shelf->status, &shelf->err);
    }
    shelf->is_telling = false;
}

static void finish(struct shelf *shelf)
{
    shelf->is_over = true;
    shelf->at = nsec_now_monotonic();
    loop_task_queue(&shelf->tell);
}

static void on_answer(void *arg, const struct kube_answer *answer)
{
    struct shelf *shelf = arg;
    yyjson_doc *doc = NULL;

    shelf->call = NULL;
    shelf->status = answer->status;
    shelf->err = answer->err;
    if (answer->err.code == 0 && json_parse(answer->body, answer->body_len, "the answer", &doc, &shelf->err) == 0) {
        shelf->err.code = 0;
        shelf->got = xcalloc(1, sizeof *shelf->got);
        shelf->got->refs = 1;
        shelf->got->doc = doc;
    }
    finish(shelf);
}

static void on_resource(void *arg, const struct kube_resource *resource, const struct err *err)
{
    struct shelf *shelf = arg;

    if (!resource) {
        if (err && err->code < 0)
            shelf->err = *err;
        else
            (void)err_set(&shelf->err, -ENOENT, "the API server has no kind %s in %s", shelf->kind, shelf->api_version);
        finish(shelf);
        return;
    }
    shelf->call = kube_send(shelf->getter->client, &(struct kube_request){
                                                       .verb = shelf->selector ? KUBE_LIST : KUBE_GET,
                                                       .resource = resource,
                                                       .namespace = resource->is_namespaced ? shelf->namespace : NULL,
                                                       .name = shelf->selector ? NULL : shelf->name,
                                                       .label_selector = shelf->selector,
                                                       .is_metadata_only = shelf->is_metadata_only,
                                                       .on_done = on_answer,
                                                       .arg = shelf,
                                                   });
}

static bool has_selector(const struct shelf *shelf, const char *selector)
{
    return shelf->selector && selector ? strcmp(shelf->selector, selector) == 0 : !shelf->selector && !selector;
}

static struct shelf *find_shelf(const struct object_getter *getter, const struct get_request *request)
{
    for (struct shelf *shelf = getter->shelves; shelf; shelf = shelf->next) {
        /* All of an object serves those who want its metadata. */
        if (strcmp(shelf->name, request->name ? request->name : "") == 0 && has_selector(shelf, request->selector) &&
            strcmp(shelf->kind, request->kind) == 0 && strcmp(shelf->namespace, request->namespace) == 0 &&
            strcmp(shelf->api_version, request->api_version) == 0 &&
            (shelf->is_metadata_only == request->is_metadata_only || !shelf->is_metadata_only))
            return shelf;
    }
    return NULL;
}

static struct shelf *add_shelf(struct object_getter *getter, const struct get_request *request)
{
    struct shelf *shelf = xcalloc(1, sizeof *shelf);

    shelf->getter = getter;
    shelf->api_version = xstrdup(request->api_version);
    shelf->kind = xstrdup(request->kind);
    shelf->namespace = xstrdup(request->namespace);
    shelf->name = xstrdup(request->name ? request->name : "");
    shelf->selector = request->selector ? xstrdup(request->selector) : NULL;
    shelf->is_metadata_only = request->is_metadata_only;
    loop_task_init(&shelf->tell, kube_client_loop(getter->client), tell_all, shelf);
    shelf->next = getter->shelves;
    getter->shelves = shelf;
    discovery_find(getter->discovery, shelf->api_version, shelf->kind, on_resource, shelf);
    return shelf;
}

struct get_wait *getter_get(struct object_getter *getter, const struct get_request *request, got_fn fn, void *arg)
{
    struct get_wait *wait = xcalloc(1, sizeof *wait);
    struct shelf *shelf;

    sweep(getter, nsec_now_monotonic());
    shelf = find_shelf(getter, request);
    if (!shelf)
        shelf = add_shelf(getter, request);
    *wait = (struct get_wait){.shelf = shelf, .fn = fn, .arg = arg, .next = shelf->waits};
    shelf->waits = wait;
    if (shelf->is_over)
        loop_task_queue(&shelf->tell);
    return wait;
}

void getter_cancel(struct get_wait *wait)
{
    if (!wait)
        return;
    for (struct get_wait **at = &wait->shelf->waits; *at; at = &(*at)->next) {
        if (*at == wait) {
            *at = wait->next;
            free(wait);
            return;
        }
    }
}
