/* SPDX-License-Identifier: Apache-2.0 */

/* Verdicts in plain words. The code stays the stable part; the words may change. */
#include "sim/scenario/scenario_why.h"

#include "base/macros.h"
#include "base/strbuf.h"
#include "engine/engine.h"
#include "model/books/books.h"
#include "model/state.h"

static void add_amount(struct strbuf *text, int resource, double amount)
{
    if (amount == UNLIMITED)
        strbuf_addstr(text, "no limit");
    else if (resource == SHARE_CPU)
        strbuf_addf(text, "%.15g core%s", amount / 1000, amount == 1000 ? "" : "s");
    else if (resource == SHARE_MEMORY)
        strbuf_addf(text, "%.4g GB of memory", amount / 1e9);
    else
        strbuf_addf(text, "%.9g GPU%s", amount, amount == 1 ? "" : "s");
}

static const char *queue_name(const struct state *state, const struct verdict *verdict)
{
    if (verdict->queue == NO_ID)
        return "its queue";
    return state_name(state, state->queues.items[verdict->queue].name);
}

/* "needs 4 GPUs; queue research has 6 GPUs of its limit of 8 GPUs" */
static void add_bound(struct strbuf *text, const struct state *state, const struct verdict *verdict, const char *what)
{
    strbuf_addstr(text, "needs ");
    add_amount(text, verdict->resource, verdict->requested);
    strbuf_addf(text, "; queue %s has ", queue_name(state, verdict));
    add_amount(text, verdict->resource, verdict->allocated);
    strbuf_addf(text, ", its %s is ", what);
    add_amount(text, verdict->resource, verdict->bound);
}

static int64_t largest_of(const struct state *state, uint32_t dim)
{
    int64_t largest = 0;

    for (uint32_t i = 0; i < state->nodes_by_rank.len; i++)
        largest = MAX(largest, state_books(state, state->nodes_by_rank.items[i]).allocatable[dim]);
    return largest;
}

static void add_dimension(struct strbuf *text, const struct state *state, uint32_t dim, int64_t amount)
{
    static const int shares[] = {[RES_CPU] = SHARE_CPU, [RES_MEMORY] = SHARE_MEMORY, [RES_GPU] = SHARE_GPU};

    if (dim < ARRAY_LEN(shares))
        add_amount(text, shares[dim], share_to_double(shares[dim], amount));
    else
        strbuf_addf(text, "%lld %s", (long long)amount, state_name(state, state->res.name[dim]));
}

/* What of the pod's request is too much follows from the nodes, so that the verdict need not keep it. */
static void add_too_large(struct strbuf *text, const struct state *state, const struct verdict *verdict)
{
    const struct request *request = verdict->pod == NO_ID ? NULL : state_request(state, verdict->pod);

    for (uint32_t dim = 0; request && dim < request->v_count; dim++) {
        int64_t largest = largest_of(state, dim);

        if (request->v[dim] <= largest)
            continue;
        strbuf_addstr(text, "a pod needs ");
        add_dimension(text, state, dim, request->v[dim]);
        strbuf_addstr(text, "; the largest node has ");
        add_dimension(text, state, dim, largest);
        return;
    }
    strbuf_addstr(text, "a pod needs more than any node has");
}

/* GPUs that the gang's waiting pods ask for. */
static double gpus_wanted(const struct state *state, gang_id gang)
{
    const struct gang *job = &state->gangs.items[gang];
    int64_t gpus = 0;

    for (uint32_t g = 0; g < job->group_count; g++) {
        for (uint32_t i = 0; i < job->groups[g].pods.len; i++) {
            pod_id pod = job->groups[g].pods.items[i];

            if (state->pods.items[pod].status == POD_PENDING)
                gpus += pod_asked(state, pod).v[SHARE_GPU];
        }
    }
    return gpu_to_double(gpus);
}

/* No room, and nothing may be taken for it, since its queue has what it deserves. */
static void add_fair_share(struct strbuf *text, const struct state *state, const struct engine *engine, gang_id gang)
{
    queue_id queue = state->gangs.items[gang].queue;
    struct queue_share share;

    strbuf_addstr(text, "no room, and nothing may be taken for it: ");
    if (queue == NO_ID) {
        strbuf_addstr(text, "its queue has its share");
        return;
    }
    share = engine_share(engine, queue);
    strbuf_addstr(text, "it wants ");
    add_amount(text, SHARE_GPU, gpus_wanted(state, gang));
    strbuf_addf(text, "; queue %s has ", state_name(state, state->queues.items[queue].name));
    add_amount(text, SHARE_GPU, gpu_to_double(state->queues.items[queue].allocated.v[SHARE_GPU]));
    strbuf_addstr(text, ", its fair share is ");
    add_amount(text, SHARE_GPU, share.fair[SHARE_GPU]);
}

static void add_pod(struct strbuf *text, const struct state *state, const struct verdict *verdict)
{
    if (verdict->pod == NO_ID)
        return;
    strbuf_addf(text, " (first for pod %s", state_name(state, state->pods.items[verdict->pod].name));
    if (verdict->placed > 0)
        strbuf_addf(text, ", after %u that found a place", verdict->placed);
    strbuf_addch(text, ')');
}

static void add_group(struct strbuf *text, const struct state *state, gang_id gang, uint32_t group)
{
    const struct gang *job = &state->gangs.items[gang];

    if (group < job->group_count && job->groups[group].name != 0)
        strbuf_addf(text, " (group %s)", state_name(state, job->groups[group].name));
}

static const char *plain_words(enum verdict_code code)
{
    static const char *const words[_VERDICT_CODE_MAX] = {
        [VERDICT_NONE] = "nothing was tried yet",
        [VERDICT_PLACED] = "has a place",
        [VERDICT_PROMISED] = "has a place as soon as others have left it",
        [VERDICT_NOT_READY] = "too few of its pods exist",
        [VERDICT_NO_QUEUE] = "its queue does not exist",
        [VERDICT_QUEUE_NOT_LEAF] = "its queue has queues below it and takes no jobs itself",
        [VERDICT_NO_NODE_ALLOWED] = "no node may take it: selectors, taints or conditions rule out all of them",
        [VERDICT_NO_ROOM] = "the nodes that may take it are full",
        [VERDICT_NO_VICTIMS] = "no room, and nothing that may be evicted for it would make enough",
        [VERDICT_MISSING_VOLUME] = "a volume claim that it mounts does not exist",
        [VERDICT_MISSING_CONFIG_MAP] = "a config map that it needs does not exist",
        [VERDICT_MISSING_CLAIM] = "a resource claim that it needs does not exist or may not be used",
        [VERDICT_NO_TOPOLOGY] = "the topology or level that it names does not exist",
        [VERDICT_TOPOLOGY_FULL] = "there may be room, but not together in one domain of its topology",
        [VERDICT_PREEMPTION_DELAY] = "may not evict others yet",
        [VERDICT_SEARCH_LIMIT] = "the search for a place was ended by its limit",
        [VERDICT_QUEUE_DEPTH] = "behind more jobs of its queue than are looked at in one cycle",
    };

    return words[code] ? words[code] : "";
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
        add_bound(text, state, &verdict, "quota, which work that may not be preempted cannot exceed,");
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
        strbuf_addstr(text, plain_words(verdict.code));
        add_group(text, state, gang, verdict.group);
        break;
    case VERDICT_NO_NODE_ALLOWED:
    case VERDICT_NO_ROOM:
    case VERDICT_NO_VICTIMS:
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
