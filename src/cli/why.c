/* SPDX-License-Identifier: Apache-2.0 */

/* muster why: one workload, one cluster, one answer. */
#include "sim/why/why.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/simulate_shared.h"
#include "cli/work/api.h"
#include "cluster/cluster_reading.h"
#include "sim/scenario/scenario.h"
#include "sim/simulate/simulate.h"
#include "sim/why/past/why_past.h"
#include "sim/why/why_elsewhere.h"
#include "sim/why/why_find.h"
#include "text/file.h"
#include "text/json.h"
#include "text/table.h"

enum { OPTION_OUTPUT, OPTION_ID, OPTION_JOURNAL, OPTION_AT, OPTION_KUBECONFIG };

static const struct command_option why_options[] = {
    [OPTION_OUTPUT] = OUTPUT_OPTION,
    [OPTION_ID] = {0, "id", "ID", NULL, "the scenario to use, where a file holds several"},
    [OPTION_JOURNAL] = {0, "journal", "FOLDER", NULL, "answer about the past that a scheduler recorded, not about now"},
    [OPTION_AT] = {0, "at", "TIME", NULL, "with --journal: as of that time, such as 2026-03-01T12:00:00Z"},
    [OPTION_KUBECONFIG] = KUBECONFIG_OPTION,
};

static const char *const why_examples[] = {
    "muster why batch-index examples/three-teams.json",
    "muster why team-a/train-llm",
    "muster why team-a/train-llm nodes.yaml queues.yaml jobs/",
    "muster why -o json train-llm-0 snapshot.zip",
    "muster why team-a/train-llm kube:staging",
    "muster why team-a/train-llm --journal /var/lib/muster/journal --at 2026-03-01T12:00:00Z",
    "muster why --journal /var/lib/muster/journal",
    NULL,
};

#define FILE_MAX ((size_t)1 << 30)

struct call {
    const char *workload;
    const char *id;  // of the scenario, where a file holds several; NULL: any
    const char *kubeconfig;
    const char *journal;  // NULL: about now
    nsec_t at;            // of the journal, NSEC_MAX: its end
    bool as_json;
    FILE *out;
};

static int answer(const struct call *call, const struct why_input *input, const struct config *config, nsec_t now,
                  struct err *err)
{
    const struct table_view view = table_view_of(stdout);
    struct why_target target;
    struct why why;
    int r = why_find(input, call->workload, &target, err);

    if (r < 0)
        return r;
    if (target.gang == NO_ID) {
        why_answer_elsewhere(input, &target, call->as_json, &view, call->out);
        return 0;
    }
    why_ask(&why, input->state, input->objects, config, now, target.gang);
    if (call->as_json)
        why_write(&why, call->out);
    else
        why_print(&why, &view, call->out);
    why_done(&why);
    return 0;
}

static int find_scenario(const char *id, const struct json_at *root, struct json_at *ret, struct err *err)
{
    for (struct json_at item = {0}; json_next(root, &item);) {
        const char *found = yyjson_get_str(yyjson_obj_get(item.val, "id"));

        if (found && strcmp(found, id) == 0) {
            *ret = item;
            return 0;
        }
    }
    return err_set(err, -EINVAL, "no scenario has the id '%s'", id);
}

/* One of the scenarios in a file. */
static int answer_scenario(const struct call *call, const char *path, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct json_at root;
    struct json_at at;
    struct scenario s;
    int r = json_read_file(path, FILE_MAX, &doc, err);

    if (r < 0)
        return r;
    root = json_root(doc);
    r = find_scenario(call->id, &root, &at, err);
    if (r < 0)
        return err_wrap(err, r, "%s", file_name(path));
    r = scenario_read(&s, &at, err);
    if (r < 0)
        (void)err_wrap(err, r, "%s", file_name(path));
    else
        r = answer(call, &(struct why_input){.state = s.state}, &s.config, SCENARIO_NOW, err);
    scenario_done(&s);
    return r;
}

static int answer_cluster(const struct call *call, const char *const *paths, size_t count, struct err *err)
{
    _cleanup_(cluster_reading_freep) struct cluster_reading *reading = NULL;
    struct simulation sim;
    struct cluster_source source;
    int r;

    cluster_source_init(&source, call->kubeconfig);
    source.options.ret_reading = &reading;
    r = simulation_load(&sim, &source.options, paths, count, err);
    if (r >= 0) {
        warn_about(&sim);
        struct why_input input = {
            .state = sim.state,
            .objects = reading ? cluster_reading_set(reading) : NULL,
            .notes = &sim.notes.found,
        };
        r = answer(call, &input, &sim.config, sim.start, err);
    }
    simulation_done(&sim);
    return r;
}

static int answer_past(const struct call *call, struct err *err)
{
    const struct table_view view = table_view_of(stdout);
    const struct why_past_question question = {
        .journal = call->journal,
        .workload = call->workload,
        .at = call->at,
        .as_json = call->as_json,
    };

    return why_past_answer(&question, &view, call->out, err);
}

/* All output is made before any is written, so that bad input leaves none. */
static int run(struct call *call, const char *const *paths, size_t count)
{
    struct err err = {0};
    _cleanup_(freep) char *text = NULL;
    size_t len = 0;
    int r;

    call->out = open_memstream(&text, &len);
    if (!call->out)
        return command_failed(-ENOMEM, &(struct err){-ENOMEM, "no memory for the output"});
    if (call->journal)
        r = answer_past(call, &err);
    else
        r = call->id ? answer_scenario(call, paths[0], &err) : answer_cluster(call, paths, count, &err);
    (void)fclose(call->out);
    if (r < 0)
        return command_failed(r, &err);
    (void)fputs(text, stdout);
    return EXIT_FINE;
}

/* Without a PATH, the server that submit and list use. */
static int run_here(struct call *call)
{
    static const char *const live[] = {"kube:"};
    _cleanup_(freep) char *local = api_local_config(&(struct api_place){.kubeconfig = call->kubeconfig});

    if (local)
        call->kubeconfig = local;
    return run(call, live, ARRAY_LEN(live));
}

/* Without a WORKLOAD, all that the journal has. */
static int run_past(const struct command *command, struct call *call, const struct arguments *arguments)
{
    if (call->id || call->kubeconfig)
        return command_wrong(command, "--journal takes neither --id nor --kubeconfig");
    if (arguments->operand_count > 1)
        return command_wrong(command, "--journal takes no PATH");
    call->workload = arguments->operand_count == 1 ? arguments->operands[0] : NULL;
    return run(call, NULL, 0);
}

static int run_why(const struct command *command, struct arguments *arguments)
{
    struct call call = {.at = NSEC_MAX};
    struct err err = {0};
    int option;

    while ((option = arguments_next(arguments)) >= 0) {
        if (option == OPTION_OUTPUT)
            call.as_json = strcmp(arguments->value, "json") == 0;
        else if (option == OPTION_ID)
            call.id = arguments->value;
        else if (option == OPTION_JOURNAL)
            call.journal = arguments->value;
        else if (option == OPTION_KUBECONFIG)
            call.kubeconfig = arguments->value;
        else if (time_parse(arguments->value, &call.at, &err) < 0)
            return command_wrong(command, "--at: %s", err.text);
    }
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (call.journal)
        return run_past(command, &call, arguments);
    if (call.at != NSEC_MAX)
        return command_wrong(command, "--at needs --journal");
    if (arguments->operand_count == 0)
        return command_wrong(command, "a WORKLOAD is missing");
    if (call.id && arguments->operand_count != 2)
        return command_wrong(command, "--id needs exactly one PATH");
    call.workload = arguments->operands[0];
    if (arguments->operand_count == 1)
        return run_here(&call);
    return run(&call, arguments->operands + 1, arguments->operand_count - 1);
}

const struct command why_command = {
    .name = "why",
    .summary = "explain why a workload is pending, and what would help",
    .usage = "[-o table|json] [--id ID] [--journal FOLDER [--at TIME]] WORKLOAD [PATH...]",
    .text =
        "WORKLOAD is the name of a workload, a pod or a PodGroup, or namespace/name. PATH is a manifest, a folder of\n"
        "manifests, a KAI snapshot, a scenario, or kube: or kube:CONTEXT for a live cluster (read-only: only list\n"
        "requests are made). Without a PATH, the Muster of this machine or the cluster of the kubeconfig is read. "
        "Every\n"
        "suggested change was tried on a copy of the cluster and lets the workload start.\n"
        "With --journal, the answer is about the past: how long the workload waited for which reason, and if it was\n"
        "pending then, why and what would have helped. Without a WORKLOAD, waits are summed over queues and reasons.\n",
    .group = GROUP_TRY,
    .options = why_options,
    .option_count = ARRAY_LEN(why_options),
    .examples = why_examples,
    .operands = OPERANDS_WORKLOAD,
    .run = run_why,
};
