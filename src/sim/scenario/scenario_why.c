/* SPDX-License-Identifier: Apache-2.0 */

/* Verdicts in plain words. The code stays the stable part; the words may change. */
#include "sim/scenario/scenario_why.h"

#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "engine/engine.h"
#include "model/books/books.h"
#include "model/state.h"
#include "sim/why/why_amount.h"
#include "text/suggest.h"

static const char *queue_name(const struct state *state, const struct verdict *verdict)
{
    if (verdict->queue == NO_ID)
        return "its queue";
    return state_name(state, state->queues.items[verdict->queue].name);
}

/* "it requests 4 GPUs; queue research has 6 GPUs allocated and a limit of 8 GPUs" */
static void add_bound(struct strbuf *text, const struct state *state, const struct verdict *verdict, const char *what)
{
    strbuf_addstr(text, "it requests ");
    amount_add_share(text, verdict->resource, verdict->requested);
    strbuf_addf(text, "; queue %s has ", queue_name(state, verdict));
    amount_add_share(text, verdict->resource, verdict->allocated);
    strbuf_addf(text, " allocated%s and a %s of ",
                verdict->code == VERDICT_OVER_QUOTA ? " to non-preemptible workloads" : "", what);
    amount_add_share(text, verdict->resource, verdict->bound);
}

static int64_t largest_of(const struct state *state, uint32_t dim)
{
    int64_t largest = 0;

    for (uint32_t i = 0; i < state->nodes_by_rank.len; i++)
        largest = MAX(largest, state_books(state, state->nodes_by_rank.items[i]).allocatable[dim]);
    return largest;
}

/* What of the pod's request is too much follows from the nodes, so that the verdict need not keep it. */
bool verdict_too_large_words(struct strbuf *text, const struct state *state, pod_id pod)
{
    const struct request *request = state_request(state, pod);

    for (uint32_t dim = 0; dim < request->v_count; dim++) {
        int64_t largest = largest_of(state, dim);

        if (request->v[dim] <= largest)
            continue;
        strbuf_addstr(text, "a pod requests ");
        amount_add(text, state, dim, request->v[dim]);
        strbuf_addstr(text, "; the largest node has ");
        amount_add(text, state, dim, largest);
        return true;
    }
    return false;
}

static void add_too_large(struct strbuf *text, const struct state *state, const struct verdict *verdict)
{
    if (verdict->pod == NO_ID || !verdict_too_large_words(text, state, verdict->pod))
        strbuf_addstr(text, "a pod requests more than any node has");
}

/* What the gang's waiting pods request of a resource. */
static double requested_of(const struct state *state, gang_id gang, int resource)
{
    const struct gang *job = &state->gangs.items[gang];
    int64_t sum = 0;

    for (uint32_t g = 0; g < job->group_count; g++) {
        for (uint32_t i = 0; i < job->groups[g].pods.len; i++) {
            pod_id pod = job->groups[g].pods.items[i];

            if (state->pods.items[pod].status == POD_PENDING)
                sum += pod_asked(state, pod).v[resource];
        }
    }
    return share_to_double(resource, sum);
}

/* GPUs, or CPU for workloads that need none. */
static int telling_resource(const struct state *state, gang_id gang)
{
    return requested_of(state, gang, SHARE_GPU) > 0 ? SHARE_GPU : SHARE_CPU;
}

/* "insufficient free GPUs"; for others it may be CPU, memory or anything else. */
static void add_insufficient(struct strbuf *text, const struct state *state, gang_id gang)
{
    strbuf_addf(text, "insufficient free %s", telling_resource(state, gang) == SHARE_GPU ? "GPUs" : "resources");
}

/* It cannot preempt others, since its queue has what it deserves. */
static void add_fair_share(struct strbuf *text, const struct state *state, const struct engine *engine, gang_id gang)
{
    queue_id queue = state->gangs.items[gang].queue;
    int resource = telling_resource(state, gang);

    add_insufficient(text, state, gang);
    strbuf_addstr(text, ", and it cannot preempt other workloads: ");
    if (queue == NO_ID) {
        strbuf_addstr(text, "its queue has its fair share");
        return;
    }
    strbuf_addstr(text, "it requests ");
    amount_add_share(text, resource, requested_of(state, gang, resource));
    strbuf_addf(text, "; queue %s has ", state_name(state, state->queues.items[queue].name));
    amount_add_share(text, resource, share_to_double(resource, state->queues.items[queue].allocated.v[resource]));
    strbuf_addstr(text, " allocated and a fair share of ");
    amount_add_share(text, resource, engine_share(engine, queue).fair[resource]);
}

static void add_pod(struct strbuf *text, const struct state *state, const struct verdict *verdict)
{
    if (verdict->pod == NO_ID)
        return;
    strbuf_addf(text, " (pod %s", state_name(state, state->pods.items[verdict->pod].name));
    if (verdict->placed > 0)
        strbuf_addf(text, ", after %u that have a node", verdict->placed);
    strbuf_addch(text, ')');
}

static void add_group(struct strbuf *text, const struct state *state, gang_id gang, uint32_t group)
{
    const struct gang *job = &state->gangs.items[gang];

    if (group < job->group_count && job->groups[group].name != 0 &&
        strcmp(state_name(state, job->groups[group].name), "default") != 0)
        strbuf_addf(text, " (group %s)", state_name(state, job->groups[group].name));
}

static const char *plain_words(enum verdict_code code)
{
    static const char *const words[_VERDICT_CODE_MAX] = {
        [VERDICT_NONE] = "not tried yet",
        [VERDICT_PLACED] = "its pods have nodes",
        [VERDICT_PROMISED] = "it gets its nodes as soon as the pods that are being evicted have left",
        [VERDICT_QUEUE_NOT_LEAF] = "its queue has child queues; only queues without children take workloads",
        [VERDICT_NO_NODE_ALLOWED] = "no node is eligible: selectors, taints or conditions rule out all of them",
        [VERDICT_NO_ROOM] = " on the eligible nodes",
        [VERDICT_NO_VICTIMS] = ", and preempting the workloads that it may preempt does not free enough",
        [VERDICT_MISSING_VOLUME] = "a PersistentVolumeClaim that it mounts does not exist or is not bound",
        [VERDICT_MISSING_CONFIG_MAP] = "a ConfigMap that it needs does not exist",
        [VERDICT_MISSING_CLAIM] = "a ResourceClaim that it needs does not exist or may not be used",
        [VERDICT_NO_TOPOLOGY] = "the topology or level that it names does not exist",
        [VERDICT_TOPOLOGY_FULL] = "no domain of the required topology level has room for all of its pods",
        [VERDICT_TOPOLOGY_TOO_SMALL] =
            "no domain of the required topology level could hold all of its pods, even if it were empty",
        [VERDICT_PREEMPTION_DELAY] = "it may not preempt other workloads yet",
        [VERDICT_SEARCH_LIMIT] = "the search for workloads to preempt ended at its limit",
        [VERDICT_QUEUE_DEPTH] = "more workloads of its queue are ahead of it than one cycle looks at",
    };

    return words[code] ? words[code] : "";
}

static void add_unknown_queue(struct strbuf *text, const struct state *state, gang_id gang)
{
    const char *name = state_name(state, state->gangs.items[gang].queue_name);
    struct suggestion suggestion;
    char hint[SUGGESTION_MAX];

    suggestion_init(&suggestion, name);
    for (queue_id id = 0; id < state->queues.len; id++) {
        if (state->queues.items[id].is_present)
            suggestion_offer(&suggestion, state_name(state, state->queues.items[id].name));
    }
    if (state->gangs.items[gang].queue != NO_ID)
        strbuf_addf(text, "queue %s has a parent that does not exist", name);
    else
        strbuf_addf(text, "queue %s does not exist%s", *name ? name : "''", suggestion_text(&suggestion, "", hint));
}

void scenario_missing_pods(struct strbuf *text, const struct state *state, gang_id gang)
{
    const struct gang *job = &state->gangs.items[gang];

    for (uint32_t g = 0; g < job->group_count; g++) {
        const struct group *set = &job->groups[g];
        int64_t ready = (int64_t)set->alive - set->gated;

        if (!set->is_pod_set || ready >= set->min)
            continue;
        strbuf_addf(text, "%lld of %d pods exist", (long long)set->alive, set->min);
        if (set->gated > 0)
            strbuf_addf(text, ", %u of them with scheduling gates", set->gated);
        add_group(text, state, gang, g);
        return;
    }
    strbuf_addstr(text, "too few of its pods exist");
}

void verdict_bound_words(struct strbuf *text, const struct state *state, const struct verdict *verdict)
{
    add_bound(text, state, verdict, verdict->code == VERDICT_OVER_LIMIT ? "limit" : "quota");
}

void scenario_why(struct strbuf *text, const struct state *state, const struct engine *engine, gang_id gang)
{
    struct verdict verdict = engine_verdict(engine, gang);

    if (verdict.pod != NO_ID && state->pods.items[verdict.pod].gang != gang)
        verdict.pod = NO_ID;
    switch (verdict.code) {
    case VERDICT_OVER_LIMIT:
        add_bound(text, state, &verdict, "limit");
        break;
    case VERDICT_OVER_QUOTA:
        add_bound(text, state, &verdict, "quota");
        strbuf_addstr(text, ", which non-preemptible workloads cannot exceed");
        break;
    case VERDICT_NOT_READY:
        scenario_missing_pods(text, state, gang);
        break;
    case VERDICT_NO_QUEUE:
        add_unknown_queue(text, state, gang);
        break;
    case VERDICT_OVER_FAIR_SHARE:
        add_fair_share(text, state, engine, gang);
        break;
    case VERDICT_TOO_LARGE:
        add_too_large(text, state, &verdict);
        add_pod(text, state, &verdict);
        break;
    case VERDICT_NO_TOPOLOGY:
    case VERDICT_TOPOLOGY_FULL:
    case VERDICT_TOPOLOGY_TOO_SMALL:
        strbuf_addstr(text, plain_words(verdict.code));
        add_group(text, state, gang, verdict.group);
        break;
    case VERDICT_NO_ROOM:
    case VERDICT_NO_VICTIMS:
        add_insufficient(text, state, gang);
        strbuf_addstr(text, plain_words(verdict.code));
        add_pod(text, state, &verdict);
        break;
    case VERDICT_NO_NODE_ALLOWED:
    case VERDICT_MISSING_VOLUME:
    case VERDICT_MISSING_CONFIG_MAP:
    case VERDICT_MISSING_CLAIM:
        strbuf_addstr(text, plain_words(verdict.code));
        add_pod(text, state, &verdict);
        break;
    default:
        strbuf_addstr(text, plain_words(verdict.code));
    }
}
