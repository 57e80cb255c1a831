/* SPDX-License-Identifier: Apache-2.0 */

/* muster join: this machine as a node of a Muster that runs on another one. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/local/local.h"
#include "frame/service.h"
#include "local/member/joining.h"
#include "local/member/member.h"
#include "local/member/renewal.h"
#include "local/member/streams.h"
#include "local/node/gpu_daemon.h"
#include "local/node/machine.h"
#include "local/node/node.h"

static const struct service_kind *const kinds[] = {
    &gpu_daemon_service,
    &joined_node_service,
    &renewal_service,
    &member_streams_service,
};

/* Those whose flags are for users. */
static const struct service_kind *const shown_kinds[] = {&joined_node_service, NULL};

/* The services find the control machine by the kubeconfig of the membership. */
static int run_agent(const struct command *command, const char *folder, int argc, const char *const *argv)
{
    const char **all = xcalloc((size_t)argc + 3, sizeof *all);
    char kubeconfig[PATH_MAX + sizeof "--kubeconfig="], state[PATH_MAX + sizeof "--state="];
    int count = 0;

    (void)snprintf(kubeconfig, sizeof kubeconfig, "--kubeconfig=%s/" MEMBER_KUBECONFIG, folder);
    (void)snprintf(state, sizeof state, "--state=%s", folder);
    all[count++] = kubeconfig;
    all[count++] = state;
    for (int i = 0; i < argc; i++)
        all[count++] = argv[i];
    int status = run_services(command, kinds, ARRAY_LEN(kinds), count, all);
    free(all);
    return status;
}

static int join_as(const char *folder, const char *server, const char *token, const char *name, struct err *err)
{
    char own[MACHINE_TEXT_MAX];
    struct utsname system = {0};

    (void)uname(&system);
    machine_name(system.nodename, own);
    if (!token || !*token)
        return err_set(err, -EINVAL, "--token is missing: 'muster node token' on the other machine prints one");
    const struct joining_request request = {
        .folder = folder, .server = server, .token = token, .name = name && *name ? name : own};
    int r = joining_run(&request, err);

    if (r == 0)
        printf("Joined %s as node %s.\n", server, request.name);
    return r;
}

/* A machine is a member of one; only its removal there ends that. */
static int prepare(const struct arguments *arguments, const char *folder, const char *server, struct err *err)
{
    struct member member = {0};
    int r = member_read(folder, &member, NULL);

    if (r == 0 && server)
        r = err_set(err, -EEXIST,
                    "this machine is node %s of %s already: 'muster join' without arguments starts its agent, and "
                    "'muster node remove %s' there ends the membership",
                    member.name, member.server, member.name);
    else if (r < 0 && !server)
        r = err_set(err, -ENOENT, "this machine has not joined another one: HOST and --token are needed");
    else if (r < 0)
        r = join_as(folder, server, local_flag(arguments, "token"), local_flag(arguments, "name"), err);
    member_done(&member);
    return r;
}

static int run_join(const struct command *command, struct arguments *arguments)
{
    _cleanup_(freep) char *folder = member_folder(local_flag(arguments, "state"));
    bool has_server = arguments->argc > 0 && arguments->argv[0][0] != '-';
    int argc = arguments->argc - has_server;
    const char *const *argv = arguments->argv + has_server;
    struct err err = {0};

    if (local_wants_text(arguments))
        return run_services(command, kinds, ARRAY_LEN(kinds), argc, argv);
    /* A call that is wrong uses up no token. */
    int code = check_services(command, kinds, ARRAY_LEN(kinds), argc, argv);
    if (code != EXIT_FINE)
        return code;
    code = prepare(arguments, folder, has_server ? arguments->argv[0] : NULL, &err);
    if (code < 0)
        return command_failed(code, &err);
    (void)fflush(stdout);
    return run_agent(command, folder, argc, argv);
}

static const char *const examples[] = {
    "muster join gpu-1.lab:6443 --token TOKEN",
    "muster join",
    "muster join 192.0.2.10:6443 --token TOKEN --name gpu-2",
    NULL,
};

const struct command join_command = {
    .name = "join",
    .summary = "make this machine a node of Muster on another machine",
    .usage = "[HOST[:PORT] --token TOKEN] [FLAG...]",
    .text =
        "Joins Muster on HOST, which was started by 'muster up --listen', and runs its pods until it is stopped. The "
        "server\n"
        "is checked against the fingerprint in the token before anything is sent. Without HOST, starts the agent of a\n"
        "machine that has joined before. Pods run as the user who submitted them, who must have the same name and uid "
        "here.\n",
    .group = GROUP_LOCAL,
    .services = shown_kinds,
    .is_local = true,
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run_join,
};
