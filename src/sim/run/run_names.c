/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The name that people know a workload by, and its state. The PodGroup that KAI makes for an owner is called
 * "pg-OWNER-UID", where both parts may hold dashes; its pods are called OWNER, or start with "OWNER-".
 */
#include <string.h>

#include "base/map.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "engine/engine.h"
#include "objects/notes.h"
#include "sim/run/run_internal.h"

enum { OWNER_TEXT_MAX = 1024 };

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
                state_name(run->state, job->owner ? job->owner : job->label));
}

const struct sim_run_job *sim_run_next_replica(const struct sim_run *run, const struct sim_run_job *job)
{
    return job->next_replica == NO_ID ? NULL : &run->jobs.items[job->next_replica];
}

void sim_run_link_replica(struct sim_run *run)
{
    struct map64 *last_replica = &run->inner->last_replica;
    const struct strmap *replicas = run->inner->options.replicas;
    struct state *state = run->state;
    uint32_t index = run->jobs.len - 1;
    struct sim_run_job *job = &run->jobs.items[index];
    const struct replica *replica =
        replicas ? strmap_get(replicas, state_name(state, job->namespace), state_name(state, job->name)) : NULL;
    struct strbuf owner;
    uint64_t last;

    job->next_replica = NO_ID;
    if (!replica)
        return;
    job->owner = intern_id(&state->names, replica->owner, strlen(replica->owner));
    strbuf_init(&owner, OWNER_TEXT_MAX);
    strbuf_addf(&owner, "%s/%s", replica->kind, replica->owner);
    uint64_t key = (uint64_t)job->namespace << 32 | intern_id(&state->names, owner.text, owner.len);
    strbuf_done(&owner);
    if (map64_get(last_replica, key, &last)) {
        run->jobs.items[last].next_replica = index;
        job->is_later_replica = true;
    }
    map64_put(last_replica, key, index);
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
