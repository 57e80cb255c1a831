/* SPDX-License-Identifier: Apache-2.0 */

/* muster simulate: a cluster, until nothing changes or through a trace. */
#include "sim/simulate/simulate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "cli/commands.h"
#include "cli/simulate_shared.h"
#include "engine/engine.h"
#include "journal/journal.h"
#include "sim/report/export.h"
#include "sim/report/report.h"
#include "sim/report/requirement.h"
#include "sim/trace/trace.h"
#include "text/file.h"
#include "text/table.h"

enum {
    OPTION_JOURNAL = _SIM_RUN_OPTION_MAX,
    OPTION_JOURNAL_SIZE,
    OPTION_FAIL_ON,
    OPTION_REQUIRE,
    OPTION_JOBS_OUT,
    OPTION_SERIES_OUT
};

enum fail_on { FAIL_ON_NOTHING, FAIL_ON_NEVER, FAIL_ON_WAITING };
enum { WAITING_NAMED = 5, TEXT_MAX = 1024 };

static const char *const fail_on_choices[] = {"never", "waiting", NULL};

static const struct command_option simulate_options[] = {
    SIM_RUN_OPTIONS,
    [OPTION_JOURNAL] = {0, "journal", "FOLDER", NULL, "record changes and decisions, for 'muster replay'"},
    [OPTION_JOURNAL_SIZE] = {0, "journal-size", "SIZE", NULL, "size limit; the oldest records go first (default 1Gi)"},
    [OPTION_FAIL_ON] = {0, "fail-on", "never|waiting", fail_on_choices,
                        "exit with 1 when a workload can never run, or when one is pending at the end"},
    [OPTION_REQUIRE] = {0, "require", "REQUIREMENT", NULL,
                        "exit with 1 unless it holds, such as 'lab/train=Running' or 'p95Wait<30m'; repeatable"},
    [OPTION_JOBS_OUT] = {0, "jobs-out", "FILE", NULL,
                         "write a row for each workload as CSV: times, nodes, and why it waited"},
    [OPTION_SERIES_OUT] = {0, "series-out", "FILE", NULL, "write allocation, shares and waiting work over time as CSV"},
};

static const char *const simulate_examples[] = {
    "muster simulate examples/three-teams/cluster jobs/",
    "muster simulate examples/three-teams/cluster --trace examples/three-teams/day.csv --report day.html",
    "muster simulate -o json snapshot.zip",
    "muster simulate kube: new-job.yaml",
    "muster simulate cluster/ new-job.yaml --require 'lab/train=Running' --fail-on never",
    NULL,
};

struct call {
    struct sim_run_call run;
    const char *const *paths;
    size_t path_count;
    enum fail_on fail_on;
    struct requirements requirements;
    const char *jobs_out;    // NULL: not asked for
    const char *series_out;  // so
    const char *journal;
    uint64_t journal_size;
    struct err journal_trouble;  // code 0: none
};

static void print(struct simulation *sim, const struct call *call, FILE *out)
{
    struct table_view view = table_view_of(stdout);

    if (call->run.as_json) {
        simulation_write(sim, &call->requirements, out);
        return;
    }
    requirements_print(&call->requirements, &view, out);
    if (call->run.trace)
        simulation_print_trace(sim, &view, out);
    else
        simulation_print(sim, &view, out);
}

struct page {
    const struct simulation *sim;
    const struct call *call;
};

static void write_report(void *context, FILE *out)
{
    const struct page *page = context;
    const struct call *call = page->call;
    const struct report_run run = {NULL, &page->sim->run};
    struct strbuf title;

    strbuf_init(&title, TEXT_MAX);
    strbuf_addstr(&title, "Simulation of ");
    add_inputs(&title, call->paths, call->path_count, call->run.trace);
    report_write(out, &(struct report){title.text, &run, 1, &call->requirements});
    strbuf_done(&title);
}

static void write_jobs(void *context, FILE *out)
{
    export_workloads(context, out);
}

static void write_series(void *context, FILE *out)
{
    export_series(context, out);
}

static int write_exports(struct simulation *sim, const struct call *call, struct err *err)
{
    int r = call->jobs_out ? write_file(call->jobs_out, write_jobs, &sim->run, err) : 0;

    if (r >= 0 && call->series_out)
        r = write_file(call->series_out, write_series, &sim->run, err);
    return r;
}

static int show(struct simulation *sim, struct call *call, struct err *err)
{
    int r = requirements_judge(&call->requirements, NULL, &sim->run, err);

    if (r >= 0)
        r = write_exports(sim, call, err);

    if (r >= 0 && call->run.report)
        r = write_file(call->run.report, write_report, &(struct page){sim, call}, err);
    if (r < 0)
        return r;
    print(sim, call, stdout);
    if (call->run.report && !call->run.as_json)
        (void)printf("\nReport: %s\n", call->run.report);
    return 0;
}

/* The simulation goes on without its journal, and the command fails when all is shown. */
static void keep_trouble(void *arg, const struct err *err)
{
    struct err *kept = arg;

    if (err && kept->code == 0)
        *kept = *err;
}

static int run_recorded(struct simulation *sim, struct call *call, const struct trace *trace, struct err *err)
{
    struct journal_options options = {
        .folder = call->journal,
        .size_max = call->journal_size,
        .trouble = keep_trouble,
        .arg = &call->journal_trouble,
    };
    int r = call->journal ? journal_open(&options, sim->state, &sim->config, &call->run.options.journal, err) : 0;

    if (r < 0)
        return r;
    r = simulation_run(sim, &call->run.options, trace, err);
    journal_close(call->run.options.journal);
    return r < 0 ? err_wrap(err, r, "%s", call->run.trace ? file_name(call->run.trace) : "simulation") : 0;
}

static int run(struct simulation *sim, struct call *call, const struct trace *trace, struct err *err)
{
    nsec_t start = trace && trace->events.len ? trace->events.items[0].time : sim->start;
    struct progress progress;
    int r;

    call->run.options.until = moment_at(&call->run.until, start);
    call->run.options.has_gantt = call->run.report != NULL;
    call->run.options.has_waits = call->jobs_out || (call->run.report && call->run.trace);
    call->run.options.has_places = call->jobs_out != NULL;
    progress_start(&progress, "Simulating", &call->run.options);
    r = run_recorded(sim, call, trace, err);
    progress_end(&progress);
    if (r >= 0)
        r = show(sim, call, err);
    if (r < 0 || call->journal_trouble.code == 0)
        return r;
    *err = call->journal_trouble;
    return err_wrap(err, -EIO, "the journal is incomplete");
}

/* Does --fail-on mean this gang? */
static bool is_meant(const struct sim_run *run, const struct sim_run_job *job, enum fail_on fail_on)
{
    enum workload_state state = sim_run_job_state(run, job);

    if (state != WORKLOAD_PENDING && state != WORKLOAD_PREEMPTING)
        return false;
    return fail_on == FAIL_ON_WAITING ||
           verdict_class(engine_verdict(run->engine, job->gang).code) == VERDICT_CLASS_NEVER;
}

/* Does it mean the workload that begins with this job? */
static bool is_any_meant(const struct sim_run *run, const struct sim_run_job *job, enum fail_on fail_on)
{
    if (job->is_later_replica)
        return false;
    while (job && !is_meant(run, job, fail_on))
        job = sim_run_next_replica(run, job);
    return job != NULL;
}

/* Workloads that --fail-on means, the first of them by name. */
static uint32_t list_meant(const struct sim_run *run, enum fail_on fail_on, struct strbuf *names)
{
    uint32_t count = 0;

    for (uint32_t i = 0; fail_on != FAIL_ON_NOTHING && i < run->jobs.len; i++) {
        if (!is_any_meant(run, &run->jobs.items[i], fail_on))
            continue;
        if (count < WAITING_NAMED) {
            strbuf_addstr(names, count ? ", " : "");
            sim_run_job_name(run, &run->jobs.items[i], names);
        }
        count++;
    }
    if (count > WAITING_NAMED)
        strbuf_addf(names, " and %u more", count - WAITING_NAMED);
    return count;
}

/* The exit status: 1 when the outcome is not what --require and --fail-on ask for. */
static int check(const struct simulation *sim, const struct call *call)
{
    bool is_never = call->fail_on == FAIL_ON_NEVER;
    struct strbuf names;
    int status = requirements_hold(&call->requirements) ? EXIT_FINE : EXIT_FAILED;

    strbuf_init(&names, TEXT_MAX);
    uint32_t count = list_meant(&sim->run, call->fail_on, &names);
    if (count > 0) {
        struct err err = {0};

        (void)err_set(&err, -EIO, "--fail-on %s: %u workload%s %s: %s", is_never ? "never" : "waiting", count,
                      count == 1 ? "" : "s", is_never ? "can never run" : (count == 1 ? "is pending" : "are pending"),
                      names.text);
        status = command_failed(-EIO, &err);
    }
    strbuf_done(&names);
    return status;
}

static int simulate(struct call *call)
{
    struct simulation sim;
    struct cluster_source source;
    struct trace trace;
    struct err err = {0};
    int status;
    int r;

    trace_init(&trace);
    cluster_source_init(&source, call->run.kubeconfig);
    r = simulation_load(&sim, &source.options, call->paths, call->path_count, &err);
    if (r >= 0)
        warn_about(&sim);
    if (r >= 0 && call->run.trace)
        r = trace_read(&trace, call->run.trace, &err);
    if (r >= 0)
        r = run(&sim, call, call->run.trace ? &trace : NULL, &err);
    status = r < 0 ? command_failed(r, &err) : check(&sim, call);
    simulation_done(&sim);
    trace_done(&trace);
    return status;
}

static int read_option(struct call *call, int option, const char *value, struct err *err)
{
    switch (option) {
    case OPTION_JOURNAL:
        call->journal = value;
        return 0;
    case OPTION_JOURNAL_SIZE:
        return journal_size_parse(value, &call->journal_size, err);
    case OPTION_FAIL_ON:
        call->fail_on = strcmp(value, "never") == 0 ? FAIL_ON_NEVER : FAIL_ON_WAITING;
        return 0;
    case OPTION_JOBS_OUT:
        call->jobs_out = value;
        return 0;
    case OPTION_SERIES_OUT:
        call->series_out = value;
        return 0;
    case OPTION_REQUIRE:
        return requirements_add(&call->requirements, value, err);
    default:
        return sim_run_call_set(&call->run, option, value, err);
    }
}

static int read_call(const struct command *command, struct arguments *arguments, struct call *call)
{
    struct err err = {0};
    int option;

    while ((option = arguments_next(arguments)) >= 0)
        if (read_option(call, option, arguments->value, &err) < 0)
            return command_wrong(command, "%s", err.text);
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count == 0)
        return command_wrong(command, "a PATH is missing");
    call->paths = arguments->operands;
    call->path_count = arguments->operand_count;
    return simulate(call);
}

static int run_simulate(const struct command *command, struct arguments *arguments)
{
    struct call call = {0};
    int status;

    sim_run_call_init(&call.run);
    status = read_call(command, arguments, &call);
    requirements_done(&call.requirements);
    return status;
}

const struct command simulate_command = {
    .name = "simulate",
    .summary = "schedule a cluster from files, a snapshot or a live API; optionally over a trace",
    .usage = "[OPTION...] PATH...",
    .text =
        "PATH is a manifest, a folder of manifests, a KAI snapshot, a scenario, or kube: or kube:CONTEXT for a live\n"
        "cluster (read-only: only list requests are made). Without a trace, the scheduler runs until nothing changes;\n"
        "with one, workloads arrive and end as the trace says, in simulated time.\n",
    .group = GROUP_TRY,
    .options = simulate_options,
    .option_count = ARRAY_LEN(simulate_options),
    .examples = simulate_examples,
    .run = run_simulate,
};
