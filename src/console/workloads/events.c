/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What has happened to a workload: the events that the cluster has of its objects, and the phases that it has had. The events
 * are the cluster's, which drops them after a while; they are read when somebody asks for them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "console/data/items.h"
#include "console/rest/handlers.h"
#include "console/rest/listing.h"
#include "console/workloads/make/distributed.h"
#include "console/workloads/make/inference.h"
#include "console/workloads/workloads.h"
#include "frame/service.h"
#include "kube/client/client.h"
#include "kube/client/meta.h"

enum { ROWS_MAX = 5000, SUFFIX_BYTES = 6, UID_BYTES = 36, NAME_BYTES = 256, LIMIT = 50, LIMIT_MAX = 500 };

/* One request that waits for the cluster's answer. */
struct asking {
    struct request request;
    struct kube_call *call;
    yyjson_doc *item;
    struct listing_rows rows;
    struct listing_page page;
    bool is_history;
    bool is_ascending;
};

static void asking_free(struct asking *asking)
{
    yyjson_doc_free(asking->item);
    vec_done(&asking->rows);
    free(asking);
}

static void finish(struct asking *asking, int r, const struct err *err)
{
    http_on_cancel(asking->request.exchange, NULL, NULL);
    request_reply(&asking->request, r, err);
    asking_free(asking);
}

/* --- whose event it is --- */

static bool is_index(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text);
}

static bool is_workload(struct asking *asking, const char *name)
{
    _cleanup_(json_doc_freep) yyjson_doc *other = NULL;
    const char *project = kube_text(yyjson_doc_get_root(asking->item), "projectId");

    return item_find(asking->request.console->db, ITEM_WORKLOAD, project, name, &other, NULL) != -ENOENT;
}

/* What a Deployment has below it: its name and a hash. "a-1" may be a workload of its own. */
static bool is_own_set(struct asking *asking, const char *set)
{
    const char *name = kube_text(yyjson_doc_get_root(asking->item), "name");
    size_t len = strlen(name);

    return strncmp(set, name, len) == 0 && set[len] == '-' && set[len + 1] && !strchr(set + len + 1, '-') &&
           !is_workload(asking, set);
}

/* One of a gang: its name and its index. */
static bool is_own_rank(struct asking *asking, const char *text)
{
    const char *name = kube_text(yyjson_doc_get_root(asking->item), "name");
    size_t len = strlen(name);

    return strncmp(text, name, len) == 0 && text[len] == '-' && is_index(text + len + 1) && !is_workload(asking, text);
}

/* Pods are called after their Job, with their index where they have one, and five random letters. */
static bool is_own_pod(struct asking *asking, const char *pod)
{
    yyjson_val *item = yyjson_doc_get_root(asking->item);
    const char *name = kube_text(item, "name");
    size_t len = strlen(pod);
    char stem[NAME_BYTES];

    if (len <= SUFFIX_BYTES || len - SUFFIX_BYTES >= sizeof stem || pod[len - SUFFIX_BYTES] != '-')
        return false;
    memcpy(stem, pod, len - SUFFIX_BYTES);
    stem[len - SUFFIX_BYTES] = '\0';
    if (strcmp(kube_text(item, "type"), WORKLOAD_INFERENCE) == 0)
        return is_own_set(asking, stem);
    if (strcmp(kube_text(item, "type"), WORKLOAD_DISTRIBUTED) != 0)
        return strcmp(stem, name) == 0;
    return is_own_rank(asking, stem);
}

/* "pg-NAME-UID", by the name of what makes the pods, or of a pod that is a group of its own. */
static bool is_own_group(struct asking *asking, const char *group)
{
    static const char prefix[] = "pg-";
    const char *name = kube_text(yyjson_doc_get_root(asking->item), "name");
    size_t len = strlen(group), rest = strlen(prefix) + 1 + UID_BYTES;
    char inner[NAME_BYTES];

    if (strncmp(group, prefix, strlen(prefix)) != 0 || len <= rest || len - rest >= sizeof inner)
        return false;
    memcpy(inner, group + strlen(prefix), len - rest);
    inner[len - rest] = '\0';
    return strcmp(inner, name) == 0 || is_own_pod(asking, inner);
}

static bool is_own(struct asking *asking, yyjson_val *event)
{
    yyjson_val *item = yyjson_doc_get_root(asking->item);
    const char *kind = kube_text(event, "involvedObject", "kind");
    const char *name = kube_text(event, "involvedObject", "name");

    if (strcmp(kind, "Pod") == 0)
        return is_own_pod(asking, name);
    if (strcmp(kind, "PodGroup") == 0 && is_own_group(asking, name))
        return true;
    if (strcmp(kind, "ReplicaSet") == 0)
        return is_own_set(asking, name);
    if (strcmp(kind, "Job") == 0 && strcmp(kube_text(item, "type"), WORKLOAD_DISTRIBUTED) == 0 &&
        is_own_rank(asking, name))
        return true;
    return (strcmp(kind, "Job") == 0 || strcmp(kind, "PodGroup") == 0 || strcmp(kind, "Deployment") == 0 ||
            strcmp(kind, "Service") == 0) &&
           strcmp(name, kube_text(item, "name")) == 0;
}

/* --- rows --- */

static const char *first_of(const char *a, const char *b, const char *c, const char *d)
{
    return *a ? a : *b ? b : *c ? c : d;
}

static yyjson_mut_val *make_event(struct asking *asking, yyjson_val *event)
{
    static const char *const members[] = {"uid", "kind", "name", "namespace"};
    yyjson_mut_doc *doc = asking->request.doc;
    yyjson_mut_val *row = yyjson_mut_obj(doc);

    put_text(doc, row, "createdAt",
             first_of(kube_text(event, "lastTimestamp"), kube_text(event, "eventTime"),
                      kube_text(event, "firstTimestamp"), kube_text(event, "metadata", "creationTimestamp")));
    put_text(doc, row, "id", kube_text(event, "metadata", "uid"));
    put_text(doc, row, "type", kube_text(event, "type"));
    put_text(doc, row, "clusterId", asking->request.console->cluster_id);
    put_text(doc, row, "message", kube_text(event, "message"));
    put_text(doc, row, "reason", kube_text(event, "reason"));
    put_text(doc, row, "source",
             first_of(kube_text(event, "source", "component"), kube_text(event, "reportingComponent"), "", ""));
    yyjson_mut_val *object = yyjson_mut_obj_add_obj(doc, row, "involvedObject");
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        put_text(doc, object, members[i], kube_text(event, "involvedObject", members[i]));
    return row;
}

/* A record of the history; `name` is the member of its spec. */
static void add_record(struct asking *asking, const char *type, const char *name, const char *time,
                       yyjson_mut_val *value)
{
    yyjson_mut_doc *doc = asking->request.doc;
    yyjson_mut_val *record = yyjson_mut_obj(doc);
    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, record, "meta");

    put_text(doc, meta, "creationTimestamp", time);
    put_text(doc, meta, "type", type);
    (void)yyjson_mut_obj_add_val(doc, yyjson_mut_obj_add_obj(doc, record, "spec"), name, value);
    vec_push(&asking->rows, record);
}

static int on_event(void *arg, const char *text, size_t len)
{
    struct asking *asking = arg;
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;

    if (!text || asking->rows.len >= ROWS_MAX || json_parse(text, len, "an event", &doc, NULL) < 0 ||
        !is_own(asking, yyjson_doc_get_root(doc)))
        return 0;
    yyjson_mut_val *row = make_event(asking, yyjson_doc_get_root(doc));
    if (asking->is_history)
        add_record(asking, "Event", "event", yyjson_mut_get_str(yyjson_mut_obj_get(row, "createdAt")), row);
    else
        vec_push(&asking->rows, row);
    return 0;
}

static void add_phases(struct asking *asking)
{
    yyjson_mut_doc *doc = asking->request.doc;
    yyjson_val *entry;
    yyjson_arr_iter iter;

    yyjson_arr_iter_init(yyjson_doc_ptr_get(asking->item, "/status/phases"), &iter);
    while ((entry = yyjson_arr_iter_next(&iter))) {
        yyjson_mut_val *phase = yyjson_mut_obj(doc);

        put_text(doc, phase, "phase", kube_text(entry, "phase"));
        put_text(doc, phase, "phaseMessage", kube_text(entry, "message"));
        add_record(asking, "PhaseUpdate", "phaseUpdate", kube_text(entry, "time"), phase);
    }
}

/* Times have as many digits as they need: "10.25Z" is before "10.256Z". */
static int compare_times(const char *a, const char *b)
{
    size_t a_len = strcspn(a, "Z"), b_len = strcspn(b, "Z");
    int order = memcmp(a, b, MIN(a_len, b_len));

    return order ? order : (a_len > b_len) - (a_len < b_len);
}

static int compare(const void *a, const void *b, void *arg)
{
    const struct asking *asking = arg;
    const char *pointer = asking->is_history ? "/meta/creationTimestamp" : "/createdAt";
    const char *left = yyjson_mut_get_str(yyjson_mut_ptr_get(*(yyjson_mut_val *const *)a, pointer));
    const char *right = yyjson_mut_get_str(yyjson_mut_ptr_get(*(yyjson_mut_val *const *)b, pointer));

    return asking->is_ascending ? compare_times(left, right) : compare_times(right, left);
}

static void answer(struct asking *asking)
{
    struct request *request = &asking->request;
    int64_t total = asking->rows.len;
    int64_t end = MIN(asking->page.offset + asking->page.limit, total);

    if (total > 1)
        qsort_r(asking->rows.items, asking->rows.len, sizeof *asking->rows.items, compare, asking);
    request->answer = yyjson_mut_obj(request->doc);
    yyjson_mut_val *list =
        yyjson_mut_obj_add_arr(request->doc, request->answer, asking->is_history ? "records" : "events");
    for (int64_t i = asking->page.offset; i < end; i++)
        (void)yyjson_mut_arr_append(list, asking->rows.items[i]);
    if (end < total)
        (void)yyjson_mut_obj_add_sint(request->doc, request->answer, "next", end);
}

/* --- the request --- */

static void on_answer(void *arg, const struct kube_answer *got)
{
    struct asking *asking = arg;

    asking->call = NULL;
    if (got->err.code == 0)
        answer(asking);
    finish(asking, got->err.code, &got->err);
}

static void on_cancel(void *arg)
{
    struct asking *asking = arg;
    struct err err = {0};

    kube_cancel(asking->call);
    finish(asking, err_set(&err, -ESHUTDOWN, "the request was cancelled"), &err);
}

static int read_order(struct asking *asking, struct err *err)
{
    static const struct listing_kind kind = {NULL, NULL, LIMIT, LIMIT_MAX};
    static const char *const others[] = {"filterBy", "search", "sortBy"};
    const struct http_exchange *exchange = asking->request.exchange;
    const char *order = rest_query(exchange, "sortOrder");

    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        if (rest_query(exchange, others[i]))
            return err_set(err, -ENOSYS, "%s: this parameter of the query is not supported yet", others[i]);
    }
    if (order && strcmp(order, "asc") != 0 && strcmp(order, "desc") != 0)
        return err_set(err, -EINVAL, "sortOrder: expected asc or desc");
    asking->is_ascending = order && strcmp(order, "asc") == 0;
    return listing_page(exchange, &kind, &asking->page, err);
}

static void ask(struct console *console, struct http_exchange *exchange, bool is_history)
{
    struct asking *asking = xcalloc(1, sizeof *asking);
    struct err err = {0};

    asking->is_history = is_history;
    int r = serve_begin(console, exchange, NULL, &asking->request, &err);
    if (r == 0)
        r = workload_take(&asking->request, ACTION_READ, &asking->item, &err);
    if (r == 0)
        r = read_order(asking, &err);
    if (r < 0) {
        finish(asking, r, &err);
        return;
    }
    if (is_history)
        add_phases(asking);
    asking->call =
        kube_send(console->service->client, &(struct kube_request){
                                                .verb = KUBE_LIST,
                                                .resource = kube_known(KUBE_EVENTS),
                                                .namespace = kube_text(yyjson_doc_get_root(asking->item), "namespace"),
                                                .tries = 2,
                                                .on_item = on_event,
                                                .on_done = on_answer,
                                                .arg = asking,
                                            });
    http_on_cancel(exchange, on_cancel, asking);
}

void handle_list_workload_events(void *arg, struct http_exchange *exchange)
{
    ask(arg, exchange, false);
}

void handle_list_workload_history(void *arg, struct http_exchange *exchange)
{
    ask(arg, exchange, true);
}
