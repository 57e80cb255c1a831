/* SPDX-License-Identifier: Apache-2.0 */

/* Both cycles, and what differs between them. Workloads and queues of the two states are matched by name. */
#include "sim/whatif/whatif.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "model/state.h"
#include "sim/report/standing.h"
#include "sim/simulate/simulate.h"

/* A cycle that was run: the fates of its gangs, by gang id. */
struct outcome {
    const struct sim_run *run;
    struct whatif_fate *fates;
    gang_id count;
};

const char *whatif_outcome_name(enum whatif_outcome outcome)
{
    static const char *const names[] = {
        [WHATIF_ABSENT] = "-",          [WHATIF_PENDING] = "Pending", [WHATIF_PREEMPTING] = "Preempting",
        [WHATIF_STARTING] = "Starting", [WHATIF_RUNNING] = "Running", [WHATIF_EVICTED] = "Evicted",
    };
    _Static_assert(ARRAY_LEN(names) == _WHATIF_OUTCOME_MAX, "every outcome has a name");

    return names[outcome];
}

/* ---- One cycle. ---- */

static char *name_of_job(const struct sim_run *run, uint32_t job)
{
    struct strbuf name;

    strbuf_init(&name, WHATIF_NAME_MAX);
    sim_run_job_name(run, &run->jobs.items[job], &name);
    char *copy = xstrdup(name.text);
    strbuf_done(&name);
    return copy;
}

/* Pods that lose a place which they were only promised are in the run's list as well; they have nothing to lose. */
static void name_reasons(struct outcome *outcome)
{
    const struct sim_run *run = outcome->run;

    vec_foreach (&run->evictions, eviction) {
        gang_id gang = run->jobs.items[eviction->job].gang;
        if (gang == NO_ID)
            continue;
        struct whatif_fate *fate = &outcome->fates[gang];
        if (fate->evicted > 0 && !fate->for_whom && eviction->for_job != NO_ID)
            fate->for_whom = name_of_job(run, eviction->for_job);
    }
}

static void count_pods(struct outcome *outcome, const uint32_t *status_before, uint32_t pods_before)
{
    const struct state *state = outcome->run->state;

    for (pod_id id = 0; id < MIN(pods_before, state->pods.len); id++) {
        const struct pod *pod = &state->pods.items[id];
        if (!pod->is_present || pod->gang == NO_ID)
            continue;
        bool is_placed = status_in(pod->status, ACTIVE_ALLOCATED);
        struct whatif_fate *fate = &outcome->fates[pod->gang];
        fate->bound += is_placed && status_before[id] == POD_PENDING;
        fate->evicted += !is_placed && status_in(status_before[id], ACTIVE_ALLOCATED);
    }
}

static void find_fates(struct outcome *outcome, const uint32_t *status_before, uint32_t pods_before)
{
    const struct sim_run *run = outcome->run;

    count_pods(outcome, status_before, pods_before);
    name_reasons(outcome);
    vec_foreach (&run->jobs, job) {
        if (job->gang == NO_ID)
            continue;
        struct whatif_fate *fate = &outcome->fates[job->gang];
        enum workload_state at = sim_run_job_state(run, job);
        if (fate->evicted > 0)
            fate->outcome = WHATIF_EVICTED;
        else if (fate->bound > 0)
            fate->outcome = WHATIF_STARTING;
        else if (at == WORKLOAD_RUNNING)
            fate->outcome = WHATIF_RUNNING;
        else
            fate->outcome = at == WORKLOAD_PREEMPTING ? WHATIF_PREEMPTING : WHATIF_PENDING;
    }
}

static int run_cycle(struct simulation *sim, struct state *state, struct sim_run *run, struct outcome *outcome,
                     struct err *err)
{
    struct sim_run_options options;
    uint32_t pods = state->pods.len;
    _cleanup_(freep) uint32_t *before = xcalloc(MAX(pods, 1u), sizeof *before);

    for (pod_id id = 0; id < pods; id++)
        before[id] = state->pods.items[id].status;
    sim_run_options_init(&options);
    options.start = sim->start;
    options.replicas = &sim->notes.found.replicas;
    options.max_cycles = 1;
    int r = sim_run_run(run, state, &sim->config, &options, NULL, err);
    *outcome = (struct outcome){.run = run, .count = state->gangs.len};
    outcome->fates = xcalloc(MAX(outcome->count, 1u), sizeof *outcome->fates);
    if (r >= 0)
        find_fates(outcome, before, pods);
    return r;
}

/* ---- The difference. ---- */

static bool fates_equal(const struct whatif_fate *a, const struct whatif_fate *b)
{
    return a->outcome == b->outcome && a->bound == b->bound && a->evicted == b->evicted;
}

/* The same gang in the other state, NO_ID: there is none. */
static gang_id counterpart(const struct state *from, gang_id id, const struct state *in)
{
    const struct gang *gang = &from->gangs.items[id];

    return state_find_gang(in, state_name(from, gang->namespace), state_name(from, gang->name));
}

static struct whatif_fate fate_copy(const struct outcome *outcome, gang_id gang)
{
    struct whatif_fate fate = {0};

    if (gang != NO_ID && gang < outcome->count) {
        fate = outcome->fates[gang];
        fate.for_whom = fate.for_whom ? xstrdup(fate.for_whom) : NULL;
    }
    return fate;
}

static void compare_gang(struct whatif *whatif, const struct outcome sides[2], int side, gang_id id)
{
    const struct state *state = sides[side].run->state;
    const struct gang *gang = &state->gangs.items[id];
    gang_id other = counterpart(state, id, sides[!side].run->state);
    static const struct whatif_fate nothing;
    const struct whatif_fate *own = &sides[side].fates[id];
    const struct whatif_fate *theirs = other == NO_ID ? &nothing : &sides[!side].fates[other];

    /* Gangs that are on both sides are compared once. */
    if (!gang->is_present || own->outcome == WHATIF_ABSENT || (side == 0 && other != NO_ID))
        return;
    if (fates_equal(own, theirs) && own->bound == 0 && own->evicted == 0)
        return;
    struct strbuf name;
    strbuf_init(&name, WHATIF_NAME_MAX);
    workload_add_name(&name, state, id);
    struct whatif_workload row = {
        .name = xstrdup(name.text),
        .queue = xstrdup(state_name(state, gang->queue_name)),
        .without = fate_copy(&sides[0], side == 0 ? id : other),
        .with = fate_copy(&sides[1], side == 1 ? id : other),
    };
    strbuf_done(&name);
    vec_push(&whatif->workloads, row);
}

static void compare_workloads(struct whatif *whatif, const struct outcome sides[2])
{
    for (int side = 1; side >= 0; side--) {
        for (gang_id id = 0; id < sides[side].count; id++) {
            whatif->starts[side] += sides[side].fates[id].outcome == WHATIF_STARTING;
            whatif->evictions[side] += sides[side].fates[id].evicted;
            compare_gang(whatif, sides, side, id);
        }
    }
}

static const struct queue_standing *find_standing(const struct sim_run *run, const struct queue_standings *list,
                                                  const char *name)
{
    vec_foreach (list, at) {
        if (strcmp(state_name(run->state, run->queues.items[at->queue].name), name) == 0)
            return at;
    }
    return NULL;
}

static bool figures_equal(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) < 1e-9;
}

static void compare_queues(struct whatif *whatif)
{
    struct queue_standings lists[2] = {{0}, {0}};

    queue_standings(&whatif->without, &lists[0]);
    queue_standings(&whatif->with, &lists[1]);
    vec_foreach (&lists[1], at) {
        const char *name = state_name(whatif->with.state, whatif->with.queues.items[at->queue].name);
        const struct queue_standing *before = find_standing(&whatif->without, &lists[0], name);
        struct whatif_queue row = {
            .fair = {before ? before->fair_share : NAN, at->fair_share},
            .allocated = {before ? before->allocated : NAN, at->allocated},
        };
        if (figures_equal(row.fair[0], row.fair[1]) && figures_equal(row.allocated[0], row.allocated[1]))
            continue;
        row.name = xstrdup(name);
        vec_push(&whatif->queues, row);
    }
    vec_done(&lists[0]);
    vec_done(&lists[1]);
}

static void outcome_done(struct outcome *outcome)
{
    for (gang_id id = 0; outcome->fates && id < outcome->count; id++)
        free(outcome->fates[id].for_whom);
    free(outcome->fates);
}

int whatif_ask(struct whatif *whatif, struct simulation *sim, struct simulation *extended,
               const struct whatif_change *changes, size_t count, struct err *err)
{
    struct simulation *changed = extended ? extended : sim;
    struct outcome sides[2] = {{0}, {0}};
    int r;

    *whatif = (struct whatif){0};
    state_settle(sim->state);
    state_settle(changed->state);
    r = whatif_apply(sim->state, NULL, 0, &whatif->states[0], err);
    if (r >= 0)
        r = whatif_apply(changed->state, changes, count, &whatif->states[1], err);
    if (r >= 0)
        r = run_cycle(sim, whatif->states[0], &whatif->without, &sides[0], err);
    if (r >= 0)
        r = run_cycle(changed, whatif->states[1], &whatif->with, &sides[1], err);
    if (r >= 0) {
        compare_workloads(whatif, sides);
        compare_queues(whatif);
    }
    outcome_done(&sides[0]);
    outcome_done(&sides[1]);
    return r;
}

void whatif_done(struct whatif *whatif)
{
    sim_run_done(&whatif->without);
    sim_run_done(&whatif->with);
    vec_foreach (&whatif->workloads, row) {
        free(row->name);
        free(row->queue);
        free(row->without.for_whom);
        free(row->with.for_whom);
    }
    vec_foreach (&whatif->queues, row)
        free(row->name);
    vec_done(&whatif->workloads);
    vec_done(&whatif->queues);
    state_free(whatif->states[0]);
    state_free(whatif->states[1]);
}
