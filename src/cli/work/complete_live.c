/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/work/complete_live.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/work/api.h"
#include "cli/work/find.h"
#include "kube/client/meta.h"

/* A shell that waits longer than this for a server has lost its user. */
enum { SECONDS_MAX = 3 };

static const char *const kinds[] = {"workloads", "queues", "nodes", NULL};

static int print_workloads(struct api *api, struct err *err)
{
    struct workload_set set = {0};
    int code = workload_set_read(&set, api, api->namespace, err);

    vec_foreach (&set.rows, row) {
        if (!row_is_finished(row))
            (void)puts(row->name);
    }
    workload_set_done(&set);
    return code;
}

static int print_names(struct api *api, enum kube_known kind, struct err *err)
{
    struct api_objects objects = {0};
    int code = api_list(api, kube_known(kind), NULL, NULL, &objects, err);

    vec_foreach (&objects, doc)
        (void)puts(kube_text(yyjson_doc_get_root(*doc), "metadata", "name"));
    api_objects_done(&objects);
    return code;
}

static int run_live(const struct command *command, struct arguments *arguments)
{
    struct err err = {0};
    struct api api = {0};
    int status;

    if (!arguments_operands(arguments, 1, &status))
        return status;
    if (arguments->operand_count == 0)
        return command_wrong(command, "a kind is missing: workloads, queues or nodes");
    const char *kind = arguments->operands[0];
    (void)alarm(SECONDS_MAX);
    int code = api_open(&api, &(struct api_place){0}, &err);
    if (code == 0 && strcmp(kind, kinds[0]) == 0)
        code = print_workloads(&api, &err);
    else if (code == 0)
        code = print_names(&api, strcmp(kind, kinds[1]) == 0 ? KUBE_QUEUES : KUBE_NODES, &err);
    api_close(&api);
    return code < 0 ? command_failed(code, &err) : EXIT_FINE;
}

static const char *const examples[] = {"muster complete live queues", NULL};

const struct command complete_live_command = {
    .name = "complete live",
    .summary = "list names of workloads, queues or nodes of the server",
    .usage = "workloads|queues|nodes",
    .text = "Prints the names that commands such as 'muster describe' take, one per line.\n",
    .examples = examples,
    .words = kinds,
    .operands = OPERANDS_NONE,
    .run = run_live,
};
