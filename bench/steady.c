/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a cycle costs on a cluster that is already there: nothing changed, one pod came, a node was lost. Prints one
 * JSON object a line with the median in nanoseconds. bench/run puts them into its table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/mem.h"
#include "base/time.h"
#include "engine/engine.h"
#include "model/delta.h"
#include "model/state.h"

enum { NODE_GPUS = 8, QUEUES = 100, DEPARTMENTS = 10, SAMPLES = 201, NAME_MAX_LEN = 32 };

#define NOW (INT64_C(1700000000) * NSEC_PER_SEC)

struct bench {
    struct state *state;
    struct engine *engine;
    uint32_t nodes;
    uint32_t pods;
};

/* The cluster is ours, so that nothing in it can be refused. */
static void must(int r, const struct err *err)
{
    if (r >= 0)
        return;
    (void)fprintf(stderr, "steady: %s\n", err->text);
    exit(1);
}

static void put_queue(struct state *state, const char *name, const char *parent, double gpus)
{
    struct queue_spec spec = {.name = name, .parent = parent, .priority = 100, .created = NOW};
    struct err err = {0};

    for (int i = 0; i < SHARE_COUNT; i++) {
        spec.deserved[i] = -1;
        spec.limit[i] = -1;
        spec.weight[i] = 1;
    }
    spec.deserved[SHARE_GPU] = gpus;
    must(state_put_queue(state, &spec, &err), &err);
}

static void put_node(struct state *state, uint32_t i)
{
    const struct amount_spec amounts[] = {
        {"cpu", 128000},
        {"memory", INT64_C(1000000000000)},
        {"nvidia.com/gpu", NODE_GPUS * GPU_ONE},
        {"pods", 110},
    };
    char name[NAME_MAX_LEN];
    struct node_spec spec = {.name = name,
                             .allocatable = amounts,
                             .allocatable_count = ARRAY_LEN(amounts),
                             .device_count = -1,
                             .gpu_memory_mib = 80000,
                             .is_gpu_memory_known = true};
    struct err err = {0};

    (void)snprintf(name, sizeof name, "node-%06u", i);
    must(state_put_node(state, &spec, &err), &err);
}

/* A job of one pod of one GPU, running on node `node` or waiting when that is negative. */
static void put_job(struct state *state, const char *name, uint32_t queue, int64_t node)
{
    const struct group_spec groups[] = {{.name = "", .parent = -1, .min = -1},
                                        {.name = "default", .parent = 0, .is_pod_set = true, .min = 1}};
    const struct amount_spec amounts[] = {{"cpu", 1000}, {"memory", INT64_C(4000000000)}};
    char queue_name[NAME_MAX_LEN];
    char node_name[NAME_MAX_LEN];
    struct gang_spec gang = {.name = name,
                             .queue = queue_name,
                             .priority = 50,
                             .is_preemptible = true,
                             .created = NOW - NSEC_PER_HOUR,
                             .groups = groups,
                             .group_count = ARRAY_LEN(groups)};
    struct pod_spec pod = {
        .name = name,
        .gang = name,
        .pod_set = "default",
        .created = NOW - NSEC_PER_HOUR,
        .request = {
            .kind = REQUEST_REGULAR, .gpus = 1, .devices = 1, .amounts = amounts, .amount_count = ARRAY_LEN(amounts)}};
    struct err err = {0};

    (void)snprintf(queue_name, sizeof queue_name, "q%03u", queue % QUEUES);
    if (node >= 0) {
        (void)snprintf(node_name, sizeof node_name, "node-%06u", (uint32_t)node);
        pod.node = node_name;
        pod.status = POD_RUNNING;
        gang.last_start = NOW - NSEC_PER_HOUR;
    }
    must(state_put_gang(state, &gang, &err), &err);
    must(state_put_pod(state, &pod, &err), &err);
}

static void drop_job(struct state *state, const char *name)
{
    state_drop_pod(state, "", name);
    state_drop_gang(state, "", name);
}

/* Every GPU runs a job of one pod, in equal parts from all queues. */
static void fill(struct bench *b)
{
    char name[NAME_MAX_LEN];

    for (uint32_t i = 0; i < DEPARTMENTS; i++) {
        (void)snprintf(name, sizeof name, "d%u", i);
        put_queue(b->state, name, NULL, (double)b->nodes * NODE_GPUS / DEPARTMENTS);
    }
    for (uint32_t i = 0; i < QUEUES; i++) {
        char parent[NAME_MAX_LEN];

        (void)snprintf(name, sizeof name, "q%03u", i);
        (void)snprintf(parent, sizeof parent, "d%u", i % DEPARTMENTS);
        put_queue(b->state, name, parent, (double)b->nodes * NODE_GPUS / QUEUES);
    }
    for (uint32_t i = 0; i < b->nodes; i++)
        put_node(b->state, i);
    for (uint32_t i = 0; i < b->nodes * NODE_GPUS; i++) {
        (void)snprintf(name, sizeof name, "r%u", i);
        put_job(b->state, name, i, i / NODE_GPUS);
    }
    b->pods = b->nodes * NODE_GPUS;
}

static void cycle(struct bench *b)
{
    engine_take_in(b->engine);
    engine_open(b->engine, NOW);
    for (int action = 0; action < _ACTION_MAX; action++)
        engine_run(b->engine, (enum action)action);
    engine_close(b->engine);
}

static int compare_times(const void *a, const void *b)
{
    nsec_t x;
    nsec_t y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* Times `timed` between `before` and `after`, which put things up and back; either may be NULL. */
static void measure(struct bench *b, const char *what, uint32_t per_sample, void (*before)(struct bench *),
                    void (*timed)(struct bench *), void (*after)(struct bench *))
{
    nsec_t samples[SAMPLES];

    for (int i = -3; i < SAMPLES; i++) {
        nsec_t start;

        if (before)
            before(b);
        start = nsec_now_monotonic();
        timed(b);
        if (i >= 0)
            samples[i] = nsec_now_monotonic() - start;
        if (after)
            after(b);
    }
    qsort(samples, SAMPLES, sizeof *samples, compare_times);
    (void)printf("{\"what\":\"%s\",\"nodes\":%u,\"pods\":%u,\"ns\":%.1f}\n", what, b->nodes, b->pods,
                 (double)samples[SAMPLES / 2] / per_sample);
    (void)fflush(stdout);
}

static void new_job_cycle(struct bench *b)
{
    put_job(b->state, "new", 7, -1);
    cycle(b);
}

static void drop_new_job(struct bench *b)
{
    drop_job(b->state, "new");
    cycle(b);
}

/* One job leaves, so that there is room for another. */
static void make_room(struct bench *b)
{
    drop_job(b->state, "r0");
    cycle(b);
}

static void fill_room(struct bench *b)
{
    drop_job(b->state, "new");
    put_job(b->state, "r0", 0, 0);
    cycle(b);
}

static void lose_node_cycle(struct bench *b)
{
    char name[NAME_MAX_LEN];

    state_drop_node(b->state, "node-000001");
    for (uint32_t i = NODE_GPUS; i < 2 * NODE_GPUS; i++) {
        (void)snprintf(name, sizeof name, "r%u", i);
        put_job(b->state, name, i, -1);
    }
    cycle(b);
}

static void return_node(struct bench *b)
{
    char name[NAME_MAX_LEN];

    put_node(b->state, 1);
    for (uint32_t i = NODE_GPUS; i < 2 * NODE_GPUS; i++) {
        (void)snprintf(name, sizeof name, "r%u", i);
        put_job(b->state, name, i, 1);
    }
    cycle(b);
}

enum { DELTAS = 1000 };

static void many_deltas(struct bench *b)
{
    for (uint32_t i = 0; i < DELTAS / 4; i++) {
        put_job(b->state, "new", i, -1);
        drop_job(b->state, "new");
    }
}

static void run(uint32_t nodes)
{
    struct bench b = {.state = state_new(), .nodes = nodes};
    struct config config;
    char name[NAME_MAX_LEN];

    config_init(&config);
    config.uses_signatures = true;
    config.max_consolidation_preemptees = 16;
    b.engine = engine_new(b.state, &config);
    fill(&b);
    cycle(&b);

    measure(&b, "a delta (gang or pod, put or dropped)", DELTAS, NULL, many_deltas, cycle);
    measure(&b, "nothing changed, nothing waits", 1, NULL, cycle, NULL);
    measure(&b, "one new pod, room for it", 1, make_room, new_job_cycle, fill_room);
    measure(&b, "one new pod, cluster full", 1, NULL, new_job_cycle, drop_new_job);
    measure(&b, "a node lost, its 8 pods wait", 1, NULL, lose_node_cycle, return_node);
    for (uint32_t i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof name, "p%u", i);
        put_job(b.state, name, i, -1);
    }
    b.pods += 1000;
    measure(&b, "nothing changed, 1000 pods wait", 1, NULL, cycle, NULL);
    measure(&b, "one new pod, 1000 others wait", 1, NULL, new_job_cycle, drop_new_job);
    engine_free(b.engine);
    state_free(b.state);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        run(1000);
        run(10000);
        return 0;
    }
    for (int i = 1; i < argc; i++) {
        long nodes = strtol(argv[i], NULL, 10);

        if (nodes < 2 || nodes > 200000) {
            (void)fprintf(stderr, "usage: steady [NODES...]\n");
            return 2;
        }
        run((uint32_t)nodes);
    }
    return 0;
}
