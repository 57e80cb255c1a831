/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Several nodes, gangs that run on them, and what the engine decided, for tests of actions. */
#include "engine/test/queues.h"

static inline void put_gpu_node(struct cluster *c, const char *name, int64_t gpus)
{
    const struct amount_spec amounts[] = {
        {"cpu", 1000000}, {"memory", 1000000}, {"nvidia.com/gpu", gpus * GPU_ONE}, {"pods", 100}};
    const struct node_spec node = {
        .name = name,
        .allocatable = amounts,
        .allocatable_count = ARRAY_LEN(amounts),
        .device_count = gpus,
        .gpu_memory_mib = 1000,
        .is_gpu_memory_known = true,
    };

    assert_int_equal(state_put_node(c->state, &node, NULL), 0);
}

/* Settings in place of those that the cluster began with. */
static inline void use_config(struct cluster *c, const struct config *config)
{
    engine_free(c->engine);
    c->engine = engine_new(c->state, config);
}

/* Moves a pod that queues.h has put on "node" to another one. */
static inline void put_on(struct cluster *c, const char *gang, int pod, const char *node)
{
    state_move_pod(c->state, pod_of(c, gang, pod), POD_RUNNING, state_find_node(c->state, node),
                   (struct group_list){0});
}

/* A gang of one pod that runs on a node since `start`. */
static inline gang_id put_running(struct cluster *c, const char *name, const char *queue, const char *node,
                                  int64_t gpus)
{
    gang_id gang = put_gang(
        c, name, queue,
        (struct gang_options){.min = 1, .running = 1, .gpus = gpus, .created = (nsec_t)c->state->gangs.len + 1});

    put_on(c, name, 0, node);
    return gang;
}

static inline gang_id put_waiting(struct cluster *c, const char *name, const char *queue, int pods, int64_t gpus)
{
    return put_gang(
        c, name, queue,
        (struct gang_options){.min = pods, .pending = pods, .gpus = gpus, .created = (nsec_t)c->state->gangs.len + 1});
}

static inline void run_at(struct cluster *c, nsec_t now, enum action action)
{
    engine_take_in(c->engine);
    engine_open(c->engine, now);
    engine_run(c->engine, action);
}

/* The decisions as "evict a-0 n1, pipeline b-0 n1". */
static inline void assert_decisions(struct cluster *c, const char *expected)
{
    char text[1024] = "";
    size_t len = 0;
    size_t count;
    const struct decision *decisions = engine_decisions(c->engine, &count);

    for (size_t i = 0; i < count; i++) {
        const struct decision *d = &decisions[i];
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s %s %s", i > 0 ? ", " : "",
                                decision_kind_name(d->kind), state_name(c->state, c->state->pods.items[d->pod].name),
                                state_name(c->state, c->state->nodes.items[d->node].name));
    }
    assert_string_equal(text, expected);
}
