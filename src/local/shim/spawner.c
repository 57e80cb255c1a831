/* SPDX-License-Identifier: Apache-2.0 */
#include "local/shim/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "local/server/files.h"
#include "local/shim/shim.h"

enum { ARGUMENTS_MAX = 256 };

/* The memory that `ps` shows as the command line: the arguments, and behind them the environment. */
struct title {
    char *start;
    size_t size;
};

/* Bytes of the arguments, as the kernel counts them. */
static size_t arguments_size(void)
{
    char text[ARGUMENTS_MAX];
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? 0 : read(fd, text, sizeof text);

    if (fd >= 0)
        (void)close(fd);
    return len > 0 ? (size_t)len : 0;
}

/* Moves the environment elsewhere, so that its place can be written to. It follows the arguments without a gap unless
 * somebody has replaced a part of it. */
static struct title title_open(void)
{
    struct title title = {.start = program_invocation_name, .size = arguments_size()};

    for (char **at = environ; title.size > 0 && at && *at; at++) {
        if (*at != title.start + title.size)
            break;
        title.size += strlen(*at) + 1;
        *at = xstrdup(*at);
    }
    return title;
}

/* Someone who looks for a pod among the processes finds it by its folder. */
static void title_set(const struct title *title, const char *folder)
{
    if (title->size == 0)
        return;
    memset(title->start, 0, title->size);
    (void)snprintf(title->start, title->size, "muster pod-shim %s", folder);
}

/* All that a new program would have had from the node agent: a session of its own, its files, and no handlers. */
static int detach(const char *folder)
{
    _cleanup_(freep) char *path = file_path(folder, POD_SHIM_LOG);
    sigset_t none;
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int out = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (in < 0 || out < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
        return -errno;
    (void)close(in);
    (void)close(out);
    (void)setsid();
    (void)signal(SIGCHLD, SIG_DFL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    return 0;
}

/* The next folder. Returns its length; 0: no more come. */
static size_t next_folder(char *folder, size_t size)
{
    for (;;) {
        ssize_t len = recv(STDIN_FILENO, folder, size - 1, 0);

        if (len < 0 && errno == EINTR)
            continue;
        folder[len > 0 ? len : 0] = '\0';
        return len > 0 ? (size_t)len : 0;
    }
}

/* Without the ends of libraries, which take longer than a short pod: nothing that they look after is used here. */
static void end(int status)
{
#ifndef __SANITIZE_ADDRESS__
    _exit(status);
#else
    /* The search for memory that was lost is one of them. */
    exit(status);
#endif
}

int spawner_main(void)
{
    struct title title = title_open();
    char folder[PATH_MAX];

    /* Nobody waits for the processes beside pods: what became of a pod is in its folder. */
    (void)signal(SIGCHLD, SIG_IGN);
    while (next_folder(folder, sizeof folder) > 0) {
        pid_t pid = fork();

        if (pid < 0)
            (void)fprintf(stderr, "%s: no process: %s\n", folder, strerror(errno));
        if (pid != 0)
            continue;
        title_set(&title, folder);
        end(detach(folder) < 0 ? 1 : shim_main(folder));
    }
    return 0;
}
