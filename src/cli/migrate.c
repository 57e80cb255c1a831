/* SPDX-License-Identifier: Apache-2.0 */

/* muster migrate: what becomes of a cluster that another scheduler runs. */
#include "sim/migrate/migrate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "cli/commands.h"
#include "cli/simulate_shared.h"
#include "cluster/cluster_reading.h"
#include "cluster/cluster_survey.h"
#include "text/table.h"

enum { OPTION_OUTPUT, OPTION_FROM, OPTION_VALUES, OPTION_MANIFESTS, OPTION_KUBECONFIG };

/* There is something to do, or something that Muster does not have. */
enum { EXIT_NEEDS_WORK = 3 };

static const char *const from_choices[] = {"auto", "kai", "runai", "kueue", "volcano", NULL};

static const struct command_option migrate_options[] = {
    [OPTION_OUTPUT] = OUTPUT_OPTION,
    [OPTION_FROM] = {0, "from", "SYSTEM", from_choices, "the scheduler to migrate from (default: all that are found)"},
    [OPTION_VALUES] = {0, "values", "FILE", NULL, "write values for Muster's Helm chart"},
    [OPTION_MANIFESTS] = {0, "manifests", "FILE", NULL, "write the Queues and PriorityClasses to apply"},
    [OPTION_KUBECONFIG] = KUBECONFIG_OPTION,
};

static const char *const migrate_examples[] = {
    "muster migrate",
    "muster migrate --values values.yaml kube:production",
    "muster migrate --from kueue --manifests queues.yaml cluster.yaml",
    "muster migrate -o json cluster/ | jq '.findings[] | select(.result == \"unsupported\")'",
    NULL,
};

struct call {
    bool as_json;
    enum migrate_system from;
    const char *values;
    const char *manifests;
    const char *kubeconfig;
};

static void write_values(void *context, FILE *out)
{
    migration_write_values(context, out);
}

static void write_manifests(void *context, FILE *out)
{
    migration_write_manifests(context, out);
}

static int write_files(const struct call *call, struct migration *migration, struct err *err)
{
    int r = call->values ? write_file(call->values, write_values, migration, err) : 0;

    if (r >= 0 && call->manifests)
        r = write_file(call->manifests, write_manifests, migration, err);
    return r;
}

static void warn(const struct cluster_notes *notes)
{
    struct strbuf lines;

    enum { WARNINGS_MAX = 64 * 1024 };
    strbuf_init(&lines, WARNINGS_MAX);
    vec_foreach (&notes->found.warnings, warning)
        strbuf_addf(&lines, "%s\n", *warning);
    if (lines.len)
        command_warn(lines.text);
    strbuf_done(&lines);
}

static int run(const struct call *call, const char *const *paths, size_t count)
{
    _cleanup_(cluster_reading_freep) struct cluster_reading *reading = NULL;
    const struct table_view view = table_view_of(stdout);
    struct cluster_source source;
    struct cluster_notes notes;
    struct migration migration;
    struct err err = {0};
    int status = EXIT_FINE;

    cluster_source_init(&source, call->kubeconfig);
    source.live.is_survey = true;
    cluster_notes_init(&notes);
    int r = cluster_survey(&source.options, paths, count, &notes, &reading, &err);
    warn(&notes);
    cluster_notes_done(&notes);
    if (r < 0)
        return command_failed(r, &err);
    migrate(&migration, cluster_reading_set(reading), call->from);
    r = write_files(call, &migration, &err);
    if (r < 0)
        status = command_failed(r, &err);
    else if (call->as_json)
        migration_write(&migration, stdout);
    else
        migration_print(&migration, &view, stdout);
    if (r >= 0 && migration_needs_work(&migration))
        status = EXIT_NEEDS_WORK;
    migration_done(&migration);
    return status;
}

static enum migrate_system system_of(const char *name)
{
    enum migrate_system system = 0;

    while (system < _SYSTEM_MAX && strcmp(migrate_system_name(system), name) != 0)
        system++;
    return system;
}

static int run_migrate(const struct command *command, struct arguments *arguments)
{
    static const char *const live[] = {"kube:"};
    struct call call = {.from = _SYSTEM_MAX};
    int option;

    (void)command;
    while ((option = arguments_next(arguments)) >= 0) {
        if (option == OPTION_OUTPUT)
            call.as_json = strcmp(arguments->value, "json") == 0;
        else if (option == OPTION_FROM)
            call.from = system_of(arguments->value);
        else if (option == OPTION_VALUES)
            call.values = arguments->value;
        else if (option == OPTION_MANIFESTS)
            call.manifests = arguments->value;
        else
            call.kubeconfig = arguments->value;
    }
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count == 0)
        return run(&call, live, ARRAY_LEN(live));
    return run(&call, arguments->operands, arguments->operand_count);
}

const struct command migrate_command = {
    .name = "migrate",
    .summary = "report what changes when Muster replaces another scheduler, and write its settings",
    .usage = "[-o table|json] [--from SYSTEM] [--values FILE] [--manifests FILE] [PATH...]",
    .text =
        "Reads a cluster that KAI Scheduler, Run:ai, Kueue or Volcano runs, and lists what stays, what changes, what "
        "to\n"
        "do and what is unsupported. PATH is a manifest, a folder of manifests, a KAI snapshot, or kube: or\n"
        "kube:CONTEXT for a live cluster (the default; read-only: only list requests are made). The exit status is 3\n"
        "when there is something to do or something is unsupported.\n",
    .group = GROUP_CLUSTER,
    .options = migrate_options,
    .option_count = ARRAY_LEN(migrate_options),
    .examples = migrate_examples,
    .operands = OPERANDS_PATHS,
    .run = run_migrate,
};
