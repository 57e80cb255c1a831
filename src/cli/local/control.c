/* SPDX-License-Identifier: Apache-2.0 */

/* muster down, muster status and muster credential: what a running `muster up` is asked and told. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/daemon.h"
#include "cli/local/local.h"
#include "local/server/server.h"
#include "local/server/service.h"
#include "text/json.h"

#define STATE_OPTION {0, "state", "FOLDER", NULL, "state folder of the server (default: that of 'muster up')"}

/* Reads --state, the only option. Returns true, or false with the exit status. */
static bool read_state(struct arguments *arguments, char **ret_folder, int *ret_status)
{
    const char *state = NULL;
    int option;

    while ((option = arguments_next(arguments)) >= 0)
        state = arguments->value;
    if (option == ARGUMENT_HELP) {
        *ret_status = command_help(arguments->command);
        return false;
    }
    if (option == ARGUMENT_WRONG) {
        *ret_status = EXIT_WRONG_CALL;
        return false;
    }
    if (arguments->operand_count > 0) {
        *ret_status = command_wrong(arguments->command, "unexpected argument '%s'", arguments->operands[0]);
        return false;
    }
    *ret_folder = state_folder(state);
    return true;
}

/* --- down --- */

enum { STOP_SECONDS = 60 };

static bool has_ended(void *arg)
{
    return kill(*(const int *)arg, 0) < 0 && errno == ESRCH;
}

static int await_end(int pid)
{
    struct err err = {0};

    if (daemon_await(has_ended, &pid, STOP_SECONDS * NSEC_PER_SEC)) {
        printf("Muster is stopped.\n");
        return EXIT_FINE;
    }
    return command_failed(
        err_set(&err, -ETIMEDOUT,
                "process %d has not ended within %d seconds of SIGTERM; its log says what it waits for", pid,
                STOP_SECONDS),
        &err);
}

static int run_down(const struct command *command, struct arguments *arguments)
{
    _cleanup_(freep) char *folder = NULL;
    struct err err = {0};
    int status = EXIT_FINE;
    int pid;

    (void)command;
    if (!read_state(arguments, &folder, &status))
        return status;
    pid = local_server_pid(folder);
    if (pid <= 0) {
        printf("Muster is not running.\n");
        return EXIT_FINE;
    }
    if (kill(pid, SIGTERM) < 0) {
        (void)err_set(&err, -errno, "process %d: %s", pid, strerror(errno));
        return command_failed(-EIO, &err);
    }
    return await_end(pid);
}

static const struct command_option state_options[] = {STATE_OPTION};
static const char *const down_examples[] = {"muster down", NULL};

const struct command down_command = {
    .name = "down",
    .summary = "stop Muster on this machine",
    .usage = "[--state FOLDER]",
    .text = "Stops the Muster that 'muster up' started. All objects stay in the state folder for the next start.\n",
    .group = GROUP_LOCAL,
    .options = state_options,
    .option_count = ARRAY_LEN(state_options),
    .examples = down_examples,
    .operands = OPERANDS_NONE,
    .run = run_down,
};

/* --- status --- */

static const struct command_option status_options[] = {STATE_OPTION, OUTPUT_OPTION};
static const char *const status_examples[] = {"muster status", "muster status -o json", NULL};

static void print_status(const char *folder, yyjson_val *root)
{
    const char *address = yyjson_get_str(yyjson_obj_get(root, "address"));
    const char *namespace = yyjson_get_str(yyjson_obj_get(root, "namespace"));

    printf("State     %s\n", folder);
    if (address && *address)
        printf("Server    https://%s:%d\n", address, yyjson_get_int(yyjson_obj_get(root, "port")));
    else
        printf("Server    unix:%s/" SERVER_SOCKET "\n", folder);
    printf("Namespace %s\n", namespace ? namespace : "default");
    printf("Process   %d\n", yyjson_get_int(yyjson_obj_get(root, "pid")));
    printf("Objects   %lld, version %lld\n", (long long)yyjson_get_sint(yyjson_obj_get(root, "objects")),
           (long long)yyjson_get_sint(yyjson_obj_get(root, "version")));
}

static int show_status(const char *folder, bool is_json)
{
    _cleanup_(freep) char *body = NULL;
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct err err = {0};
    int code = local_ask(folder, "GET", "/muster/process", &body, &err);

    if (code == 0)
        code = json_parse(body, strlen(body), "the answer", &doc, &err);
    if (code < 0)
        return command_failed(-EIO, &err);
    if (is_json) {
        printf("%s\n", body);
        return EXIT_FINE;
    }
    print_status(folder, yyjson_doc_get_root(doc));
    return local_print_access(folder);
}

static int run_status(const struct command *command, struct arguments *arguments)
{
    _cleanup_(freep) char *folder = NULL;
    const char *state = NULL;
    bool is_json = false;
    int option;

    while ((option = arguments_next(arguments)) >= 0) {
        if (option == 0)
            state = arguments->value;
        else
            is_json = strcmp(arguments->value, "json") == 0;
    }
    if (option == ARGUMENT_HELP)
        return command_help(command);
    if (option == ARGUMENT_WRONG)
        return EXIT_WRONG_CALL;
    if (arguments->operand_count > 0)
        return command_wrong(command, "unexpected argument '%s'", arguments->operands[0]);
    folder = state_folder(state);
    return show_status(folder, is_json);
}

const struct command status_command = {
    .name = "status",
    .summary = "show whether Muster is running on this machine",
    .usage = "[--state FOLDER] [-o table|json]",
    .text = "Shows whether Muster is running and how to connect to it. The exit status is 1 when it is not running.\n",
    .group = GROUP_LOCAL,
    .options = status_options,
    .option_count = ARRAY_LEN(status_options),
    .examples = status_examples,
    .operands = OPERANDS_NONE,
    .run = run_status,
};

/* --- credential --- */

static int run_credential(const struct command *command, struct arguments *arguments)
{
    _cleanup_(freep) char *folder = NULL;
    _cleanup_(freep) char *body = NULL;
    struct err err = {0};
    int status = EXIT_FINE;
    int code;

    (void)command;
    if (!read_state(arguments, &folder, &status))
        return status;
    code = local_ask(folder, "POST", "/muster/token", &body, &err);
    if (code < 0)
        return command_failed(-EIO, &err);
    printf("%s\n", body);
    return EXIT_FINE;
}

static const char *const credential_examples[] = {"muster credential", NULL};

const struct command credential_command = {
    .name = "credential",
    .summary = "print a token for Muster on this machine, for kubectl",
    .usage = "[--state FOLDER]",
    .text =
        "Prints a token that is valid for 10 minutes, in the format of kubectl's credential plugins. The kubeconfig "
        "that\n'muster up' writes calls this command, so that no token is stored in a file.\n",
    .group = GROUP_INTERNALS,
    .options = state_options,
    .option_count = ARRAY_LEN(state_options),
    .examples = credential_examples,
    .operands = OPERANDS_NONE,
    .run = run_credential,
};
