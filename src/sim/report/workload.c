/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/report/workload.h"

#include <ctype.h>
#include <stdio.h>

#include "base/strbuf.h"
#include "engine/engine.h"
#include "model/books/books.h"
#include "model/state.h"
#include "sim/scenario/scenario_why.h"

static void count_pod(struct workload *ret, const struct state *state, pod_id pod)
{
    bool has_place = status_in(state->pods.items[pod].status, ALLOCATED_SET);

    /* What an amount of GPU memory comes to in GPUs is known once it has a place. */
    ret->gpus += gpu_to_double((has_place ? pod_accepted(state, pod) : pod_asked(state, pod)).v[SHARE_GPU]);
    ret->running += has_place;
    ret->pending += state->pods.items[pod].status == POD_PENDING;
}

static void count_pods(struct workload *ret, const struct state *state, const struct gang *gang)
{
    for (uint32_t g = 0; g < gang->group_count; g++)
        for (uint32_t i = 0; i < gang->groups[g].pods.len; i++)
            count_pod(ret, state, gang->groups[g].pods.items[i]);
}

/* Some of its replicas are enough to run, as some pods are of an elastic gang. */
static enum workload_state better_of(enum workload_state a, enum workload_state b)
{
    static const int ranks[] = {[WORKLOAD_RUNNING] = 2, [WORKLOAD_PREEMPTING] = 1, [_WORKLOAD_STATE_MAX] = 0};

    return ranks[a] >= ranks[b] ? a : b;
}

bool workload_read(struct workload *ret, const struct sim_run *run, const struct sim_run_job *job)
{
    if (job->is_later_replica)
        return false;
    *ret = (struct workload){.job = job, .state = WORKLOAD_PENDING};
    for (; job; job = sim_run_next_replica(run, job)) {
        uint32_t waited = ret->pending;

        if (job->gang == NO_ID)
            continue;
        count_pods(ret, run->state, &run->state->gangs.items[job->gang]);
        ret->pods += job->pods;
        ret->state = better_of(ret->state, sim_run_job_state(run, job));
        if (!ret->waiting || (waited == 0 && ret->pending > 0))
            ret->waiting = job;
    }
    if (!ret->waiting)
        return false;
    ret->reason = engine_verdict(run->engine, ret->waiting->gang).code;
    return true;
}

struct node_pods {
    node_id node;
    uint32_t pods;
};

/* Pods by node, in the order of the pods. */
struct node_list VEC_OF(struct node_pods);

static void count_on(struct node_list *list, node_id node)
{
    vec_foreach (list, at)
        if (at->node == node) {
            at->pods++;
            return;
        }
    vec_push(list, (struct node_pods){node, 1});
}

static void list_nodes(struct node_list *ret, const struct state *state, const struct gang *gang)
{
    for (uint32_t g = 0; g < gang->group_count; g++)
        for (uint32_t i = 0; i < gang->groups[g].pods.len; i++) {
            const struct pod *pod = &state->pods.items[gang->groups[g].pods.items[i]];

            if (status_in(pod->status, ALLOCATED_SET) && pod->node != NO_ID)
                count_on(ret, pod->node);
        }
}

void workload_add_nodes(struct strbuf *text, const struct sim_run *run, const struct workload *workload, uint32_t max)
{
    const struct state *state = run->state;
    struct node_list list = {0};
    uint32_t others = 0;

    for (const struct sim_run_job *job = workload->job; job; job = sim_run_next_replica(run, job))
        if (job->gang != NO_ID)
            list_nodes(&list, state, &state->gangs.items[job->gang]);
    for (uint32_t i = 0; i < list.len; i++) {
        const struct node_pods *at = &list.items[i];

        if (i >= max) {
            others += at->pods;
            continue;
        }
        strbuf_addf(text, "%s%s", i ? ", " : "", state_name(state, state->nodes.items[at->node].name));
        if (at->pods > 1)
            strbuf_addf(text, " x%u", at->pods);
    }
    if (others > 0)
        strbuf_addf(text, " and %u pod%s elsewhere", others, others == 1 ? "" : "s");
    vec_done(&list);
}

void workload_add_message(struct strbuf *text, const struct sim_run *run, const struct workload *workload)
{
    scenario_why(text, run->state, run->engine, workload->waiting->gang);
}

const char *pod_status_phase(enum pod_status status, char text[static PHASE_TEXT_MAX])
{
    (void)snprintf(text, PHASE_TEXT_MAX, "%s", pod_status_name(status));
    text[0] = (char)toupper((unsigned char)text[0]);
    return text;
}
