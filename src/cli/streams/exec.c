/* SPDX-License-Identifier: Apache-2.0 */

/* muster exec: a command beside the processes of a workload. */
#include <errno.h>

#include "cli/commands.h"
#include "cli/streams/remote.h"

enum { OPTION_CONTAINER = API_OPTION_COUNT, OPTION_POD, OPTION_STDIN, OPTION_TTY };

static const struct command_option command_options[] = {
    API_OPTIONS,
    [OPTION_CONTAINER] = {'c', "container", "NAME", NULL, "name of the container (default: the first)"},
    [OPTION_POD] = {0, "pod", "NAME", NULL, "name of the pod (default: the first running one)"},
    [OPTION_STDIN] = {'i', "stdin", NULL, NULL, "pass standard input on"},
    [OPTION_TTY] = {'t', "tty", NULL, NULL, "run the command in a terminal"},
};

static int run(struct api *api, const char *workload, const char *pod_name, struct remote_call *call, int *ret_status,
               struct err *err)
{
    struct workload_set set = {0};
    int code = remote_find_pod(api, workload, pod_name, &set, &call->pod, err);

    if (code == 0 && !remote_container(call->pod, call->container))
        code = err_set(err, -EINVAL, "the pod has no container %s", call->container);
    if (code == 0)
        code = remote_run(api, call, ret_status, err);
    workload_set_done(&set);
    return code;
}

static int run_exec(const struct command *command, struct arguments *arguments)
{
    struct remote_call call = {0};
    struct api_place place = {0};
    const char *pod = NULL;
    struct err err = {0};
    struct api api = {0};
    int status = EXIT_FINE;
    int option;

    while ((option = arguments_next(arguments)) >= 0) {
        if (api_place_set(&place, option, arguments->value))
            continue;
        if (option == OPTION_CONTAINER)
            call.container = arguments->value;
        else if (option == OPTION_POD)
            pod = arguments->value;
        else if (option == OPTION_STDIN)
            call.has_input = true;
        else
            call.has_terminal = true;
    }
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count < 2)
        return command_wrong(command, "expected a WORKLOAD and a COMMAND, such as 'train -- nvidia-smi'");
    call.command = arguments->operands + 1;
    call.command_len = arguments->operand_count - 1;
    int code = api_open(&api, &place, &err);
    if (code == 0)
        code = run(&api, arguments->operands[0], pod, &call, &status, &err);
    api_close(&api);
    return code < 0 ? command_failed(code, &err) : status;
}

static const char *const examples[] = {"muster exec train -- nvidia-smi", "muster exec -it train -- bash",
                                       "muster exec -i train -- tar -x -C /data < data.tar", NULL};

const struct command exec_command = {
    .name = "exec",
    .summary = "run a command in a pod of a workload",
    .usage = "[-it] [-c CONTAINER] [OPTION...] WORKLOAD -- COMMAND [ARGUMENT...]",
    .text = "Runs the COMMAND beside the processes of the workload: as their user, with their environment and GPUs.\n"
            "The exit status is that of the command.\n",
    .group = GROUP_WORK,
    .options = command_options,
    .option_count = ARRAY_LEN(command_options),
    .examples = examples,
    .operands = OPERANDS_LIVE_WORKLOADS,
    .run = run_exec,
};
