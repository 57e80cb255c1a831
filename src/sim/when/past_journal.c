/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The history of a scheduler by its journal: from cycle to cycle it is seen which workloads came, ran and went. Times are
 * those of cycles.
 */
#include "sim/when/past_journal.h"

#include <sys/stat.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "model/state.h"
#include "sim/replay/replay.h"
#include "sim/trace/trace.h"

struct sighting {
    uint32_t index;  // in history.jobs
    uint64_t cycle;  // in which it was last seen
    nsec_t started;  // 0: it waits
};

struct watching {
    struct past *history;
    struct trace *trace;
    struct map64 known;  // by names and creation: index in `sightings`
    VEC(struct sighting) sightings;
    VEC(uint32_t) present;  // sightings that have not ended
    uint64_t cycle;
    nsec_t now;
};

static uint64_t key_of(const struct state *state, const struct gang *gang)
{
    uint64_t names = hash_str(state_name(state, gang->name), hash_str(state_name(state, gang->namespace), 0));

    return hash_bytes(&gang->created, sizeof gang->created, names);
}

static int64_t asked(const struct request *request, uint32_t dim)
{
    return dim < request->v_count ? request->v[dim] : 0;
}

static struct trace_part part_of(const struct state *state, pod_id pod)
{
    const struct request *request = state_request(state, pod);
    int64_t whole = request->kind == REQUEST_REGULAR ? request->gpus / GPU_ONE : 0;
    int64_t gpus = CLAMP(whole, 0, TRACE_GPUS_MAX);

    return (struct trace_part){
        .pods = 1,
        .gpus = (uint32_t)gpus,
        .cpu_milli = asked(request, RES_CPU),
        .memory_bytes = asked(request, RES_MEMORY),
    };
}

/* What its pods ask for; of fractions, those of the first pod. */
static void set_size(struct watching *watching, const struct state *state, const struct gang *gang,
                     struct trace_job *job)
{
    VEC(struct trace_part) parts = {0};

    for (uint32_t g = 0; g < gang->group_count; g++) {
        job->min_available += gang->groups[g].is_pod_set && gang->groups[g].min > 0 ? (uint32_t)gang->groups[g].min : 0;
        for (uint32_t i = 0; i < gang->groups[g].pods.len && parts.len < TRACE_PARTS_MAX; i++) {
            const struct request *request = state_request(state, gang->groups[g].pods.items[i]);

            if (parts.len == 0 && request_is_shared(request)) {
                job->kind = request->kind;
                job->devices = MAX(request->devices, 1u);
                job->fraction = request->portion;
                job->gpu_memory_mib = request->memory_mib;
            }
            vec_push(&parts, part_of(state, gang->groups[g].pods.items[i]));
        }
    }
    trace_set_parts(watching->trace, job, parts.items, parts.len);
    job->min_available = CLAMP(job->min_available, 1u, job->pods);
    vec_done(&parts);
}

static bool has_pods(const struct gang *gang)
{
    for (uint32_t g = 0; g < gang->group_count; g++)
        if (gang->groups[g].pods.len > 0)
            return true;
    return false;
}

static void add_sighting(struct watching *watching, const struct state *state, const struct gang *gang, uint64_t key)
{
    struct trace *trace = watching->trace;
    struct trace_job job = TRACE_JOB_INIT;

    job.name = trace_intern(trace, state_name(state, gang->name));
    job.namespace = trace_intern(trace, state_name(state, gang->namespace));
    job.queue = trace_intern(trace, state_name(state, gang->queue_name));
    job.priority = gang->priority;
    job.is_preemptible = gang->is_preemptible;
    job.has_preemptible = true;
    set_size(watching, state, gang, &job);
    trace_submit(trace, watching->now, &job);
    map64_put(&watching->known, key, watching->sightings.len);
    vec_push(&watching->present, watching->sightings.len);
    vec_push(&watching->sightings,
             (struct sighting){.index = past_came(watching->history, trace->jobs.len - 1, watching->now)});
}

static void see(struct watching *watching, const struct state *state, const struct gang *gang)
{
    uint64_t key = key_of(state, gang);
    bool runs = gang->active_allocated > 0 && gang->short_sets == 0;
    uint64_t at;

    if (!map64_get(&watching->known, key, &at)) {
        if (!has_pods(gang))
            return;
        at = watching->sightings.len;
        add_sighting(watching, state, gang, key);
    }
    struct sighting *sighting = &watching->sightings.items[at];
    if (runs && sighting->started == 0)
        sighting->started = gang->last_start > 0 ? MIN(gang->last_start, watching->now) : watching->now;
    else if (!runs && gang->pending > 0)
        sighting->started = 0;
    /* Its pods are done, or it is being taken down: not seen any more. */
    if (runs || gang->pending > 0 || sighting->started == 0)
        sighting->cycle = watching->cycle;
    watching->history->jobs.items[sighting->index].started = sighting->started;
}

/* What is bound in this cycle starts now: it may be gone by the next one. */
static void see_bound(struct watching *watching, const struct state *state, const struct record_decision *decision)
{
    pod_id pod = state_find_pod(state, decision->namespace, decision->pod);
    gang_id gang = pod == NO_ID ? NO_ID : state->pods.items[pod].gang;
    uint64_t at;

    if (decision->kind != DECISION_BIND || gang == NO_ID ||
        !map64_get(&watching->known, key_of(state, &state->gangs.items[gang]), &at))
        return;
    struct sighting *sighting = &watching->sightings.items[at];
    if (sighting->started == 0)
        sighting->started = watching->now;
    watching->history->jobs.items[sighting->index].started = sighting->started;
}

static void see_all(void *context, uint64_t segment, const struct state *state, const struct record_cycle *cycle)
{
    struct watching *watching = context;
    uint32_t kept = 0;

    (void)segment;
    watching->cycle++;
    watching->now = cycle->now;
    vec_foreach (&state->gangs, gang)
        if (gang->is_present)
            see(watching, state, gang);
    for (uint32_t i = 0; i < watching->present.len; i++) {
        uint32_t at = watching->present.items[i];
        struct sighting *sighting = &watching->sightings.items[at];

        if (sighting->cycle == watching->cycle)
            watching->present.items[kept++] = at;
        else if (sighting->started != 0)
            past_ended(watching->history, sighting->index, cycle->now - sighting->started);
    }
    watching->present.len = kept;
    for (size_t i = 0; i < cycle->decision_count; i++)
        see_bound(watching, state, &cycle->decisions[i]);
}

int past_read_journal(struct past *history, const char *path, nsec_t now, struct err *err)
{
    struct watching watching = {.history = history, .trace = history->trace};

    map64_init(&watching.known);
    int r = replay_walk(path, now, see_all, &watching, err);
    map64_done(&watching.known);
    vec_done(&watching.sightings);
    vec_done(&watching.present);
    return r;
}

int past_read(struct past *history, const char *path, nsec_t now, struct err *err)
{
    struct stat stat_buf;

    if (stat(path, &stat_buf) == 0 && S_ISDIR(stat_buf.st_mode))
        return past_read_journal(history, path, now, err);
    int r = trace_read(history->trace, path, err);
    if (r >= 0)
        past_take_trace(history, history->trace, now);
    return r;
}
