/* SPDX-License-Identifier: Apache-2.0 */

/* Rows of a trace as deltas: a gang with one set of equal pods. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "model/books/books.h"
#include "model/delta.h"
#include "sim/run/run_internal.h"
#include "sim/trace/trace.h"

enum { FIRST_FIXED_PRIORITY = 100, POD_NAME_MAX = 280 };

static const char *given(const struct trace *trace, trace_name name)
{
    return name ? trace_str(trace, name) : NULL;
}

static const char *namespace_of(const struct trace *trace, const struct trace_job *job)
{
    return job->namespace ? trace_str(trace, job->namespace) : "default";
}

/* "a=b;c=d|e" as requirements that must all hold. */
static struct selector_spec read_selector(struct arena *arena, const char *text)
{
    enum { MATCHES_MAX = 128 };
    struct match_spec *matches = arena_calloc(arena, MATCHES_MAX, sizeof *matches);
    char *copy = arena_strdup(arena, text);
    struct selector_spec selector = {.all = matches};
    char *rest = NULL;

    for (char *pair = strtok_r(copy, ";", &rest); pair && selector.count < MATCHES_MAX;
         pair = strtok_r(NULL, ";", &rest)) {
        struct match_spec *match = &matches[selector.count++];
        char *values = strchr(pair, '=');
        const char **list = arena_calloc(arena, strlen(values) / 2 + 1, sizeof *list);
        char *more = NULL;

        *values++ = '\0';
        *match = (struct match_spec){.op = MATCH_IN, .key = pair, .values = list};
        for (char *value = strtok_r(values, "|", &more); value; value = strtok_r(NULL, "|", &more))
            list[match->value_count++] = value;
    }
    return selector;
}

static struct request_spec request_of(const struct trace_job *job, struct amount_spec amounts[static 2])
{
    amounts[0] = (struct amount_spec){"cpu", job->cpu_milli};
    amounts[1] = (struct amount_spec){"memory", job->memory_bytes};
    return (struct request_spec){
        .kind = job->kind,
        .gpus = job->gpus,
        .devices = job->devices,
        .portion = job->fraction,
        .memory_mib = job->gpu_memory_mib,
        .amounts = amounts,
        .amount_count = 2,
    };
}

static int put_gang(struct sim_run *run, const struct trace_job *job, struct err *err)
{
    const struct trace *trace = run->inner->trace;
    struct state *state = run->state;
    int32_t priority =
        job->priority_class ? state_priority(state, trace_str(trace, job->priority_class)) : job->priority;
    struct topology_constraint_spec topology = {given(trace, job->topology), given(trace, job->required),
                                                given(trace, job->preferred)};
    struct group_spec groups[] = {
        {.name = "", .parent = -1, .min = -1, .topology = topology},
        {.name = "default", .is_pod_set = true, .min = (int32_t)job->min_available},
    };
    struct gang_spec spec = {
        .namespace = namespace_of(trace, job),
        .name = trace_str(trace, job->name),
        .queue = trace_str(trace, job->queue),
        .priority = priority,
        .is_preemptible =
            job->has_preemptible || !job->priority_class ? job->is_preemptible : priority < FIRST_FIXED_PRIORITY,
        .created = run->inner->now,
        .groups = groups,
        .group_count = ARRAY_LEN(groups),
    };

    return state_put_gang(state, &spec, err);
}

static int put_pods(struct sim_run *run, const struct trace_job *job, uint32_t sim_run_job, struct err *err)
{
    const struct trace *trace = run->inner->trace;
    struct amount_spec amounts[2];
    struct selector_spec term;
    char name[POD_NAME_MAX];
    struct pod_spec spec = {
        .namespace = namespace_of(trace, job),
        .name = name,
        .gang = trace_str(trace, job->name),
        .created = run->inner->now,
        .request = request_of(job, amounts),
    };
    struct arena arena;
    int r = 0;

    arena_init(&arena);
    if (job->node_selector) {
        term = read_selector(&arena, trace_str(trace, job->node_selector));
        spec.constraints.node_terms = &term;
        spec.constraints.node_term_count = 1;
    }
    for (uint32_t i = 0; r >= 0 && i < job->pods; i++) {
        (void)snprintf(name, sizeof name, "%s-%u", spec.gang, i);
        r = state_put_pod(run->state, &spec, err);
        if (r >= 0)
            sim_run_pod_waits(run, state_find_pod(run->state, spec.namespace, name), sim_run_job);
    }
    arena_done(&arena);
    return r;
}

int sim_run_submit(struct sim_run *run, uint32_t index, struct err *err)
{
    struct sim_run_inner *inner = run->inner;
    const struct trace_job *job = &inner->trace->jobs.items[index];
    const char *namespace = namespace_of(inner->trace, job);
    const char *name = trace_str(inner->trace, job->name);
    gang_id gang;
    uint32_t added;
    int r;

    if (state_find_gang(run->state, namespace, name) != NO_ID)
        return err_set(err, -EINVAL, "line %u: name: the cluster has a workload called '%s/%s' already", job->line,
                       namespace, name);
    r = put_gang(run, job, err);
    if (r < 0)
        return err_wrap(err, r, "line %u", job->line);
    gang = state_find_gang(run->state, namespace, name);
    added = sim_run_add_job(run, (struct sim_run_job){
                                     .gang = gang,
                                     .pods = job->pods,
                                     .min = job->min_available,
                                     .gpus = trace_job_gpus(job),
                                     .pod_gpus = trace_job_gpus(job) / job->pods,
                                     .submitted = inner->now,
                                     .from_trace = true,
                                     .trace_job = index,
                                     .checkpoint = job->checkpoint,
                                     .work = job->run == TRACE_RUNS_ON ? -1 : (sim_run_work)job->run * job->pods,
                                 });
    inner->job_of_trace.items[index] = added;
    r = put_pods(run, job, added, err);
    return r < 0 ? err_wrap(err, r, "line %u", job->line) : 0;
}
