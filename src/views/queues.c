/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The figures of queues are the scheduler's own: the objects are read into a state as the scheduler reads them, and its
 * engine divides the GPUs. GPUs that siblings hold beyond their quotas come first from GPUs that are in nobody's quota, then
 * from siblings that leave part of their quota unused, in proportion to that part.
 */
#include "views/queues.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cluster/cluster_reading.h"
#include "engine/config.h"
#include "engine/engine.h"
#include "model/state.h"
#include "objects/kinds.h"

enum { DEPTH_MAX = 64 };

static int read_objects(const struct view_objects *objects, struct cluster_reading *reading, struct err *err)
{
    for (enum view_kind kind = 0; kind < _VIEW_KIND_MAX; kind++) {
        const struct kube_resource *resource = view_resource(kind);
        const struct object_kind *row = object_kind_of(resource->group, resource->kind);

        vec_foreach (&objects->of[kind], object) {
            yyjson_mut_doc *copy = yyjson_mut_doc_new(NULL);

            yyjson_mut_doc_set_root(copy, yyjson_val_mut_copy(copy, *object));
            yyjson_doc *doc = yyjson_mut_doc_imut_copy(copy, NULL);

            yyjson_mut_doc_free(copy);
            if (row && doc) {
                int code = cluster_reading_add_live(reading, row, doc, "the cluster", err);
                if (code < 0)
                    return code;
            } else {
                yyjson_doc_free(doc);
            }
        }
    }
    return 0;
}

static struct queue_row row_of(const struct engine *engine, const struct state *state, queue_id id, struct arena *arena)
{
    const struct queue *queue = &state->queues.items[id];
    struct queue_share share = engine_share(engine, id);
    struct queue_row row = {
        .name = arena_strdup(arena, state_name(state, queue->name)),
        .parent = queue->parent_name ? arena_strdup(arena, state_name(state, queue->parent_name)) : "",
        .depth = queue->depth,
        .is_leaf = queue->children.len == 0,
        .priority = queue->priority,
        .quota = queue->deserved[SHARE_GPU],
        .limit = queue->limit[SHARE_GPU],
        .weight = queue->weight[SHARE_GPU],
        .fair_share = share.fair[SHARE_GPU],
        .allocated = share.allocated[SHARE_GPU],
        .pending = gpu_to_double(queue->requested.v[SHARE_GPU]),
    };
    const char *shown = queue->display_name ? state_name(state, queue->display_name) : "";

    row.display_name = *shown ? arena_strdup(arena, shown) : row.name;
    if (row.quota >= 0)
        row.borrowed = MAX(row.allocated - row.quota, 0.0);
    return row;
}

static double unused(const struct queue_row *row)
{
    return row->quota >= 0 ? MAX(row->quota - row->allocated, 0.0) : 0;
}

/* What siblings have lent to those of them that borrow; together they share `whole` GPUs. */
static void lend(struct queue_row **siblings, size_t count, double whole)
{
    double quotas = 0;
    double borrowed = 0;
    double spare = 0;

    for (size_t i = 0; i < count; i++) {
        if (siblings[i]->quota < 0)
            return;
        quotas += siblings[i]->quota;
        borrowed += siblings[i]->borrowed;
        spare += unused(siblings[i]);
    }
    double lent = MIN(MAX(borrowed - MAX(whole - quotas, 0.0), 0.0), spare);
    for (size_t i = 0; i < count && spare > 0; i++)
        siblings[i]->lent = lent * unused(siblings[i]) / spare;
}

struct tree {
    struct queue_rows *rows;
    struct queue_row *all;
    size_t count;
    double whole;
};

static int by_name(const void *a, const void *b)
{
    const struct queue_row *one = a;
    const struct queue_row *other = b;

    return strcmp(one->name, other->name);
}

/* The queues below `parent` ("": at the top), each with those below it. Depth is bounded, and so is a ring of parents. */
static void list_below(struct tree *tree, const char *parent, double whole, uint32_t depth)
{
    _cleanup_(freep) struct queue_row **siblings = xcalloc(tree->count + 1, sizeof *siblings);
    size_t count = 0;

    for (size_t i = 0; i < tree->count; i++) {
        if (strcmp(tree->all[i].parent, parent) == 0)
            siblings[count++] = &tree->all[i];
    }
    lend(siblings, count, whole);
    for (size_t i = 0; i < count; i++) {
        siblings[i]->depth = depth;
        vec_push(tree->rows, *siblings[i]);
        if (!siblings[i]->is_leaf && depth < DEPTH_MAX)
            list_below(tree, siblings[i]->name, siblings[i]->fair_share < 0 ? whole : siblings[i]->fair_share,
                       depth + 1);
    }
}

static void list_all(const struct engine *engine, const struct state *state, struct arena *arena,
                     struct queue_rows *ret)
{
    struct tree tree = {.rows = ret, .whole = gpu_to_double(state->total.v[SHARE_GPU])};
    _cleanup_(freep) struct queue_row *all = xcalloc((size_t)state->queues.len + 1, sizeof *all);

    for (queue_id id = 0; id < state->queues.len; id++) {
        if (state->queues.items[id].is_present)
            all[tree.count++] = row_of(engine, state, id, arena);
    }
    qsort(all, tree.count, sizeof *all, by_name);
    tree.all = all;
    list_below(&tree, "", tree.whole, 0);
}

int queue_rows_make(const struct view_objects *objects, nsec_t now, struct arena *arena, struct queue_rows *ret,
                    struct err *err)
{
    struct cluster_reading *reading = cluster_reading_new(NULL, 0);
    struct state *state = state_new();
    struct config config;
    int code;

    config_init(&config);
    code = read_objects(objects, reading, err);
    if (code == 0)
        code = cluster_reading_build(reading, &(struct cluster_options){.now = now}, state, &config, err);
    if (code == 0) {
        struct engine *engine = engine_new(state, &config);

        engine_take_in(engine);
        engine_open(engine, now);
        list_all(engine, state, arena, ret);
        engine_close(engine);
        engine_free(engine);
    }
    cluster_reading_free(reading);
    state_free(state);
    return code;
}

const char *gpus_format(double gpus, char text[static GPUS_TEXT_MAX])
{
    if (gpus < 0)
        (void)snprintf(text, GPUS_TEXT_MAX, "unlimited");
    else
        (void)snprintf(text, GPUS_TEXT_MAX, "%.6g", gpus);
    return text;
}
