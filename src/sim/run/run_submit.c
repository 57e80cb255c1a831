/* SPDX-License-Identifier: Apache-2.0 */

/* Rows of a trace as deltas: a gang with one set of pods. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "model/books/books.h"
#include "model/delta.h"
#include "objects/amounts.h"
#include "sim/run/run_internal.h"
#include "sim/trace/trace.h"

enum { FIRST_FIXED_PRIORITY = 100, POD_NAME_MAX = 280, AMOUNTS_MAX = 130 };

/* Labels of pods that keep apart, from those of the same workload or of the same group. */
#define WORKLOAD_LABEL "muster.trace/workload"
#define GROUP_LABEL "muster.trace/group"

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

/* "name=amount;..." after what is there; the reader has checked it. */
static size_t read_resources(struct arena *arena, const char *text, struct amount_spec *amounts, size_t count)
{
    char *rest = arena_strdup(arena, text);

    for (char *pair; count < AMOUNTS_MAX && (pair = strsep(&rest, ";"));) {
        const char *name = strsep(&pair, "=");
        int64_t amount = strtoll(pair, NULL, 10);

        amounts[count++] = (struct amount_spec){name, resource_is_mig(name) ? amount : amount * 1000};
    }
    return count;
}

/* What all pods ask for. `amounts` has CPU and memory first, by which parts may differ. */
static struct request_spec request_of(struct arena *arena, const struct trace *trace, const struct trace_job *job,
                                      struct amount_spec amounts[static AMOUNTS_MAX])
{
    size_t count = 2;

    amounts[0] = (struct amount_spec){"cpu", job->cpu_milli};
    amounts[1] = (struct amount_spec){"memory", job->memory_bytes};
    if (job->resources)
        count = read_resources(arena, trace_str(trace, job->resources), amounts, count);
    return (struct request_spec){
        .kind = job->kind,
        .gpus = job->gpus,
        .devices = job->devices,
        .portion = job->fraction,
        .memory_mib = job->gpu_memory_mib,
        .amounts = amounts,
        .amount_count = count,
    };
}

/* Pods of the workload, or of all workloads of its group, keep off each other's nodes, racks or whatever is named. */
static void keep_apart(struct arena *arena, const struct trace *trace, const struct trace_job *job,
                       struct pod_spec *spec)
{
    char *label = arena_strdup(arena, trace_str(trace, job->anti_affinity));
    char *group = strchr(label, '=');
    const char **own_namespace = arena_calloc(arena, 1, sizeof *own_namespace);
    const char **value = arena_calloc(arena, 1, sizeof *value);
    struct match_spec *match = arena_calloc(arena, 1, sizeof *match);
    struct pod_term_spec *term = arena_calloc(arena, 1, sizeof *term);
    struct str_pair *pair = arena_calloc(arena, 1, sizeof *pair);

    *own_namespace = spec->namespace;
    *value = group ? group + 1 : spec->gang;
    if (group)
        *group = '\0';
    *pair = (struct str_pair){group ? GROUP_LABEL : WORKLOAD_LABEL, *value};
    *match = (struct match_spec){.op = MATCH_IN, .key = pair->key, .values = value, .value_count = 1};
    *term = (struct pod_term_spec){
        .selector = {.all = match, .count = 1},
        .namespaces = own_namespace,
        .namespace_count = 1,
        .all_namespaces = group != NULL,
        .topology_key = label,
    };
    spec->labels = pair;
    spec->label_count = 1;
    spec->constraints.anti_affinity = term;
    spec->constraints.anti_affinity_count = 1;
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

static void constrain(struct arena *arena, const struct trace *trace, const struct trace_job *job,
                      struct pod_spec *spec)
{
    if (job->node_selector) {
        struct selector_spec *term = arena_calloc(arena, 1, sizeof *term);

        *term = read_selector(arena, trace_str(trace, job->node_selector));
        spec->constraints.node_terms = term;
        spec->constraints.node_term_count = 1;
    }
    if (job->anti_affinity)
        keep_apart(arena, trace, job, spec);
}

/* The pods of one part; `first` is how many of the workload there are already. */
static int put_part(struct sim_run *run, const struct pod_spec *pattern, const struct trace_part *part, uint32_t first,
                    uint32_t index_of_job, struct err *err)
{
    struct pod_spec spec = *pattern;
    char name[POD_NAME_MAX];
    int r = 0;

    spec.name = name;
    for (uint32_t i = first; r >= 0 && i < first + part->pods; i++) {
        (void)snprintf(name, sizeof name, "%s-%u", spec.gang, i);
        r = state_put_pod(run->state, &spec, err);
        if (r >= 0)
            sim_run_pod_waits(run, state_find_pod(run->state, spec.namespace, name), index_of_job);
    }
    return r;
}

static int put_pods(struct sim_run *run, const struct trace_job *job, uint32_t index_of_job, struct err *err)
{
    const struct trace *trace = run->inner->trace;
    struct arena arena;
    struct pod_spec spec = {
        .namespace = namespace_of(trace, job),
        .gang = trace_str(trace, job->name),
        .created = run->inner->now,
    };
    struct amount_spec amounts[AMOUNTS_MAX];
    uint32_t count = 0;
    int r = 0;

    arena_init(&arena);
    spec.request = request_of(&arena, trace, job, amounts);
    constrain(&arena, trace, job, &spec);
    for (uint32_t i = 0; r >= 0 && i < MAX(job->part_count, 1u); i++) {
        struct trace_part part = trace_part(trace, job, i);

        spec.request.gpus = part.gpus;
        amounts[0].amount = part.cpu_milli;
        amounts[1].amount = part.memory_bytes;
        r = put_part(run, &spec, &part, count, index_of_job, err);
        count += part.pods;
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
        return err_set(err, -EINVAL, "line %u: name: the cluster already has a workload called '%s/%s'", job->line,
                       namespace, name);
    r = put_gang(run, job, err);
    if (r < 0)
        return err_wrap(err, r, "line %u", job->line);
    gang = state_find_gang(run->state, namespace, name);
    added = sim_run_add_job(run, (struct sim_run_job){
                                     .gang = gang,
                                     .pods = job->pods,
                                     .min = job->min_available,
                                     .gpus = trace_job_gpus(inner->trace, job),
                                     .pod_gpus = trace_job_gpus(inner->trace, job) / job->pods,
                                     .submitted = inner->now,
                                     .recorded_start = job->recorded_start,
                                     .from_trace = true,
                                     .trace_job = index,
                                     .checkpoint = job->checkpoint,
                                     .work = job->run == TRACE_RUNS_ON ? -1 : (sim_run_work)job->run * job->pods,
                                 });
    inner->job_of_trace.items[index] = added;
    r = put_pods(run, job, added, err);
    return r < 0 ? err_wrap(err, r, "line %u", job->line) : 0;
}
