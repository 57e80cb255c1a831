/* SPDX-License-Identifier: Apache-2.0 */

/* The daemon that `muster gpu run` starts where none runs, so that one command is enough to share a GPU. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/daemon.h"
#include "cli/gpu/gpu.h"
#include "gpu/daemon/group_spec.h"
#include "gpu/place/place.h"

enum { LOG_SIZE = 64, LINE_SIZE = 256 };

#define START_TIMEOUT (10 * NSEC_PER_SEC)

/* The last line of a file. */
static void last_line(const char *path, char text[static LINE_SIZE])
{
    FILE *file = fopen(path, "re");
    char line[LINE_SIZE];

    text[0] = '\0';
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        memcpy(text, line, sizeof line);
    }
    if (file)
        (void)fclose(file);
}

/* The daemon takes nothing along from here: neither files that others wait for the end of, nor what makes a tenant of a
 * program that runs under this command. */
static _Noreturn void become_daemon(const char *folder, const char *log)
{
    (void)unsetenv("LD_PRELOAD");
    (void)unsetenv(GPU_SOCKET_VARIABLE);
    if (daemon_detach(log, O_TRUNC) < 0 || chdir("/") < 0)
        _exit(1);
    (void)execl("/proc/self/exe", "muster", "gpud", "--folder", folder, (char *)NULL);
    _exit(1);
}

struct start {
    const char *folder;
    pid_t child;
    bool has_ended;
    bool is_ready;
};

static bool is_started(void *arg)
{
    struct start *start = arg;
    _cleanup_(freep) char *answer = NULL;

    start->is_ready = gpu_ask(start->folder, "GET", "/healthz", NULL, &answer, NULL) == 0;
    start->has_ended = start->has_ended || waitpid(start->child, NULL, WNOHANG) == start->child;
    /* Somebody else may have started one at the same moment. */
    return start->is_ready || (start->has_ended && !gpud_has_folder(start->folder));
}

int gpu_start_daemon(const char *folder, struct err *err)
{
    struct start start = {.folder = folder};
    char log[LOG_SIZE];
    char line[LINE_SIZE];
    int r = gpud_check_rival(folder, err);

    if (r < 0)
        return r;
    (void)snprintf(log, sizeof log, "/tmp/muster-gpud-%u.log", (unsigned)getuid());
    start.child = fork();
    if (start.child < 0)
        return err_set(err, -errno, "starting the GPU daemon: %s", strerror(errno));
    if (start.child == 0)
        become_daemon(folder, log);
    if (!daemon_await(is_started, &start, START_TIMEOUT))
        return err_set(err, -EIO, "the GPU daemon was started but does not answer: see %s", log);
    if (start.is_ready)
        return 0;
    last_line(log, line);
    return err_set(err, -EIO, "no GPU daemon is running and starting one failed (%s): try 'muster gpu doctor'",
                   line[0] ? line : log);
}
