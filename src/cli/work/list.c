/* SPDX-License-Identifier: Apache-2.0 */

/* muster list and muster history: pending and running workloads, and those that have ended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "cli/commands.h"
#include "cli/work/api.h"
#include "cli/work/find.h"
#include "cli/work/output.h"
#include "cli/work/workload_cells.h"

enum {
    OPTION_OUTPUT = API_OPTION_COUNT,
    OPTION_ALL_NAMESPACES,
    OPTION_QUEUE,
    OPTION_USER,
    OPTION_STATE,
    OPTION_ALL,
};

static const struct command_option options[] = {
    API_OPTIONS,
    [OPTION_OUTPUT] = WORK_OUTPUT_OPTION,
    [OPTION_ALL_NAMESPACES] = {'A', "all-namespaces", NULL, NULL, "workloads of all namespaces"},
    [OPTION_QUEUE] = {'q', "queue", "QUEUE", NULL, "only those of this queue"},
    [OPTION_USER] = {'u', "user", "USER", NULL, "only those that this user submitted"},
    [OPTION_STATE] = {0, "state", "STATE", NULL, "only those in this state, such as Pending"},
    [OPTION_ALL] = {'a', "all", NULL, NULL, "include finished workloads"},
};

struct call {
    struct api_place place;
    enum output output;
    bool is_everywhere;
    bool shows_finished, shows_live;
    const char *queue, *user, *state;
};

static bool is_shown(const struct call *call, const struct workload_row *row)
{
    bool is_finished = row_is_finished(row);

    return (is_finished ? call->shows_finished : call->shows_live) &&
           (!call->queue || strcmp(row->queue, call->queue) == 0) &&
           (!call->user || strcmp(row->user, call->user) == 0) &&
           (!call->state || strcasecmp(row_state_name(row->state), call->state) == 0);
}

static int print_rows(const struct call *call, const struct workload_rows *rows)
{
    struct found shown = {0};
    int status = EXIT_FINE;

    vec_foreach (rows, row) {
        if (is_shown(call, row))
            vec_push(&shown, row);
    }
    if (output_is_table(call->output)) {
        if (shown.len == 0)
            (void)fputs(call->shows_live ? "No workloads.\n" : "No finished workloads.\n", stderr);
        else if (call->shows_live)
            workloads_print(&shown, call->output == OUTPUT_WIDE, nsec_now_wall());
        else
            finished_print(&shown, call->output == OUTPUT_WIDE, nsec_now_wall());
    } else {
        yyjson_mut_val *items;
        yyjson_mut_doc *doc = output_list(&items);

        vec_foreach (&shown, row)
            (void)yyjson_mut_arr_append(items, workload_row_encode(*row, doc));
        status = output_print(call->output, doc);
        yyjson_mut_doc_free(doc);
    }
    vec_done(&shown);
    return status;
}

static int list(const struct call *call)
{
    struct workload_set set = {0};
    struct err err = {0};
    struct api api;
    int status;
    int code = api_open(&api, &call->place, &err);

    if (code < 0)
        return command_failed(code, &err);
    code = workload_set_read(&set, &api, call->is_everywhere ? NULL : api.namespace, &err);
    status = code < 0 ? command_failed(code, &err) : print_rows(call, &set.rows);
    workload_set_done(&set);
    api_close(&api);
    return status;
}

static bool state_is_known(const char *name)
{
    for (enum row_state state = 0; state < _ROW_STATE_MAX; state++) {
        if (strcasecmp(row_state_name(state), name) == 0)
            return true;
    }
    return false;
}

static int run_with(const struct command *command, struct arguments *arguments, struct call *call)
{
    int option;

    while ((option = arguments_next(arguments)) >= 0) {
        if (api_place_set(&call->place, option, arguments->value))
            continue;
        switch (option) {
        case OPTION_OUTPUT:
            call->output = output_parse(arguments->value);
            break;
        case OPTION_ALL_NAMESPACES:
            call->is_everywhere = true;
            break;
        case OPTION_QUEUE:
            call->queue = arguments->value;
            break;
        case OPTION_USER:
            call->user = arguments->value;
            break;
        case OPTION_STATE:
            call->state = arguments->value;
            call->shows_finished = true;
            break;
        default:
            call->shows_finished = true;
        }
    }
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count > 0)
        return command_wrong(command, "unexpected argument '%s'; 'muster describe' shows one workload",
                             arguments->operands[0]);
    if (call->state && !state_is_known(call->state))
        return command_wrong(command,
                             "there is no state '%s'; states are Pending, Running, Preempting, Suspended, "
                             "Terminating, Completed, Failed and Cancelled",
                             call->state);
    return list(call);
}

static int run_list(const struct command *command, struct arguments *arguments)
{
    return run_with(command, arguments, &(struct call){.shows_live = true});
}

static int run_history(const struct command *command, struct arguments *arguments)
{
    return run_with(command, arguments, &(struct call){.shows_finished = true});
}

static const char *const list_examples[] = {
    "muster list", "muster list -A --state Pending", "muster list -q team-a -o wide", "muster list -o json", NULL,
};

const struct command list_command = {
    .name = "list",
    .summary = "list workloads, with their state and why they wait",
    .usage = "[-A] [-q QUEUE] [-u USER] [--state STATE] [-a] [-o table|wide|json|yaml]",
    .text = "Lists pending and running workloads, the oldest first. REASON says in a few words why a workload is\n"
            "pending; 'muster describe' has the whole sentence, and 'muster why' explains it.\n",
    .group = GROUP_WORK,
    .options = options,
    .option_count = ARRAY_LEN(options),
    .examples = list_examples,
    .operands = OPERANDS_NONE,
    .run = run_list,
};

static const char *const history_examples[] = {
    "muster history",
    "muster history -A -u ada",
    "muster history --state Failed -o json",
    NULL,
};

const struct command history_command = {
    .name = "history",
    .summary = "list workloads that have ended, with exit codes and GPU hours",
    .usage = "[-A] [-q QUEUE] [-u USER] [--state STATE] [-o table|wide|json|yaml]",
    .text = "Lists workloads that are completed, failed or cancelled and have not been removed yet, the oldest first.\n"
            "Jobs of 'muster submit' are kept for a week.\n",
    .group = GROUP_WORK,
    .options = options,
    .option_count = ARRAY_LEN(options) - 1,
    .examples = history_examples,
    .operands = OPERANDS_NONE,
    .run = run_history,
};
