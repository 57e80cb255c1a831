/* SPDX-License-Identifier: Apache-2.0 */

/* Asks why: runs the cluster as it is, explains, and looks for what would help. */
#include "sim/why/why.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "engine/engine.h"
#include "model/state.h"
#include "sim/why/why_internal.h"

/* A workload as a person names it. */
struct wanted {
    const char *namespace;  // NULL: any
    size_t namespace_len;
    const char *name;
};

static struct wanted wanted_of(const char *workload)
{
    const char *slash = strchr(workload, '/');

    if (!slash)
        return (struct wanted){.name = workload};
    return (struct wanted){workload, (size_t)(slash - workload), slash + 1};
}

static bool is_in(const struct wanted *wanted, const char *namespace)
{
    return !wanted->namespace || (strlen(namespace) == wanted->namespace_len &&
                                  strncmp(namespace, wanted->namespace, wanted->namespace_len) == 0);
}

/* The gang that KAI makes for an owner called `job` is called "pg-job-" and the owner's UID. */
static bool is_made_for(const char *gang, const char *job)
{
    size_t len = strlen(job);

    return strncmp(gang, "pg-", 3) == 0 && strncmp(gang + 3, job, len) == 0 && gang[3 + len] == '-';
}

enum find_by { FIND_GANG, FIND_POD, FIND_OWNER, _FIND_BY_MAX };

/* The gangs that fit, looked for in one way: the first, and how many. */
static uint32_t find_by(const struct state *state, const struct wanted *wanted, enum find_by by, gang_id *ret)
{
    uint32_t count = 0;

    for (gang_id id = 0; by != FIND_POD && id < state->gangs.len; id++) {
        const struct gang *gang = &state->gangs.items[id];
        const char *name = state_name(state, gang->name);

        if (!gang->is_present || !is_in(wanted, state_name(state, gang->namespace)))
            continue;
        if (by == FIND_GANG ? strcmp(name, wanted->name) != 0 : !is_made_for(name, wanted->name))
            continue;
        *ret = count++ == 0 ? id : *ret;
    }
    for (pod_id id = 0; by == FIND_POD && id < state->pods.len; id++) {
        const struct pod *pod = &state->pods.items[id];

        if (!pod->is_present || pod->gang == NO_ID || !state->gangs.items[pod->gang].is_present ||
            !is_in(wanted, state_name(state, pod->namespace)) ||
            strcmp(state_name(state, pod->name), wanted->name) != 0)
            continue;
        *ret = count++ == 0 ? pod->gang : *ret;
    }
    return count;
}

int why_find(const struct state *state, const char *workload, gang_id *ret_gang, struct err *err)
{
    struct wanted wanted = wanted_of(workload);

    for (int by = 0; by < _FIND_BY_MAX; by++) {
        gang_id found = NO_ID;
        uint32_t count = find_by(state, &wanted, (enum find_by)by, &found);

        if (count > 1)
            return err_set(err, -EINVAL, "%u workloads are called '%s'; say which: namespace/name", count, workload);
        if (count == 1) {
            *ret_gang = found;
            return 0;
        }
    }
    return err_set(err, -ENOENT, "no workload is called '%s'; 'muster simulate' lists those of a cluster", workload);
}

static uint32_t pods_in(const struct state *state, gang_id id, uint32_t statuses)
{
    const struct gang *gang = &state->gangs.items[id];
    uint32_t count = 0;

    for (uint32_t g = 0; g < gang->group_count; g++) {
        for (uint32_t i = 0; i < gang->groups[g].pods.len; i++)
            count += status_in(state->pods.items[gang->groups[g].pods.items[i]].status, statuses);
    }
    return count;
}

/* Nothing waits for a place any more, promised or not, or has just lost its own. */
static bool is_all_placed(const struct state *state, gang_id id)
{
    return why_gang_runs(state, id, 0) &&
           pods_in(state, id, 1 << POD_PENDING | 1 << POD_PIPELINED | 1 << POD_RELEASING) == 0;
}

static void look_for_remedies(struct why *why)
{
    struct retell_change emptied = RETELL_CHANGE_INIT(why->gang);

    emptied.is_emptied = true;
    why->is_never = why->explanation.verdict.code != VERDICT_NOT_READY && !why_works(why, &emptied, why->now);
    why_try_requests(why);
    why_try_pods(why);
    why_try_queues(why);
    why_try_choices(why);
    /* Room and quotas are not what is missing. */
    if (why->is_never)
        return;
    why_try_quota(why);
    why_try_without(why);
    why_try_waiting(why);
}

void why_ask(struct why *why, struct state *state, const struct config *config, nsec_t now, gang_id gang)
{
    struct retell_change nothing = RETELL_CHANGE_INIT(gang);
    const struct gang *asked = &state->gangs.items[gang];

    *why = (struct why){.state = state, .config = config, .now = now, .gang = gang};
    arena_init(&why->arena);
    state_settle(state);
    why->settled = state_retell(state, &nothing);
    why_run(&why->run, why->settled, config, now);
    why->settled_gang =
        state_find_gang(why->settled, state_name(state, asked->namespace), state_name(state, asked->name));
    explain(why->run.engine, why->settled_gang, &why->explanation);
    why->runs = is_all_placed(why->settled, why->settled_gang);
    /* A gang that has what it needs may still have pods that wait: it is about the next of them. */
    if (why_gang_runs(why->settled, why->settled_gang, 0))
        why->more_than = pods_in(why->settled, why->settled_gang, ALLOCATED_SET);
    if (!why->runs)
        look_for_remedies(why);
}

void why_done(struct why *why)
{
    explanation_done(&why->explanation);
    why_run_done(&why->run);
    state_free(why->settled);
    vec_done(&why->remedies);
    arena_done(&why->arena);
}
