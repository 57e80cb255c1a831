/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/macros.h"
#include "model/delta.h"
#include "model/state.h"

enum { NAME_BYTES = 12 };

const struct world reported[] = {
    {.name = "3779",
     .nodes = 6,
     .node_gpus = 1,
     .queue_count = 5,
     .queues = {{NO_PARENT, 6}, {0, 6}, {1, 0}, {0, 0}, {0, 0}},
     .count = 6,
     .workloads = {{3, 2, true}, {3, 2, true}, {4, 1, false}, {4, 1, false}, {2, 1, false}, {2, 2, true}}},
    {.name = "6947",
     .nodes = 3,
     .node_gpus = 1,
     .queue_count = 2,
     .queues = {{NO_PARENT, 3}, {NO_PARENT, 0}},
     .count = 3,
     .workloads = {{1, 1, false}, {0, 4, true}, {0, 3, true}}},
    {.name = "7101",
     .nodes = 8,
     .node_gpus = 1,
     .queue_count = 2,
     .queues = {{NO_PARENT, 0}, {NO_PARENT, 0}},
     .count = 8,
     .workloads = {{0, 2, true},
                   {0, 2, true},
                   {0, 2, true},
                   {0, 2, true},
                   {1, 6, true},
                   {1, 5, true},
                   {1, 4, true},
                   {1, 3, true}}},
};

const size_t reported_count = ARRAY_LEN(reported);

static void expect(int r)
{
    if (r < 0)
        abort();
}

static void put_node(struct state *state, uint32_t number, uint32_t gpus)
{
    char name[NAME_BYTES];
    const struct amount_spec amounts[] = {
        {"cpu", 64000}, {"memory", INT64_C(256) << 30}, {"nvidia.com/gpu", gpus * GPU_ONE}, {"pods", 110}};

    (void)snprintf(name, sizeof name, "n%u", number);
    expect(state_put_node(state,
                          &(struct node_spec){.name = name,
                                              .allocatable = amounts,
                                              .allocatable_count = ARRAY_LEN(amounts),
                                              .device_count = gpus,
                                              .gpu_memory_mib = 1000,
                                              .is_gpu_memory_known = true},
                          NULL));
}

static void queue_name(uint32_t number, char name[static NAME_BYTES])
{
    (void)snprintf(name, NAME_BYTES, "q%u", number);
}

static void put_queue(struct state *state, uint32_t number, const struct queue_row *row)
{
    char name[NAME_BYTES];
    char parent[NAME_BYTES] = "";

    queue_name(number, name);
    if (row->parent != NO_PARENT)
        queue_name((uint32_t)row->parent, parent);
    expect(state_put_queue(state,
                           &(struct queue_spec){.name = name,
                                                .parent = parent,
                                                .priority = 100,
                                                .created = number + 1,
                                                .deserved = {UNLIMITED, UNLIMITED, row->quota},
                                                .limit = {UNLIMITED, UNLIMITED, UNLIMITED},
                                                .weight = {1, 1, 1}},
                           NULL));
}

void world_submit(struct state *state, uint32_t number, const struct workload *workload)
{
    static const struct amount_spec amounts[] = {{"cpu", 1000}, {"memory", 1 << 20}};
    uint32_t pods = workload->is_gang ? workload->gpus : 1;
    const struct group_spec groups[] = {{.name = "", .parent = -1, .min = -1},
                                        {.name = "default", .parent = 0, .is_pod_set = true, .min = (int32_t)pods}};
    char queue[NAME_BYTES];
    char name[NAME_BYTES];

    queue_name(workload->queue, queue);
    (void)snprintf(name, sizeof name, "w%u", number);
    expect(state_put_gang(state,
                          &(struct gang_spec){.namespace = "ns",
                                              .name = name,
                                              .queue = queue,
                                              .priority = 50,
                                              .is_preemptible = true,
                                              .created = WORLD_NOW + number * NSEC_PER_SEC,
                                              .groups = groups,
                                              .group_count = ARRAY_LEN(groups)},
                          NULL));
    for (uint32_t i = 0; i < pods; i++) {
        char pod[2 * NAME_BYTES];

        (void)snprintf(pod, sizeof pod, "%s-%u", name, i);
        expect(state_put_pod(state,
                             &(struct pod_spec){.namespace = "ns",
                                                .name = pod,
                                                .gang = name,
                                                .status = POD_PENDING,
                                                .request = {.kind = REQUEST_REGULAR,
                                                            .gpus = workload->is_gang ? 1 : workload->gpus,
                                                            .amounts = amounts,
                                                            .amount_count = ARRAY_LEN(amounts)}},
                             NULL));
    }
}

struct state *world_begin(const struct world *world)
{
    struct state *state = state_new();

    for (uint32_t i = 0; i < world->nodes; i++)
        put_node(state, i, world->node_gpus);
    for (uint32_t q = 0; q < world->queue_count; q++)
        put_queue(state, q, &world->queues[q]);
    return state;
}
