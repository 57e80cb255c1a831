/* SPDX-License-Identifier: Apache-2.0 */

/* muster up: the API server of this machine, and all services over it, in one process. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/daemon.h"
#include "cli/local/local.h"
#include "frame/process.h"
#include "frame/service.h"
#include "local/agent/agent.h"
#include "local/cleaning/cleaning.h"
#include "local/node/gpu_daemon.h"
#include "local/node/node.h"
#include "local/server/server.h"
#include "local/server/service.h"
#include "local/setup/setup.h"
#include "local/workloads/workloads.h"
#include "services/binder/binder.h"
#include "services/grouper/grouper.h"
#include "services/podgroups/podgroups.h"
#include "services/queues/queues.h"
#include "services/scheduler/scheduler.h"
#include "services/starter/starter.h"
#include "web/web.h"

#define START_TIMEOUT (30 * NSEC_PER_SEC)
#define LINK_TIMEOUT (5 * NSEC_PER_SEC)

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
    &starter_service,
    &replica_sets_controller.service,
    &replication_controllers_controller.service,
    &deployments_controller.service,
    &stateful_sets_controller.service,
    &jobs_controller.service,
    &cron_jobs_controller.service,
    &budgets_controller.service,
    &garbage_service,
    &namespaces_service,
    &nodes_service,
    &agent_service,
    &gpu_daemon_service,
    &node_service,
    &web_service,
    NULL,
};

/* Those whose flags are for users; the others have flags of a cluster. */
static const struct service_kind *const shown_kinds[] = {&api_service,        &agent_service, &node_service,
                                                         &gpu_daemon_service, &web_service,   NULL};

/* What differs from a cluster: nothing but the API is open to others, and requests cost so little that many may be made. */
static const char *const own_flags[] = {"--plugin-server-port=0", "--in-flight-max=256",
                                        "--numbers-namespace=kube-system"};

/* Whether the API server runs alone. */
static bool is_api_only(const struct arguments *arguments)
{
    const char *api_only = local_flag(arguments, "api-only");

    return api_only && strcmp(api_only, "false") != 0;
}

/* Whether the API is served on TCP, with certificates and a kubeconfig. A wrong address is reported by the service. */
static bool has_address(const struct arguments *arguments)
{
    const char *listen = local_flag(arguments, "listen");
    char host[256];
    uint16_t port;

    return !listen || address_parse(listen, host, &port, NULL) != 0;
}

typedef int (*services_fn)(const struct command *command, const struct service_kind *const *kinds, size_t count,
                           int argc, const char *const *argv);

/* Has run_services() or check_services() do it. The services find the server by its socket, and none of them has a rival to
 * agree with. */
static int call_here(const struct command *command, const struct arguments *arguments, const char *folder,
                     services_fn call)
{
    const char **argv = xcalloc((size_t)arguments->argc + ARRAY_LEN(own_flags) + 3, sizeof *argv);
    char socket[PATH_MAX + sizeof "--kubeconfig=unix:"];
    char authority[PATH_MAX + sizeof "--authority-from="];
    char page[PATH_MAX + sizeof "--ui-socket="];
    int argc = 0;
    int status;

    bool is_alone = is_api_only(arguments);

    (void)snprintf(socket, sizeof socket, "--kubeconfig=unix:%s/" SERVER_SOCKET, folder);
    (void)snprintf(authority, sizeof authority, "--authority-from=%s/" SERVER_KUBECONFIG, folder);
    (void)snprintf(page, sizeof page, "--ui-socket=%s/" WEB_SOCKET, folder);
    if (!is_alone) {
        argv[argc++] = socket;
        if (has_address(arguments))
            argv[argc++] = authority;
        argv[argc++] = page;
    }
    for (size_t i = 0; !is_alone && i < ARRAY_LEN(own_flags); i++)
        argv[argc++] = own_flags[i];
    for (int i = 0; i < arguments->argc; i++)
        argv[argc++] = arguments->argv[i];
    status = call(command, kinds, is_alone ? 1 : ARRAY_LEN(kinds) - 1, argc, argv);
    free(argv);
    return status;
}

/* The daemon keeps nothing of the terminal, and writes its log into the state folder. */
static _Noreturn void become_daemon(const struct arguments *arguments, const char *folder)
{
    _cleanup_(freep) char *log = local_path(folder, LOCAL_LOG);
    const char **argv = xcalloc((size_t)arguments->argc + 4, sizeof *argv);
    int argc = 0;

    if (daemon_detach(log, O_APPEND) < 0)
        _exit(EXIT_FAILED);
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

struct link_wait {
    const char *folder;
    char *url;  // NULL: the page is not served
};

static bool has_link(void *arg)
{
    struct link_wait *wait = arg;
    int r = local_link(wait->folder, &wait->url, NULL);

    return r != -ENOENT && r != -ECONNREFUSED;
}

/* How to go on: the page, where it is served, and kubectl. The API answers a moment before the page does. */
static int print_access(const char *folder, nsec_t patience)
{
    struct link_wait wait = {.folder = folder};

    if (daemon_await(has_link, &wait, patience) && wait.url)
        printf("\nTo open the page in a browser, once and within 5 minutes ('muster ui' prints a new link):\n  %s\n",
               wait.url);
    free(wait.url);
    return local_print_access(folder);
}

struct start {
    const char *folder;
    pid_t child;
    bool is_ready;
    int status;  // of a child that has ended
};

static bool is_started(void *arg)
{
    struct start *start = arg;

    start->is_ready = local_ask(start->folder, "GET", "/readyz", NULL, NULL) == 0;
    return start->is_ready || waitpid(start->child, &start->status, WNOHANG) == start->child;
}

/* Waits until the daemon answers, or has ended. Returns an exit status. */
static int await_daemon(const struct arguments *arguments, const char *folder, pid_t child, off_t seen)
{
    struct start start = {.folder = folder, .child = child};
    struct err err = {0};

    if (!daemon_await(is_started, &start, START_TIMEOUT))
        return command_failed(
            err_set(&err, -ETIMEDOUT, "the server was started but does not answer: see %s/" LOCAL_LOG, folder), &err);
    if (start.is_ready) {
        printf("Muster is running.\n");
        return print_access(folder, is_api_only(arguments) ? 0 : LINK_TIMEOUT);
    }
    show_log(folder, seen);
    return WIFEXITED(start.status) && WEXITSTATUS(start.status) != EXIT_FINE ? WEXITSTATUS(start.status) : EXIT_FAILED;
}

static int start_daemon(const struct arguments *arguments, const char *folder)
{
    off_t seen = log_size(folder);
    struct err err = {0};
    pid_t child;

    if (local_ask(folder, "GET", "/readyz", NULL, NULL) == 0) {
        printf("Muster is already running.\n");
        return print_access(folder, 0);
    }
    child = fork();
    if (child < 0)
        return command_failed(err_set(&err, -errno, "starting a process: %s", strerror(errno)), &err);
    if (child == 0)
        become_daemon(arguments, folder);
    return await_daemon(arguments, folder, child, seen);
}

static int run_up(const struct command *command, struct arguments *arguments)
{
    _cleanup_(freep) char *folder = state_folder(local_flag(arguments, "state"));
    const char *foreground = local_flag(arguments, "foreground");
    struct err err = {0};
    int code;

    if (local_wants_text(arguments))
        return call_here(command, arguments, folder, run_services);
    /* A call that is wrong leaves nothing behind. */
    code = call_here(command, arguments, folder, check_services);
    if (code != EXIT_FINE)
        return code;
    code = make_folder(folder, &err);
    if (code < 0)
        return command_failed(code, &err);
    if (foreground && strcmp(foreground, "false") != 0)
        return call_here(command, arguments, folder, run_services);
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
    .text = "Starts an API server for kubectl, Helm and other Kubernetes clients, the scheduler, the controllers and a "
            "page,\n"
            "with all objects in one folder. Prints a link to the page and the path of the kubeconfig. 'muster status' "
            "shows\n"
            "whether Muster is running, 'muster ui' prints a new link, 'muster down' stops it.\n",
    .group = GROUP_LOCAL,
    .services = shown_kinds,
    .is_local = true,
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run_up,
};
