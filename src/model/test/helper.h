/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the tests of this folder share: short ways to put objects, and to compare states. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "model/books/books.h"
#include "model/delta.h"
#include "model/state.h"
#include "model/test/dump.h"

#define GIB (INT64_C(1) << 30)

/* Fails the test with the error's text. */
#define assert_ok(call)                \
    do {                               \
        struct err err_ = {0};         \
        if ((call) < 0)                \
            fail_msg("%s", err_.text); \
    } while (0)

__attribute__((unused)) static void put_node(struct state *state, const char *name, int64_t gpus, int64_t memory_mib)
{
    struct amount_spec amounts[] = {
        {"cpu", 16000},
        {"memory", 64 * GIB},
        {"nvidia.com/gpu", gpus * GPU_ONE},
        {"pods", 110},
    };
    struct node_spec spec = {
        .name = name,
        .allocatable = amounts,
        .allocatable_count = 4,
        .device_count = -1,
        .gpu_memory_mib = memory_mib,
        .is_gpu_memory_known = memory_mib > 0,
    };

    assert_ok(state_put_node(state, &spec, &err_));
}

__attribute__((unused)) static void put_queue(struct state *state, const char *name, const char *parent)
{
    struct queue_spec spec = {
        .name = name,
        .parent = parent,
        .priority = 100,
        .deserved = {UNLIMITED, UNLIMITED, 0},
        .limit = {UNLIMITED, UNLIMITED, UNLIMITED},
        .weight = {1, 1, 1},
    };

    assert_ok(state_put_queue(state, &spec, &err_));
}

/* A gang with one set "default" that needs `min` pods. */
__attribute__((unused)) static void put_gang(struct state *state, const char *name, const char *queue, int32_t min)
{
    struct group_spec groups[] = {
        {.name = "", .parent = -1, .min = -1},
        {.name = "default", .parent = 0, .is_pod_set = true, .min = min},
    };
    struct gang_spec spec = {
        .namespace = "ns",
        .name = name,
        .queue = queue,
        .is_preemptible = true,
        .groups = groups,
        .group_count = 2,
    };

    assert_ok(state_put_gang(state, &spec, &err_));
}

static const struct amount_spec small_amounts[] = {{"cpu", 1000}, {"memory", GIB}};

__attribute__((unused)) static struct pod_spec a_pod(const char *name, const char *gang)
{
    return (struct pod_spec){
        .namespace = "ns",
        .name = name,
        .gang = gang,
        .request = {.amounts = small_amounts, .amount_count = 2},
    };
}

__attribute__((unused)) static pod_id put_pod(struct state *state, const struct pod_spec *spec)
{
    assert_ok(state_put_pod(state, spec, &err_));
    return state_find_pod(state, spec->namespace, spec->name);
}

__attribute__((unused)) static void assert_same_text(const char *a, const char *b)
{
    char difference[2048];

    if (texts_differ(a, b, difference))
        fail_msg("states differ:%s", difference);
}

__attribute__((unused)) static void assert_same_state(const struct state *a, const struct state *b)
{
    char *left = dump_state(a, false);
    char *right = dump_state(b, false);

    assert_same_text(left, right);
    free(left);
    free(right);
}
