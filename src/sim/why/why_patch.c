/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Remedies as commands. The pod templates of a workload are found wherever its kind has them, so that a kind with several
 * gets one patch for all that the remedy is about. Pods and the templates of Jobs cannot be changed in place: their
 * manifest is patched instead, and the object is replaced.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "model/state.h"
#include "objects/keys.h"
#include "objects/kinds.h"
#include "objects/object.h"
#include "objects/owner.h"
#include "sim/why/why_patch_internal.h"

enum { PATH_MAX_BYTES = 512 };

const char *patch_plain(struct patcher *p, const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/~:-";

    p->is_unsafe |= name[strspn(name, allowed)] != '\0' || *name == '-';
    return name;
}

static void add_kind(struct strbuf *out, const char *api_version, const char *kind)
{
    char group[API_GROUP_MAX];

    (void)api_group(api_version, group);
    for (; *kind; kind++)
        strbuf_addch(out, (char)(*kind >= 'A' && *kind <= 'Z' ? *kind - 'A' + 'a' : *kind));
    strbuf_addf(out, "%s%s", *group ? "." : "", group);
}

/* "job.batch/train -n team-a" */
static void add_object(struct patcher *p, const struct owner *owner)
{
    struct strbuf *out = p->out;

    add_kind(out, patch_plain(p, owner->api_version), patch_plain(p, owner->kind));
    strbuf_addf(out, " %s", patch_plain(p, owner->name));
    if (*owner->namespace)
        strbuf_addf(out, " -n %s", patch_plain(p, owner->namespace));
}

/* The workload that was written behind a gang, or its PodGroup. */
static struct owner owner_of(const struct why *why, gang_id id)
{
    const struct gang *gang = &why->state->gangs.items[id];
    const char *namespace = state_name(why->state, gang->namespace);
    const char *name = state_name(why->state, gang->name);
    struct owner owner = {
        .api_version = "scheduling.run.ai/v2alpha2", .kind = "PodGroup", .namespace = namespace, .name = name};

    (void)owner_find(why->objects, namespace, name, &owner);
    return owner;
}

static const struct object *group_of(const struct why *why)
{
    const struct gang *gang = &why->state->gangs.items[why->gang];

    return object_set_find(why->objects, object_kind_of("scheduling.run.ai", "PodGroup"),
                           state_name(why->state, gang->namespace), state_name(why->state, gang->name));
}

/* Is the PodGroup of the workload in the cluster already? Otherwise it was made here, as the grouper will. */
static bool has_group(const struct why *why)
{
    const struct object *group = group_of(why);

    return group && !group->maker;
}

/* The object to change: of a Deployment's pod it is the Deployment. */
static struct owner changed_owner(const struct why *why)
{
    const struct object *group = group_of(why);
    struct owner owner;

    return group && owner_of_replica(why->objects, group, &owner) && owner.object ? owner : owner_of(why, why->gang);
}

static bool is_pod_group(const struct owner *owner)
{
    return strcmp(owner->kind, "PodGroup") == 0;
}

static bool is_fixed(const struct owner *owner)
{
    return strcmp(owner->kind, "Pod") == 0 || strcmp(owner->kind, "Job") == 0;
}

void patch_add_operation(struct patcher *p, const char *operation, const char *path, const char *value)
{
    strbuf_addf(&p->operations, "%s{\"op\":\"%s\",\"path\":\"%s\"", *p->operations.text ? "," : "", operation,
                patch_plain(p, path));
    if (value)
        strbuf_addf(&p->operations, ",\"value\":%s", value);
    strbuf_addch(&p->operations, '}');
}

static void replace_manifest(struct patcher *p)
{
    struct strbuf operations;
    struct strbuf merge;

    strbuf_init(&operations, PATCH_OPERATIONS_MAX + 2);
    strbuf_init(&merge, PATCH_OPERATIONS_MAX);
    strbuf_addf(&operations, "[%s]", p->operations.text);
    p->is_unsafe |= !patch_as_merge(operations.text, p->owner.object->root.val, &merge) || strchr(merge.text, '\'');
    strbuf_addf(p->out, "kubectl patch --local -f MANIFEST -p '%s' -o yaml | kubectl replace --force -f -\n",
                merge.text);
    strbuf_done(&merge);
    strbuf_done(&operations);
}

static void end_patch(struct patcher *p)
{
    if (!*p->operations.text)
        return;
    if (is_fixed(&p->owner)) {
        replace_manifest(p);
        return;
    }
    strbuf_addstr(p->out, "kubectl patch ");
    add_object(p, &p->owner);
    strbuf_addf(p->out, " --type=json -p '[%s]'\n", p->operations.text);
}

/* Both of a pair in one patch: an object that is replaced is replaced once. */
static void patch_templates(struct patcher *p, const struct why_remedy *with)
{
    const struct why_remedy *remedy = p->remedy;

    if (with) {
        p->remedy = with;
        patch_collect_templates(p);
        p->remedy = remedy;
    }
    patch_collect_templates(p);
    end_patch(p);
}

static bool changes_templates(enum why_remedy_kind kind)
{
    switch (kind) {
    case WHY_GPUS:
    case WHY_FRACTION:
    case WHY_GPU_MEMORY:
    case WHY_DEVICES:
    case WHY_AMOUNT:
    case WHY_NODES:
    case WHY_TAINTS:
        return true;
    default:
        return false;
    }
}

static void label(struct patcher *p, const char *verb, const char *key, const char *value)
{
    strbuf_addf(p->out, "kubectl %s --overwrite ", verb);
    add_object(p, &p->owner);
    if (value)
        strbuf_addf(p->out, " %s=%s\n", key, patch_plain(p, value));
    else
        strbuf_addf(p->out, " %s-\n", key);
}

static void patch_group(struct patcher *p, const char *path, const char *value)
{
    struct owner group = owner_of(p->why, p->why->gang);

    group = (struct owner){.api_version = "scheduling.run.ai/v2alpha2",
                           .kind = "PodGroup",
                           .namespace = group.namespace,
                           .name = state_name(p->why->state, p->why->state->gangs.items[p->why->gang].name)};
    p->owner = group;
    patch_add_operation(p, value ? "add" : "remove", path, value);  // "add" replaces a value that is there
    end_patch(p);
}

/* The grouper reads the labels and annotations of a workload for a new PodGroup: one that exists is changed as well. */
static void patch_existing_group(struct patcher *p, const char *path, const char *value)
{
    if (has_group(p->why))
        patch_group(p, path, value);
}

static void patch_queues(struct patcher *p)
{
    static const char *const keys[] = {[SHARE_CPU] = "cpu", [SHARE_MEMORY] = "memory", [SHARE_GPU] = "gpu"};
    static const double units[] = {[SHARE_CPU] = 1, [SHARE_MEMORY] = 1e6, [SHARE_GPU] = 1};

    for (size_t i = 0; i < p->remedy->change.queue_count; i++) {
        const struct queue_change *change = &p->remedy->change.queues[i];

        strbuf_addf(p->out,
                    "kubectl patch queue.scheduling.run.ai %s --type=merge -p "
                    "'{\"spec\":{\"resources\":{\"%s\":{\"%s\":%.15g}}}}'\n",
                    patch_plain(p, state_name(p->why->state, p->why->state->queues.items[change->queue].name)),
                    keys[change->resource], change->is_limit ? "limit" : "quota",
                    ceil(change->value / units[change->resource] * 1e6) / 1e6);
    }
}

/* A minimum: of a Job by its annotation, of all others in their PodGroup. */
static void patch_minimum(struct patcher *p)
{
    const struct gang *gang = &p->why->state->gangs.items[p->why->gang];
    char path[64];
    char value[24];

    (void)snprintf(value, sizeof value, "%g", p->remedy->step.to);
    if (strcmp(p->owner.kind, "Job") == 0) {
        label(p, "annotate", KEY_MIN_MEMBER, value);
        patch_existing_group(p, "/spec/minMember", value);
        return;
    }
    if (strcmp(state_name(p->why->state, gang->groups[p->remedy->change.min_group].name), "default") == 0)
        (void)snprintf(path, sizeof path, "/spec/minMember");
    else
        (void)snprintf(path, sizeof path, "/spec/subGroups/%u/minMember", p->remedy->change.min_group - 1);
    patch_group(p, path, value);
}

static void patch_level(struct patcher *p)
{
    const struct why_remedy *remedy = p->remedy;
    char path[96];
    char value[PATH_MAX_BYTES];

    if (remedy->change.level_group == 0 && !is_pod_group(&p->owner)) {
        label(p, "annotate", KEY_TOPOLOGY_REQUIRED, remedy->change.level);
        if (!has_group(p->why))
            return;
    }
    if (remedy->change.level_group == 0)
        (void)snprintf(path, sizeof path, "/spec/topologyConstraint/requiredTopologyLevel");
    else
        (void)snprintf(path, sizeof path, "/spec/subGroups/%u/topologyConstraint/requiredTopologyLevel",
                       remedy->change.level_group - 1);
    if (remedy->change.level)
        (void)snprintf(value, sizeof value, "\"%s\"", patch_plain(p, remedy->change.level));
    patch_group(p, path, remedy->change.level ? value : NULL);
}

static void patch_queue_name(struct patcher *p)
{
    char value[PATH_MAX_BYTES];

    (void)snprintf(value, sizeof value, "\"%s\"", patch_plain(p, p->remedy->change.queue));
    if (is_pod_group(&p->owner)) {
        patch_group(p, "/spec/queue", value);
        return;
    }
    label(p, "label", KEY_QUEUE, p->remedy->change.queue);
    patch_existing_group(p, "/spec/queue", value);
}

static void patch_one(const struct why *why, const struct why_remedy *remedy, const struct why_remedy *with,
                      struct strbuf *out)
{
    struct strbuf commands;
    struct patcher p = {.why = why, .remedy = remedy, .out = &commands, .owner = changed_owner(why)};
    struct owner ended;

    strbuf_init(&commands, PATCH_OPERATIONS_MAX);
    strbuf_init(&p.operations, PATCH_OPERATIONS_MAX);
    switch (remedy->kind) {
    case WHY_PODS:
        patch_minimum(&p);
        break;
    case WHY_QUEUE:
        patch_queue_name(&p);
        break;
    case WHY_QUOTA:
        patch_queues(&p);
        break;
    case WHY_PREEMPTIBLE:
        if (!is_pod_group(&p.owner))
            label(&p, "label", KEY_PREEMPTIBILITY, "preemptible");
        if (is_pod_group(&p.owner) || has_group(why))
            patch_group(&p, "/spec/preemptibility", "\"preemptible\"");
        break;
    case WHY_LEVEL:
        patch_level(&p);
        break;
    case WHY_WITHOUT:
        ended = owner_of(why, remedy->change.without);
        strbuf_addstr(&commands, "kubectl delete ");
        add_object(&p, &ended);
        strbuf_addch(&commands, '\n');
        break;
    /* What a claim asks for cannot be changed. */
    case WHY_CLAIM_DEVICES:
    case WHY_CLAIM_CLASS:
    case WHY_WAIT:
    case _WHY_REMEDY_MAX:
        break;
    default:
        patch_templates(&p, with);
        break;
    }
    if (!p.is_unsafe)
        strbuf_addstr(out, commands.text);
    strbuf_done(&p.operations);
    strbuf_done(&commands);
}

void why_remedy_patch(const struct why *why, const struct why_remedy *remedy, struct strbuf *out)
{
    if (!why->objects)
        return;
    if (remedy->with && changes_templates(remedy->with->kind) && changes_templates(remedy->kind)) {
        patch_one(why, remedy, remedy->with, out);
        return;
    }
    if (remedy->with)
        patch_one(why, remedy->with, NULL, out);
    patch_one(why, remedy, NULL, out);
}
