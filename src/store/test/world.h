/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "net/loop.h"
#include "store/store.h"

/* A store in a folder of its own, and changes that are waited for. */
struct world {
    struct loop *loop;
    struct store *store;
    char folder[64];
    uint32_t pods;
    uint32_t jobs;
    int result;  // of the last change or backup
    int left;    // changes that are not done
    char broken[512];
};

/* "app=web" in a body becomes an indexed tag, "color=red" one that is not. */
static inline void world_tag(void *arg, const char *kind, const char *body, size_t len, struct store_tags *tags)
{
    const char *app = strstr(body, "app=");
    const char *color = strstr(body, "color=");
    char value[32];

    (void)arg;
    (void)kind;
    (void)len;
    if (app && sscanf(app, "app=%31[a-z]", value) == 1)
        (void)store_tags_add(tags, "app", value, true);
    if (color && sscanf(color, "color=%31[a-z]", value) == 1)
        (void)store_tags_add(tags, "color", value, false);
}

static inline void world_broken(void *arg, const struct err *err)
{
    struct world *world = arg;

    (void)snprintf(world->broken, sizeof world->broken, "%s", err->text);
}

static inline int world_try_open(struct world *world, uint32_t history_max, struct err *err)
{
    int r = store_open(world->loop,
                       &(struct store_settings){
                           .folder = world->folder,
                           .tag = world_tag,
                           .broken = world_broken,
                           .arg = world,
                           .history_max = history_max,
                       },
                       &world->store, err);

    if (r == 0) {
        assert_int_equal(store_kind(world->store, "pods", &world->pods, err), 0);
        assert_int_equal(store_kind(world->store, "batch/jobs", &world->jobs, err), 0);
    }
    return r;
}

static inline void world_open(struct world *world, uint32_t history_max)
{
    struct err err = {0};

    if (world_try_open(world, history_max, &err) < 0)
        fail_msg("%s", err.text);
}

static inline void world_init(struct world *world)
{
    *world = (struct world){.loop = loop_new()};
    strcpy(world->folder, "/tmp/muster-store-XXXXXX");
    assert_non_null(mkdtemp(world->folder));
}

/* An empty store in a folder of its own. */
static inline void world_begin(struct world *world)
{
    world_init(world);
    world_open(world, 0);
}

static inline void world_stop(void *arg)
{
    loop_stop(((struct world *)arg)->loop);
}

static inline void world_close(struct world *world)
{
    store_close(world->store, world_stop, world);
    loop_run(world->loop);
    world->store = NULL;
}

static inline void world_done(struct world *world)
{
    char command[128];

    if (world->store)
        world_close(world);
    loop_free(world->loop);
    (void)snprintf(command, sizeof command, "rm -rf %s", world->folder);
    assert_int_equal(system(command), 0);
}

static inline void world_changed(void *arg, int result, const struct store_object *object, const struct err *err)
{
    struct world *world = arg;

    assert_true(result < 0 ? !object && err : object && !err);
    world->result = result;
    if (--world->left == 0)
        loop_stop(world->loop);
}

static inline void world_start_put(struct world *world, uint32_t kind, const char *namespace, const char *name,
                                   const char *body)
{
    world->left++;
    store_change(world->store,
                 &(struct store_change_request){
                     .kind = kind,
                     .namespace = namespace,
                     .name = name,
                     .body = body ? body : "gone",
                     .body_len = strlen(body ? body : "gone"),
                     .is_removal = !body,
                 },
                 world_changed, world);
}

/* Waits for all changes; gives the result of the last one. */
static inline int world_wait(struct world *world)
{
    while (world->left)
        loop_run(world->loop);
    return world->result;
}

static inline int world_put(struct world *world, const char *namespace, const char *name, const char *body)
{
    world_start_put(world, world->pods, namespace, name, body);
    return world_wait(world);
}

static inline int world_remove(struct world *world, const char *namespace, const char *name)
{
    return world_put(world, namespace, name, NULL);
}

static inline const char *world_body(const struct world *world, const char *namespace, const char *name)
{
    const struct store_object *object = store_get(world->store, world->pods, namespace, name);

    return object ? object->body : "(none)";
}
