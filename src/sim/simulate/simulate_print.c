/* SPDX-License-Identifier: Apache-2.0 */

/* Where a cluster came to rest, as tables. */
#include <string.h>

#include "base/strbuf.h"
#include "engine/engine.h"
#include "model/books/books.h"
#include "model/state.h"
#include "sim/report/metrics.h"
#include "sim/scenario/scenario_why.h"
#include "sim/simulate/simulate.h"
#include "sim/simulate/simulate_queues.h"
#include "text/table.h"

enum { CELL_MAX = 1024, NODES_SHOWN = 4, DEPTH_SHOWN = 8, ROWS_SHOWN = 200 };

static void add_gpus(struct table *t, enum table_style style, double amount)
{
    if (amount < 0)
        table_cell(t, TABLE_DIM, "any");
    else if (amount == 0)
        table_cell(t, TABLE_DIM, "0");
    else
        table_cell(t, style, "%.4g", amount);
}

static void print_queues(const struct simulation *sim, const struct table_view *view, FILE *out)
{
    static const struct table_column columns[] = {
        {"QUEUE", TABLE_LEFT, TABLE_CUT},    {"QUOTA", TABLE_RIGHT, TABLE_WHOLE},
        {"LIMIT", TABLE_RIGHT, TABLE_WHOLE}, {"FAIR SHARE", TABLE_RIGHT, TABLE_WHOLE},
        {"USED", TABLE_RIGHT, TABLE_WHOLE},  {"BORROWS", TABLE_RIGHT, TABLE_WHOLE},
        {"LENDS", TABLE_RIGHT, TABLE_WHOLE}, {"WAITING", TABLE_RIGHT, TABLE_WHOLE},
    };
    struct queue_standings list = {0};
    struct table t;

    queue_standings(sim, &list);
    table_init(&t, columns, ARRAY_LEN(columns));
    vec_foreach (&list, at) {
        const char *name = state_name(sim->state, sim->run.queues.items[at->queue].name);

        table_cell(&t, TABLE_PLAIN, "%*s%s", (int)MIN(at->depth, (uint32_t)DEPTH_SHOWN) * 2, "", name);
        add_gpus(&t, TABLE_PLAIN, at->quota);
        add_gpus(&t, TABLE_PLAIN, at->limit);
        add_gpus(&t, TABLE_PLAIN, at->fair_share);
        add_gpus(&t, TABLE_GOOD, at->used);
        add_gpus(&t, TABLE_WARN, at->borrows);
        add_gpus(&t, TABLE_PLAIN, at->lends);
        add_gpus(&t, TABLE_WARN, at->pending);
    }
    (void)fprintf(out, "Queues, in GPUs of %.6g\n", gpu_to_double(sim->state->total.v[SHARE_GPU]));
    table_print(&t, view, out);
    table_done(&t);
    vec_done(&list);
}

/* GPUs that the gang's pods hold or ask for; what an amount of GPU memory comes to is known once it has a place. */
static double gpus_of(const struct state *state, const struct gang *gang)
{
    int64_t gpus = 0;

    for (uint32_t g = 0; g < gang->group_count; g++)
        for (uint32_t i = 0; i < gang->groups[g].pods.len; i++) {
            pod_id pod = gang->groups[g].pods.items[i];
            bool is_placed = status_in(state->pods.items[pod].status, ALLOCATED_SET);

            gpus += (is_placed ? pod_accepted(state, pod) : pod_asked(state, pod)).v[SHARE_GPU];
        }
    return gpu_to_double(gpus);
}

/* "gpu-1 x3, gpu-2 and 2 more": where the gang's pods run. */
static uint32_t add_nodes(struct strbuf *text, const struct state *state, const struct gang *gang)
{
    struct {
        node_id node;
        uint32_t pods;
    } seen[NODES_SHOWN] = {0};
    uint32_t count = 0;
    uint32_t others = 0;
    uint32_t running = 0;

    for (uint32_t g = 0; g < gang->group_count; g++)
        for (uint32_t i = 0; i < gang->groups[g].pods.len; i++) {
            const struct pod *pod = &state->pods.items[gang->groups[g].pods.items[i]];
            uint32_t k = 0;

            if (!status_in(pod->status, ALLOCATED_SET) || pod->node == NO_ID)
                continue;
            running++;
            while (k < count && seen[k].node != pod->node)
                k++;
            if (k == count && count < NODES_SHOWN)
                seen[count++].node = pod->node;
            if (k < NODES_SHOWN)
                seen[k].pods++;
            else
                others++;
        }
    for (uint32_t k = 0; k < count; k++) {
        strbuf_addf(text, "%s%s", k ? ", " : "", state_name(state, state->nodes.items[seen[k].node].name));
        if (seen[k].pods > 1)
            strbuf_addf(text, " x%u", seen[k].pods);
    }
    if (others > 0)
        strbuf_addf(text, " and %u pods elsewhere", others);
    return running;
}

static void add_name(struct table *t, const struct state *state, const struct sim_run_job *job)
{
    table_cell(t, TABLE_PLAIN, "%s%s%s", state_name(state, job->namespace), job->namespace ? "/" : "",
               state_name(state, job->label));
}

static void add_workload(struct table *t, const struct simulation *sim, const struct sim_run_job *job,
                         struct strbuf *where)
{
    const struct state *state = sim->state;
    const struct gang *gang = &state->gangs.items[job->gang];
    uint32_t running;
    bool is_partly;

    strbuf_clear(where);
    running = add_nodes(where, state, gang);
    is_partly = running > 0 && running < job->pods;
    add_name(t, state, job);
    table_cell(t, TABLE_PLAIN, "%s", state_name(state, gang->queue_name));
    table_cell(t, running == 0 ? TABLE_WARN : TABLE_GOOD, "%s",
               running == 0 ? "waits"
               : is_partly  ? "in part"
                            : "runs");
    if (is_partly)
        table_cell(t, TABLE_PLAIN, "%u of %u", running, job->pods);
    else
        table_cell(t, TABLE_PLAIN, "%u", job->pods);
    table_cell(t, TABLE_PLAIN, "%.6g", gpus_of(state, gang));
    table_cell(t, TABLE_PLAIN, "%s", where->text);
}

static void print_workloads(const struct simulation *sim, const struct table_view *view, FILE *out)
{
    static const struct table_column columns[] = {
        {"WORKLOAD", TABLE_LEFT, TABLE_CUT}, {"QUEUE", TABLE_LEFT, TABLE_CUT},   {"STATE", TABLE_LEFT, TABLE_WHOLE},
        {"PODS", TABLE_RIGHT, TABLE_WHOLE},  {"GPUS", TABLE_RIGHT, TABLE_WHOLE}, {"NODES", TABLE_LEFT, TABLE_WRAP},
    };
    struct strbuf where;
    struct table t;

    strbuf_init(&where, CELL_MAX);
    table_init(&t, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < sim->run.jobs.len; i++)
        if (sim->run.jobs.items[i].gang != NO_ID)
            add_workload(&t, sim, &sim->run.jobs.items[i], &where);
    if (t.cells.len > 0) {
        (void)fputs("\nWorkloads\n", out);
        table_print(&t, view, out);
    }
    table_done(&t);
    strbuf_done(&where);
}

static void print_waiting(struct simulation *sim, const struct table_view *view, FILE *out)
{
    static const struct table_column columns[] = {
        {"WAITING", TABLE_LEFT, TABLE_CUT}, {"WHEN", TABLE_LEFT, TABLE_WHOLE}, {"WHY", TABLE_LEFT, TABLE_WRAP}};
    const struct state *state = sim->state;
    struct strbuf why;
    struct table t;
    uint32_t more = 0;

    strbuf_init(&why, CELL_MAX);
    table_init(&t, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < sim->run.jobs.len; i++) {
        const struct sim_run_job *job = &sim->run.jobs.items[i];
        const struct gang *gang = job->gang == NO_ID ? NULL : &state->gangs.items[job->gang];

        if (!gang || gang->pending == 0)
            continue;
        if (t.cells.len / ARRAY_LEN(columns) == ROWS_SHOWN) {
            more++;
            continue;
        }
        strbuf_clear(&why);
        scenario_why(&why, state, sim->run.engine, job->gang);
        add_name(&t, state, job);
        table_cell(&t, TABLE_WARN, "%s",
                   verdict_class_name(verdict_class(engine_verdict(sim->run.engine, job->gang).code)));
        table_cell(&t, TABLE_PLAIN, "%s", why.text);
    }
    if (t.cells.len > 0) {
        (void)fputc('\n', out);
        table_print(&t, view, out);
    }
    if (more > 0)
        (void)fprintf(out, "and %u more\n", more);
    table_done(&t);
    strbuf_done(&why);
}

/* Who had to go so that others could run; most of them run again, elsewhere. */
static void print_evictions(const struct simulation *sim, const struct table_view *view, FILE *out)
{
    static const struct table_column columns[] = {{"EVICTED", TABLE_LEFT, TABLE_CUT},
                                                  {"PODS", TABLE_RIGHT, TABLE_WHOLE},
                                                  {"FOR", TABLE_LEFT, TABLE_CUT},
                                                  {"BY", TABLE_LEFT, TABLE_WHOLE}};
    const struct sim_run *run = &sim->run;
    struct table t;

    table_init(&t, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < MIN(run->evictions.len, (uint32_t)ROWS_SHOWN); i++) {
        const struct sim_run_eviction *eviction = &run->evictions.items[i];

        add_name(&t, sim->state, &run->jobs.items[eviction->job]);
        table_cell(&t, TABLE_PLAIN, "%u", eviction->pods);
        if (eviction->for_job == NO_ID)
            table_cell(&t, TABLE_DIM, "-");
        else
            add_name(&t, sim->state, &run->jobs.items[eviction->for_job]);
        table_cell(&t, TABLE_PLAIN, "%s", action_name((enum action)eviction->action));
    }
    if (t.cells.len > 0) {
        (void)fputc('\n', out);
        table_print(&t, view, out);
    }
    if (run->evictions.len > ROWS_SHOWN)
        (void)fprintf(out, "and %u more\n", run->evictions.len - ROWS_SHOWN);
    table_done(&t);
}

static void print_notes(const struct simulation *sim, FILE *out)
{
    const struct object_notes *notes = &sim->notes.found;

    if (notes->skipped.len > 0)
        (void)fputs("\nSkipped:", out);
    for (uint32_t i = 0; i < notes->skipped.len; i++)
        (void)fprintf(out, "%s %u %s", i ? "," : "", notes->skipped.items[i].count, notes->skipped.items[i].kind);
    if (notes->skipped.len > 0)
        (void)fputc('\n', out);
    if (sim->run.is_cut)
        (void)fprintf(out, "\nStopped after %llu cycles; it had not come to rest.\n",
                      (unsigned long long)sim->run.cycles);
}

void simulation_print(struct simulation *sim, const struct table_view *view, FILE *out)
{
    print_queues(sim, view, out);
    print_workloads(sim, view, out);
    print_evictions(sim, view, out);
    print_waiting(sim, view, out);
    print_notes(sim, out);
}
