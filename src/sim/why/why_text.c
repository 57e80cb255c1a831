/* SPDX-License-Identifier: Apache-2.0 */

/* Remedies and amounts in words. */
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "model/state.h"
#include "sim/why/why_internal.h"

static const char *const names[] = {
    [WHY_GPUS] = "gpus",
    [WHY_FRACTION] = "gpu_fraction",
    [WHY_GPU_MEMORY] = "gpu_memory",
    [WHY_DEVICES] = "gpu_devices",
    [WHY_AMOUNT] = "resource",
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

const char *why_resource_name(const struct state *state, uint32_t dim)
{
    static const char *const words[] = {
        [RES_CPU] = "CPU", [RES_MEMORY] = "memory", [RES_GPU] = "GPUs", [RES_PODS] = "pod slots"};

    return dim < ARRAY_LEN(words) ? words[dim] : state_name(state, state->res.name[dim]);
}

void why_share(struct strbuf *out, int resource, double amount)
{
    if (amount == UNLIMITED)
        strbuf_addstr(out, "unlimited");
    else if (resource == SHARE_CPU)
        strbuf_addf(out, "%.6g core%s", amount / 1000, amount == 1000 ? "" : "s");
    else if (resource == SHARE_MEMORY)
        strbuf_addf(out, "%.6g GB", amount / 1e9);
    else
        strbuf_addf(out, "%.6g GPU%s", amount, amount == 1 ? "" : "s");
}

void why_amount(struct strbuf *out, const struct state *state, uint32_t dim, int64_t amount)
{
    if (dim == RES_CPU)
        why_share(out, SHARE_CPU, (double)amount);
    else if (dim == RES_MEMORY)
        why_share(out, SHARE_MEMORY, (double)amount);
    else if (dim == RES_GPU)
        why_share(out, SHARE_GPU, gpu_to_double(amount));
    else if (dim == RES_PODS || state->res.mig_slices[dim] > 0)
        strbuf_addf(out, "%lld %s", (long long)amount, why_resource_name(state, dim));
    else
        strbuf_addf(out, "%.6g %s", (double)amount / 1000, why_resource_name(state, dim));
}

/* What one step less would be is worth a word only where it is not what is asked for now. */
static void add_less(struct strbuf *out, const struct why_step *step)
{
    if (step->less != step->from)
        strbuf_addf(out, "; with %.9g it still waits", step->less);
}

static void add_step(struct strbuf *out, const char *verb, const struct why_step *step, const char *what)
{
    strbuf_addf(out, "%s %.9g %s instead of %.9g", verb, step->to, what, step->from);
    add_less(out, step);
}

static void add_resource(const struct why *why, const struct why_remedy *remedy, struct strbuf *out)
{
    const struct state *state = why->state;
    uint32_t dim = remedy->change.dim;
    double unit = dim >= RES_FIXED && state->res.mig_slices[dim] == 0 ? 1000 : 1;

    strbuf_addstr(out, "ask for ");
    why_amount(out, state, dim, remedy->change.value);
    strbuf_addstr(out, " a pod instead of ");
    why_amount(out, state, dim, (int64_t)(remedy->step.from * unit));
    if (remedy->step.less == remedy->step.from)
        return;
    strbuf_addstr(out, "; with ");
    why_amount(out, state, dim, (int64_t)(remedy->step.less * unit));
    strbuf_addstr(out, " it still waits");
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

        strbuf_addf(out, "%s queue %s a %s %s of ", i == 0 ? "give" : ", and",
                    state_name(why->state, why->state->queues.items[change->queue].name), resources[change->resource],
                    change->is_limit ? "limit" : "quota");
        why_share(out, change->resource, step->to);
        strbuf_addstr(out, " instead of ");
        why_share(out, change->resource, step->from);
        if (step->less == step->from)
            continue;
        strbuf_addstr(out, " (with ");
        why_share(out, change->resource, step->less);
        strbuf_addstr(out, " it still waits)");
    }
}

static void add_level(const struct why *why, const struct why_remedy *remedy, struct strbuf *out)
{
    const struct gang *gang = &why->state->gangs.items[why->gang];
    const char *group = state_name(why->state, gang->groups[remedy->change.level_group].name);

    if (remedy->change.level)
        strbuf_addf(out, "require its pods to be in one %s instead of one %s", remedy->change.level,
                    remedy->level_from);
    else
        strbuf_addf(out, "do not require its pods to be in one %s", remedy->level_from);
    if (*group)
        strbuf_addf(out, " (group %s)", group);
    if (strcmp(remedy->level_less, remedy->level_from) != 0)
        strbuf_addf(out, "; in one %s it still waits", remedy->level_less);
}

static void add_without(const struct why *why, const struct why_remedy *remedy, struct strbuf *out)
{
    const struct state *state = why->state;
    const struct gang *gang = &state->gangs.items[remedy->change.without];
    const char *namespace = state_name(state, gang->namespace);

    strbuf_addf(out, "end %s%s%s of queue %s", namespace, *namespace ? "/" : "", state_name(state, gang->name),
                state_name(state, gang->queue_name));
}

static void add_wait(const struct why_remedy *remedy, struct strbuf *out)
{
    char duration[DURATION_TEXT_MAX];
    char until[TIME_TEXT_MAX];

    strbuf_addf(out, "wait %s, until %s", duration_format((nsec_t)remedy->step.to * NSEC_PER_SEC, duration),
                time_format(remedy->until, until));
}

void why_remedy_text(const struct why *why, const struct why_remedy *remedy, struct strbuf *out)
{
    switch (remedy->kind) {
    case WHY_GPUS:
        add_step(out, "ask for", &remedy->step, remedy->step.to == 1 ? "GPU a pod" : "GPUs a pod");
        break;
    case WHY_FRACTION:
        add_step(out, "ask for", &remedy->step, "of a GPU a pod");
        break;
    case WHY_GPU_MEMORY:
        add_step(out, "ask for", &remedy->step, "MiB of GPU memory a pod");
        break;
    case WHY_DEVICES:
        add_step(out, "share", &remedy->step, "GPUs a pod");
        break;
    case WHY_AMOUNT:
        add_resource(why, remedy, out);
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
        strbuf_addstr(out, "let it be preempted, so that it may go beyond its queue's quota");
        break;
    case WHY_NODES:
        strbuf_addstr(out, "let it use other nodes: drop its node selector and required node affinity");
        break;
    case WHY_TAINTS:
        strbuf_addstr(out, "let it use other nodes: tolerate their taints");
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
