/* SPDX-License-Identifier: Apache-2.0 */

/* One workload: its row, its pods, why it waits, and its events. One that the caller may not see is not there. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "console/live/cut.h"
#include "console/live/live_internal.h"
#include "console/rest/handlers.h"
#include "kube/client/meta.h"
#include "objects/keys.h"
#include "picture/picture_rows.h"
#include "text/json.h"
#include "views/asked.h"

/* The row of the path's workload; NULL when there is none for this caller. */
static const struct work_row *find_row(struct live *live, const struct http_exchange *exchange)
{
    const struct work_index *index = live_index(live);
    const struct caller *caller = rest_attached(exchange);
    const struct work_row *row;
    struct strbuf id;

    strbuf_init(&id, WORKLOAD_ID_MAX);
    workload_id_add(&id, rest_param(exchange, "namespace"), rest_param(exchange, "kind"), rest_param(exchange, "name"));
    row = strmap_get(&index->by_id, "", id.text);
    strbuf_done(&id);
    return row && live_shows(live, caller, row) ? row : NULL;
}

static int check_row(struct live *live, const struct http_exchange *exchange, const struct work_row **ret_row,
                     struct err *err)
{
    int r = units_refresh(live->units, err);

    *ret_row = r < 0 ? NULL : find_row(live, exchange);
    if (r == 0 && !*ret_row)
        return err_set(err, -ENOENT, "there is no %.60s %.200s in %.100s", rest_param(exchange, "kind"),
                       rest_param(exchange, "name"), rest_param(exchange, "namespace"));
    return r;
}

/* --- its pods --- */

struct pods {
    yyjson_mut_doc *doc;
    yyjson_mut_val *list;
    const char *namespace, *group, *uid;
};

static bool is_owned_by(yyjson_val *pod, const char *uid)
{
    yyjson_val *owner;
    yyjson_arr_iter iter;

    if (!*uid)
        return false;
    if (strcmp(kube_text(pod, "metadata", "uid"), uid) == 0)
        return true;
    yyjson_arr_iter_init(yyjson_obj_get(yyjson_obj_get(pod, "metadata"), "ownerReferences"), &iter);
    while ((owner = yyjson_arr_iter_next(&iter))) {
        if (strcmp(kube_text(owner, "uid"), uid) == 0)
            return true;
    }
    return false;
}

static bool is_ours(const struct pods *pods, yyjson_val *pod)
{
    if (strcmp(kube_text(pod, "metadata", "namespace"), pods->namespace) != 0)
        return false;
    return (*pods->group && strcmp(kube_text(pod, "metadata", "annotations", KEY_POD_GROUP), pods->group) == 0) ||
           is_owned_by(pod, pods->uid);
}

/* Why it waits for a node, or for its containers. */
static void put_reason(yyjson_mut_doc *doc, yyjson_mut_val *to, yyjson_val *pod)
{
    yyjson_val *item;
    yyjson_val *waiting = NULL;
    yyjson_arr_iter iter;
    int64_t restarts = 0;

    yyjson_arr_iter_init(yyjson_ptr_get(pod, "/status/containerStatuses"), &iter);
    while ((item = yyjson_arr_iter_next(&iter))) {
        yyjson_val *state = yyjson_obj_get(yyjson_obj_get(item, "state"), "waiting");

        restarts += yyjson_get_sint(yyjson_obj_get(item, "restartCount"));
        waiting = waiting ? waiting : state;
    }
    yyjson_arr_iter_init(yyjson_ptr_get(pod, "/status/conditions"), &iter);
    while (!waiting && (item = yyjson_arr_iter_next(&iter))) {
        if (strcmp(kube_text(item, "type"), "PodScheduled") == 0 && strcmp(kube_text(item, "status"), "False") == 0)
            waiting = item;
    }
    put_text(doc, to, "reason", waiting ? kube_text(waiting, "reason") : kube_text(pod, "status", "reason"));
    put_text(doc, to, "message", waiting ? kube_text(waiting, "message") : kube_text(pod, "status", "message"));
    (void)yyjson_mut_obj_add_sint(doc, to, "restarts", restarts);
}

static void put_groups(yyjson_mut_doc *doc, yyjson_mut_val *to, yyjson_val *pod)
{
    yyjson_mut_val *groups = yyjson_mut_obj_add_arr(doc, to, "groups");
    yyjson_val *key, *value;
    size_t i, count;

    yyjson_obj_foreach(yyjson_obj_get(yyjson_obj_get(pod, "metadata"), "labels"), i, count, key, value)
    {
        const char *name = yyjson_get_str(key);

        if (strcmp(name, KEY_GPU_GROUP) == 0 || strncmp(name, KEY_GPU_GROUP_PREFIX, strlen(KEY_GPU_GROUP_PREFIX)) == 0)
            (void)yyjson_mut_arr_add_strcpy(doc, groups, yyjson_get_str(value) ? yyjson_get_str(value) : "");
    }
}

static void add_pod(void *arg, yyjson_val *pod)
{
    const struct pods *pods = arg;
    const struct asked asked = asked_read(pod);

    if (!is_ours(pods, pod))
        return;
    yyjson_mut_doc *doc = pods->doc;
    yyjson_mut_val *to = yyjson_mut_arr_add_obj(doc, pods->list);

    put_text(doc, to, "name", kube_text(pod, "metadata", "name"));
    put_text(doc, to, "uid", kube_text(pod, "metadata", "uid"));
    put_text(doc, to, "phase", kube_text(pod, "status", "phase"));
    put_text(doc, to, "node", kube_text(pod, "spec", "nodeName"));
    put_text(doc, to, "nominatedNode", kube_text(pod, "status", "nominatedNodeName"));
    (void)yyjson_mut_obj_add_real(doc, to, "gpus", (double)asked.milli_gpus / 1000);
    put_groups(doc, to, pod);
    put_text(doc, to, "created", kube_text(pod, "metadata", "creationTimestamp"));
    put_text(doc, to, "started", kube_text(pod, "status", "startTime"));
    put_reason(doc, to, pod);
}

static int answer_workload(struct live_answer *answer, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *row_doc = NULL;
    const struct work_row *row;
    int r = check_row(answer->live, answer->exchange, &row, err);
    const char *json = r < 0 ? NULL : board_row(answer->board, BOARD_WORKLOADS, row->id);

    if (r < 0 || (r = json_parse(json, strlen(json), "the row", &row_doc, err)) < 0)
        return r;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    struct pods pods = {
        .doc = doc,
        .list = yyjson_mut_arr(doc),
        .namespace = rest_param(answer->exchange, "namespace"),
        .group = kube_text(yyjson_doc_get_root(row_doc), "podGroup"),
        .uid = kube_text(yyjson_doc_get_root(row_doc), "uid"),
    };
    picture_each(answer->live->picture, VIEW_PODS, add_pod, &pods);
    char *text = yyjson_mut_val_write(pods.list, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);

    strbuf_addf(&answer->out, ",\"workload\":%s,\"pods\":", json);
    strbuf_addstr(&answer->out, text ? text : "[]");
    free(text);
    yyjson_mut_doc_free(doc);
    return 0;
}

/* --- what is asked about it --- */

static void send_why(void *arg, struct http_exchange *exchange, const char *output, size_t len)
{
    struct console *console = arg;
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct err err = {0};

    if (json_parse(output, len, "the answer", &doc, &err) < 0) {
        rest_fail(exchange, -EIO, "%s", err.text);
        return;
    }
    yyjson_mut_doc *copy = yyjson_doc_mut_copy(doc, NULL);

    live_cut_why(console->live, rest_attached(exchange), copy);
    live_reply(exchange, copy);
}

static void why_when_ready(void *arg, struct http_exchange *exchange)
{
    struct console *console = arg;
    const struct work_row *row;
    struct err err = {0};

    if (check_row(console->live, exchange, &row, &err) < 0)
        rest_fail_err(exchange, &err);
    else
        asks_why(console->live->asks, exchange, send_why, console);
}

void handle_live_why(void *arg, struct http_exchange *exchange)
{
    live_ask(arg, exchange, why_when_ready);
}

static void events_when_ready(void *arg, struct http_exchange *exchange)
{
    struct console *console = arg;
    const struct work_row *row;
    struct err err = {0};

    if (check_row(console->live, exchange, &row, &err) < 0)
        rest_fail_err(exchange, &err);
    else
        asks_events(console->live->asks, exchange);
}

void handle_live_events(void *arg, struct http_exchange *exchange)
{
    live_ask(arg, exchange, events_when_ready);
}

LIVE_READS(live_workload, answer_workload)
