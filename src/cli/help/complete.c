/* SPDX-License-Identifier: Apache-2.0 */

/*
 * muster complete: the names that completion scripts offer and that cannot be written into a script, since they are those
 * of a cluster. Messages go to standard error, which scripts discard.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "cli/commands.h"
#include "cli/simulate_shared.h"
#include "cli/work/complete_live.h"
#include "cluster/cluster_reading.h"
#include "model/state.h"
#include "sim/simulate/simulate.h"
#include "sim/why/why_find.h"
#include "text/table.h"

/* A shell that waits longer than this for a cluster has lost its user. */
enum { SECONDS_MAX = 3, NAME_BYTES_MAX = 1024 };

static void print_names(const struct simulation *sim, const struct cluster_reading *reading)
{
    const struct object_set *objects = reading ? cluster_reading_set(reading) : NULL;
    struct strbuf name;

    strbuf_init(&name, NAME_BYTES_MAX);
    for (gang_id i = 0; i < sim->state->gangs.len; i++) {
        if (!sim->state->gangs.items[i].is_present)
            continue;
        strbuf_clear(&name);
        why_workload_name(sim->state, objects, i, &name);
        (void)table_clean(name.text);
        (void)puts(name.text);
    }
    strbuf_done(&name);
}

static int print_workloads(const char *kubeconfig, const char *const *paths, size_t count)
{
    _cleanup_(cluster_reading_freep) struct cluster_reading *reading = NULL;
    struct cluster_source source;
    struct simulation sim;
    struct err err = {0};
    int r;

    cluster_source_init(&source, kubeconfig);
    source.options.ret_reading = &reading;
    (void)alarm(SECONDS_MAX);
    r = simulation_load(&sim, &source.options, paths, count, &err);
    if (r >= 0)
        print_names(&sim, reading);
    simulation_done(&sim);
    return r < 0 ? command_failed(r, &err) : EXIT_FINE;
}

/* Reads words of `muster why`: the kubeconfig, and in `a` what is no option. False when they cannot be read. */
static bool read_words(struct arguments *a, int count, const char *const *words, const char **kubeconfig)
{
    int option;

    arguments_init(a, &why_command, count, words);
    while ((option = arguments_next(a)) >= 0) {
        if (strcmp(a->command->options[option].long_name, "kubeconfig") == 0)
            *kubeconfig = a->value;
    }
    return option == ARGUMENT_END;
}

/* `words` are those behind `muster why`, and the one at `cursor` is being typed. */
static int complete(const char *const *words, int count, int cursor)
{
    static const char *const live[] = {"kube:"};
    const char *kubeconfig = NULL;
    struct arguments before;
    struct arguments behind = {0};
    int status = EXIT_FAILED;

    /* With an argument or half an option before it, the word is something else. */
    if (read_words(&before, cursor, words, &kubeconfig) && before.operand_count == 0 &&
        read_words(&behind, count - cursor - 1, words + cursor + 1, &kubeconfig))
        status = behind.operand_count > 0 ? print_workloads(kubeconfig, behind.operands, behind.operand_count)
                                          : print_workloads(kubeconfig, live, 1);
    arguments_done(&before);
    arguments_done(&behind);
    return status;
}

static int run_workloads(const struct command *command, struct arguments *arguments)
{
    int option = arguments_next(arguments);
    int count = (int)arguments->operand_count - 1;
    char *end;
    long cursor;

    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (count < 1)
        return command_wrong(command, "CURSOR and the word at it are missing");
    cursor = strtol(arguments->operands[0], &end, 10);
    if (*end || cursor < 0 || cursor >= count)
        return command_wrong(command, "CURSOR: expected a whole number from 0 to %d, found '%s'", count - 1,
                             arguments->operands[0]);
    return complete(arguments->operands + 1, count, (int)cursor);
}

static const char *const examples[] = {
    "muster complete workloads 0 '' examples/three-teams.json",
    NULL,
};

static const struct command workloads_command = {
    .name = "complete workloads",
    .summary = "list the workloads that 'muster why' can be asked about",
    .usage = "CURSOR WORD...",
    .text =
        "Each WORD is a word typed after 'muster why', and CURSOR is the index of the one to complete. If that is the\n"
        "WORKLOAD, prints the names of all workloads in the cluster that the PATHs after it name, or in kube: without\n"
        "PATHs. The exit status is 1 when another word is to be completed.\n",
    .examples = examples,
    .operands = OPERANDS_PROGRAM,
    .run = run_workloads,
};

static const struct command *const verbs[] = {&workloads_command, &complete_live_command, NULL};

const struct command complete_command = {
    .name = "complete",
    .summary = "list names for completion scripts",
    .usage = "VERB [ARGUMENT...]",
    .group = GROUP_INTERNALS,
    .verbs = verbs,
    .examples = examples,
};
