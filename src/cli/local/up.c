/* SPDX-License-Identifier: Apache-2.0 */

/* muster up: the API server of this machine, and all services over it, in one process. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/local/local.h"
#include "frame/service.h"
#include "local/agent/agent.h"
#include "local/cleaning/cleaning.h"
#include "local/server/server.h"
#include "local/server/service.h"
#include "local/setup/setup.h"
#include "local/workloads/workloads.h"
#include "services/binder/binder.h"
#include "services/grouper/grouper.h"
#include "services/podgroups/podgroups.h"
#include "services/queues/queues.h"
#include "services/scheduler/scheduler.h"

/* All that runs in the process, a row each. The API server comes first: it is opened before the others, which are its
 * clients, and closed after them. */
static const struct service_kind *const kinds[] = {
    &api_service,
    &setup_service,
    &scheduler_service,
    &binder_service,
    &grouper_service,
    &podgroups_service,
    &queues_service,
    &replica_sets_controller.service,
    &deployments_controller.service,
    &stateful_sets_controller.service,
    &jobs_controller.service,
    &cron_jobs_controller.service,
    &garbage_service,
    &namespaces_service,
    &nodes_service,
    &agent_service,
    NULL,
};

/* Those whose flags are for users; the others have flags of a cluster. */
static const struct service_kind *const shown_kinds[] = {&api_service, &agent_service, NULL};

/* What differs from a cluster: nothing but the API is open to others, and requests cost so little that many may be made. */
static const char *const own_flags[] = {"--plugin-server-port=0", "--in-flight-max=256"};

/* The services find the server by its socket, and none of them has a rival to agree with. */
static int run_here(const struct command *command, const struct arguments *arguments, const char *folder)
{
    const char **argv = xcalloc((size_t)arguments->argc + ARRAY_LEN(own_flags) + 2, sizeof *argv);
    char socket[PATH_MAX + sizeof "--kubeconfig=unix:"];
    char authority[PATH_MAX + sizeof "--authority-from="];
    int argc = 0;
    int status;

    const char *api_only = local_flag(arguments, "api-only");
    bool is_alone = api_only && strcmp(api_only, "false") != 0;

    (void)snprintf(socket, sizeof socket, "--kubeconfig=unix:%s/" SERVER_SOCKET, folder);
    (void)snprintf(authority, sizeof authority, "--authority-from=%s/" SERVER_KUBECONFIG, folder);
    if (!is_alone) {
        argv[argc++] = socket;
        argv[argc++] = authority;
    }
    for (size_t i = 0; !is_alone && i < ARRAY_LEN(own_flags); i++)
        argv[argc++] = own_flags[i];
    for (int i = 0; i < arguments->argc; i++)
        argv[argc++] = arguments->argv[i];
    status = run_services(command, kinds, is_alone ? 1 : ARRAY_LEN(kinds) - 1, argc, argv);
    free(argv);
    return status;
}

/* The daemon keeps nothing of the terminal, and writes its log into the state folder. */
static _Noreturn void become_daemon(const struct arguments *arguments, const char *folder)
{
    _cleanup_(freep) char *log = local_path(folder, LOCAL_LOG);
    const char **argv = xcalloc((size_t)arguments->argc + 4, sizeof *argv);
    int out = open(log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
    int in = open("/dev/null", O_RDONLY);
    int argc = 0;

    (void)setsid();
    if (out < 0 || in < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
        _exit(EXIT_FAILED);
    (void)close_range(STDERR_FILENO + 1, ~0u, 0);
    argv[argc++] = "muster";
    argv[argc++] = "up";
    for (int i = 0; i < arguments->argc; i++)
        argv[argc++] = arguments->argv[i];
    argv[argc++] = "--foreground";
    (void)execv("/proc/self/exe", (char *const *)(uintptr_t)argv);
    _exit(EXIT_FAILED);
}

static int make_folder(const char *folder, struct err *err)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof path, "%s", folder);
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        if (mkdir(path, 0755) < 0 && errno != EEXIST)
            return err_set(err, -errno, "%s: %s", path, strerror(errno));
        *at = '/';
    }
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    return 0;
}

/* Shows what the daemon has said since the log had `seen` bytes: the reason why it has ended. */
static void show_log(const char *folder, off_t seen)
{
    _cleanup_(freep) char *path = local_path(folder, LOCAL_LOG);
    int log = open(path, O_RDONLY | O_CLOEXEC);
    char text[4096];
    ssize_t len;

    if (log < 0)
        return;
    while ((len = pread(log, text, sizeof text, seen)) > 0) {
        (void)fwrite(text, 1, (size_t)len, stderr);
        seen += len;
    }
    (void)close(log);
}

static off_t log_size(const char *folder)
{
    _cleanup_(freep) char *path = local_path(folder, LOCAL_LOG);
    struct stat found;

    return stat(path, &found) == 0 ? found.st_size : 0;
}

/* Waits until the daemon answers, or has ended. Returns an exit status. */
static int await_daemon(const char *folder, pid_t child, off_t seen)
{
    struct err err = {0};
    int status;

    for (int i = 0; i < 600; i++) {
        if (local_ask(folder, "GET", "/readyz", NULL, NULL) == 0) {
            printf("Muster is running.\n");
            return local_print_access(folder);
        }
        if (waitpid(child, &status, WNOHANG) == child) {
            show_log(folder, seen);
            return WIFEXITED(status) && WEXITSTATUS(status) != EXIT_FINE ? WEXITSTATUS(status) : EXIT_FAILED;
        }
        (void)usleep(50000);
    }
    return command_failed(
        err_set(&err, -ETIMEDOUT, "the server was started but does not answer: see %s/" LOCAL_LOG, folder), &err);
}

static int start_daemon(const struct arguments *arguments, const char *folder)
{
    off_t seen = log_size(folder);
    struct err err = {0};
    pid_t child;

    if (local_ask(folder, "GET", "/readyz", NULL, NULL) == 0) {
        printf("Muster is already running.\n");
        return local_print_access(folder);
    }
    child = fork();
    if (child < 0)
        return command_failed(err_set(&err, -errno, "starting a process: %s", strerror(errno)), &err);
    if (child == 0)
        become_daemon(arguments, folder);
    return await_daemon(folder, child, seen);
}

static bool wants_help(const struct arguments *arguments)
{
    for (int i = 0; i < arguments->argc; i++) {
        if (strcmp(arguments->argv[i], "--help") == 0 || strcmp(arguments->argv[i], "-h") == 0 ||
            strcmp(arguments->argv[i], "--version") == 0)
            return true;
    }
    return false;
}

static int run_up(const struct command *command, struct arguments *arguments)
{
    _cleanup_(freep) char *folder = state_folder(local_flag(arguments, "state"));
    const char *foreground = local_flag(arguments, "foreground");
    struct err err = {0};
    int code;

    if (wants_help(arguments))
        return run_here(command, arguments, folder);
    code = make_folder(folder, &err);
    if (code < 0)
        return command_failed(code, &err);
    if (foreground && strcmp(foreground, "false") != 0)
        return run_here(command, arguments, folder);
    return start_daemon(arguments, folder);
}

static const char *const examples[] = {
    "muster up",
    "muster up --state /var/lib/muster --foreground",
    "muster up --listen 127.0.0.1:6443",
    "muster up --fake-nodes 100x8xH100",
    NULL,
};

const struct command up_command = {
    .name = "up",
    .summary = "start Muster on this machine, without Kubernetes",
    .usage = "[--fake-nodes NODESxGPUSxMODEL] [FLAG...]",
    .text = "Starts an API server that kubectl, Helm and other clients of Kubernetes can use, with all objects in one "
            "folder.\n"
            "Prints where its kubeconfig is. 'muster status' shows whether it runs, 'muster down' stops it.\n",
    .group = GROUP_TRY,
    .services = shown_kinds,
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run_up,
};
