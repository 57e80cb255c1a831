/* SPDX-License-Identifier: Apache-2.0 */

/* Remedies in words. */
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "model/state.h"
#include "sim/why/why_amount.h"
#include "sim/why/why_find.h"
#include "sim/why/why_internal.h"

static const char *const names[] = {
    [WHY_GPUS] = "gpus",
    [WHY_FRACTION] = "gpu_fraction",
    [WHY_GPU_MEMORY] = "gpu_memory",
    [WHY_DEVICES] = "gpu_devices",
    [WHY_AMOUNT] = "resource",
    [WHY_CLAIM_DEVICES] = "claim_devices",
    [WHY_CLAIM_CLASS] = "claim_class",
    [WHY_PODS] = "pods",
    [WHY_QUEUE] = "queue",
    [WHY_QUOTA] = "quota",
    [WHY_PREEMPTIBLE] = "preemptible",
    [WHY_NODES] = "node_selector",
    [WHY_TAINTS] = "tolerations",
    [WHY_LEVEL] = "topology_level",
    [WHY_WITHOUT] = "without",
    [WHY_WAIT] = "wait",
};
_Static_assert(ARRAY_LEN(names) == _WHY_REMEDY_MAX, "every remedy has a name");

const char *why_remedy_name(enum why_remedy_kind kind)
{
    return names[kind];
}

/* One step less is worth a word only where it is not what is asked for now. */
static void add_less(struct strbuf *out, const struct why_step *step)
{
    if (step->less != step->from)
        strbuf_addf(out, " (with %.9g, it still waits)", step->less);
}

static void add_gpus(const struct why_step *step, const char *verb, struct strbuf *out)
{
    strbuf_addf(out, "%s ", verb);
    amount_add_share(out, SHARE_GPU, step->to);
    strbuf_addf(out, " per pod instead of %.9g", step->from);
    add_less(out, step);
}

static void add_gpu_memory(const struct why_step *step, struct strbuf *out)
{
    strbuf_addstr(out, "request ");
    amount_add_share(out, SHARE_MEMORY, step->to * 0x1p20);
    strbuf_addstr(out, " of GPU memory per pod instead of ");
    amount_add_share(out, SHARE_MEMORY, step->from * 0x1p20);
    if (step->less == step->from)
        return;
    strbuf_addstr(out, " (with ");
    amount_add_share(out, SHARE_MEMORY, step->less * 0x1p20);
    strbuf_addstr(out, ", it still waits)");
}

static void add_resource(const struct why *why, const struct why_remedy *remedy, struct strbuf *out)
{
    const struct state *state = why->state;
    uint32_t dim = remedy->change.dim;
    double unit = dim >= RES_FIXED && state->res.mig_slices[dim] == 0 ? 1000 : 1;

    strbuf_addstr(out, "request ");
    amount_add(out, state, dim, remedy->change.value);
    strbuf_addstr(out, " per pod instead of ");
    amount_add(out, state, dim, (int64_t)(remedy->step.from * unit));
    if (remedy->step.less == remedy->step.from)
        return;
    strbuf_addstr(out, " (with ");
    amount_add(out, state, dim, (int64_t)(remedy->step.less * unit));
    strbuf_addstr(out, ", it still waits)");
}

static void add_pods(const struct why *why, const struct why_remedy *remedy, struct strbuf *out)
{
    const struct gang *gang = &why->state->gangs.items[why->gang];
    const char *set = state_name(why->state, gang->groups[remedy->change.min_group].name);

    strbuf_addf(out, "let it start with %g pod%s", remedy->step.to, remedy->step.to == 1 ? "" : "s");
    if (strcmp(set, "default") != 0)
        strbuf_addf(out, " of %s", set);
    strbuf_addf(out, " instead of %g", remedy->step.from);
    add_less(out, &remedy->step);
}

static void add_quota(const struct why *why, const struct why_remedy *remedy, struct strbuf *out)
{
    static const char *const resources[] = {[SHARE_CPU] = "CPU", [SHARE_MEMORY] = "memory", [SHARE_GPU] = "GPU"};

    for (size_t i = 0; i < remedy->change.queue_count; i++) {
        const struct queue_change *change = &remedy->change.queues[i];
        const struct why_step *step = &remedy->steps[i];

        strbuf_addf(out, "%s the %s %s of queue %s from ", i == 0 ? "raise" : ", and", resources[change->resource],
                    change->is_limit ? "limit" : "quota",
                    state_name(why->state, why->state->queues.items[change->queue].name));
        amount_add_share(out, change->resource, step->from);
        strbuf_addstr(out, " to ");
        amount_add_share(out, change->resource, step->to);
        if (step->less == step->from)
            continue;
        strbuf_addstr(out, " (with ");
        amount_add_share(out, change->resource, step->less);
        strbuf_addstr(out, ", it still waits)");
    }
}

static void add_level(const struct why *why, const struct why_remedy *remedy, struct strbuf *out)
{
    const struct gang *gang = &why->state->gangs.items[why->gang];
    const char *group = state_name(why->state, gang->groups[remedy->change.level_group].name);

    if (remedy->change.level)
        strbuf_addf(out, "require topology level %s instead of %s", remedy->change.level, remedy->level_from);
    else
        strbuf_addf(out, "do not require topology level %s", remedy->level_from);
    if (*group && strcmp(group, "default") != 0)
        strbuf_addf(out, " (group %s)", group);
    if (strcmp(remedy->level_less, remedy->level_from) != 0)
        strbuf_addf(out, " (with %s, it still waits)", remedy->level_less);
}

static void add_without(const struct why *why, const struct why_remedy *remedy, struct strbuf *out)
{
    const struct gang *gang = &why->state->gangs.items[remedy->change.without];

    strbuf_addstr(out, "end ");
    why_workload_name(why->state, why->objects, remedy->change.without, out);
    strbuf_addf(out, " of queue %s", state_name(why->state, gang->queue_name));
}

/* With the labels of the selector; what node affinity wants is too much for a line. */
static void add_nodes(const struct why *why, struct strbuf *out)
{
    const struct state *state = why->state;
    const struct constraints *c = why_constraints(why);
    bool has_terms = c && c->node_term_count > 0;

    strbuf_addstr(out, "remove its ");
    if (!c || c->node_selector_count > 0)
        strbuf_addstr(out, "node selector");
    for (uint32_t i = 0; c && i < c->node_selector_count; i++)
        strbuf_addf(out, "%s%s=%s", i == 0 ? " " : ", ", state_name(state, c->node_selector[i].key),
                    state_name(state, c->node_selector[i].value));
    if (has_terms)
        strbuf_addf(out, "%srequired node affinity", c->node_selector_count > 0 ? " and its " : "");
}

/* The taints that were in the way, where they are few. */
static void add_taints(const struct why *why, struct strbuf *out)
{
    struct why_taint taints[WHY_TAINTS_MAX];
    uint32_t count = why_taints(why, taints);

    if (count == 0 || count > WHY_TAINTS_MAX) {
        strbuf_addstr(out, "tolerate the taints of all nodes");
        return;
    }
    strbuf_addf(out, "tolerate the taint%s ", count == 1 ? "" : "s");
    for (uint32_t i = 0; i < count; i++)
        strbuf_addf(out, "%s%s%s%s:%s", i == 0 ? "" : ", ", taints[i].key, *taints[i].value ? "=" : "", taints[i].value,
                    taints[i].effect);
}

static void add_wait(const struct why_remedy *remedy, struct strbuf *out)
{
    char duration[DURATION_TEXT_MAX];
    char until[TIME_TEXT_MAX];

    strbuf_addf(out, "wait %s, until %s", duration_format((nsec_t)remedy->step.to * NSEC_PER_SEC, duration),
                time_format(remedy->until, until));
}

static void add_one(const struct why *why, const struct why_remedy *remedy, struct strbuf *out)
{
    switch (remedy->kind) {
    case WHY_GPUS:
    case WHY_FRACTION:
        add_gpus(&remedy->step, "request", out);
        break;
    case WHY_DEVICES:
        add_gpus(&remedy->step, "share", out);
        break;
    case WHY_GPU_MEMORY:
        add_gpu_memory(&remedy->step, out);
        break;
    case WHY_AMOUNT:
        add_resource(why, remedy, out);
        break;
    case WHY_CLAIM_DEVICES:
        strbuf_addf(out, "claim %.9g device%s by request %s instead of %.9g", remedy->step.to,
                    remedy->step.to == 1 ? "" : "s", remedy->change.claim_request, remedy->step.from);
        add_less(out, &remedy->step);
        break;
    case WHY_CLAIM_CLASS:
        strbuf_addf(out, "claim devices of class %s by request %s instead of class %s", remedy->change.claim_class,
                    remedy->change.claim_request, remedy->class_from);
        break;
    case WHY_PODS:
        add_pods(why, remedy, out);
        break;
    case WHY_QUEUE:
        strbuf_addf(out, "move it to queue %s", remedy->change.queue);
        break;
    case WHY_QUOTA:
        add_quota(why, remedy, out);
        break;
    case WHY_PREEMPTIBLE:
        strbuf_addstr(out, "make it preemptible, so that it may exceed the quota of its queue");
        break;
    case WHY_NODES:
        add_nodes(why, out);
        break;
    case WHY_TAINTS:
        add_taints(why, out);
        break;
    case WHY_LEVEL:
        add_level(why, remedy, out);
        break;
    case WHY_WITHOUT:
        add_without(why, remedy, out);
        break;
    case WHY_WAIT:
        add_wait(remedy, out);
        break;
    case _WHY_REMEDY_MAX:
        break;
    }
}

void why_remedy_text(const struct why *why, const struct why_remedy *remedy, struct strbuf *out)
{
    if (remedy->with) {
        add_one(why, remedy->with, out);
        strbuf_addstr(out, ", and ");
    }
    add_one(why, remedy, out);
}
