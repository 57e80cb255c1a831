/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A cluster written as YAML in a test, read into a state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "model/delta.h"
#include "model/state.h"
#include "objects/kinds.h"
#include "objects/notes.h"
#include "objects/object.h"
#include "objects/reader.h"
#include "text/yaml.h"

struct world {
    struct yaml_docs docs;
    struct object_source sources[64];
    struct object_notes notes;
    struct object_set set;
    struct object_options options;
    struct state *state;
    struct err err;
};

static inline void world_init(struct world *w)
{
    *w = (struct world){0};
    object_notes_init(&w->notes);
    object_set_init(&w->set, &w->notes);
    object_options_init(&w->options);
    w->state = state_new();
}

static inline void world_done(struct world *w)
{
    state_free(w->state);
    object_set_done(&w->set);
    object_notes_done(&w->notes);
    yaml_docs_done(&w->docs);
}

static inline int world_try(struct world *w, const char *yaml)
{
    struct object_reader reader;

    int r = yaml_parse(yaml, strlen(yaml), "a.yaml", &w->docs, &w->err);
    for (uint32_t i = 0; r >= 0 && i < w->docs.len; i++) {
        w->sources[i] = (struct object_source){.name = "a.yaml", .yaml = &w->docs.items[i]};
        r = object_set_add(&w->set, yyjson_doc_get_root(w->docs.items[i].json), &w->sources[i], &w->err);
    }
    if (r < 0)
        return r;
    object_reader_init(&reader, w->state, &w->options, &w->set, &w->notes);
    r = object_set_decode(&w->set, &reader, &w->err);
    object_reader_done(&reader);
    return r;
}

static inline void world_read(struct world *w, const char *yaml)
{
    if (world_try(w, yaml) < 0)
        fail_msg("%s", w->err.text);
    state_settle(w->state);
}

/* Reads a cluster that is wrong; the message is `expected`. */
static inline void world_fails(const char *yaml, const char *expected)
{
    struct world w;

    world_init(&w);
    assert_true(world_try(&w, yaml) < 0);
    assert_string_equal(w.err.text, expected);
    world_done(&w);
}

static inline const struct pod *world_pod(const struct world *w, const char *namespace, const char *name)
{
    pod_id id = state_find_pod(w->state, namespace, name);

    if (id == NO_ID)
        fail_msg("there is no pod %s/%s", namespace, name);
    return &w->state->pods.items[id];
}

static inline const struct request *world_request(const struct world *w, const char *namespace, const char *name)
{
    return &w->state->requests.items[world_pod(w, namespace, name)->request];
}

static inline const struct gang *world_gang(const struct world *w, const char *namespace, const char *name)
{
    gang_id id = state_find_gang(w->state, namespace, name);

    if (id == NO_ID)
        fail_msg("there is no gang %s/%s", namespace, name);
    return &w->state->gangs.items[id];
}

static inline const struct queue *world_queue(const struct world *w, const char *name)
{
    queue_id id = state_find_queue(w->state, name);

    if (id == NO_ID)
        fail_msg("there is no queue %s", name);
    return &w->state->queues.items[id];
}

static inline const struct node *world_node(const struct world *w, const char *name)
{
    node_id id = state_find_node(w->state, name);

    if (id == NO_ID || !w->state->nodes.items[id].is_present)
        fail_msg("there is no node %s", name);
    return &w->state->nodes.items[id];
}

/* What the request has of a resource, in the unit of its dimension. */
static inline int64_t world_amount(const struct world *w, const struct request *request, const char *resource)
{
    uint32_t dim = 0;

    if (!resources_find(&w->state->res, &w->state->names, resource, &dim) || dim >= request->v_count)
        return 0;
    return request->v[dim];
}

static inline const char *world_name(const struct world *w, name_id name)
{
    return state_name(w->state, name);
}

/* The tree of a gang: "(-1 a:2 b(1 c:0))"; a set has its pods after a colon, a group its children in brackets. */
static inline void world_tree(const struct world *w, const struct gang *gang, uint32_t at, struct strbuf *text)
{
    const struct group *group = &gang->groups[at];

    strbuf_addstr(text, world_name(w, group->name));
    if (group->is_pod_set) {
        strbuf_addf(text, ":%d", group->min);
        return;
    }
    strbuf_addf(text, "(%d", group->min);
    for (uint32_t child = group->first_child; child != NO_ID; child = gang->groups[child].next_sibling) {
        strbuf_addch(text, ' ');
        world_tree(w, gang, child, text);
    }
    strbuf_addch(text, ')');
}
