/* SPDX-License-Identifier: Apache-2.0 */

/* Why a gang waits, in KAI's words: a list of errors, each with a reason code, joined into one text. */
#include "words/verdict_text.h"

#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "engine/engine.h"
#include "model/state.h"
#include "words/verdict_text_internal.h"

static const char scheduling_errors[] = "PodSchedulingErrors";
static const char unable[] = "Unable to schedule podgroup";
static const char too_little[] = "Not enough resources for the workload";

struct fit_errors {
    const struct verdict_text *text;
    const char *reason;  // of the last error
    uint32_t count;
    struct lines messages;  // short or in detail, as the text wants them
};

void add_gang_name(struct strbuf *out, const struct state *state, const struct gang *gang)
{
    strbuf_addf(out, "%s/%s", state_name(state, gang->namespace), state_name(state, gang->name));
}

static const struct gang *gang_of(const struct verdict_text *text)
{
    return &engine_state(text->engine)->gangs.items[text->explanation->gang];
}

bool text_allocate_runs(const struct verdict_text *text)
{
    const struct config *config = engine_config(text->engine);

    for (uint32_t i = 0; i < config->action_count; i++) {
        if (config->actions[i] == ACTION_ALLOCATE)
            return true;
    }
    return false;
}

static void add_error(struct fit_errors *errors, const char *reason, const char *message)
{
    errors->reason = reason;
    errors->count++;
    lines_add(&errors->messages, message);
}

const char *over_reason(const struct verdict *over)
{
    return over->code == VERDICT_OVER_LIMIT ? "OverLimit" : "NonPreemptibleOverQuota";
}

static void add_limit(struct strbuf *out, const char *queue, const struct verdict *over)
{
    static const struct {
        const char *what;
        const char *unit;
        double size;
    } rows[] = {
        [SHARE_CPU] = {"CPU cores", "cores", CORES},
        [SHARE_MEMORY] = {"memory", "GB", GIGABYTES},
        [SHARE_GPU] = {"GPUs", "GPUs", 1},
    };
    const char *unit = rows[over->resource].unit;
    double size = rows[over->resource].size;

    strbuf_addf(out, "%s quota has reached the allowable limit of %s. Limit is ", queue, rows[over->resource].what);
    add_human(out, over->bound, size);
    strbuf_addf(out, " %s, currently ", unit);
    add_human(out, over->allocated, size);
    strbuf_addf(out, " %s allocated and workload requested ", unit);
    add_human(out, over->requested, size);
    strbuf_addf(out, " %s", unit);
}

/* GPUs are written with all their digits, the others are not: KAI's way. */
static void add_share(struct strbuf *out, int resource, double value)
{
    if (resource == SHARE_GPU)
        add_exact(out, value);
    else
        add_human(out, value, resource == SHARE_CPU ? CORES : GIGABYTES);
}

static void add_quota(struct strbuf *out, const char *queue, const struct verdict *over)
{
    static const char *const asked[] = {[SHARE_CPU] = "CPU cores", [SHARE_MEMORY] = "GB memory", [SHARE_GPU] = "GPUs"};
    static const char *const units[] = {[SHARE_CPU] = "cores", [SHARE_MEMORY] = "GB", [SHARE_GPU] = "GPUs"};
    const char *unit = units[over->resource];

    strbuf_addstr(out, "Non-preemptible workload is over quota. Workload requested ");
    add_share(out, over->resource, over->requested);
    strbuf_addf(out, " %s, but %s quota is ", asked[over->resource], queue);
    add_share(out, over->resource, over->bound);
    strbuf_addf(out, " %s, while ", unit);
    add_share(out, over->resource, over->allocated);
    strbuf_addf(out, " %s are already allocated for non-preemptible pods. Use a preemptible workload to go over quota.",
                unit);
}

void add_over(struct strbuf *out, const struct state *state, const struct verdict *over)
{
    const char *queue = over->queue == NO_ID ? "" : state_name(state, state->queues.items[over->queue].display_name);

    if (over->code == VERDICT_OVER_LIMIT)
        add_limit(out, queue, over);
    else
        add_quota(out, queue, over);
}

static bool needs_several_pods(const struct gang *gang)
{
    for (uint32_t g = 0; g < gang->group_count; g++) {
        if (gang->groups[g].is_pod_set && gang->groups[g].min > 1)
            return true;
    }
    return false;
}

static bool is_one_default_set(const struct state *state, const struct gang *gang)
{
    uint32_t sets = 0;
    bool is_default = false;

    for (uint32_t g = 0; g < gang->group_count; g++) {
        sets += gang->groups[g].is_pod_set;
        is_default |= gang->groups[g].is_pod_set && strcmp(state_name(state, gang->groups[g].name), "default") == 0;
    }
    return sets == 1 && is_default;
}

static void find_pod_error(struct fit_errors *errors)
{
    const struct verdict_text *text = errors->text;
    const struct explanation *e = text->explanation;
    const struct state *state = engine_state(text->engine);
    const struct gang *gang = gang_of(text);
    const struct group *set = &gang->groups[state->pods.items[e->pod].pod_set];
    struct strbuf message;

    strbuf_init(&message, REASON_MAX);
    if (!needs_several_pods(gang) || (int64_t)set->active_used >= set->min) {
        strbuf_addstr(&message, "Resources were not found for pod ");
        add_pod_name(&message, state, e->pod);
        strbuf_addstr(&message, " due to: ");
    } else if (is_one_default_set(state, gang)) {
        strbuf_addf(
            &message,
            "Resources were found for %u pods while %d are required for gang scheduling. Additional pods cannot be "
            "scheduled due to: ",
            e->tried.placed, set->min);
    } else {
        strbuf_addf(&message,
                    "Resources were found for %u pods from all sub-groups while sub-group %s requires %d pods for gang "
                    "scheduling. Additional pods cannot be scheduled in this sub-group due to: ",
                    e->tried.placed, state_name(state, set->name), set->min);
    }
    add_pod_reasons(text, &message);
    add_error(errors, scheduling_errors, message.text);
    strbuf_done(&message);
}

static void add_domain_error(struct fit_errors *errors, const struct explained_domain *domain)
{
    const struct verdict_text *text = errors->text;
    struct strbuf message;

    strbuf_init(&message, REASON_MAX);
    if (text->is_detailed)
        strbuf_addf(&message, "<%s>: ", domain->name);
    strbuf_addf(&message, "node-group %s can allocate only %lld of %u required pods", domain->name,
                (long long)domain->pods, text->explanation->domain_need);
    add_error(errors, too_little, message.text);
    strbuf_done(&message);
}

static void add_domain_lacks(struct fit_errors *errors, const struct explained_domain *domain)
{
    const struct state *state = engine_state(errors->text->engine);
    static const char *const names[] = {[RES_CPU] = "CPU cores", [RES_MEMORY] = "memory", [RES_GPU] = "GPUs"};

    for (uint32_t dim = 0; dim < state->res.count; dim++) {
        struct strbuf message;

        if (!(domain->lacks & UINT64_C(1) << dim))
            continue;
        strbuf_init(&message, REASON_MAX);
        if (errors->text->is_detailed)
            strbuf_addf(&message, "<%s>: ", domain->name);
        strbuf_addf(&message, "node-group(s) didn't have enough %s: %s",
                    state->res.mig_slices[dim] > 0 ? "of mig profile" : "resources",
                    dim < ARRAY_LEN(names) ? names[dim] : state_name(state, state->res.name[dim]));
        add_error(errors, too_little, message.text);
        strbuf_done(&message);
    }
}

static void find_topology_errors(struct fit_errors *errors)
{
    const struct verdict_text *text = errors->text;
    const struct explanation *e = text->explanation;
    const struct state *state = engine_state(text->engine);
    const char *group = state_name(state, gang_of(text)->groups[e->topology_group].name);
    struct strbuf message;

    for (uint32_t i = 0; i < e->domain_count && !e->start_is_full; i++) {
        if (!e->domains_are_counted)
            add_domain_lacks(errors, &e->domains[i]);
        else if (e->domains[i].pods < e->domain_need)
            add_domain_error(errors, &e->domains[i]);
    }
    strbuf_init(&message, REASON_MAX);
    strbuf_addf(&message, "topology %s, requirement %s couldn't be satisfied for job <", state_name(state, e->topology),
                state_name(state, e->level));
    add_gang_name(&message, state, gang_of(text));
    strbuf_addch(&message, '>');
    if (*group)
        strbuf_addf(&message, ", subgroup %s", group);
    if (e->start_is_full)
        strbuf_addf(&message, ": not enough resources in %s to allocate the job", e->start ? e->start : "the cluster");
    add_error(errors, scheduling_errors, message.text);
    strbuf_done(&message);
}

/* Neither does a queue exist for workloads whose parent, or that one's, does not. */
static void add_missing_queue(struct strbuf *out, const struct state *state, const struct gang *gang)
{
    const struct queue *queue = gang->queue == NO_ID ? NULL : &state->queues.items[gang->queue];

    if (!queue || !queue->is_present) {
        strbuf_addf(out, "Queue '%s' does not exist", state_name(state, gang->queue_name));
        return;
    }
    while (queue->parent != NO_ID && state->queues.items[queue->parent].is_present)
        queue = &state->queues.items[queue->parent];
    strbuf_addf(out, "Queue '%s' cannot be used: the parent of queue '%s', '%s', does not exist",
                state_name(state, gang->queue_name), state_name(state, queue->name),
                state_name(state, queue->parent_name));
}

/* Only leaves take workloads. */
static void add_children(struct strbuf *out, const struct state *state, queue_id id)
{
    enum { NAMED_MAX = 8 };
    const struct queue *queue = &state->queues.items[id];

    strbuf_addf(out, "Queue '%s' has child queues and takes no workloads itself; use one of its children:",
                state_name(state, queue->name));
    for (uint32_t i = 0; i < queue->children.len && i < NAMED_MAX; i++)
        strbuf_addf(out, "%s %s", i > 0 ? "," : "",
                    state_name(state, state->queues.items[queue->children.items[i]].name));
    if (queue->children.len > NAMED_MAX)
        strbuf_addf(out, " and %u more", queue->children.len - NAMED_MAX);
}

static void find_error(struct fit_errors *errors)
{
    const struct verdict_text *text = errors->text;
    const struct explanation *e = text->explanation;
    const struct state *state = engine_state(text->engine);
    struct strbuf message;

    strbuf_init(&message, REASON_MAX);
    if (e->verdict.code == VERDICT_NO_QUEUE) {
        add_missing_queue(&message, state, gang_of(text));
        add_error(errors, "QueueDoesNotExist", message.text);
    } else if (e->verdict.code == VERDICT_QUEUE_NOT_LEAF) {
        add_children(&message, state, gang_of(text)->queue);
        add_error(errors, unable, message.text);
    } else if (e->tried.code == VERDICT_OVER_LIMIT || e->tried.code == VERDICT_OVER_QUOTA) {
        add_over(&message, state, &e->tried);
        add_error(errors, over_reason(&e->tried), message.text);
    } else if (e->tried.code == VERDICT_NO_TOPOLOGY) {
        if (state_find_topology(state, e->topology) == NO_ID) {
            strbuf_addf(&message, "Requested topology %s does not exist", state_name(state, e->topology));
            add_error(errors, scheduling_errors, message.text);
        }
    } else if (e->tried.code == VERDICT_TOPOLOGY_FULL || e->tried.code == VERDICT_TOPOLOGY_TOO_SMALL) {
        find_topology_errors(errors);
    } else if (e->tried.pod != NO_ID) {
        find_pod_error(errors);
    }
    strbuf_done(&message);
}

static void find_delay(struct fit_errors *errors)
{
    const struct gang *gang = gang_of(errors->text);
    nsec_t until = errors->text->explanation->delay_until;
    char window[DURATION_TEXT_MAX];
    char end[TIME_TEXT_MAX];
    struct strbuf message;

    if (errors->text->explanation->verdict.code != VERDICT_PREEMPTION_DELAY)
        return;
    strbuf_init(&message, REASON_MAX);
    strbuf_addf(&message, "Workload is within its preemption delay window (%s) and may not trigger evictions before %s",
                duration_format(gang->preemption_delay, window), time_format(until - until % NSEC_PER_SEC, end));
    add_error(errors, "PreemptionDelayNotElapsed", message.text);
    strbuf_done(&message);
}

void verdict_text_gang(const struct verdict_text *text, struct strbuf *out)
{
    struct fit_errors errors = {.text = text};

    if (text->explanation->verdict.code != VERDICT_PREEMPTION_DELAY || text_allocate_runs(text))
        find_error(&errors);
    find_delay(&errors);
    if (text->names_pool)
        strbuf_addf(out, "Node-Pool '%s': ", text->node_pool ? text->node_pool : "default");
    const char *reason = errors.count == 1 ? errors.reason : unable;
    strbuf_addf(out, text->is_detailed ? "\n%s." : "%s", reason);
    if (!text->is_detailed)
        lines_number(&errors.messages, false);
    lines_sort(&errors.messages);
    vec_foreach (&errors.messages, line) {
        if (text->is_detailed)
            strbuf_addf(out, "\n%s.", line->text);
        else
            strbuf_addf(out, "%s%s", line == errors.messages.items ? ": " : ". \n", line->text);
    }
    if (!text->is_detailed && errors.count > 0)
        strbuf_addch(out, '.');
    lines_done(&errors.messages);
}

void verdict_text_pod(const struct verdict_text *text, pod_id pod, struct strbuf *out)
{
    const struct explanation *e = text->explanation;

    if (pod != e->pod || e->tried.pod != pod)
        verdict_text_gang(text, out);
    else if (text->is_detailed)
        add_pod_details(text, out);
    else
        add_pod_reasons(text, out);
}
