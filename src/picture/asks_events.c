/* SPDX-License-Identifier: Apache-2.0 */

/* The events of a workload: of the object itself, of its PodGroup and of its pods. Events are asked for when somebody wants
 * to see them; there may be more of them than of all other objects. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "frame/service.h"
#include "kube/client/meta.h"
#include "kube/follow/list.h"
#include "net/rest/rest.h"
#include "picture/asks_internal.h"
#include "picture/picture.h"
#include "text/json.h"

enum { PAGE_SIZE = 500, EVENTS_TOLD_MAX = 1000 };

struct reading {
    struct list_link in_asks;
    struct asks *asks;
    struct http_exchange *exchange;
    struct kube_list *list;
    char *namespace, *name, *group;
    yyjson_mut_doc *doc;
    yyjson_mut_val *items;
};

static void reading_end(struct reading *reading)
{
    list_remove(&reading->asks->readings, &reading->in_asks);
    picture_release(reading->asks->picture);
    yyjson_mut_doc_free(reading->doc);
    free(reading->namespace);
    free(reading->name);
    free(reading->group);
    free(reading);
}

/* Pods that are gone are known by their names alone, which begin with that of their workload. */
static bool is_about(const struct reading *reading, yyjson_val *event)
{
    const char *kind = kube_text(event, "involvedObject", "kind");
    const char *name = kube_text(event, "involvedObject", "name");
    size_t len = strlen(reading->name);

    if (strcmp(name, reading->name) == 0 || (*reading->group && strcmp(name, reading->group) == 0))
        return true;
    if (strcmp(kind, "Pod") != 0)
        return false;
    const char *group = picture_pod_group(reading->asks->picture, reading->namespace, name);

    if (group)
        return *reading->group && strcmp(group, reading->group) == 0;
    return strncmp(name, reading->name, len) == 0 && name[len] == '-';
}

static const char *time_of(yyjson_val *event)
{
    const char *last = kube_text(event, "lastTimestamp");
    const char *series = kube_text(event, "series", "lastObservedTime");
    const char *at = kube_text(event, "eventTime");

    return *series ? series : *last ? last : *at ? at : kube_text(event, "metadata", "creationTimestamp");
}

static int on_event(void *arg, yyjson_val *event)
{
    struct reading *reading = arg;
    yyjson_mut_doc *doc = reading->doc;

    if (!is_about(reading, event) || yyjson_mut_arr_size(reading->items) >= EVENTS_TOLD_MAX)
        return 0;
    yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, reading->items);
    const struct {
        const char *key, *value;
    } texts[] = {
        {"time", time_of(event)},
        {"type", kube_text(event, "type")},
        {"reason", kube_text(event, "reason")},
        {"message", kube_text(event, "message")},
        {"kind", kube_text(event, "involvedObject", "kind")},
        {"name", kube_text(event, "involvedObject", "name")},
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        (void)yyjson_mut_obj_add_strcpy(doc, item, texts[i].key, texts[i].value);
    int64_t count = yyjson_get_sint(yyjson_obj_get(event, "count"));

    (void)yyjson_mut_obj_add_int(doc, item, "count", MAX(count, 1));
    return 0;
}

static void on_listed(void *arg, const struct kube_answer *answer, const char *resource_version)
{
    struct reading *reading = arg;
    size_t len = 0;

    (void)resource_version;
    if (answer->err.code < 0) {
        rest_fail_err(reading->exchange, &answer->err);
    } else {
        char *text = yyjson_mut_write(reading->doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);

        http_reply(reading->exchange, 200, "application/json", text ? text : "{}", text ? len : 2);
        free(text);
    }
    reading_end(reading);
}

static void on_cancel(void *arg)
{
    struct reading *reading = arg;

    kube_list_cancel(reading->list);
    rest_fail(reading->exchange, -ECANCELED,
              "the request was canceled: the client or the server closed the connection");
    reading_end(reading);
}

static void begin(void *arg, struct http_exchange *exchange)
{
    struct asks *asks = arg;
    struct reading *reading = xcalloc(1, sizeof *reading);
    const char *namespace = rest_param(exchange, "namespace");
    yyjson_mut_val *root = NULL;

    *reading = (struct reading){
        .asks = asks,
        .exchange = exchange,
        .namespace = xstrdup(namespace),
        .name = xstrdup(rest_param(exchange, "name")),
        .group = picture_workload_group(asks->picture, namespace, rest_param(exchange, "kind"),
                                        rest_param(exchange, "name")),
        .doc = json_new_object(&root),
    };
    reading->items = yyjson_mut_obj_add_arr(reading->doc, root, "items");
    picture_hold(asks->picture);
    list_push(&asks->readings, &reading->in_asks);
    http_on_cancel(exchange, on_cancel, reading);
    reading->list = kube_list_start(asks->service->client, &(struct kube_list_request){
                                                               .resource = kube_known(KUBE_EVENTS),
                                                               .namespace = reading->namespace,
                                                               .page_size = PAGE_SIZE,
                                                               .on_object = on_event,
                                                               .on_done = on_listed,
                                                               .arg = reading,
                                                           });
}

void asks_events(struct asks *asks, struct http_exchange *exchange)
{
    asks_when_ready(asks, exchange, begin, asks);
}

void readings_end(struct asks *asks)
{
    for (struct list_link *link = asks->readings.first, *next; link; link = next) {
        next = link->next;
        on_cancel(list_item(link, struct reading, in_asks));
    }
}
