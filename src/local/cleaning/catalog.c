/* SPDX-License-Identifier: Apache-2.0 */
#include "local/cleaning/catalog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "kube/client/meta.h"
#include "kube/follow/follow.h"
#include "local/controllers/values.h"
#include "net/loop.h"

#define READ_AGAIN (60 * NSEC_PER_SEC)
#define READ_AFTER_CHANGE (NSEC_PER_SEC / 2)
#define READ_AFTER_FAILURE (2 * NSEC_PER_SEC)

enum { GROUPS_MAX = 1000, VERSION_MAX = 320 };

struct entry {
    struct kube_resource resource;
    bool is_seen;  // in the round that is under way
};

struct catalog {
    struct kube_client *client;
    struct catalog_options options;
    struct follower *crds;
    struct loop_timer timer;
    struct kube_call *call;
    VEC(struct entry *) entries;
    VEC(char *) groups;  // "v1", "apps/v1": of the round that is under way
    uint32_t next;       // of them
    uint64_t changes;
    bool is_complete;
    bool is_changed;  // CRDs have, since the round that is under way began
};

static void entry_free(struct entry *entry)
{
    free((char *)(uintptr_t)entry->resource.group);
    free((char *)(uintptr_t)entry->resource.version);
    free((char *)(uintptr_t)entry->resource.plural);
    free((char *)(uintptr_t)entry->resource.kind);
    free(entry);
}

static struct entry *find(const struct catalog *catalog, const char *group, const char *plural)
{
    vec_foreach (&catalog->entries, at) {
        if (strcmp((*at)->resource.group, group) == 0 && strcmp((*at)->resource.plural, plural) == 0)
            return *at;
    }
    return NULL;
}

static bool is_wanted(yyjson_val *resource)
{
    yyjson_val *verbs = yyjson_obj_get(resource, "verbs");
    const char *name = kube_text(resource, "name");

    return name[0] && !strchr(name, '/') && array_has(verbs, "list") && array_has(verbs, "watch") &&
           array_has(verbs, "delete");
}

static void add(struct catalog *catalog, const char *group, const char *version, yyjson_val *resource)
{
    const char *plural = kube_text(resource, "name");
    struct entry *entry = find(catalog, group, plural);

    if (entry) {
        entry->is_seen = true;
        return;
    }
    entry = xcalloc(1, sizeof *entry);
    entry->resource = (struct kube_resource){
        .group = xstrdup(group),
        .version = xstrdup(version),
        .plural = xstrdup(plural),
        .kind = xstrdup(kube_text(resource, "kind")),
        .is_namespaced = bool_at(resource, "namespaced"),
    };
    entry->is_seen = true;
    vec_push(&catalog->entries, entry);
    catalog->changes++;
    catalog->options.on_added(catalog->options.arg, &entry->resource);
}

static void clear_groups(struct catalog *catalog)
{
    vec_foreach (&catalog->groups, at)
        free(*at);
    vec_clear(&catalog->groups);
    catalog->next = 0;
}

static void finish(struct catalog *catalog)
{
    for (uint32_t i = catalog->entries.len; i > 0; i--) {
        struct entry *entry = catalog->entries.items[i - 1];

        if (!entry->is_seen) {
            vec_remove_at(&catalog->entries, i - 1);
            catalog->changes++;
            if (catalog->options.on_removed)
                catalog->options.on_removed(catalog->options.arg, &entry->resource);
            entry_free(entry);
            continue;
        }
        entry->is_seen = false;
    }
    clear_groups(catalog);
    catalog->is_complete = true;
    loop_timer_start(&catalog->timer, catalog->is_changed ? READ_AFTER_CHANGE : READ_AGAIN);
    catalog->options.on_complete(catalog->options.arg);
}

static void fail(struct catalog *catalog, const struct err *err)
{
    clear_groups(catalog);
    loop_timer_start(&catalog->timer, READ_AFTER_FAILURE);
    catalog->options.on_problem(catalog->options.arg, err, READ_AFTER_FAILURE);
}

static void read_next(struct catalog *catalog);

static void on_group(void *arg, const struct kube_answer *answer)
{
    struct catalog *catalog = arg;
    const char *text = catalog->groups.items[catalog->next], *slash = strchr(text, '/');
    _cleanup_(freep) char *group = slash ? xstrndup(text, (size_t)(slash - text)) : xstrdup("");
    yyjson_val *list = NULL, *resource;
    size_t i, max;

    catalog->call = NULL;
    /* A group that has just gone away is none. */
    if (answer->err.code < 0 && answer->status != 404) {
        fail(catalog, &answer->err);
        return;
    }
    if (answer->err.code == 0 && kube_answer_object(answer, &list, NULL) == 0) {
        yyjson_arr_foreach(yyjson_obj_get(list, "resources"), i, max, resource)
        {
            if (is_wanted(resource))
                add(catalog, group, slash ? slash + 1 : text, resource);
        }
    }
    catalog->next++;
    read_next(catalog);
}

static struct kube_call *get(struct catalog *catalog, const char *path, kube_done_fn on_done)
{
    return kube_send(catalog->client,
                     &(struct kube_request){.verb = KUBE_GET, .path = path, .on_done = on_done, .arg = catalog});
}

static void read_next(struct catalog *catalog)
{
    char path[VERSION_MAX];

    if (catalog->next == catalog->groups.len) {
        finish(catalog);
        return;
    }
    const char *group = catalog->groups.items[catalog->next];
    (void)snprintf(path, sizeof path, "%s/%s", strchr(group, '/') ? "/apis" : "/api", group);
    catalog->call = get(catalog, path, on_group);
}

static void add_version(struct catalog *catalog, const char *version)
{
    if (version[0] && catalog->groups.len < GROUPS_MAX)
        vec_push(&catalog->groups, xstrdup(version));
}

/* The preferred version comes first: a kind is taken in the first one that has it. Kinds of one group need not be in the same
 * versions, such as queues and PodGroups. */
static void add_versions(struct catalog *catalog, yyjson_val *group)
{
    const char *preferred = kube_text(group, "preferredVersion", "groupVersion");
    yyjson_val *version;
    size_t i, max;

    add_version(catalog, preferred);
    yyjson_arr_foreach(yyjson_obj_get(group, "versions"), i, max, version)
    {
        const char *text = kube_text(version, "groupVersion");

        if (strcmp(text, preferred) != 0)
            add_version(catalog, text);
    }
}

static void on_groups(void *arg, const struct kube_answer *answer)
{
    struct catalog *catalog = arg;
    yyjson_val *list = NULL, *group;
    struct err err = answer->err;
    size_t i, max;

    catalog->call = NULL;
    if (err.code < 0 || kube_answer_object(answer, &list, &err) < 0) {
        fail(catalog, &err);
        return;
    }
    vec_push(&catalog->groups, xstrdup("v1"));
    yyjson_arr_foreach(yyjson_obj_get(list, "groups"), i, max, group)
    {
        add_versions(catalog, group);
    }
    read_next(catalog);
}

static void read_all(void *arg)
{
    struct catalog *catalog = arg;

    if (catalog->call)
        return;
    catalog->is_changed = false;
    catalog->call = get(catalog, "/apis", on_groups);
}

static void on_crd(void *arg, const struct follow_event *event)
{
    struct catalog *catalog = arg;

    (void)event;
    catalog->is_changed = true;
    if (catalog->is_complete && !catalog->call)
        loop_timer_start(&catalog->timer, READ_AFTER_CHANGE);
}

struct catalog *catalog_new(struct kube_client *client, const struct catalog_options *options)
{
    struct catalog *catalog = xcalloc(1, sizeof *catalog);

    catalog->client = client;
    catalog->options = *options;
    loop_timer_init(&catalog->timer, kube_client_loop(client), read_all, catalog);
    loop_timer_start(&catalog->timer, 0);
    catalog->crds = follower_new(client, &(struct follow_options){
                                             .resource = kube_known(KUBE_CUSTOM_RESOURCE_DEFINITIONS),
                                             .is_metadata_only = true,
                                             .on_event = on_crd,
                                             .on_problem = options->on_problem,
                                             .arg = catalog,
                                         });
    return catalog;
}

void catalog_free(struct catalog *catalog)
{
    if (!catalog)
        return;
    follower_free(catalog->crds);
    loop_timer_done(&catalog->timer);
    if (catalog->call)
        kube_cancel(TAKE_PTR(catalog->call));
    clear_groups(catalog);
    vec_done(&catalog->groups);
    vec_foreach (&catalog->entries, at)
        entry_free(*at);
    vec_done(&catalog->entries);
    free(catalog);
}

bool catalog_is_complete(const struct catalog *catalog)
{
    return catalog->is_complete;
}

uint64_t catalog_changes(const struct catalog *catalog)
{
    return catalog->changes;
}

const struct kube_resource *catalog_find(const struct catalog *catalog, const char *api_version, const char *kind)
{
    const char *slash = strchr(api_version, '/');
    size_t len = slash ? (size_t)(slash - api_version) : 0;

    vec_foreach (&catalog->entries, at) {
        const struct kube_resource *resource = &(*at)->resource;

        if (strcmp(resource->kind, kind) == 0 && strlen(resource->group) == len &&
            strncmp(resource->group, api_version, len) == 0)
            return resource;
    }
    return NULL;
}

const struct kube_resource *catalog_at(const struct catalog *catalog, size_t i)
{
    return i < catalog->entries.len ? &catalog->entries.items[i]->resource : NULL;
}
