/* SPDX-License-Identifier: Apache-2.0 */
#include "local/cleaning/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strmap.h"
#include "kube/client/meta.h"
#include "local/controllers/values.h"

/* No object has more owners than its metadata has room for. */
enum { OWNERS_MAX = 1000 };

struct graph {
    struct strmap things;
    uint64_t visits;  // searches so far
};

struct graph *graph_new(void)
{
    return xcalloc(1, sizeof(struct graph));
}

struct thing *graph_find(const struct graph *graph, const char *uid)
{
    return strmap_get(&graph->things, "", uid);
}

static struct thing *get(struct graph *graph, const char *uid)
{
    struct thing *thing = graph_find(graph, uid);

    if (thing)
        return thing;
    thing = xcalloc(1, sizeof *thing);
    thing->uid = xstrdup(uid);
    (void)strmap_put(&graph->things, "", thing->uid, thing);
    return thing;
}

static void release(struct graph *graph, struct thing *thing, void (*on_gone)(struct thing *thing));

static void drop_owners(struct graph *graph, struct thing *thing, void (*on_gone)(struct thing *thing))
{
    vec_foreach (&thing->owners, at) {
        struct ownership *ownership = *at;

        list_remove(&ownership->owner->dependents, &ownership->in_owner);
        release(graph, ownership->owner, on_gone);
        free(ownership->api_version);
        free(ownership->kind);
        free(ownership->name);
        free(ownership);
    }
    vec_clear(&thing->owners);
}

/* Frees a thing that is not there and that nobody refers to. */
static void release(struct graph *graph, struct thing *thing, void (*on_gone)(struct thing *thing))
{
    if (thing->is_seen || thing->dependents.len > 0)
        return;
    on_gone(thing);
    (void)strmap_remove(&graph->things, "", thing->uid);
    vec_done(&thing->owners);
    free(thing->uid);
    free(thing->namespace);
    free(thing->name);
    free(thing);
}

static void ignore(struct thing *thing)
{
    (void)thing;
}

static void add_owner(struct graph *graph, struct thing *thing, yyjson_val *reference)
{
    const char *uid = kube_text(reference, "uid");

    if (!uid[0] || thing->owners.len >= OWNERS_MAX)
        return;
    struct ownership *ownership = xcalloc(1, sizeof *ownership);
    ownership->dependent = thing;
    ownership->owner = get(graph, uid);
    ownership->api_version = xstrdup(kube_text(reference, "apiVersion"));
    ownership->kind = xstrdup(kube_text(reference, "kind"));
    ownership->name = xstrdup(kube_text(reference, "name"));
    ownership->is_blocking = bool_at(reference, "blockOwnerDeletion");
    list_push(&ownership->owner->dependents, &ownership->in_owner);
    vec_push(&thing->owners, ownership);
}

static bool has_same_owners(const struct thing *thing, yyjson_val *references)
{
    if (yyjson_arr_size(references) != thing->owners.len)
        return false;
    for (uint32_t i = 0; i < thing->owners.len; i++) {
        yyjson_val *reference = yyjson_arr_get(references, i);
        const struct ownership *ownership = thing->owners.items[i];

        if (!yyjson_equals_str(yyjson_obj_get(reference, "uid"), ownership->owner->uid) ||
            bool_at(reference, "blockOwnerDeletion") != ownership->is_blocking)
            return false;
    }
    return true;
}

static void set_owners(struct graph *graph, struct thing *thing, yyjson_val *references)
{
    size_t i, max;
    yyjson_val *reference;

    if (has_same_owners(thing, references))
        return;
    /* Things that nobody else refers to come back below, at the same place in the map. */
    drop_owners(graph, thing, ignore);
    yyjson_arr_foreach(references, i, max, reference)
    {
        add_owner(graph, thing, reference);
    }
}

struct thing *graph_put(struct graph *graph, const struct kube_resource *resource, yyjson_val *object)
{
    struct kube_meta meta;

    if (!kube_meta_read(object, &meta) || !meta.uid[0])
        return NULL;
    struct thing *thing = get(graph, meta.uid);
    yyjson_val *finalizers = value_at(object, "metadata", "finalizers");
    if (!thing->is_seen) {
        thing->namespace = xstrdup(meta.namespace);
        thing->name = xstrdup(meta.name);
    }
    thing->resource = resource;
    thing->is_seen = true;
    thing->is_absent = false;
    thing->is_ending = value_at(object, "metadata", "deletionTimestamp") != NULL;
    thing->is_foreground = array_has(finalizers, FINALIZER_FOREGROUND);
    thing->is_orphaning = array_has(finalizers, FINALIZER_ORPHAN);
    set_owners(graph, thing, value_at(object, "metadata", "ownerReferences"));
    return thing;
}

void graph_drop(struct graph *graph, struct thing *thing, void (*on_gone)(struct thing *thing))
{
    drop_owners(graph, thing, on_gone);
    thing->is_seen = thing->is_ending = thing->is_foreground = thing->is_orphaning = false;
    thing->is_absent = true;
    free(TAKE_PTR(thing->namespace));
    free(TAKE_PTR(thing->name));
    thing->resource = NULL;
    release(graph, thing, on_gone);
}

struct thing *graph_next(const struct graph *graph, size_t *cursor)
{
    return strmap_next(&graph->things, cursor);
}

void graph_free(struct graph *graph, void (*on_gone)(struct thing *thing))
{
    VEC(struct thing *) all = {0};
    struct thing *thing;

    for (size_t cursor = 0; (thing = strmap_next(&graph->things, &cursor));) {
        if (thing->is_seen)
            vec_push(&all, thing);
    }
    vec_foreach (&all, at)
        graph_drop(graph, *at, on_gone);
    vec_done(&all);
    strmap_done(&graph->things);
    free(graph);
}

static bool goes_in_foreground(const struct thing *thing)
{
    return thing->is_seen && thing->is_ending && thing->is_foreground;
}

bool ownership_is_circle(struct graph *graph, const struct ownership *ownership)
{
    VEC(const struct thing *) ahead = {0};
    bool is_found = false;

    graph->visits++;
    if (goes_in_foreground(ownership->dependent))
        vec_push(&ahead, ownership->dependent);
    while (!is_found && ahead.len > 0) {
        const struct thing *thing = vec_pop(&ahead);
        is_found = thing == ownership->owner;
        for (struct list_link *link = thing->dependents.first; link && !is_found; link = link->next) {
            struct thing *next = list_item(link, struct ownership, in_owner)->dependent;
            if (goes_in_foreground(next) && next->visit != graph->visits)
                vec_push(&ahead, next);
            next->visit = graph->visits;
        }
    }
    vec_done(&ahead);
    return is_found;
}

bool ownership_is_local(const struct ownership *ownership)
{
    const struct thing *owner = ownership->owner;

    return !owner->is_seen || !owner->resource->is_namespaced ||
           strcmp(owner->namespace, ownership->dependent->namespace) == 0;
}
