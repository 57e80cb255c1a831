/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Clusters of queues for tests of shares, views and orders: one node, gangs of one pod set, pods of one GPU each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "engine/context.h"
#include "engine/gangs/view.h"
#include "engine/queues/order.h"
#include "engine/queues/share.h"
#include "model/delta.h"
#include "model/state.h"

struct cluster {
    struct state *state;
    struct engine *engine;
};

static inline void cluster_begin(struct cluster *c, int64_t gpus)
{
    struct config config;
    const struct amount_spec amounts[] = {
        {"cpu", 1000000}, {"memory", 1000000}, {"nvidia.com/gpu", gpus * GPU_ONE}, {"pods", 10000}};
    const struct node_spec node = {
        .name = "node",
        .allocatable = amounts,
        .allocatable_count = ARRAY_LEN(amounts),
        .device_count = gpus,
        .gpu_memory_mib = 1000,
        .is_gpu_memory_known = true,
    };

    config_init(&config);
    c->state = state_new();
    c->engine = engine_new(c->state, &config);
    assert_int_equal(state_put_node(c->state, &node, NULL), 0);
}

static inline void cluster_end(struct cluster *c)
{
    engine_free(c->engine);
    state_free(c->state);
}

static inline void cluster_open(struct cluster *c)
{
    engine_take_in(c->engine);
    engine_open(c->engine, 0);
}

/* GPUs as given; CPU and memory without limits. */
static inline struct queue_spec queue_with(const char *name, const char *parent, double deserved, double weight)
{
    return (struct queue_spec){
        .name = name,
        .parent = parent,
        .priority = 100,
        .deserved = {UNLIMITED, UNLIMITED, deserved},
        .limit = {UNLIMITED, UNLIMITED, UNLIMITED},
        .weight = {1, 1, weight},
    };
}

static inline queue_id put_queue(struct cluster *c, struct queue_spec spec)
{
    /* The order of input stands for age where the test gives none. */
    if (spec.created == 0)
        spec.created = (nsec_t)c->state->queues.len + 1;
    assert_int_equal(state_put_queue(c->state, &spec, NULL), 0);
    return state_find_queue(c->state, spec.name);
}

static inline void put_pod_of(struct cluster *c, const char *gang, const char *set, const char *name, bool is_running,
                              int64_t gpus)
{
    static const struct amount_spec amounts[] = {{"cpu", 1}, {"memory", 1}};
    const struct pod_spec spec = {
        .name = name,
        .gang = gang,
        .pod_set = set,
        .status = is_running ? POD_RUNNING : POD_PENDING,
        .node = is_running ? "node" : NULL,
        .request = {.kind = REQUEST_REGULAR, .gpus = gpus, .amounts = amounts, .amount_count = ARRAY_LEN(amounts)},
    };

    assert_int_equal(state_put_pod(c->state, &spec, NULL), 0);
}

static inline void put_pod_in(struct cluster *c, const char *gang, const char *set, const char *name, bool is_running)
{
    put_pod_of(c, gang, set, name, is_running, 1);
}

struct gang_options {
    int32_t priority;
    int32_t min;
    int running;
    int pending;
    bool is_fixed;  // may not be preempted
    nsec_t created;
    nsec_t delay;
    int64_t gpus;  // of each pod; 0 is 1
};

/* Pods are called "<gang>-0", "<gang>-1", ...; the running ones come first. */
static inline gang_id put_gang(struct cluster *c, const char *name, const char *queue, struct gang_options options)
{
    const struct group_spec groups[] = {
        {.name = "", .parent = -1, .min = -1},
        {.name = "default", .parent = 0, .is_pod_set = true, .min = options.min},
    };
    const struct gang_spec spec = {
        .name = name,
        .queue = queue,
        .priority = options.priority,
        .is_preemptible = !options.is_fixed,
        .created = options.created,
        .preemption_delay = options.delay,
        .groups = groups,
        .group_count = ARRAY_LEN(groups),
    };

    assert_int_equal(state_put_gang(c->state, &spec, NULL), 0);
    for (int i = 0; i < options.running + options.pending; i++) {
        char pod[64];
        (void)snprintf(pod, sizeof pod, "%s-%d", name, i);
        put_pod_of(c, name, NULL, pod, i < options.running, MAX(options.gpus, INT64_C(1)));
    }
    return state_find_gang(c->state, NULL, name);
}

static inline gang_id waiting_gang(struct cluster *c, const char *name, const char *queue, int pods)
{
    return put_gang(c, name, queue,
                    (struct gang_options){.min = pods, .pending = pods, .created = (nsec_t)c->state->gangs.len + 1});
}

static inline pod_id pod_of(const struct cluster *c, const char *gang, int i)
{
    char name[64];

    (void)snprintf(name, sizeof name, "%s-%d", gang, i);
    return state_find_pod(c->state, NULL, name);
}

/* Does to a pod what an eviction and a promise do to its queue and its gang. */
static inline void evict(struct cluster *c, pod_id pod)
{
    queue_charge(c->state, pod, -1);
    pod_set_status(c->state, pod, POD_RELEASING);
    pod_set_virtual(c->state, pod, true);
}

static inline void promise(struct cluster *c, pod_id pod)
{
    undo_set64(&c->state->undo, &c->state->pods.items[pod].accepted_gpu, (uint64_t)state_request(c->state, pod)->gpus);
    pod_set_status(c->state, pod, POD_PIPELINED);
    pod_set_virtual(c->state, pod, true);
    queue_charge(c->state, pod, 1);
}

static inline const char *gang_name(const struct cluster *c, const struct gang_view *view)
{
    return state_name(c->state, c->state->gangs.items[view->gang].name);
}
