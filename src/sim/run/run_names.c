/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The name that people know a workload by, and its state. The PodGroup that KAI makes for an owner is called
 * "pg-OWNER-UID", where both parts may hold dashes; its pods are called OWNER, or start with "OWNER-".
 */
#include <string.h>

#include "base/strbuf.h"
#include "engine/engine.h"
#include "sim/run/run_internal.h"

static const char *first_pod_name(const struct state *state, const struct gang *gang)
{
    for (uint32_t i = 0; i < gang->group_count; i++)
        if (gang->groups[i].pods.len > 0)
            return state_name(state, state->pods.items[gang->groups[i].pods.items[0]].name);
    return "";
}

/* The owner's name within that of the gang, and its length; 0 when the gang was not made for an owner. */
static size_t find_owner(const struct state *state, const struct gang *gang, const char **ret_name)
{
    const char *name = state_name(state, gang->name);
    const char *pod = first_pod_name(state, gang);
    size_t best = 0;

    if (strncmp(name, "pg-", 3) != 0)
        return 0;
    name += 3;
    for (size_t len = 1; name[len]; len++)
        if (name[len] == '-' && strncmp(name, pod, len) == 0 && (pod[len] == '-' || pod[len] == '\0'))
            best = len;
    *ret_name = name;
    return best;
}

uint32_t sim_run_label_of(struct state *state, gang_id id)
{
    const struct gang *gang = &state->gangs.items[id];
    const char *name;
    size_t len = find_owner(state, gang, &name);

    return len > 0 ? intern_id(&state->names, name, len) : gang->name;
}

void workload_add_name(struct strbuf *text, const struct state *state, gang_id id)
{
    const struct gang *gang = &state->gangs.items[id];
    const char *name = "";
    size_t len = find_owner(state, gang, &name);

    strbuf_addf(text, "%s%s", state_name(state, gang->namespace), gang->namespace ? "/" : "");
    if (len > 0)
        strbuf_addf(text, "%.*s", (int)len, name);
    else
        strbuf_addstr(text, state_name(state, gang->name));
}

void sim_run_job_name(const struct sim_run *run, const struct sim_run_job *job, struct strbuf *text)
{
    strbuf_addf(text, "%s%s%s", state_name(run->state, job->namespace), job->namespace ? "/" : "",
                state_name(run->state, job->label));
}

enum workload_state sim_run_job_state(const struct sim_run *run, const struct sim_run_job *job)
{
    if (job->gang == NO_ID)
        return job->is_cancelled ? WORKLOAD_CANCELLED : WORKLOAD_COMPLETED;
    if (job->is_going)
        return WORKLOAD_RUNNING;
    return engine_verdict(run->engine, job->gang).code == VERDICT_PROMISED ? WORKLOAD_PREEMPTING : WORKLOAD_PENDING;
}

const char *workload_state_name(enum workload_state state)
{
    static const char *const names[] = {
        [WORKLOAD_PENDING] = "Pending",     [WORKLOAD_PREEMPTING] = "Preempting", [WORKLOAD_RUNNING] = "Running",
        [WORKLOAD_COMPLETED] = "Completed", [WORKLOAD_CANCELLED] = "Cancelled",
    };

    _Static_assert(ARRAY_LEN(names) == _WORKLOAD_STATE_MAX, "a name for each state");
    return names[state];
}
