/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A state in words, by names and sorted, so that two states of one content read the same however they came about: ids
 * and the order in which objects came do not show. For the tests of this folder and for tests/deltas.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "model/state.h"

enum { DUMP_MAX = 1 << 24 };

struct dump {
    const struct state *state;
    struct strbuf out;
    bool has_fresh_numbers;
};

static inline void dump_begin(struct dump *dump, const struct state *state)
{
    *dump = (struct dump){.state = state};
    strbuf_init(&dump->out, DUMP_MAX);
}

static inline int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts the lines from `from` on. */
static inline void dump_sort(struct dump *dump, size_t from)
{
    VEC(char *) lines = {0};
    _cleanup_(freep) char *copy = xstrdup(dump->out.text + from);
    char *rest = copy;

    for (char *line; (line = strsep(&rest, "\n")) && rest;)
        vec_push(&lines, line);
    if (lines.len > 0)
        qsort(lines.items, lines.len, sizeof *lines.items, by_text);
    dump->out.len = from;
    vec_foreach (&lines, line)
        strbuf_addf(&dump->out, "%s\n", *line);
    vec_done(&lines);
}

static inline const char *dump_name(const struct dump *dump, name_id name)
{
    return state_name(dump->state, name);
}

static inline void dump_id(struct dump *dump, const char *what, name_id namespace, name_id name)
{
    strbuf_addf(&dump->out, " %s=%s/%s", what, dump_name(dump, namespace), dump_name(dump, name));
}

/* Dimensions are in the order of their names; those with `nothing` are left out. */
static inline void dump_vector(struct dump *dump, const char *what, const int64_t *v, uint32_t count, int64_t nothing)
{
    const struct resources *res = &dump->state->res;
    uint32_t order[RES_MAX];
    uint32_t n = 0;

    for (uint32_t d = 0; d < count; d++) {
        uint32_t at = n;
        if (v[d] == nothing)
            continue;
        for (; at > 0 && strcmp(dump_name(dump, res->name[order[at - 1]]), dump_name(dump, res->name[d])) > 0; at--)
            order[at] = order[at - 1];
        order[at] = d;
        n++;
    }
    strbuf_addf(&dump->out, " %s[", what);
    for (uint32_t i = 0; i < n; i++)
        strbuf_addf(&dump->out, "%s=%" PRId64 " ", dump_name(dump, res->name[order[i]]), v[order[i]]);
    strbuf_addch(&dump->out, ']');
}

static inline void dump_group(struct dump *dump, gpu_group group)
{
    if (!gpu_group_is_fresh(group))
        strbuf_addf(&dump->out, " %s", dump_name(dump, (name_id)group));
    else if (dump->has_fresh_numbers)
        strbuf_addf(&dump->out, " #%" PRIu64, group & ~GPU_GROUP_FRESH);
    else
        strbuf_addstr(&dump->out, " #");
}

static inline void dump_amounts(struct dump *dump, const char *what, const struct amounts *amounts)
{
    strbuf_addf(&dump->out, " %s=%" PRId64 "/%" PRId64 "/%" PRId64, what, amounts->v[0], amounts->v[1], amounts->v[2]);
}

static inline void dump_devices(struct dump *dump, const struct device *devices, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        strbuf_addf(&dump->out, " %s/%s/%s", dump_name(dump, devices[i].driver), dump_name(dump, devices[i].pool),
                    dump_name(dump, devices[i].name));
}

static inline void dump_held(struct dump *dump, const struct node *node)
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
        const struct pod *pod = &state->pods.items[held->pod];

        dump_id(dump, "", pod->namespace, pod->name);
        strbuf_addf(&dump->out, ":%s:%" PRId64 ":%u", pod_status_name(held->status), held->charged_gpu,
                    held->group_count);
        for (uint32_t g = 0; g < held->group_count; g++)
            dump_group(dump, held->group_count == 1 ? held->group : held->groups[g]);
        dump_devices(dump, held->devices, held->device_count);
    }
    strbuf_addch(&dump->out, '}');
}

/* Labels are sorted by id, which differs between states. */
static inline void dump_labels(struct dump *dump, labels_id id)
{
    struct labels labels = state_labels(dump->state, id);
    uint64_t sum = 0;

    for (uint32_t i = 0; i < labels.count; i++) {
        uint64_t hash = UINT64_C(1469598103934665603);
        const char *texts[] = {dump_name(dump, labels.pairs[i].key), "=", dump_name(dump, labels.pairs[i].value)};

        for (uint32_t t = 0; t < 3; t++)
            for (const char *c = texts[t]; *c; c++)
                hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
        sum += hash;
    }
    strbuf_addf(&dump->out, " labels=%u:%" PRIx64, labels.count, sum);
}

static inline void dump_node(struct dump *dump, node_id id)
{
    const struct state *state = dump->state;
    const struct node *node = &state->nodes.items[id];
    struct books books = state_books(state, id);

    strbuf_addf(&dump->out, "node %s rank=%u troubles=%u taints=%u devices=%" PRId64 " memory=%" PRId64 "/%d",
                dump_name(dump, node->name), node->rank, node->troubles, node->taint_count, node->device_count,
                node->gpu_memory_mib, node->is_gpu_memory_known);
    strbuf_addf(&dump->out, " dra=%" PRId64 "/%d cpu_only=%d mig=%d/%u legacy=%u affine=%u pods=%u", node->dra_gpus,
                node->has_dra_gpus, node->is_cpu_only, node->is_mig_enabled, node->mig_strategy, node->legacy_mig_pods,
                node->affine_pods, node->pods.len);
    dump_labels(dump, node->labels);
    for (uint32_t t = 0; t < node->taint_count; t++)
        strbuf_addf(&dump->out, " %s=%s:%u", dump_name(dump, node->taints[t].key),
                    dump_name(dump, node->taints[t].value), node->taints[t].effect);
    dump_vector(dump, "allocatable", books.allocatable, state->book_dims, 0);
    dump_vector(dump, "idle", books.idle, state->book_dims, 0);
    dump_vector(dump, "used", books.used, state->book_dims, 0);
    dump_vector(dump, "releasing", books.releasing, state->book_dims, 0);
    dump_held(dump, node);
    for (uint32_t z = 0; node->numa && z < node->numa->zone_count; z++) {
        dump_vector(dump, dump_name(dump, node->numa->zones[z].name), node->numa->zones[z].allocatable,
                    node->numa->dims, -1);
        dump_vector(dump, "available", node->numa->zones[z].available, node->numa->dims, -1);
    }
    dump_amounts(dump, "foreign", &node->foreign);
    strbuf_addch(&dump->out, '\n');
}

static inline void dump_queue(struct dump *dump, const struct queue *queue)
{
    const struct state *state = dump->state;

    strbuf_addf(&dump->out, "queue %s parent=%s depth=%u orphan=%d priority=%d created=%" PRId64,
                dump_name(dump, queue->name),
                queue->parent == NO_ID ? "-" : dump_name(dump, state->queues.items[queue->parent].name), queue->depth,
                queue->is_orphan, queue->priority, queue->created);
    for (int r = 0; r < SHARE_COUNT; r++)
        strbuf_addf(&dump->out, " %g/%g/%g/%g", queue->deserved[r], queue->limit[r], queue->weight[r], queue->usage[r]);
    dump_amounts(dump, "allocated", &queue->allocated);
    dump_amounts(dump, "fixed", &queue->allocated_fixed);
    dump_amounts(dump, "requested", &queue->requested);
    strbuf_addf(&dump->out, " memory=%" PRId64, queue->requested_memory_mib);
    for (uint32_t i = 0; i < queue->children.len; i++)
        strbuf_addf(&dump->out, " %s", dump_name(dump, state->queues.items[queue->children.items[i]].name));
    strbuf_addch(&dump->out, '\n');
}

static inline void dump_set(struct dump *dump, const struct gang *gang, uint32_t index)
{
    const struct group *set = &gang->groups[index];

    strbuf_addf(&dump->out, " (%s min=%d %u %u %u %u %u %u %u:", dump_name(dump, set->name), set->min, set->pending,
                set->active_allocated, set->active_used, set->alive, set->gated, set->pipelined,
                set->virtual_releasing);
    for (uint32_t p = 0; p < set->pods.len; p++) {
        const struct pod *pod = &dump->state->pods.items[set->pods.items[p]];

        BUG_ON(pod->place != p || pod->pod_set != index);
        strbuf_addf(&dump->out, " %s", dump_name(dump, pod->name));
    }
    strbuf_addch(&dump->out, ')');
}

static inline void dump_gang(struct dump *dump, gang_id id)
{
    const struct state *state = dump->state;
    const struct gang *gang = &state->gangs.items[id];

    strbuf_addstr(&dump->out, "gang");
    dump_id(dump, "name", gang->namespace, gang->name);
    strbuf_addf(
        &dump->out, " queue=%s/%d sets=%d%d%d pending=%u active=%u used=%u gated=%u done=%u allocated=%u short=%u",
        dump_name(dump, gang->queue_name), gang->queue != NO_ID, id_set_has(&state->pending_gangs, id),
        id_set_has(&state->active_gangs, id), id_set_has(&state->stale_gangs, id), gang->pending,
        gang->active_allocated, gang->active_used, gang->gated, gang->succeeded, gang->allocated, gang->short_sets);
    strbuf_addf(&dump->out, " start=%" PRId64 " eviction=%" PRId64 " stale=%" PRId64, gang->last_start,
                gang->last_eviction, gang->stale_since);
    for (uint32_t i = 0; i < gang->group_count; i++)
        dump_set(dump, gang, i);
    strbuf_addf(&dump->out, " strays=%u\n", gang->stray_pods.len);
}

static inline void dump_pod(struct dump *dump, pod_id id)
{
    const struct state *state = dump->state;
    const struct pod *pod = &state->pods.items[id];
    const struct request *request = state_request(state, id);
    bool is_placed = pod->node != NO_ID && state->nodes.items[pod->node].is_present;

    strbuf_addstr(&dump->out, "pod");
    dump_id(dump, "name", pod->namespace, pod->name);
    strbuf_addf(&dump->out,
                " status=%s/%u node=%s nominated=%s place=%u accepted=%" PRId64 " dra=%" PRId64 " quota=%" PRId64,
                pod_status_name(pod->status), pod->is_virtual,
                pod->node == NO_ID ? "-" : dump_name(dump, state->nodes.items[pod->node].name),
                pod->nominated_node == NO_ID ? "-" : dump_name(dump, state->nodes.items[pod->nominated_node].name),
                pod->pod_set == NO_ID ? 0 : pod->place, pod->accepted_gpu, request->dra_gpus, request->quota_gpus);
    strbuf_addf(&dump->out, " kind=%u devices=%u portion=%g memory=%" PRId64, request->kind, request->devices,
                request->portion, request->memory_mib);
    dump_vector(dump, "asks", request->v, request->v_count, 0);
    dump_labels(dump, pod->labels);
    for (uint32_t i = 0; i < pod->groups.count; i++) {
        gpu_group group = group_at(&pod->groups, i);

        /* A node that went took the numbers of its shared GPUs along; which pods still have theirs is history. */
        if (is_placed || dump->has_fresh_numbers || !gpu_group_is_fresh(group))
            dump_group(dump, group);
    }
    for (uint32_t i = 0; i < pod->claim_count; i++)
        strbuf_addf(&dump->out, " claim%d", pod->claims[i].claim != NO_ID);
    for (uint32_t i = 0; pod->numa && i < pod->numa->count; i++)
        strbuf_addf(&dump->out, " %s:%s:%" PRId64, dump_name(dump, pod->numa->draws[i].zone),
                    dump_name(dump, state->res.name[pod->numa->draws[i].dim]), pod->numa->draws[i].amount);
    strbuf_addch(&dump->out, '\n');
}

static inline void dump_claim(struct dump *dump, const struct claim *claim)
{
    strbuf_addstr(&dump->out, "claim");
    dump_id(dump, "name", claim->namespace, claim->name);
    strbuf_addf(&dump->out, " class=%s gpu=%d count=%" PRId64 " allocated=%u users=%u",
                dump_name(dump, claim->device_class), claim->is_gpu, claim->count, claim->is_allocated,
                claim->users.len);
    if (claim->is_allocated)
        dump_devices(dump, claim->devices, claim->device_count);
    for (uint32_t d = 0; claim->is_allocated && d < claim->device_count; d++)
        for (uint32_t i = 0; i < claim->devices[d].amount_count; i++) {
            const struct device_amount *amount = &claim->amounts[claim->devices[d].first_amount + i];

            strbuf_addf(&dump->out, " %u:%s=%" PRId64 ".%09d", claim->devices[d].is_share, amount->name, amount->whole,
                        amount->nano);
        }
    strbuf_addstr(&dump->out, " for");
    uint64_t sum = 0;
    for (uint32_t i = 0; i < claim->reserved_count; i++) {
        uint64_t hash = 5381;
        for (const char *c = dump_name(dump, claim->reserved_for[i]); *c; c++)
            hash = hash * 33 + (unsigned char)*c;
        sum += hash;
    }
    strbuf_addf(&dump->out, " %u:%" PRIx64 "\n", claim->reserved_count, sum);
}

/*
 * The caller frees it. Numbers of shared GPUs that nobody named depend on what came before: `has_fresh_numbers` says
 * whether they show.
 */
static inline char *dump_state(const struct state *state, bool has_fresh_numbers)
{
    struct dump dump;

    dump_begin(&dump, state);
    dump.has_fresh_numbers = has_fresh_numbers;
    strbuf_addf(&dump.out, "state affine=%u numa=%d memory=%" PRId64 "-%" PRId64, state->affine_pods, state->has_numa,
                state->min_gpu_memory_mib, state->max_gpu_memory_mib);
    dump_amounts(&dump, "total", &state->total);
    strbuf_addch(&dump.out, '\n');
    size_t from = dump.out.len;
    for (node_id id = 0; id < state->nodes.len; id++)
        if (state->nodes.items[id].is_present)
            dump_node(&dump, id);
    vec_foreach (&state->queues, queue)
        if (queue->is_present)
            dump_queue(&dump, queue);
    for (gang_id id = 0; id < state->gangs.len; id++)
        if (state->gangs.items[id].is_present)
            dump_gang(&dump, id);
    for (pod_id id = 0; id < state->pods.len; id++)
        if (state->pods.items[id].is_present)
            dump_pod(&dump, id);
    vec_foreach (&state->claims, claim)
        if (claim->is_present)
            dump_claim(&dump, claim);
    dump_sort(&dump, from);
    return strbuf_take(&dump.out);
}

/* The first lines in which two texts differ, in `ret`; false when they are the same. */
static inline bool texts_differ(const char *a, const char *b, char ret[static 2048])
{
    while (*a && *b) {
        size_t a_len = strcspn(a, "\n");
        size_t b_len = strcspn(b, "\n");

        if (a_len != b_len || memcmp(a, b, a_len) != 0)
            break;
        a += a_len + (a[a_len] == '\n');
        b += b_len + (b[b_len] == '\n');
    }
    if (!*a && !*b)
        return false;
    (void)snprintf(ret, 2048, "\n  %.*s\n  %.*s", (int)strcspn(a, "\n"), a, (int)strcspn(b, "\n"), b);
    return true;
}
