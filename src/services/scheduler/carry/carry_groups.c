/* SPDX-License-Identifier: Apache-2.0 */

/* Names of shared GPUs, and BindRequests that are of no use any more. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "kube/client/chance.h"
#include "kube/client/verbs.h"
#include "model/delta.h"
#include "services/scheduler/carry/carry_internal.h"
#include "services/scheduler/observe/observer.h"

void carry_uuid(const struct carry *carry, char text[static CARRY_UUID_TEXT])
{
    uint64_t a = chance_next(kube_client_chance(carry->client));
    uint64_t b = chance_next(kube_client_chance(carry->client));

    (void)snprintf(text, CARRY_UUID_TEXT, "%08x-%04x-4%03x-%04x-%012llx", (unsigned)(a >> 32),
                   (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xfff), (unsigned)(0x8000 | (b >> 48 & 0x3fff)),
                   (unsigned long long)(b & 0xffffffffffff));
}

static name_id new_group(struct carry *carry)
{
    char text[CARRY_UUID_TEXT];

    carry_uuid(carry, text);
    return name_put(carry->state, text);
}

/* Pods that the cycle put on one fresh GPU get the same name for it. */
static gpu_group name_of(struct carry *carry, struct map64 *names, gpu_group group)
{
    uint64_t name = 0;

    if (!gpu_group_is_fresh(group))
        return group;
    if (!map64_get(names, group, &name)) {
        name = new_group(carry);
        map64_put(names, group, name);
    }
    return gpu_group_named((name_id)name);
}

static void name_groups_of(struct carry *carry, struct map64 *names, pod_id id)
{
    const struct pod *pod = &carry->state->pods.items[id];
    bool has_fresh = false;

    for (uint32_t i = 0; i < pod->groups.count; i++)
        has_fresh |= gpu_group_is_fresh(group_at(&pod->groups, i)) != 0;
    if (!has_fresh)
        return;
    gpu_group *groups = xcalloc(pod->groups.count, sizeof *groups);
    for (uint32_t i = 0; i < pod->groups.count; i++)
        groups[i] = name_of(carry, names, group_at(&pod->groups, i));
    struct group_list list = {.count = pod->groups.count, .one = groups[0], .many = groups};
    state_move_pod(carry->state, id, (enum pod_status)pod->status, pod->node, list);
    OBSERVE(carry->observers, on_moved, id);
    free(groups);
}

void carry_name_groups(struct carry *carry, const struct decision *decisions, size_t count)
{
    struct map64 names = {0};

    for (size_t i = 0; i < count; i++) {
        if (decisions[i].kind == DECISION_BIND && carry->state->pods.items[decisions[i].pod].status == POD_BINDING)
            name_groups_of(carry, &names, decisions[i].pod);
    }
    map64_done(&names);
}

/* The answer may come when everything is listed anew and `carry` is gone: nothing but the log is used. */
static void on_deleted(void *arg, const struct kube_answer *answer)
{
    if (answer->err.code < 0 && answer->status != 404 && answer->status != 409)
        log_warn(arg, "stale BindRequest could not be deleted", log_error(&answer->err));
}

static void delete_request(void *arg, const struct placement *placement)
{
    struct carry *carry = arg;

    (void)kube_delete(carry->client, &(struct kube_delete_request){
                                         .resource = kube_known(KUBE_BIND_REQUESTS),
                                         .namespace = key_namespace(carry->state, placement->key),
                                         .name = key_name(carry->state, placement->key),
                                         .uid = state_name(carry->state, placement->request_uid),
                                         .grace_s = -1,
                                         .on_done = on_deleted,
                                         .arg = carry->log,
                                     });
}

void carry_delete_stale(struct carry *carry)
{
    placements_take_stale(carry->placements, delete_request, carry);
}
