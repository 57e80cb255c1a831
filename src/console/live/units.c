/* SPDX-License-Identifier: Apache-2.0 */
#include "console/live/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "console/changes/change_feed.h"
#include "console/data/items.h"
#include "console/org/pools.h"
#include "console/rest/context.h"

enum { QUEUE_NAME_MAX = 256 };

struct unit {
    char department[UUID_TEXT_MAX];
    char project[UUID_TEXT_MAX];  // "": it is a department
};

/* A name that leads to a unit; the unit is shared. */
struct owned_name {
    char *name;
    const struct unit *unit;
};

struct units {
    struct console *console;
    int64_t sequence;  // of the change that they were read after; -1: not yet
    VEC(struct unit *) all;
    struct strmap namespaces;  // struct owned_name
    struct strmap queues;
};

static void drop_names(struct strmap *map)
{
    struct owned_name *owned;

    for (size_t cursor = 0; (owned = strmap_next(map, &cursor));) {
        free(owned->name);
        free(owned);
    }
    strmap_done(map);
    strmap_init(map);
}

static void drop_all(struct units *units)
{
    drop_names(&units->namespaces);
    drop_names(&units->queues);
    vec_foreach (&units->all, unit)
        free(*unit);
    vec_clear(&units->all);
}

struct units *units_new(struct console *console)
{
    struct units *units = xcalloc(1, sizeof *units);

    *units = (struct units){.console = console, .sequence = -1};
    return units;
}

void units_free(struct units *units)
{
    if (!units)
        return;
    drop_all(units);
    vec_done(&units->all);
    strmap_done(&units->namespaces);
    strmap_done(&units->queues);
    free(units);
}

static void add_name(struct strmap *map, const struct unit *unit, const char *name)
{
    struct owned_name *owned;

    if (!*name || strmap_get(map, "", name))
        return;
    owned = xcalloc(1, sizeof *owned);
    *owned = (struct owned_name){xstrdup(name), unit};
    (void)strmap_put(map, "", owned->name, owned);
}

struct reading {
    struct units *units;
    const struct pool_list *pools;
    bool is_project;
};

static const char *text_at(yyjson_val *item, const char *pointer)
{
    const char *text = yyjson_get_str(yyjson_ptr_get(item, pointer));

    return text ? text : "";
}

/* A unit has a queue of its name in the default pool, and one with the pool's name behind it in each other one. */
static int add_unit(void *arg, yyjson_val *item)
{
    const struct reading *reading = arg;
    struct unit *unit = xcalloc(1, sizeof *unit);
    const char *name = text_at(item, "/name");

    (void)snprintf(unit->department, sizeof unit->department, "%s",
                   text_at(item, reading->is_project ? "/parentId" : "/id"));
    (void)snprintf(unit->project, sizeof unit->project, "%s", reading->is_project ? text_at(item, "/id") : "");
    vec_push(&reading->units->all, unit);
    add_name(&reading->units->namespaces, unit, reading->is_project ? text_at(item, "/status/namespace") : "");
    vec_foreach (reading->pools, pool) {
        struct strbuf queue;

        strbuf_init(&queue, QUEUE_NAME_MAX);
        strbuf_addf(&queue, pool->is_default ? "%s" : "%s-%s", name, pool->name);
        add_name(&reading->units->queues, unit, queue.text);
        strbuf_done(&queue);
    }
    return 0;
}

static int read_all(struct units *units, struct err *err)
{
    struct pool_list pools = {0};
    struct reading projects = {units, &pools, true};
    struct reading departments = {units, &pools, false};
    struct db *db = units->console->db;
    int r = pools_load(db, &pools, err);

    if (r == 0)
        r = items_each(db, ITEM_PROJECT, NULL, add_unit, &projects, err);
    if (r == 0)
        r = items_each(db, ITEM_DEPARTMENT, NULL, add_unit, &departments, err);
    pools_done(&pools);
    return r;
}

int units_refresh(struct units *units, struct err *err)
{
    int64_t sequence = change_feed_last(units->console->feed);
    int r;

    if (units->sequence == sequence)
        return 0;
    drop_all(units);
    r = read_all(units, err);
    units->sequence = r < 0 ? -1 : sequence;
    return r;
}

static bool covers(const struct access *access, enum resource_type type, const struct unit *unit)
{
    return access_covers(access, type, ACTION_READ, unit->department, *unit->project ? unit->project : NULL);
}

bool units_show_all_work(const struct access *access)
{
    return access_has_everywhere(access, RESOURCE_WORKLOADS, ACTION_READ);
}

bool units_show_all_queues(const struct access *access)
{
    return access_has_everywhere(access, RESOURCE_PROJECT, ACTION_READ) &&
           access_has_everywhere(access, RESOURCE_DEPARTMENT, ACTION_READ);
}

bool units_show_work(const struct units *units, const struct access *access, const char *namespace, const char *queue)
{
    const struct owned_name *owned = strmap_get(&units->namespaces, "", namespace);

    if (!owned)
        owned = strmap_get(&units->queues, "", queue);
    return owned ? covers(access, RESOURCE_WORKLOADS, owned->unit) : units_show_all_work(access);
}

bool units_show_queue(const struct units *units, const struct access *access, const char *queue)
{
    const struct owned_name *owned = strmap_get(&units->queues, "", queue);

    if (!owned)
        return units_show_all_queues(access);
    return covers(access, *owned->unit->project ? RESOURCE_PROJECT : RESOURCE_DEPARTMENT, owned->unit);
}
