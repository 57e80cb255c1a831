/* SPDX-License-Identifier: Apache-2.0 */

/* Names of shared GPUs, and BindRequests that are of no use any more. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "kube/client/chance.h"
#include "kube/client/verbs.h"
#include "model/delta.h"
#include "services/scheduler/carry/carry.h"
#include "services/scheduler/context.h"

enum { UUID_TEXT = 37 };

/* A UUID of version 4. */
static name_id new_group(struct scheduler *s)
{
    uint64_t a = chance_next(kube_client_chance(s->client));
    uint64_t b = chance_next(kube_client_chance(s->client));
    char text[UUID_TEXT];

    (void)snprintf(text, sizeof text, "%08x-%04x-4%03x-%04x-%012llx", (unsigned)(a >> 32), (unsigned)(a >> 16 & 0xffff),
                   (unsigned)(a & 0xfff), (unsigned)(0x8000 | (b >> 48 & 0x3fff)),
                   (unsigned long long)(b & 0xffffffffffff));
    return name_put(s->state, text);
}

/* Pods that the cycle put on one fresh GPU get the same name for it. */
static gpu_group name_of(struct scheduler *s, struct map64 *names, gpu_group group)
{
    uint64_t name = 0;

    if (!gpu_group_is_fresh(group))
        return group;
    if (!map64_get(names, group, &name)) {
        name = new_group(s);
        map64_put(names, group, name);
    }
    return gpu_group_named((name_id)name);
}

static void name_groups_of(struct scheduler *s, struct map64 *names, pod_id id)
{
    const struct pod *pod = &s->state->pods.items[id];
    bool has_fresh = false;

    for (uint32_t i = 0; i < pod->groups.count; i++)
        has_fresh |= gpu_group_is_fresh(group_at(&pod->groups, i)) != 0;
    if (!has_fresh)
        return;
    gpu_group *groups = xcalloc(pod->groups.count, sizeof *groups);
    for (uint32_t i = 0; i < pod->groups.count; i++)
        groups[i] = name_of(s, names, group_at(&pod->groups, i));
    struct group_list list = {.count = pod->groups.count, .one = groups[0], .many = groups};
    state_move_pod(s->state, id, (enum pod_status)pod->status, pod->node, list);
    OBSERVE(s, on_moved, id);
    free(groups);
}

void carry_name_groups(struct scheduler *s, const struct decision *decisions, size_t count)
{
    struct map64 names = {0};

    for (size_t i = 0; i < count; i++) {
        if (decisions[i].kind == DECISION_BIND && s->state->pods.items[decisions[i].pod].status == POD_BINDING)
            name_groups_of(s, &names, decisions[i].pod);
    }
    map64_done(&names);
}

static void on_deleted(void *arg, const struct kube_answer *answer)
{
    struct scheduler *s = arg;

    if (answer->err.code < 0 && answer->status != 404 && answer->status != 409)
        log_warn(s->log, "stale BindRequest could not be deleted", log_error(&answer->err));
}

static bool is_stale(const struct scheduler *s, const struct placement *placement)
{
    uint64_t node = 0;
    bool has_node =
        map64_get(&s->state->node_by_name, placement->node, &node) && s->state->nodes.items[node].is_present;

    return placement->has_request && !placement->carrying && !placement->is_being_deleted && placement->is_ours &&
           (placement->has_failed || !has_node);
}

void carry_delete_stale(struct scheduler *s)
{
    uint64_t key, value;

    for (size_t cursor = 0; map64_next(&s->placements, &cursor, &key, &value);) {
        struct placement *placement = (struct placement *)(uintptr_t)value;

        if (!is_stale(s, placement))
            continue;
        placement->is_being_deleted = true;
        (void)kube_delete(s->client, &(struct kube_delete_request){
                                         .resource = kube_known(KUBE_BIND_REQUESTS),
                                         .namespace = key_namespace(s->state, key),
                                         .name = key_name(s->state, key),
                                         .uid = state_name(s->state, placement->request_uid),
                                         .grace_s = -1,
                                         .on_done = on_deleted,
                                         .arg = s,
                                     });
    }
    s->has_stale_requests = false;
}
