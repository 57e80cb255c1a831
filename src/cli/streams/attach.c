/* SPDX-License-Identifier: Apache-2.0 */

/* muster attach: input and output of a process of a workload. */
#include <errno.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/streams/attach.h"
#include "cli/streams/remote.h"
#include "kube/client/meta.h"

enum { OPTION_CONTAINER = API_OPTION_COUNT, OPTION_POD, OPTION_NO_STDIN };

static const struct command_option command_options[] = {
    API_OPTIONS,
    [OPTION_CONTAINER] = {'c', "container", "NAME", NULL, "name of the container (default: the first)"},
    [OPTION_POD] = {0, "pod", "NAME", NULL, "name of the pod (default: the first running one)"},
    [OPTION_NO_STDIN] = {0, "no-stdin", NULL, NULL, "show its output only, and pass no input on"},
};

static bool is_set(yyjson_val *container, const char *name)
{
    return yyjson_get_bool(yyjson_obj_get(container, name));
}

int attach_run(struct api *api, const char *workload, const struct attach_options *options, int *ret_status,
               struct err *err)
{
    struct workload_set set = {0};
    struct remote_call call = {.container = options->container};
    int code = remote_find_pod(api, workload, options->pod, &set, &call.pod, err);
    yyjson_val *container = code == 0 ? remote_container(call.pod, call.container) : NULL;

    if (code == 0 && !container)
        code = err_set(err, -EINVAL, "the pod has no container %s", call.container);
    call.has_input = !options->is_silent && is_set(container, "stdin");
    call.has_terminal = is_set(container, "tty");
    if (code == 0)
        code = remote_run(api, &call, ret_status, err);
    workload_set_done(&set);
    return code;
}

static int run_attach(const struct command *command, struct arguments *arguments)
{
    struct attach_options options = {0};
    struct api_place place = {0};
    struct err err = {0};
    struct api api = {0};
    int status = EXIT_FINE;
    int option;

    while ((option = arguments_next(arguments)) >= 0) {
        if (api_place_set(&place, option, arguments->value))
            continue;
        if (option == OPTION_CONTAINER)
            options.container = arguments->value;
        else if (option == OPTION_POD)
            options.pod = arguments->value;
        else
            options.is_silent = true;
    }
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count != 1)
        return command_wrong(command, "expected one WORKLOAD, found %zu", arguments->operand_count);
    int code = api_open(&api, &place, &err);
    if (code == 0)
        code = attach_run(&api, arguments->operands[0], &options, &status, &err);
    api_close(&api);
    return code < 0 ? command_failed(code, &err) : status;
}

static const char *const examples[] = {"muster attach notebook", "muster attach --no-stdin train", NULL};

const struct command attach_command = {
    .name = "attach",
    .summary = "connect this terminal to a running workload",
    .usage = "[-c CONTAINER] [OPTION...] WORKLOAD",
    .text = "Shows the output of the process from now on, and passes input to a process that reads it ('muster submit "
            "-it').\n"
            "'muster logs' shows earlier output.\n",
    .group = GROUP_WORK,
    .options = command_options,
    .option_count = ARRAY_LEN(command_options),
    .examples = examples,
    .operands = OPERANDS_LIVE_WORKLOADS,
    .run = run_attach,
};
