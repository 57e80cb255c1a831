/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/when/follower.h"

#include <stdlib.h>

#include "base/mem.h"
#include "model/retell/retell.h"
#include "model/state.h"
#include "sim/run/run.h"
#include "sim/trace/trace.h"

void follower_init(struct follower *follower, struct trace *trace)
{
    *follower = (struct follower){.trace = trace};
    past_init(&follower->history, trace);
}

void follower_done(struct follower *follower)
{
    past_done(&follower->history);
    vec_done(&follower->index_of);
    vec_done(&follower->open);
}

static void take_new(struct follower *follower, const struct sim_run *run)
{
    for (uint32_t i = follower->index_of.len; i < run->jobs.len; i++) {
        const struct sim_run_job *job = &run->jobs.items[i];
        uint32_t index = NO_ID;

        if (job->from_trace) {
            index = past_came(&follower->history, job->trace_job, job->submitted);
            vec_push(&follower->open, i);
        }
        vec_push(&follower->index_of, index);
    }
}

void follower_update(struct follower *follower, const struct sim_run *run)
{
    uint32_t kept = 0;

    take_new(follower, run);
    for (uint32_t i = 0; i < follower->open.len; i++) {
        uint32_t at = follower->open.items[i];
        const struct sim_run_job *job = &run->jobs.items[at];
        uint32_t index = follower->index_of.items[at];

        follower->history.jobs.items[index].started = job->first_start;
        if (job->ended == 0)
            follower->open.items[kept++] = at;
        else if (!job->is_cancelled)
            past_ended(&follower->history, index, follower->trace->jobs.items[job->trace_job].run);
    }
    follower->open.len = kept;
}

struct state *follower_state(const struct sim_run *run)
{
    const struct retell_change nothing = RETELL_CHANGE_INIT(NO_ID);

    state_settle(run->state);
    struct state *copy = state_retell(run->state, &nothing);
    state_settle(copy);
    return copy;
}

/* How long it has run with all of its pods, since the last loss of work. */
static nsec_t done_of(const struct sim_run_job *job, nsec_t now)
{
    sim_run_work done = job->done + (job->is_going ? (sim_run_work)job->running * (now - job->since) : 0);

    return (nsec_t)(done / MAX(job->pods, 1u));
}

struct future_fact *follower_facts(const struct follower *follower, const struct sim_run *run, const struct state *copy)
{
    struct future_fact *facts = xcalloc(MAX(copy->gangs.len, 1u), sizeof *facts);

    vec_foreach (&run->jobs, job) {
        gang_id id = job->gang == NO_ID ? NO_ID
                                        : state_find_gang(copy, state_name(run->state, job->namespace),
                                                          state_name(run->state, job->name));

        if (id == NO_ID || !job->from_trace)
            continue;
        facts[id] = (struct future_fact){
            .traits = past_traits_of(follower->trace, job->trace_job),
            .elapsed = done_of(job, run->end),
            .limit = follower->trace->jobs.items[job->trace_job].limit,
            .gpus = job->gpus,
        };
    }
    return facts;
}
