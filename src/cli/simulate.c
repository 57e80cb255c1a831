/* SPDX-License-Identifier: Apache-2.0 */

/* muster simulate: a cluster, until nothing changes or through a trace. */
#include "sim/simulate/simulate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/command.h"
#include "cli/simulate_shared.h"
#include "journal/journal.h"
#include "sim/report/report.h"
#include "sim/trace/trace.h"
#include "text/file.h"
#include "text/table.h"

enum { OPTION_JOURNAL = _SIM_RUN_OPTION_MAX, OPTION_JOURNAL_SIZE };

struct call {
    struct sim_run_call run;
    const char *journal;
    uint64_t journal_size;
    struct err journal_trouble;  // code 0: none
};

static void print(struct simulation *sim, const struct call *call, FILE *out)
{
    struct table_view view = table_view_of(stdout);

    if (call->run.as_json)
        simulation_write(sim, out);
    else if (call->run.trace)
        simulation_print_trace(sim, &view, out);
    else
        simulation_print(sim, &view, out);
}

static void write_report(void *context, FILE *out)
{
    struct simulation *sim = context;

    report_write(out, "Muster simulation", &(struct report_run){NULL, &sim->run}, 1, NULL);
}

static int show(struct simulation *sim, const struct call *call, struct err *err)
{
    int r;

    if (call->run.report) {
        r = write_file(call->run.report, write_report, sim, err);
        if (r < 0)
            return r;
    }
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

static int run_sim_run(struct simulation *sim, struct call *call, const struct trace *trace, struct err *err)
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
    progress_start(&progress, "Playing", &call->run.options);
    r = run_sim_run(sim, call, trace, err);
    progress_end(&progress);
    if (r >= 0)
        r = show(sim, call, err);
    if (r < 0 || call->journal_trouble.code == 0)
        return r;
    *err = call->journal_trouble;
    return err_wrap(err, -EIO, "the journal is not whole");
}

static int simulate(struct call *call, const char *const *paths, size_t count)
{
    struct simulation sim;
    struct cluster_source source;
    struct trace trace;
    struct err err = {0};
    int r;

    trace_init(&trace);
    cluster_source_init(&source, call->run.kubeconfig);
    r = simulation_load(&sim, &source.options, paths, count, &err);
    if (r >= 0)
        warn_about(&sim);
    if (r >= 0 && call->run.trace)
        r = trace_read(&trace, call->run.trace, &err);
    if (r >= 0)
        r = run(&sim, call, call->run.trace ? &trace : NULL, &err);
    simulation_done(&sim);
    trace_done(&trace);
    return r < 0 ? command_failed(r, &err) : EXIT_FINE;
}

static int read_option(struct call *call, int option, const char *value, struct err *err)
{
    if (option == OPTION_JOURNAL_SIZE)
        return journal_size_parse(value, &call->journal_size, err);
    if (option != OPTION_JOURNAL)
        return sim_run_call_set(&call->run, option, value, err);
    call->journal = value;
    return 0;
}

int run_simulate(const struct command *command, struct arguments *arguments)
{
    struct call call = {0};
    struct err err = {0};
    int option;

    sim_run_call_init(&call.run);
    while ((option = arguments_next(arguments)) >= 0)
        if (read_option(&call, option, arguments->value, &err) < 0)
            return command_wrong(command, "%s", err.text);
    if (option == ARGUMENT_HELP)
        return command_help(command);
    if (option == ARGUMENT_WRONG)
        return EXIT_WRONG_CALL;
    if (arguments->operand_count == 0)
        return command_wrong(command, "which cluster?");
    return simulate(&call, arguments->operands, arguments->operand_count);
}
