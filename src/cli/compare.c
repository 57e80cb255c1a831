/* SPDX-License-Identifier: Apache-2.0 */

/* muster compare: two settings, one trace. */
#include "sim/report/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "cli/commands.h"
#include "cli/simulate_shared.h"
#include "sim/report/requirement.h"
#include "sim/simulate/simulate.h"
#include "sim/trace/trace.h"
#include "text/file.h"
#include "text/table.h"

enum { OPTION_WITH = _SIM_RUN_OPTION_MAX, OPTION_REQUIRE };
enum { TITLE_MAX = 1024 };

static const struct command_option compare_options[] = {
    SIM_RUN_OPTIONS,
    [OPTION_WITH] = {'w', "with", "PATH", NULL, "a part of the cluster that A and B share; repeatable"},
    [OPTION_REQUIRE] = {0, "require", "REQUIREMENT", NULL,
                        "exit with 1 unless B meets it, such as 'p95Wait(queue=research)<30m'; repeatable"},
};

static const char *const compare_examples[] = {
    "muster compare quotas.yaml new-quotas.yaml --with nodes.yaml --trace week.csv",
    "muster compare quotas.yaml new-quotas.yaml --with kube:prod --trace week.csv",
    "muster compare a/ b/ --trace week.csv --require 'p95Wait(queue=research)<30m' --require 'allocated>=0.98*A'",
    NULL,
};

struct call {
    struct sim_run_call run;
    VEC(const char *) with;  // read for both
    struct requirements requirements;
};

static int simulate(struct call *call, const char *path, bool is_first, struct simulation *sim,
                    const struct trace *trace, struct err *err)
{
    VEC(const char *) paths = {0};
    struct cluster_source source;
    struct progress progress;
    int r;

    vec_foreach (&call->with, with)
        vec_push(&paths, *with);
    vec_push(&paths, path);
    cluster_source_init(&source, call->run.kubeconfig);
    r = simulation_load(sim, &source.options, paths.items, paths.len, err);
    vec_done(&paths);
    if (r < 0)
        return r;
    warn_about(sim);
    call->run.options.until = moment_at(&call->run.until, trace->events.len ? trace->events.items[0].time : sim->start);
    call->run.options.has_gantt = call->run.report != NULL;
    call->run.options.has_waits = call->run.report != NULL;
    progress_start(&progress, is_first ? "Simulating A" : "Simulating B", &call->run.options);
    r = simulation_run(sim, &call->run.options, trace, err);
    progress_end(&progress);
    return r < 0 ? err_wrap(err, r, "%s on %s", file_name(call->run.trace), path) : 0;
}

struct page {
    const struct call *call;
    const struct comparison *comparison;
};

static void write_report(void *context, FILE *out)
{
    const struct page *page = context;
    const char *const *titles = page->comparison->titles;
    struct strbuf title;

    strbuf_init(&title, TITLE_MAX);
    strbuf_addf(&title, "Comparison of %s and ", titles[0]);
    add_inputs(&title, &titles[1], 1, page->call->run.trace);
    comparison_report(page->comparison, title.text, out);
    strbuf_done(&title);
}

/* Prints the outcome. The status is that of the requirements. */
static int show(struct call *call, const struct comparison *c, struct err *err)
{
    struct table_view view = table_view_of(stdout);
    int r = requirements_judge(&call->requirements, c->runs[0], c->runs[1], err);

    if (r >= 0 && call->run.report)
        r = write_file(call->run.report, write_report, &(struct page){call, c}, err);
    if (r < 0)
        return command_failed(r, err);
    if (call->run.as_json)
        comparison_write(c, stdout);
    else
        comparison_print(c, &view, stdout);
    if (call->run.report && !call->run.as_json)
        (void)printf("\nReport: %s\n", call->run.report);
    return requirements_hold(&call->requirements) ? EXIT_FINE : EXIT_FAILED;
}

/* The two paths without the folders that they share. */
static void name_settings(struct comparison *c, const char *a, const char *b)
{
    size_t shared = 0;

    for (size_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '/')
            shared = i + 1;
    c->titles[0] = a + shared;
    c->titles[1] = b + shared;
    if (strcmp(a, b) == 0 || !*c->titles[0] || !*c->titles[1]) {
        c->titles[0] = a;
        c->titles[1] = b;
    }
}

static int compare(struct call *call, const char *const *paths)
{
    struct simulation sims[2];
    struct trace trace;
    struct err err = {0};
    struct comparison c = {
        .runs = {&sims[0].run, &sims[1].run},
        .requirements = &call->requirements,
    };
    int loaded = 0;
    int status;
    int r;

    trace_init(&trace);
    r = trace_read(&trace, call->run.trace, &err);
    for (; r >= 0 && loaded < 2; loaded++)
        r = simulate(call, paths[loaded], loaded == 0, &sims[loaded], &trace, &err);
    name_settings(&c, paths[0], paths[1]);
    status = r < 0 ? command_failed(r, &err) : show(call, &c, &err);
    for (int i = 0; i < loaded; i++)
        simulation_done(&sims[i]);
    trace_done(&trace);
    return status;
}

static int read_option(struct call *call, int option, const char *value, struct err *err)
{
    if (option == OPTION_WITH) {
        vec_push(&call->with, value);
        return 0;
    }
    if (option == OPTION_REQUIRE)
        return requirements_add(&call->requirements, value, err);
    return sim_run_call_set(&call->run, option, value, err);
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
    if (arguments->operand_count != 2)
        return command_wrong(command, "two settings are needed: A and B");
    if (!call->run.trace)
        return command_wrong(command, "a trace is missing: give --trace FILE");
    return compare(call, arguments->operands);
}

static int run_compare(const struct command *command, struct arguments *arguments)
{
    struct call call = {0};
    int status;

    sim_run_call_init(&call.run);
    status = read_call(command, arguments, &call);
    vec_done(&call.with);
    requirements_done(&call.requirements);
    return status;
}

const struct command compare_command = {
    .name = "compare",
    .summary = "simulate one trace with two settings, and show the results side by side",
    .usage = "[OPTION...] --trace FILE A B",
    .text = "A and B are clusters that 'muster simulate' reads, with different quotas, weights, nodes or settings.\n"
            "The exit status is 1 when B does not meet a requirement. docs/compare.md lists the metrics.\n",
    .group = GROUP_TRY,
    .options = compare_options,
    .option_count = ARRAY_LEN(compare_options),
    .examples = compare_examples,
    .run = run_compare,
};
