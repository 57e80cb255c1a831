/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/follow/list.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "kube/client/meta.h"
#include "text/json.h"

/* The server may take its time over a large list. */
#define LIST_TIMEOUT (2 * NSEC_PER_MIN)

struct kube_list {
    struct kube_client *client;
    struct kube_list_request request;
    char *namespace;
    char *label_selector;
    char *field_selector;
    char *resource_version;
    char *continue_token;  // of the next page
    struct kube_call *call;
};

static char *copy(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

static void list_free(struct kube_list *list)
{
    free(list->namespace);
    free(list->label_selector);
    free(list->field_selector);
    free(list->resource_version);
    free(list->continue_token);
    free(list);
}

static void report(const struct kube_list *list, const struct err *err)
{
    if (list->request.on_problem)
        list->request.on_problem(list->request.arg, err);
}

static int on_item(void *arg, const char *text, size_t len)
{
    struct kube_list *list = arg;
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const char *plural = list->request.resource->plural;
    struct err err = {0};

    if (!text) {
        (void)err_set(&err, -EFBIG, "list %s: skipped an object of more than %d bytes", plural, KUBE_ITEM_BYTES_MAX);
        report(list, &err);
        return 0;
    }
    int r = json_parse(text, len, "object", &doc, &err);

    if (r < 0) {
        (void)err_wrap(&err, r, "list %s: skipped an object", plural);
        report(list, &err);
        return 0;
    }
    return list->request.on_object(list->request.arg, yyjson_doc_get_root(doc));
}

static void finish(struct kube_list *list, const struct kube_answer *answer, const char *resource_version)
{
    list->request.on_done(list->request.arg, answer, resource_version);
    list_free(list);
}

static void start_page(struct kube_list *list);

static void on_page(void *arg, const struct kube_answer *answer)
{
    struct kube_list *list = arg;
    yyjson_val *envelope = NULL;

    list->call = NULL;
    if (answer->err.code < 0) {
        finish(list, answer, "");
        return;
    }
    struct kube_answer bad = *answer;

    if (kube_answer_object(answer, &envelope, &bad.err) < 0) {
        finish(list, &bad, "");
        return;
    }
    const char *next = kube_text(envelope, "metadata", "continue");

    if (!next[0]) {
        finish(list, answer, kube_text(envelope, "metadata", "resourceVersion"));
        return;
    }
    free(list->continue_token);
    list->continue_token = xstrdup(next);
    start_page(list);
}

static void start_page(struct kube_list *list)
{
    const struct kube_list_request *request = &list->request;

    list->call = kube_send(list->client, &(struct kube_request){
                                             .verb = KUBE_LIST,
                                             .resource = request->resource,
                                             .namespace = list->namespace,
                                             .label_selector = list->label_selector,
                                             .field_selector = list->field_selector,
                                             /* The token of a page says the version as well, and better. */
                                             .resource_version = list->continue_token ? NULL : list->resource_version,
                                             .limit = request->page_size,
                                             .continue_token = list->continue_token,
                                             .is_metadata_only = request->is_metadata_only,
                                             .timeout = LIST_TIMEOUT,
                                             .on_item = on_item,
                                             .on_done = on_page,
                                             .arg = list,
                                         });
}

struct kube_list *kube_list_start(struct kube_client *client, const struct kube_list_request *request)
{
    struct kube_list *list = xcalloc(1, sizeof *list);

    list->client = client;
    list->request = *request;
    list->namespace = copy(request->namespace);
    list->label_selector = copy(request->label_selector);
    list->field_selector = copy(request->field_selector);
    list->resource_version = copy(request->resource_version);
    start_page(list);
    return list;
}

void kube_list_cancel(struct kube_list *list)
{
    if (!list)
        return;
    kube_cancel(list->call);
    list_free(list);
}
