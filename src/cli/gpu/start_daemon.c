/* SPDX-License-Identifier: Apache-2.0 */

/* The daemon that `muster gpu run` starts where none runs, so that one command is enough to share a GPU. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/gpu/gpu.h"
#include "gpu/daemon/group_spec.h"

enum { LOG_SIZE = 64, LINE_SIZE = 256, ROOT_UID = 0 };

static const char folder_of_root[] = "/run/muster/gpu";

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
    int out = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
    int in = open("/dev/null", O_RDONLY);

    (void)setsid();
    (void)unsetenv("LD_PRELOAD");
    (void)unsetenv(GPU_SOCKET_VARIABLE);
    if (out < 0 || in < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0 ||
        dup2(out, STDOUT_FILENO) < 0 || chdir("/") < 0)
        _exit(1);
    (void)close_range(STDERR_FILENO + 1, ~0u, 0);
    (void)execl("/proc/self/exe", "muster", "gpud", "--folder", folder, (char *)NULL);
    _exit(1);
}

/* Whether another daemon has the folder, and has perhaps not come to answering yet. */
static bool is_folder_taken(const char *folder)
{
    char path[LINE_SIZE];

    (void)snprintf(path, sizeof path, "%s/book", folder);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is_taken = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0;
    if (fd >= 0)
        (void)close(fd);
    return is_taken;
}

/* Two daemons would reserve the same memory twice. */
static int check_other_daemon(const char *folder, struct err *err)
{
    char path[LINE_SIZE];

    (void)snprintf(path, sizeof path, "%s/api.sock", folder_of_root);
    if (geteuid() == ROOT_UID || strcmp(folder, folder_of_root) == 0 || access(path, F_OK) < 0)
        return 0;
    return err_set(
        err, -EBUSY,
        "the GPUs of this machine belong to root's daemon (%s), which only root can use: a second daemon would reserve "
        "the same memory again",
        path);
}

int gpu_start_daemon(const char *folder, struct err *err)
{
    _cleanup_(freep) char *answer = NULL;
    char log[LOG_SIZE];
    char line[LINE_SIZE];
    bool has_ended = false;
    int r = check_other_daemon(folder, err);

    if (r < 0)
        return r;
    (void)snprintf(log, sizeof log, "/tmp/muster-gpud-%u.log", (unsigned)getuid());
    pid_t child = fork();
    if (child < 0)
        return err_set(err, -errno, "starting the GPU daemon: %s", strerror(errno));
    if (child == 0)
        become_daemon(folder, log);
    for (int i = 0; i < 200; i++) {
        if (gpu_ask(folder, "GET", "/healthz", NULL, &answer, NULL) == 0)
            return 0;
        has_ended = has_ended || waitpid(child, NULL, WNOHANG) == child;
        /* Somebody else may have started one at the same moment. */
        if (has_ended && !is_folder_taken(folder)) {
            last_line(log, line);
            return err_set(err, -EIO, "no GPU daemon is running and starting one failed (%s): try 'muster gpu doctor'",
                           line[0] ? line : log);
        }
        (void)usleep(50000);
    }
    return err_set(err, -EIO, "the GPU daemon was started but does not answer: see %s", log);
}
