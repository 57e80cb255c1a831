/* SPDX-License-Identifier: Apache-2.0 */
#include "console/org/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strmap.h"
#include "console/data/items.h"
#include "console/org/pools.h"
#include "console/org/wants.h"
#include "console/rest/context.h"
#include "frame/service.h"
#include "kube/follow/follow.h"

/*
 * The status of Queues and claims changes all the time, which is no reason to look at them again. Secrets and namespaces have
 * none, or change it rarely.
 */
static const struct followed {
    enum kube_known resource;
    bool is_compared;  // a change by others is undone
    bool is_needed;    // assets and pools wait for the first list
} kinds[] = {
    {KUBE_NAMESPACES, true, true},
    {KUBE_NODES, false, true},
    {KUBE_SECRETS, true, false},
    {KUBE_QUEUES, false, false},
    {KUBE_SCHEDULING_SHARDS, false, false},
    {KUBE_PERSISTENT_VOLUME_CLAIMS, false, false},
};

struct followed_kind {
    struct watch *watch;
    const struct followed *row;
    struct follower *follower;
};

struct owned_namespace {
    char name[64];
    char project[UUID_TEXT_MAX];
};

struct known_node {
    char *name;
    char *labels;  // as JSON
};

struct watch {
    struct console *console;
    struct followed_kind kinds[ARRAY_LEN(kinds)];
    struct strmap namespaces;  // struct owned_namespace
    struct strmap nodes;       // struct known_node
    bool is_synced;
};

static const char *label_of(yyjson_val *object, const char *key)
{
    const char *text = yyjson_get_str(yyjson_obj_get(yyjson_ptr_get(object, "/metadata/labels"), key));

    return text ? text : "";
}

static void add_content_of(struct watch *watch, const char *project)
{
    struct console *console = watch->console;
    struct err err = {0};

    if (watch->is_synced && sync_add_content(console->sync, project, &err) < 0)
        log_warn(console->service->log, "the assets and workloads of a project could not be read", log_error(&err));
}

static void note_namespace(struct watch *watch, const struct follow_event *event)
{
    struct owned_namespace *known = strmap_get(&watch->namespaces, "", event->name);
    const char *project = label_of(event->object, OBJECT_LABEL_ID);

    if (event->change == FOLLOW_DELETED || strlen(event->name) >= sizeof known->name ||
        strlen(project) >= sizeof known->project) {
        free(strmap_remove(&watch->namespaces, "", event->name));
        return;
    }
    if (known && strcmp(known->project, project) == 0)
        return;
    if (!known) {
        known = xcalloc(1, sizeof *known);
        (void)snprintf(known->name, sizeof known->name, "%s", event->name);
        (void)strmap_put(&watch->namespaces, "", known->name, known);
    }
    (void)snprintf(known->project, sizeof known->project, "%s", project);
    add_content_of(watch, project);
}

static void node_free(struct known_node *node)
{
    if (!node)
        return;
    free(node->name);
    free(node->labels);
    free(node);
}

/* A change of a node's status is no reason to look at the pools again. */
static void note_node(struct watch *watch, const struct follow_event *event)
{
    struct known_node *known = strmap_get(&watch->nodes, "", event->name);
    yyjson_val *labels = yyjson_ptr_get(event->object, "/metadata/labels");

    if (event->change == FOLLOW_DELETED) {
        node_free(strmap_remove(&watch->nodes, "", event->name));
        sync_add_pools(watch->console->sync);
        return;
    }
    char *text = labels ? yyjson_val_write(labels, 0, NULL) : xstrdup("{}");
    BUG_ON(!text);
    if (known && strcmp(known->labels, text) == 0) {
        free(text);
        return;
    }
    if (!known) {
        known = xcalloc(1, sizeof *known);
        known->name = xstrdup(event->name);
        (void)strmap_put(&watch->nodes, "", known->name, known);
    }
    free(known->labels);
    known->labels = text;
    sync_add_pools(watch->console->sync);
}

/* Departments, projects and node pools by their own kinds, assets by the kind within theirs. */
static void add_item_of(struct watch *watch, yyjson_val *object)
{
    const char *kind = label_of(object, OBJECT_LABEL_KIND);
    const char *id = label_of(object, OBJECT_LABEL_ID);
    bool is_unit =
        strcmp(kind, ITEM_DEPARTMENT) == 0 || strcmp(kind, ITEM_PROJECT) == 0 || strcmp(kind, ITEM_NODE_POOL) == 0;
    char item[64];

    (void)snprintf(item, sizeof item, "%s%.40s", is_unit ? "" : "asset:", kind);
    if (*kind && strlen(id) < UUID_TEXT_MAX)
        sync_add(watch->console->sync, item, id);
}

static void on_event(void *arg, const struct follow_event *event)
{
    struct followed_kind *kind = arg;
    struct watch *watch = kind->watch;

    if (kind->row->resource == KUBE_NAMESPACES)
        note_namespace(watch, event);
    if (kind->row->resource == KUBE_NODES)
        note_node(watch, event);
    else if (!event->object)
        sync_add_all(watch->console->sync);
    else if (event->change == FOLLOW_DELETED || kind->row->is_compared)
        add_item_of(watch, event->object);
}

static void on_synced(void *arg, bool is_first)
{
    struct watch *watch = ((struct followed_kind *)arg)->watch;

    if (!is_first || watch->is_synced)
        return;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (kinds[i].is_needed && !follower_is_synced(watch->kinds[i].follower))
            return;
    }
    watch->is_synced = true;
    sync_add_all(watch->console->sync);
}

static void on_problem(void *arg, const struct err *err, nsec_t wait)
{
    struct followed_kind *kind = arg;

    service_follow_problem(kind->watch->console->service, kube_known(kind->row->resource)->plural, err, wait);
}

struct watch *watch_new(struct console *console)
{
    struct watch *watch = xcalloc(1, sizeof *watch);

    watch->console = console;
    strmap_init(&watch->namespaces);
    strmap_init(&watch->nodes);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        watch->kinds[i].watch = watch;
        watch->kinds[i].row = &kinds[i];
        watch->kinds[i].follower = follower_new(
            console->service->client, &(struct follow_options){
                                          .resource = kube_known(kinds[i].resource),
                                          .label_selector = kinds[i].resource == KUBE_NODES ? NULL : OBJECT_LABEL_ID,
                                          .is_metadata_only = true,
                                          .is_unshared = true,
                                          .on_event = on_event,
                                          .on_synced = on_synced,
                                          .on_problem = on_problem,
                                          .arg = &watch->kinds[i],
                                      });
    }
    return watch;
}

void watch_free(struct watch *watch)
{
    struct owned_namespace *known;
    struct known_node *node;

    if (!watch)
        return;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        follower_free(watch->kinds[i].follower);
    for (size_t cursor = 0; (known = strmap_next(&watch->namespaces, &cursor));)
        free(known);
    for (size_t cursor = 0; (node = strmap_next(&watch->nodes, &cursor));)
        node_free(node);
    strmap_done(&watch->namespaces);
    strmap_done(&watch->nodes);
    free(watch);
}

bool watch_is_synced(const struct watch *watch)
{
    return watch->is_synced;
}

bool watch_has_namespace(const struct watch *watch, const char *namespace, const char *project)
{
    const struct owned_namespace *known = strmap_get(&watch->namespaces, "", namespace);

    return known && strcmp(known->project, project) == 0;
}

void watch_each_node(const struct watch *watch, sync_node_fn fn, void *arg)
{
    struct known_node *node;

    for (size_t cursor = 0; (node = strmap_next(&watch->nodes, &cursor));) {
        _cleanup_(json_doc_freep) yyjson_doc *doc = yyjson_read(node->labels, strlen(node->labels), 0);

        fn(arg, node->name, yyjson_doc_get_root(doc));
    }
}
