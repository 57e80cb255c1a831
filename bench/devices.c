/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A cycle that gives devices to pods with claims: bench/devices.c [NODES [PODS]]. Each node has 8 devices, each pod claims one by
 * two selectors. Prints one JSON object a line: the median of several cycles, each from a fresh state, in nanoseconds, how many
 * claims got a device, and the next cycle, in which nothing has changed.
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

enum { NODE_DEVICES = 8, SAMPLES = 5, NAME_MAX_LEN = 32 };

#define NOW (INT64_C(1700000000) * NSEC_PER_SEC)

/* The cluster is ours, so that nothing in it can be refused. */
static void must(int r, const struct err *err)
{
    if (r >= 0)
        return;
    (void)fprintf(stderr, "devices: %s\n", err->text);
    exit(1);
}

static void put_node(struct state *state, uint32_t i)
{
    static const char *const names[NODE_DEVICES] = {"gpu-0", "gpu-1", "gpu-2", "gpu-3",
                                                    "gpu-4", "gpu-5", "gpu-6", "gpu-7"};
    static const struct device_amount memory = {"memory", "141Gi", INT64_C(141) << 30, 0};
    const struct amount_spec amounts[] = {{"cpu", 128000}, {"memory", INT64_C(1000000000000)}, {"pods", 110}};
    struct device_attribute attributes[NODE_DEVICES][2];
    struct device_offer offers[NODE_DEVICES];
    char name[NAME_MAX_LEN];
    const struct node_spec node = {
        .name = name, .allocatable = amounts, .allocatable_count = ARRAY_LEN(amounts), .device_count = -1};
    const struct slice_spec slice = {.name = name,
                                     .driver = "gpu.example.com",
                                     .pool = name,
                                     .node = name,
                                     .generation = 1,
                                     .slice_count = 1,
                                     .devices = names,
                                     .device_count = NODE_DEVICES,
                                     .offers = offers,
                                     .offer_count = NODE_DEVICES};
    struct err err = {0};

    (void)snprintf(name, sizeof name, "node-%06u", i);
    for (int d = 0; d < NODE_DEVICES; d++) {
        attributes[d][0] = (struct device_attribute){.name = "model", .kind = ATTRIBUTE_STRING, .text = "H200"};
        attributes[d][1] = (struct device_attribute){.name = "index", .kind = ATTRIBUTE_INT, .integer = d};
        offers[d] = (struct device_offer){
            .attributes = attributes[d], .attribute_count = 2, .capacity = &memory, .capacity_count = 1};
    }
    must(state_put_node(state, &node, &err), &err);
    must(state_put_slice(state, &slice, &err), &err);
}

/* A job of one pod with a claim on one device. */
static void put_job(struct state *state, uint32_t i)
{
    static const char *const selectors[] = {
        "device.attributes['gpu.example.com'].model == 'H200'",
        "device.capacity['gpu.example.com'].memory.isGreaterThan(quantity('100Gi'))"};
    static const struct device_ask ask = {
        .device_class = "gpu", .selectors = selectors, .selector_count = 2, .count = 1};
    static const struct device_request request = {"gpu", &ask, 1};
    const struct group_spec groups[] = {{.name = "", .parent = -1, .min = -1},
                                        {.name = "default", .parent = 0, .is_pod_set = true, .min = 1}};
    const struct amount_spec amounts[] = {{"cpu", 1000}, {"memory", INT64_C(4000000000)}};
    char name[NAME_MAX_LEN];
    const struct gang_spec gang = {.name = name,
                                   .queue = "q",
                                   .priority = 50,
                                   .is_preemptible = true,
                                   .created = NOW - NSEC_PER_HOUR,
                                   .groups = groups,
                                   .group_count = ARRAY_LEN(groups)};
    const struct claim_spec claim = {.namespace = "",
                                     .name = name,
                                     .device_class = "gpu",
                                     .count = 1,
                                     .ask = {.requests = &request, .request_count = 1}};
    const struct pod_claim_spec link = {name, true};
    const struct pod_spec pod = {
        .name = name,
        .gang = name,
        .pod_set = "default",
        .created = NOW - NSEC_PER_HOUR,
        .claims = &link,
        .claim_count = 1,
        .request = {.kind = REQUEST_REGULAR, .amounts = amounts, .amount_count = ARRAY_LEN(amounts)}};
    struct err err = {0};

    (void)snprintf(name, sizeof name, "job-%u", i);
    must(state_put_gang(state, &gang, &err), &err);
    must(state_put_claim(state, &claim, &err), &err);
    must(state_put_pod(state, &pod, &err), &err);
}

static struct state *fill(uint32_t nodes, uint32_t pods)
{
    static const char *const of_driver[] = {"device.driver == 'gpu.example.com'"};
    const struct device_class_spec class = {
        .name = "gpu", .driver = "gpu.example.com", .selectors = of_driver, .selector_count = 1};
    struct queue_spec queue = {.name = "q", .priority = 100, .created = NOW};
    struct state *state = state_new();
    struct err err = {0};

    for (int i = 0; i < SHARE_COUNT; i++) {
        queue.deserved[i] = queue.limit[i] = -1;
        queue.weight[i] = 1;
    }
    must(state_put_queue(state, &queue, &err), &err);
    state_put_device_class(state, &class);
    for (uint32_t i = 0; i < nodes; i++)
        put_node(state, i);
    for (uint32_t i = 0; i < pods; i++)
        put_job(state, i);
    return state;
}

static nsec_t cycle(struct engine *engine)
{
    nsec_t start = nsec_now_monotonic();

    engine_take_in(engine);
    engine_open(engine, NOW);
    for (int action = 0; action < _ACTION_MAX; action++)
        engine_run(engine, (enum action)action);
    engine_close(engine);
    return nsec_now_monotonic() - start;
}

static int compare_times(const void *a, const void *b)
{
    nsec_t x;
    nsec_t y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static void run(uint32_t nodes, uint32_t pods)
{
    nsec_t first[SAMPLES];
    nsec_t second[SAMPLES];
    uint32_t given = 0;

    for (int i = 0; i < SAMPLES; i++) {
        struct config config;
        struct state *state = fill(nodes, pods);

        config_init(&config);
        config.uses_signatures = true;
        config.max_consolidation_preemptees = 16;
        struct engine *engine = engine_new(state, &config);
        first[i] = cycle(engine);
        second[i] = cycle(engine);
        given = 0;
        vec_foreach (&state->claims, claim)
            given += claim->is_allocated != 0;
        engine_free(engine);
        state_free(state);
    }
    qsort(first, SAMPLES, sizeof *first, compare_times);
    qsort(second, SAMPLES, sizeof *second, compare_times);
    (void)printf("{\"nodes\":%u,\"pods\":%u,\"given\":%u,\"ns\":%lld,\"fastest_ns\":%lld,\"next_ns\":%lld}\n", nodes,
                 pods, given, (long long)first[SAMPLES / 2], (long long)first[0], (long long)second[SAMPLES / 2]);
}

int main(int argc, char **argv)
{
    long nodes = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
    long pods = argc > 2 ? strtol(argv[2], NULL, 10) : 1000;

    if (argc > 3 || nodes < 1 || nodes > 100000 || pods < 1 || pods > 1000000) {
        (void)fprintf(stderr, "usage: devices-bench [NODES [PODS]]\n");
        return 2;
    }
    run((uint32_t)nodes, (uint32_t)pods);
    return 0;
}
