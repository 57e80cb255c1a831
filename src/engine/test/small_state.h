/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Small clusters for tests of single filters: an engine over a state that the test fills by deltas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "engine/context.h"
#include "engine/nodes/filter.h"
#include "engine/topology/topology.h"
#include "model/delta.h"
#include "model/state.h"

struct small_state {
    struct state *state;
    struct engine *engine;
};

static inline void small_state_begin(struct small_state *s)
{
    struct config config;

    config_init(&config);
    config.has[PLUGIN_NUMA] = true;
    config.has[PLUGIN_POD_AFFINITY] = true;
    config.has[PLUGIN_TOPOLOGY_SPREAD] = true;
    s->state = state_new();
    s->engine = engine_new(s->state, &config);
    const struct queue_spec queue = {.name = "q", .deserved = {-1, -1, -1}, .limit = {-1, -1, -1}};
    assert_int_equal(state_put_queue(s->state, &queue, NULL), 0);
}

static inline void small_state_end(struct small_state *s)
{
    engine_free(s->engine);
    state_free(s->state);
}

/* Takes in the deltas and begins a cycle. */
static inline void small_state_open(struct small_state *s)
{
    engine_take_in(s->engine);
    engine_open(s->engine, 0);
}

static inline node_id put_node(struct small_state *s, const char *name, int64_t gpus, const struct str_pair *labels,
                               size_t label_count)
{
    const struct amount_spec amounts[] = {
        {"cpu", 64000}, {"memory", INT64_C(256) << 30}, {"nvidia.com/gpu", gpus * GPU_ONE}, {"pods", 110}};
    const struct node_spec spec = {
        .name = name,
        .labels = labels,
        .label_count = label_count,
        .allocatable = amounts,
        .allocatable_count = ARRAY_LEN(amounts),
        .device_count = gpus,
        .gpu_memory_mib = 1000,
        .is_gpu_memory_known = true,
    };

    assert_int_equal(state_put_node(s->state, &spec, NULL), 0);
    return state_find_node(s->state, name);
}

/* The time of cycles that depend on it. */
#define NOW (INT64_C(1700000000) * NSEC_PER_SEC)

/* What is not like the others about a gang; all zeros is one in queue "q" that may be evicted and needs one pod. */
struct gang_like {
    const char *queue;
    int32_t priority;
    int32_t min;
    bool is_fixed;   // not to be evicted
    nsec_t created;  // 0: NOW
    nsec_t started;
    nsec_t delay;                              // of preemption on its behalf
    struct topology_constraint_spec topology;  // of the root
};

/* A gang of one pod set "default" below the root. */
static inline gang_id put_gang(struct small_state *s, const char *name, struct gang_like like)
{
    const struct group_spec groups[] = {
        {.name = "", .parent = -1, .min = -1, .topology = like.topology},
        {.name = "default", .parent = 0, .is_pod_set = true, .min = like.min ? like.min : 1},
    };
    const struct gang_spec spec = {
        .namespace = "ns",
        .name = name,
        .queue = like.queue ? like.queue : "q",
        .priority = like.priority,
        .is_preemptible = !like.is_fixed,
        .created = like.created ? like.created : NOW,
        .last_start = like.started,
        .preemption_delay = like.delay,
        .groups = groups,
        .group_count = ARRAY_LEN(groups),
    };

    assert_int_equal(state_put_gang(s->state, &spec, NULL), 0);
    return state_find_gang(s->state, "ns", name);
}

/* A pod that asks for whole GPUs and a core each, waiting or running on `node`. */
static inline struct pod_spec pod_with(const char *gang, const char *name, int64_t gpus, const char *node)
{
    static const struct amount_spec amounts[] = {{"cpu", 1000}, {"memory", 1 << 20}};

    return (struct pod_spec){
        .namespace = "ns",
        .name = name,
        .gang = gang,
        .status = node ? POD_RUNNING : POD_PENDING,
        .node = node,
        .request = {.kind = REQUEST_REGULAR, .gpus = gpus, .amounts = amounts, .amount_count = ARRAY_LEN(amounts)},
    };
}

static inline pod_id put_pod(struct small_state *s, const struct pod_spec *spec)
{
    assert_int_equal(state_put_pod(s->state, spec, NULL), 0);
    return state_find_pod(s->state, spec->namespace, spec->name);
}

static inline pod_id put_sized(struct small_state *s, const char *gang, const char *name, int64_t gpus,
                               const char *node)
{
    const struct pod_spec spec = pod_with(gang, name, gpus, node);

    return put_pod(s, &spec);
}

/* Puts a waiting pod on a node, as a decision would. */
static inline void place(struct small_state *s, pod_id pod, node_id node)
{
    pod_set_status(s->state, pod, POD_ALLOCATED);
    pod_set_node(s->state, pod, node);
    node_hold(s->state, node, pod);
    topology_node_touched(s->engine, node);
}
