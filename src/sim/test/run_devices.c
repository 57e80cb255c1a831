/* SPDX-License-Identifier: Apache-2.0 */

/* Simulations of workloads with claims. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/mem.h"
#include "engine/config.h"
#include "model/delta.h"
#include "model/state.h"
#include "sim/run/run.h"
#include "sim/trace/trace.h"

static void put_queue(struct state *state, const char *name, const char *parent, double quota)
{
    const struct queue_spec spec = {
        .name = name,
        .parent = parent,
        .priority = 100,
        .created = (nsec_t)state->queues.len,
        .deserved = {-1, -1, quota},
        .limit = {-1, -1, -1},
        .weight = {1, 1, 1},
    };

    assert_int_equal(state_put_queue(state, &spec, NULL), 0);
}

/* A node with a large and a small GPU, and classes of both and of the large one. */
static void put_node(struct state *state)
{
    static const struct amount_spec amounts[] = {{"cpu", 64000}, {"memory", INT64_C(1) << 40}, {"pods", 100}};
    static const char *const drivers[] = {"gpu.large", "gpu.small"};
    const struct node_spec node = {
        .name = "n", .allocatable = amounts, .allocatable_count = ARRAY_LEN(amounts), .device_count = -1};

    assert_int_equal(state_put_node(state, &node, NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(drivers); i++) {
        const struct slice_spec slice = {
            .name = drivers[i], .driver = drivers[i], .pool = drivers[i], .node = "n", .device_count = 1};
        assert_int_equal(state_put_slice(state, &slice, NULL), 0);
    }
    state_put_device_class(state, &(struct device_class_spec){.name = "gpu-any"});
    state_put_device_class(state, &(struct device_class_spec){.name = "gpu-large", .driver = "gpu.large"});
}

/* A workload of one pod with a claim for one GPU: it waits, or runs with the one of the driver. */
static void put_work(struct state *state, const char *name, const char *queue, int32_t priority, const char *class,
                     const char *driver)
{
    static const struct amount_spec amounts[] = {{"cpu", 1000}, {"memory", 1 << 20}};
    const struct group_spec groups[] = {
        {.name = "", .parent = -1, .min = -1},
        {.name = "default", .parent = 0, .is_pod_set = true, .min = 1},
    };
    const struct gang_spec gang = {
        .namespace = "ns",
        .name = name,
        .queue = queue,
        .priority = priority,
        .is_preemptible = true,
        .created = (nsec_t)state->gangs.len + 1,
        .groups = groups,
        .group_count = ARRAY_LEN(groups),
    };
    const struct device_spec device = {.driver = driver, .pool = driver, .device = "0"};
    const struct pod_claim_spec link = {name, true};
    char uid[64];
    const char *user = uid;

    (void)snprintf(uid, sizeof uid, "ns/%s-0", name);
    const struct claim_spec claim = {
        .namespace = "ns",
        .name = name,
        .device_class = class,
        .count = 1,
        .is_allocated = driver != NULL,
        .devices = &device,
        .device_count = driver ? 1 : 0,
        .reserved_for = &user,
        .reserved_count = driver ? 1 : 0,
    };
    char pod_name[64];
    (void)snprintf(pod_name, sizeof pod_name, "%s-0", name);
    const struct pod_spec pod = {
        .namespace = "ns",
        .name = pod_name,
        .gang = name,
        .status = driver ? POD_RUNNING : POD_PENDING,
        .node = driver ? "n" : NULL,
        .request = {.kind = REQUEST_REGULAR, .amounts = amounts, .amount_count = ARRAY_LEN(amounts)},
        .claims = &link,
        .claim_count = 1,
    };

    assert_int_equal(state_put_claim(state, &claim, NULL), 0);
    assert_int_equal(state_put_gang(state, &gang, NULL), 0);
    assert_int_equal(state_put_pod(state, &pod, NULL), 0);
}

/*
 * Only the large GPU serves "wants", and "a" uses it. To run on the small one, "a" has to be started anew. Were "b" alone
 * evicted, as if "a" could change its GPU while it runs, "b" would have the small one back in the next cycle, and be
 * evicted again.
 */
static void reclaim_evicts_who_uses_the_device_and_nobody_twice(void **state)
{
    (void)state;
    _cleanup_(freep) char *rows = xstrdup("time,name,queue,gpus,run_seconds\n0,late,p,0,10\n");
    struct state *world = state_new();
    struct sim_run_options options;
    struct config config;
    struct trace trace;
    struct sim_run run;
    struct err err = {0};

    config_init(&config);
    sim_run_options_init(&options);
    options.max_cycles = 50;
    trace_init(&trace);
    put_queue(world, "all", NULL, -1);
    put_queue(world, "r", "all", 0);
    put_queue(world, "p", "all", 2);
    put_node(world);
    put_work(world, "a", "r", 75, "gpu-any", "gpu.large");
    put_work(world, "b", "r", 50, "gpu-any", "gpu.small");
    put_work(world, "wants", "p", 50, "gpu-large", NULL);
    if (trace_parse(&trace, "t.csv", rows, strlen(rows), &err) < 0 ||
        sim_run_run(&run, world, &config, &options, &trace, &err) < 0)
        fail_msg("%s", err.text);
    assert_false(run.is_cut);
    assert_true(run.cycles < 10);
    pod_id wants = state_find_pod(world, "ns", "wants-0");
    assert_int_equal(world->pods.items[wants].status, POD_RUNNING);
    vec_foreach (&run.jobs, job)
        assert_in_range(job->evictions, 0, 1);
    sim_run_done(&run);
    trace_done(&trace);
    state_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reclaim_evicts_who_uses_the_device_and_nobody_twice),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
