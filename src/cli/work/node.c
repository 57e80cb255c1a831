/* SPDX-License-Identifier: Apache-2.0 */

/* muster node: nodes with their GPUs, and closing and opening them for new pods. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/local/local.h"
#include "cli/work/api.h"
#include "cli/work/output.h"
#include "cli/work/queue_cells.h"
#include "kube/client/meta.h"
#include "local/machines/joined.h"
#include "views/nodes.h"

enum { OPTION_OUTPUT = API_OPTION_COUNT };

static const struct command_option options[] = {
    API_OPTIONS,
    [OPTION_OUTPUT] = WORK_OUTPUT_OPTION,
};

static int print_nodes(enum output output, const struct node_rows *rows)
{
    yyjson_mut_val *items;
    yyjson_mut_doc *doc;
    int status;

    if (output_is_table(output)) {
        struct table t;

        if (rows->len == 0) {
            (void)fputs("No nodes.\n", stderr);
            return EXIT_FINE;
        }
        nodes_fill(&t, rows, output == OUTPUT_WIDE, nsec_now_wall());
        output_table(&t);
        return EXIT_FINE;
    }
    doc = output_list(&items);
    vec_foreach (rows, row)
        (void)yyjson_mut_arr_append(items, node_row_encode(row, doc));
    status = output_print(output, doc);
    yyjson_mut_doc_free(doc);
    return status;
}

static int run_list(const struct command *command, struct arguments *arguments)
{
    enum output output = OUTPUT_TABLE;
    struct node_rows rows = {0};
    struct api_place place = {0};
    struct api_view view = {0};
    struct err err = {0};
    struct api api = {0};
    struct arena arena;
    int option = output_read(arguments, &place, &output);

    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count > 0)
        return command_wrong(command, "unexpected argument '%s'", arguments->operands[0]);
    arena_init(&arena);
    int code = api_open(&api, &place, &err);
    if (code == 0)
        code = api_read_view(&api, 1u << VIEW_NODES | 1u << VIEW_PODS, NULL, &view, &err);
    if (code == 0)
        node_rows_make(&view.objects, &arena, &rows);
    int status = code < 0 ? command_failed(code, &err) : print_nodes(output, &rows);
    vec_done(&rows);
    arena_done(&arena);
    api_view_done(&view);
    api_close(&api);
    return status;
}

static int cordon_all(struct api *api, const char *const *names, size_t count, bool is_cordoned)
{
    const char *body = is_cordoned ? "{\"spec\":{\"unschedulable\":true}}" : "{\"spec\":{\"unschedulable\":null}}";
    struct err err = {0};
    int status = EXIT_FINE;

    for (size_t i = 0; i < count; i++) {
        int code = api_send(api,
                            &(struct kube_request){
                                .verb = KUBE_PATCH_MERGE,
                                .resource = kube_known(KUBE_NODES),
                                .name = names[i],
                                .body = body,
                                .body_len = strlen(body),
                                .is_repeatable = true,
                            },
                            NULL, &err);
        if (code < 0)
            status = MAX(status, command_failed(code, &err));
        else
            printf("node %s %s\n", names[i], is_cordoned ? "cordoned" : "uncordoned");
    }
    return status;
}

static int run_cordon_with(const struct command *command, struct arguments *arguments, bool is_cordoned)
{
    struct api api;
    int status;

    if (api_begin(command, arguments, "NODE", &api, &status))
        status = cordon_all(&api, arguments->operands, arguments->operand_count, is_cordoned);
    api_close(&api);
    return status;
}

static int run_cordon(const struct command *command, struct arguments *arguments)
{
    return run_cordon_with(command, arguments, true);
}

static int run_uncordon(const struct command *command, struct arguments *arguments)
{
    return run_cordon_with(command, arguments, false);
}

/* --- remove --- */

/* Whether the node is a machine that has joined: others would come back, or are a cluster's. */
static int check_joined(struct api *api, const char *name, struct err *err)
{
    struct api_answer answer = {0};
    int code = api_send(api, &(struct kube_request){.verb = KUBE_GET, .resource = kube_known(KUBE_NODES), .name = name},
                        &answer, err);

    if (code == 0 && !*kube_text(yyjson_doc_get_root(answer.doc), "metadata", "annotations", KEY_JOINED))
        code =
            err_set(err, -EINVAL, "node '%s' is not a machine that has joined: stop its agent, or use kubectl", name);
    api_answer_done(&answer);
    return code;
}

static int remove_all(struct api *api, const char *const *names, size_t count)
{
    struct err err = {0};
    int status = EXIT_FINE;

    for (size_t i = 0; i < count; i++) {
        int code = check_joined(api, names[i], &err);

        if (code == 0)
            code = api_send(
                api, &(struct kube_request){.verb = KUBE_DELETE, .resource = kube_known(KUBE_NODES), .name = names[i]},
                NULL, &err);
        if (code < 0)
            status = MAX(status, command_failed(code, &err));
        else
            printf("node %s removed\n", names[i]);
    }
    return status;
}

static int run_remove(const struct command *command, struct arguments *arguments)
{
    struct api api;
    int status;

    if (api_begin(command, arguments, "NODE", &api, &status))
        status = remove_all(&api, arguments->operands, arguments->operand_count);
    api_close(&api);
    return status;
}

static const char *const list_examples[] = {"muster node", "muster node list -o wide", NULL};
static const char *const cordon_examples[] = {"muster node cordon gpu-3", NULL};
static const char *const remove_examples[] = {"muster node remove gpu-3", NULL};
static const char *const uncordon_examples[] = {"muster node uncordon gpu-3", NULL};

static const struct command list_verb = {
    .name = "node list",
    .summary = "show nodes with their total and allocated GPUs",
    .usage = "[-o table|wide|json|yaml]",
    .text = "GPUs that pods share count as allocated as a whole.\n",
    .options = options,
    .option_count = ARRAY_LEN(options),
    .examples = list_examples,
    .operands = OPERANDS_NONE,
    .run = run_list,
};

static const struct command cordon_verb = {
    .name = "node cordon",
    .summary = "stop placing new pods on nodes",
    .usage = "NODE...",
    .text = "Running pods are not affected.\n",
    .options = options,
    .option_count = API_OPTION_COUNT,
    .examples = cordon_examples,
    .operands = OPERANDS_LIVE_NODES,
    .run = run_cordon,
};

static const struct command uncordon_verb = {
    .name = "node uncordon",
    .summary = "place pods on nodes again",
    .usage = "NODE...",
    .options = options,
    .option_count = API_OPTION_COUNT,
    .examples = uncordon_examples,
    .operands = OPERANDS_LIVE_NODES,
    .run = run_uncordon,
};

static const struct command remove_verb = {
    .name = "node remove",
    .summary = "remove machines that have joined, and start their pods elsewhere",
    .usage = "NODE...",
    .text =
        "Their certificates are refused and their connections closed at once, and their agents end all pods. The pods "
        "are\n"
        "started elsewhere when the lease of the node expires, 40 seconds after its last renewal unless it joined "
        "with\n"
        "another --lease-duration.\n",
    .options = options,
    .option_count = API_OPTION_COUNT,
    .examples = remove_examples,
    .operands = OPERANDS_LIVE_NODES,
    .run = run_remove,
};

static const struct command *const verbs[] = {&list_verb,   &cordon_verb,     &uncordon_verb,
                                              &remove_verb, &node_token_verb, NULL};

const struct command node_command = {
    .name = "node",
    .summary = "show nodes with their GPUs; cordon, remove and admit nodes",
    .usage = "[VERB] [ARGUMENT...]",
    .text = "Without a VERB the nodes are listed.\n",
    .group = GROUP_WORK,
    .verbs = verbs,
    .has_default_verb = true,
    .examples = list_examples,
};
