/* SPDX-License-Identifier: Apache-2.0 */

/* muster whatif: the next scheduling cycle with a change and without it. */
#include "sim/whatif/whatif.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/simulate_shared.h"
#include "sim/report/requirement.h"
#include "sim/simulate/simulate.h"
#include "text/table.h"

enum { OPTION_OUTPUT, OPTION_REQUIRE, OPTION_KUBECONFIG };

static const struct command_option whatif_options[] = {
    [OPTION_OUTPUT] = OUTPUT_OPTION,
    [OPTION_REQUIRE] = {0, "require", "REQUIREMENT", NULL,
                        "exit with status 1 unless this holds with the change: lab/train=Running, evictions<=2*A"},
    [OPTION_KUBECONFIG] = KUBECONFIG_OPTION,
};

static const char *const whatif_examples[] = {
    "muster whatif examples/three-teams.json queue/vision.quota=0",
    "muster whatif kube: node/gpu-3=drained",
    "muster whatif -o json cluster/ new=job.yaml --require 'evictions<=0'",
    NULL,
};

struct call {
    bool as_json;
    const char *kubeconfig;
    struct requirements requirements;
    VEC(struct whatif_change) changes;
    VEC(const char *) paths;     // of the cluster
    VEC(const char *) extended;  // and of what is new
    bool has_new;
    FILE *out;
};

static int answer(struct call *call, struct simulation *sim, struct simulation *extended, struct err *err)
{
    const struct table_view view = table_view_of(stdout);
    struct whatif whatif;
    int r = whatif_ask(&whatif, sim, extended, call->changes.items, call->changes.len, err);

    if (r >= 0)
        r = requirements_judge(&call->requirements, &whatif.without, &whatif.with, err);
    if (r >= 0 && call->as_json)
        whatif_write(&whatif, call->changes.items, call->changes.len, &call->requirements, call->out);
    else if (r >= 0)
        whatif_print(&whatif, &call->requirements, &view, call->out);
    whatif_done(&whatif);
    return r;
}

static int load_extended(struct call *call, struct simulation *sim, struct err *err)
{
    struct cluster_source source;
    struct simulation extended;
    int r;

    if (!call->has_new)
        return answer(call, sim, NULL, err);
    cluster_source_init(&source, call->kubeconfig);
    r = simulation_load(&extended, &source.options, call->extended.items, call->extended.len, err);
    if (r >= 0)
        r = answer(call, sim, &extended, err);
    simulation_done(&extended);
    return r;
}

static int load(struct call *call, struct err *err)
{
    struct cluster_source source;
    struct simulation sim;
    int r;

    cluster_source_init(&source, call->kubeconfig);
    r = simulation_load(&sim, &source.options, call->paths.items, call->paths.len, err);
    if (r >= 0) {
        warn_about(&sim);
        r = load_extended(call, &sim, err);
    }
    simulation_done(&sim);
    return r;
}

/* All output is made before any is written, so that bad input leaves none. */
static int run(struct call *call)
{
    struct err err = {0};
    _cleanup_(freep) char *text = NULL;
    size_t len = 0;
    int r;

    call->out = open_memstream(&text, &len);
    if (!call->out)
        return command_failed(-ENOMEM, &(struct err){-ENOMEM, "no memory for the output"});
    r = load(call, &err);
    (void)fclose(call->out);
    if (r < 0)
        return command_failed(r, &err);
    (void)fputs(text, stdout);
    return requirements_hold(&call->requirements) ? EXIT_FINE : EXIT_FAILED;
}

static int sort_operands(const struct command *command, struct call *call, const struct arguments *arguments)
{
    struct err err = {0};

    for (size_t i = 0; i < arguments->operand_count; i++) {
        const char *word = arguments->operands[i];
        struct whatif_change change;
        if (!whatif_is_change(word)) {
            vec_push(&call->paths, word);
            continue;
        }
        if (whatif_change_parse(&change, word, &err) < 0)
            return command_wrong(command, "%s", err.text);
        vec_push(&call->changes, change);
        call->has_new |= change.kind == WHATIF_NEW;
    }
    if (call->paths.len == 0)
        return command_wrong(command, "a PATH is missing");
    vec_foreach (&call->paths, path)
        vec_push(&call->extended, *path);
    vec_foreach (&call->changes, change) {
        if (change->kind == WHATIF_NEW)
            vec_push(&call->extended, change->name);
    }
    return EXIT_FINE;
}

static int read_options(const struct command *command, struct call *call, struct arguments *arguments)
{
    struct err err = {0};
    int option;

    while ((option = arguments_next(arguments)) >= 0) {
        if (option == OPTION_OUTPUT)
            call->as_json = strcmp(arguments->value, "json") == 0;
        else if (option == OPTION_KUBECONFIG)
            call->kubeconfig = arguments->value;
        else if (requirements_add(&call->requirements, arguments->value, &err) < 0)
            return command_wrong(command, "--require: %s", err.text);
    }
    return option == ARGUMENT_END ? sort_operands(command, call, arguments) : arguments_status(arguments, option);
}

static int run_whatif(const struct command *command, struct arguments *arguments)
{
    struct call call = {0};
    int status = read_options(command, &call, arguments);

    /* Help, too, ends the call with success. */
    if (status == EXIT_FINE && call.paths.len > 0)
        status = run(&call);
    requirements_done(&call.requirements);
    vec_done(&call.changes);
    vec_done(&call.paths);
    vec_done(&call.extended);
    return status;
}

const struct command whatif_command = {
    .name = "whatif",
    .summary = "show what a change would do in the next scheduling cycle",
    .usage = "[-o table|json] [--require REQUIREMENT]... PATH... CHANGE...",
    .text =
        "PATH is a manifest, a folder of manifests, a KAI snapshot, a scenario, or kube: or kube:CONTEXT for a live\n"
        "cluster (read-only: only list requests are made). CHANGE is one of\n"
        "\n"
        "  queue/NAME.quota=16          also .limit and .weight, in GPUs; NAME.cpu.quota and NAME.memory.quota for "
        "others\n"
        "  queue/NAME.priority=200\n"
        "  workload/NAME.priority=100\n"
        "  workload/NAME=gone\n"
        "  node/NAME=lost               or drained, or +2 for two more nodes like it\n"
        "  new=FILE                     the workloads, queues and nodes that the file describes\n"
        "\n"
        "The next cycle runs twice, with all changes and without them. The answer lists the workloads that start or "
        "are\n"
        "evicted, and the queues whose fair share or allocation differs. In --require, A is the value without the "
        "change.\n",
    .group = GROUP_TRY,
    .options = whatif_options,
    .option_count = ARRAY_LEN(whatif_options),
    .examples = whatif_examples,
    .operands = OPERANDS_PATHS,
    .run = run_whatif,
};
