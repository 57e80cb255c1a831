/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the tests of this folder share: short ways to put objects, and a state as text that two states can be compared
 * by.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "model/books.h"
#include "model/delta.h"
#include "model/state.h"

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

/* A state as text, by names, so that two states of one content read the same however they came about. */
struct dump {
    const struct state *state;
    struct strbuf out;
    bool has_fresh_numbers;  // write the numbers of unnamed shared GPUs, which depend on history
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts the lines from `from` on. */
static void dump_sort(struct dump *dump, size_t from)
{
    VEC(char *) lines = {0};
    char *copy = xstrdup(dump->out.text + from);
    char *rest = copy;

    for (char *line; (line = strsep(&rest, "\n")) && rest;)
        vec_push(&lines, line);
    if (lines.len > 0)
        qsort(lines.items, lines.len, sizeof *lines.items, by_text);
    dump->out.len = from;
    vec_foreach (&lines, line)
        strbuf_addf(&dump->out, "%s\n", *line);
    free(copy);
    vec_done(&lines);
}

static void dump_vector(struct dump *dump, const char *what, const int64_t *v, uint32_t count)
{
    const struct state *state = dump->state;
    const char *names[RES_MAX];
    int64_t values[RES_MAX];
    uint32_t n = 0;

    strbuf_addf(&dump->out, " %s[", what);
    for (uint32_t d = 0; d < count; d++) {
        if (v[d] == 0 || v[d] == -1)
            continue;
        uint32_t at = n++;
        for (; at > 0 && strcmp(names[at - 1], state_name(state, state->res.name[d])) > 0; at--) {
            names[at] = names[at - 1];
            values[at] = values[at - 1];
        }
        names[at] = state_name(state, state->res.name[d]);
        values[at] = v[d];
    }
    for (uint32_t i = 0; i < n; i++)
        strbuf_addf(&dump->out, "%s=%" PRId64 " ", names[i], values[i]);
    strbuf_addstr(&dump->out, "]");
}

static void dump_group(struct dump *dump, gpu_group group)
{
    if (!gpu_group_is_fresh(group))
        strbuf_addf(&dump->out, " %s", state_name(dump->state, (name_id)group));
    else if (dump->has_fresh_numbers)
        strbuf_addf(&dump->out, " #%" PRIu64, group & ~GPU_GROUP_FRESH);
    else
        strbuf_addstr(&dump->out, " #");
}

static void dump_amounts(struct dump *dump, const char *what, const struct amounts *amounts)
{
    strbuf_addf(&dump->out, " %s=%" PRId64 "/%" PRId64 "/%" PRId64, what, amounts->v[0], amounts->v[1], amounts->v[2]);
}

static void dump_lists(struct dump *dump, const struct node *node)
{
    const struct state *state = dump->state;

    strbuf_addstr(&dump->out, " shared{");
    for (uint32_t i = node->first_shared; i != NO_ID; i = state_shared_gpu(state, i)->next) {
        const struct shared_gpu *gpu = state_shared_gpu(state, i);

        dump_group(dump, gpu->id);
        strbuf_addf(&dump->out, ":%" PRId64 ",%" PRId64 ",%" PRId64 ",%u", gpu->used, gpu->allocated, gpu->releasing,
                    gpu->is_marked);
    }
    strbuf_addstr(&dump->out, "} held{");
    for (uint32_t i = node->first_held; i != NO_ID; i = state_held(state, i)->next) {
        const struct held *held = state_held(state, i);

        strbuf_addf(&dump->out, " %s:%u:%" PRId64 ":%u:%u", state_name(state, state->pods.items[held->pod].name),
                    held->status, held->charged_gpu, held->group_count, held->device_count);
    }
    strbuf_addstr(&dump->out, "}");
}

static void dump_node(struct dump *dump, node_id id)
{
    const struct state *state = dump->state;
    const struct node *node = &state->nodes.items[id];
    struct books books = state_books(state, id);

    strbuf_addf(&dump->out, "node %s rank=%u troubles=%u labels=%u taints=%u devices=%" PRId64 " memory=%" PRId64,
                state_name(state, node->name), node->rank, node->troubles, state_labels(state, node->labels).count,
                node->taint_count, node->device_count, node->gpu_memory_mib);
    strbuf_addf(&dump->out, " dra=%" PRId64 "/%d cpu_only=%d mig=%d legacy=%u affine=%u pods=%u", node->dra_gpus,
                node->has_dra_gpus, node->is_cpu_only, node->is_mig_enabled, node->legacy_mig_pods, node->affine_pods,
                node->pods.len);
    dump_vector(dump, "allocatable", books.allocatable, state->book_dims);
    dump_vector(dump, "idle", books.idle, state->book_dims);
    dump_vector(dump, "used", books.used, state->book_dims);
    dump_vector(dump, "releasing", books.releasing, state->book_dims);
    dump_lists(dump, node);
    for (uint32_t z = 0; node->numa && z < node->numa->zone_count; z++)
        dump_vector(dump, state_name(state, node->numa->zones[z].name), node->numa->zones[z].available,
                    node->numa->dims);
    strbuf_addstr(&dump->out, "\n");
}

static void dump_queue(struct dump *dump, const struct queue *queue)
{
    const struct state *state = dump->state;

    strbuf_addf(&dump->out, "queue %s parent=%s depth=%u orphan=%d memory=%" PRId64, state_name(state, queue->name),
                queue->parent == NO_ID ? "-" : state_name(state, state->queues.items[queue->parent].name), queue->depth,
                queue->is_orphan, queue->requested_memory_mib);
    dump_amounts(dump, "allocated", &queue->allocated);
    dump_amounts(dump, "fixed", &queue->allocated_fixed);
    dump_amounts(dump, "requested", &queue->requested);
    for (uint32_t i = 0; i < queue->children.len; i++)
        strbuf_addf(&dump->out, " %s", state_name(state, state->queues.items[queue->children.items[i]].name));
    strbuf_addstr(&dump->out, "\n");
}

static void dump_gang(struct dump *dump, gang_id id)
{
    const struct state *state = dump->state;
    const struct gang *gang = &state->gangs.items[id];

    strbuf_addf(&dump->out,
                "gang %s queue=%s sets=%d%d%d pending=%u active=%u used=%u gated=%u done=%u allocated=%u short=%u",
                state_name(state, gang->name), gang->queue == NO_ID ? "-" : state_name(state, gang->queue_name),
                id_set_has(&state->pending_gangs, id), id_set_has(&state->active_gangs, id),
                id_set_has(&state->stale_gangs, id), gang->pending, gang->active_allocated, gang->active_used,
                gang->gated, gang->succeeded, gang->allocated, gang->short_sets);
    for (uint32_t i = 0; i < gang->group_count; i++) {
        const struct group *set = &gang->groups[i];

        strbuf_addf(&dump->out, " (%s %d %u %u %u %u %u %u %u:", state_name(state, set->name), set->min, set->pending,
                    set->active_allocated, set->active_used, set->alive, set->gated, set->pipelined,
                    set->virtual_releasing);
        for (uint32_t p = 0; p < set->pods.len; p++) {
            const struct pod *pod = &state->pods.items[set->pods.items[p]];

            assert_int_equal(pod->place, p);
            assert_int_equal(pod->pod_set, i);
            strbuf_addf(&dump->out, " %s", state_name(state, pod->name));
        }
        strbuf_addstr(&dump->out, ")");
    }
    strbuf_addf(&dump->out, " strays=%u\n", gang->stray_pods.len);
}

static void dump_pod(struct dump *dump, pod_id id)
{
    const struct state *state = dump->state;
    const struct pod *pod = &state->pods.items[id];
    const struct request *request = state_request(state, id);
    bool is_placed = pod->node != NO_ID && state->nodes.items[pod->node].is_present;

    strbuf_addf(&dump->out, "pod %s status=%s%u node=%s accepted=%" PRId64 " dra=%" PRId64 " quota=%" PRId64,
                state_name(state, pod->name), pod_status_name(pod->status), pod->is_virtual,
                pod->node == NO_ID ? "-" : state_name(state, state->nodes.items[pod->node].name), pod->accepted_gpu,
                request->dra_gpus, request->quota_gpus);
    dump_vector(dump, "asks", request->v, request->v_count);
    for (uint32_t i = 0; i < pod->groups.count && is_placed; i++)
        dump_group(dump, group_at(&pod->groups, i));
    for (uint32_t i = 0; i < pod->claim_count; i++)
        strbuf_addf(&dump->out, " claim%d", pod->claims[i].claim != NO_ID);
    strbuf_addstr(&dump->out, "\n");
}

__attribute__((unused)) static char *dump_state(const struct state *state, bool has_fresh_numbers)
{
    struct dump dump = {.state = state, .has_fresh_numbers = has_fresh_numbers};

    strbuf_init(&dump.out, (size_t)1 << 24);
    strbuf_addf(&dump.out, "state affine=%u numa=%d memory=%" PRId64 "-%" PRId64, state->affine_pods, state->has_numa,
                state->min_gpu_memory_mib, state->max_gpu_memory_mib);
    dump_amounts(&dump, "total", &state->total);
    strbuf_addstr(&dump.out, "\n");
    size_t from = dump.out.len;
    for (node_id id = 0; id < state->nodes.len; id++)
        if (state->nodes.items[id].is_present)
            dump_node(&dump, id);
    for (uint32_t i = 0; i < state->queues.len; i++)
        if (state->queues.items[i].is_present)
            dump_queue(&dump, &state->queues.items[i]);
    for (gang_id id = 0; id < state->gangs.len; id++)
        if (state->gangs.items[id].is_present)
            dump_gang(&dump, id);
    for (pod_id id = 0; id < state->pods.len; id++)
        if (state->pods.items[id].is_present)
            dump_pod(&dump, id);
    dump_sort(&dump, from);
    return strbuf_take(&dump.out);
}

/* Compares line by line, so that a failure shows the one object that differs. */
__attribute__((unused)) static void assert_same_text(const char *a, const char *b)
{
    while (*a && *b) {
        size_t a_len = strcspn(a, "\n");
        size_t b_len = strcspn(b, "\n");

        if (a_len != b_len || memcmp(a, b, a_len) != 0)
            fail_msg("states differ:\n%.*s\n%.*s", (int)a_len, a, (int)b_len, b);
        a += a_len + (a[a_len] == '\n');
        b += b_len + (b[b_len] == '\n');
    }
    assert_string_equal(a, b);
}

__attribute__((unused)) static void assert_same_state(const struct state *a, const struct state *b)
{
    char *left = dump_state(a, false);
    char *right = dump_state(b, false);

    assert_same_text(left, right);
    free(left);
    free(right);
}
