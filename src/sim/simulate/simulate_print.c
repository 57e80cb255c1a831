/* SPDX-License-Identifier: Apache-2.0 */

/* Where a cluster came to rest, as tables. */
#include "base/strbuf.h"
#include "engine/engine.h"
#include "model/state.h"
#include "sim/report/reason.h"
#include "sim/report/standing.h"
#include "sim/report/workload.h"
#include "sim/simulate/simulate.h"
#include "text/table.h"

enum { CELL_MAX = 1024, NODES_SHOWN = 4, DEPTH_SHOWN = 8, ROWS_SHOWN = 200 };

static void add_gpus(struct table *t, enum text_style style, double amount)
{
    if (amount < 0)
        table_cell(t, STYLE_DIM, "unlimited");
    else if (amount == 0)
        table_cell(t, STYLE_DIM, "0");
    else
        table_cell(t, style, "%.4g", amount);
}

static void print_queues(const struct simulation *sim, const struct table_view *view, FILE *out)
{
    static const struct table_column columns[] = {
        {"QUEUE", TABLE_LEFT, TABLE_CUT},        {"QUOTA", TABLE_RIGHT, TABLE_WHOLE},
        {"LIMIT", TABLE_RIGHT, TABLE_WHOLE},     {"FAIR SHARE", TABLE_RIGHT, TABLE_WHOLE},
        {"ALLOCATED", TABLE_RIGHT, TABLE_WHOLE}, {"BORROWED", TABLE_RIGHT, TABLE_WHOLE},
        {"LENT", TABLE_RIGHT, TABLE_WHOLE},      {"PENDING", TABLE_RIGHT, TABLE_WHOLE},
    };
    struct queue_standings list = {0};
    struct table t;

    queue_standings(&sim->run, &list);
    table_init(&t, columns, ARRAY_LEN(columns));
    vec_foreach (&list, at) {
        const char *name = state_name(sim->state, sim->run.queues.items[at->queue].name);

        table_cell(&t, STYLE_PLAIN, "%*s%s", (int)MIN(at->depth, (uint32_t)DEPTH_SHOWN) * 2, "", name);
        add_gpus(&t, STYLE_PLAIN, at->quota);
        add_gpus(&t, STYLE_PLAIN, at->limit);
        add_gpus(&t, STYLE_PLAIN, at->fair_share);
        add_gpus(&t, STYLE_GOOD, at->allocated);
        add_gpus(&t, STYLE_WARN, at->borrowed);
        add_gpus(&t, STYLE_PLAIN, at->lent);
        add_gpus(&t, STYLE_WARN, at->pending);
    }
    (void)fprintf(out, "Queues (total GPUs: %.6g)\n", gpu_to_double(sim->state->total.v[SHARE_GPU]));
    table_print(&t, view, out);
    table_done(&t);
    vec_done(&list);
}

static void add_name(struct table *t, const struct simulation *sim, const struct sim_run_job *job)
{
    struct strbuf name;

    strbuf_init(&name, CELL_MAX);
    sim_run_job_name(&sim->run, job, &name);
    table_cell(t, STYLE_PLAIN, "%s", name.text);
    strbuf_done(&name);
}

static void add_workload(struct table *t, const struct simulation *sim, const struct workload *workload,
                         struct strbuf *where)
{
    const struct gang *gang = &sim->state->gangs.items[workload->waiting->gang];

    strbuf_clear(where);
    workload_add_nodes(where, &sim->run, workload, NODES_SHOWN);
    add_name(t, sim, workload->job);
    table_cell(t, STYLE_PLAIN, "%s", state_name(sim->state, gang->queue_name));
    table_cell(t, workload->state == WORKLOAD_RUNNING ? STYLE_GOOD : STYLE_WARN, "%s",
               workload_state_name(workload->state));
    if (workload->running > 0 && workload->running < workload->pods)
        table_cell(t, STYLE_PLAIN, "%u of %u", workload->running, workload->pods);
    else
        table_cell(t, STYLE_PLAIN, "%u", workload->pods);
    table_cell(t, STYLE_PLAIN, "%.6g", workload->gpus);
    table_cell(t, STYLE_PLAIN, "%s", where->text);
}

static void print_workloads(const struct simulation *sim, const struct table_view *view, FILE *out)
{
    static const struct table_column columns[] = {
        {"WORKLOAD", TABLE_LEFT, TABLE_CUT}, {"QUEUE", TABLE_LEFT, TABLE_CUT},   {"STATE", TABLE_LEFT, TABLE_WHOLE},
        {"PODS", TABLE_RIGHT, TABLE_WHOLE},  {"GPUS", TABLE_RIGHT, TABLE_WHOLE}, {"NODES", TABLE_LEFT, TABLE_WRAP},
    };
    struct workload workload;
    struct strbuf where;
    struct table t;

    strbuf_init(&where, CELL_MAX);
    table_init(&t, columns, ARRAY_LEN(columns));
    vec_foreach (&sim->run.jobs, job)
        if (workload_read(&workload, &sim->run, job))
            add_workload(&t, sim, &workload, &where);
    if (t.cells.len > 0) {
        (void)fputs("\nWorkloads\n", out);
        table_print(&t, view, out);
    }
    table_done(&t);
    strbuf_done(&where);
}

static void add_pending(struct table *t, const struct simulation *sim, const struct workload *workload,
                        struct strbuf *message)
{
    enum verdict_code code = workload->reason;
    bool is_never = verdict_class(code) == VERDICT_CLASS_NEVER;
    char words[REASON_TEXT_MAX];

    strbuf_clear(message);
    workload_add_message(message, &sim->run, workload);
    add_name(t, sim, workload->job);
    table_cell(t, is_never ? STYLE_BAD : STYLE_WARN, "%s", reason_outlook(code));
    table_cell(t, STYLE_PLAIN, "%s", reason_words(code, words));
    table_cell(t, STYLE_PLAIN, "%s", message->text);
}

static void print_pending(const struct simulation *sim, const struct table_view *view, FILE *out)
{
    static const struct table_column columns[] = {{"WORKLOAD", TABLE_LEFT, TABLE_CUT},
                                                  {"OUTLOOK", TABLE_LEFT, TABLE_WHOLE},
                                                  {"REASON", TABLE_LEFT, TABLE_WHOLE},
                                                  {"MESSAGE", TABLE_LEFT, TABLE_WRAP}};
    struct workload workload;
    struct strbuf message;
    struct table t;
    uint32_t more = 0;

    strbuf_init(&message, CELL_MAX);
    table_init(&t, columns, ARRAY_LEN(columns));
    vec_foreach (&sim->run.jobs, job) {
        if (!workload_read(&workload, &sim->run, job) || workload.pending == 0)
            continue;
        if (t.cells.len / ARRAY_LEN(columns) < ROWS_SHOWN)
            add_pending(&t, sim, &workload, &message);
        else
            more++;
    }
    if (t.cells.len > 0) {
        (void)fputs("\nPending\n", out);
        table_print(&t, view, out);
    }
    if (more > 0)
        (void)fprintf(out, "and %u more\n", more);
    table_done(&t);
    strbuf_done(&message);
}

/* Workloads that lost pods so that others could start; most of them run again, elsewhere. */
static void print_evictions(const struct simulation *sim, const struct table_view *view, FILE *out)
{
    static const struct table_column columns[] = {{"WORKLOAD", TABLE_LEFT, TABLE_CUT},
                                                  {"PODS", TABLE_RIGHT, TABLE_WHOLE},
                                                  {"EVICTED FOR", TABLE_LEFT, TABLE_CUT},
                                                  {"ACTION", TABLE_LEFT, TABLE_WHOLE}};
    const struct sim_run *run = &sim->run;
    struct table t;

    table_init(&t, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < MIN(run->evictions.len, (uint32_t)ROWS_SHOWN); i++) {
        const struct sim_run_eviction *eviction = &run->evictions.items[i];

        add_name(&t, sim, &run->jobs.items[eviction->job]);
        table_cell(&t, STYLE_PLAIN, "%u", eviction->pods);
        if (eviction->for_job == NO_ID)
            table_cell(&t, STYLE_DIM, "-");
        else
            add_name(&t, sim, &run->jobs.items[eviction->for_job]);
        table_cell(&t, STYLE_PLAIN, "%s", action_name((enum action)eviction->action));
    }
    if (t.cells.len > 0) {
        (void)fputs("\nEvictions\n", out);
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
        (void)fprintf(out, "\nStopped after %llu cycles: the cluster had not come to rest.\n",
                      (unsigned long long)sim->run.cycles);
}

void simulation_print(const struct simulation *sim, const struct table_view *view, FILE *out)
{
    print_queues(sim, view, out);
    print_workloads(sim, view, out);
    print_evictions(sim, view, out);
    print_pending(sim, view, out);
    print_notes(sim, out);
}
