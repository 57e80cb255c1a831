/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Between vfork and execve. The order matters: groups and mounts need the rights that are given up next, and nothing of
 * ours may be left when the program begins.
 *
 * Copying our memory and throwing the copy away took more time than everything else that a short program needs. So the
 * new process works in ours until the program begins, while we wait: what it writes to variables, we see. Descriptors, the
 * working directory, signal handlers and rights are its own.
 */
#include "local/shim/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "local/shim/capabilities.h"
#include "local/shim/mounts.h"

enum { EXIT_NOT_STARTED = 128, FIRST_FD = 3 };

static int fail(struct err *err, const char *what)
{
    int code = -errno;

    return err_set(err, code, "%s: %s", what, strerror(-code));
}

/* The view of the file system that another process of the container has. */
static int enter_view(pid_t beside, struct err *err)
{
    char path[64];

    (void)snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)beside);
    int space = open(path, O_RDONLY | O_CLOEXEC);
    (void)snprintf(path, sizeof path, "/proc/%d/ns/uts", (int)beside);
    int names = open(path, O_RDONLY | O_CLOEXEC);
    (void)snprintf(path, sizeof path, "/proc/%d/root", (int)beside);
    int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (space < 0 || names < 0 || root < 0)
        return fail(err, "the container's file system");
    if (setns(names, CLONE_NEWUTS) < 0 || setns(space, CLONE_NEWNS) < 0 || fchdir(root) < 0 || chroot(".") < 0)
        return fail(err, "entering the container's file system");
    return 0;
}

/* In an image the container has a name of its own. */
static int take_name(const struct launch *launch, struct err *err)
{
    if (unshare(CLONE_NEWUTS) < 0 || sethostname(launch->hostname, strlen(launch->hostname)) < 0)
        return fail(err, "the name of the container's host");
    return 0;
}

/* Moves the three away from each other's places first: one of them may be where another has to go. */
static int place_descriptors(const struct launch *launch, int *report, struct err *err)
{
    int from[FIRST_FD] = {launch->in, launch->out, launch->err};

    *report = fcntl(*report, F_DUPFD_CLOEXEC, 2 * FIRST_FD);
    if (*report < 0)
        return fail(err, "descriptors");
    for (int i = 0; i < FIRST_FD; i++) {
        from[i] = fcntl(from[i], F_DUPFD_CLOEXEC, FIRST_FD);
        if (from[i] < 0)
            return fail(err, "descriptors");
    }
    for (int i = 0; i < FIRST_FD; i++) {
        if (dup2(from[i], i) < 0)
            return fail(err, "descriptors");
    }
    return 0;
}

/* The functions of the C library would look for threads of the process whose memory this is. */
static int set_groups(const struct launch *launch)
{
    return (int)syscall(SYS_setgroups, launch->group_count, launch->groups);
}

static int become_user(const struct launch *launch, struct err *err)
{
    /* Without rights we are that user already, which was checked. */
    if (geteuid() == 0 &&
        (set_groups(launch) < 0 || syscall(SYS_setresgid, launch->gid, launch->gid, launch->gid) < 0 ||
         syscall(SYS_setresuid, launch->uid, launch->uid, launch->uid) < 0))
        return fail(err, "switching to the user");
    if (geteuid() != launch->uid)
        return err_set(err, -EPERM, "only root can start processes of another user");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return fail(err, "dropping privileges");
    return 0;
}

static void reset_signals(void)
{
    sigset_t none;

    for (int i = 1; i < NSIG; i++)
        (void)signal(i, SIG_DFL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static int prepare(const struct launch *launch, pid_t parent, int *report, struct err *err)
{
    bool has_rights = geteuid() == 0;
    int r = 0;

    if (setsid() < 0)
        return fail(err, "a new session");
    if (launch->group >= 0 && write(launch->group, "0", 1) < 0)
        return fail(err, "entering the control group");
    /* Folders of the machine are opened with the user's groups. */
    if (has_rights && set_groups(launch) < 0)
        return fail(err, "the user's groups");
    if (launch->beside > 0 && has_rights)
        r = enter_view(launch->beside, err);
    else if ((launch->mount_count > 0 || launch->root) && has_rights)
        r = mounts_enter(launch, err);
    if (r == 0 && launch->root && launch->beside == 0)
        r = take_name(launch, err);
    if (r == 0)
        r = place_descriptors(launch, report, err);
    if (r == 0 && launch->is_terminal && ioctl(STDIN_FILENO, TIOCSCTTY, 0) < 0)
        r = fail(err, "a controlling terminal");
    if (r == 0 && launch->root)
        r = capabilities_keep(launch->capabilities, err);
    if (r == 0)
        r = become_user(launch, err);
    if (r < 0)
        return r;
    /* Becoming another user has forgotten it, and our parent may have died before it was said. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent)
        return err_set(err, -ESRCH, "the process that starts the container has ended");
    (void)umask(022);
    if (chdir(launch->folder) < 0)
        return err_set(err, -errno, "working directory %s: %s", launch->folder, strerror(errno));
    return 0;
}

/* The program's arguments for a shell, which runs files that name no interpreter: its own path comes second. */
static const char **shell_words(const char *const *argv)
{
    size_t count = 0;

    while (argv[count])
        count++;
    const char **words = xcalloc(count + 2, sizeof *words);
    words[0] = "/bin/sh";
    for (size_t i = 1; i < count; i++)
        words[i + 1] = argv[i];
    return words;
}

/* Returns only if there is no such program. */
static void execute_path(const struct launch *launch, const char **shell, const char *path)
{
    char *const *env = (char *const *)(uintptr_t)launch->env;

    (void)execve(path, (char *const *)(uintptr_t)launch->argv, env);
    if (errno != ENOEXEC)
        return;
    shell[1] = path;
    (void)execve(shell[0], (char *const *)(uintptr_t)shell, env);
}

static const char *search_path(const char *const *env)
{
    for (; *env; env++) {
        if (strncmp(*env, "PATH=", 5) == 0)
            return *env + 5;
    }
    return "/bin:/usr/bin";
}

/* Looks for the program where its own PATH says, as execvp() would; an empty part is the working directory. */
static void execute(const struct launch *launch, const char **shell)
{
    const char *name = launch->argv[0];
    bool is_forbidden = false;
    char path[PATH_MAX];

    if (strchr(name, '/') || !*name) {
        execute_path(launch, shell, name);
        return;
    }
    for (const char *at = search_path(launch->env); at; at = *at ? at + 1 : NULL) {
        size_t len = strcspn(at, ":");
        int needed = snprintf(path, sizeof path, "%.*s%s%s", (int)len, at, len > 0 ? "/" : "", name);

        if (needed < 0 || (size_t)needed >= sizeof path)
            errno = ENAMETOOLONG;
        else
            execute_path(launch, shell, path);
        is_forbidden |= errno == EACCES;
        if (errno != EACCES && errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG)
            return;
        at += len;
    }
    errno = is_forbidden ? EACCES : ENOENT;
}

static _Noreturn void run(const struct launch *launch, const char **shell, pid_t parent, int report)
{
    struct err err = {0};
    int code = prepare(launch, parent, &report, &err);

    if (code == 0) {
        reset_signals();
        (void)close_range((unsigned)report + 1, ~0u, 0);
        for (int fd = FIRST_FD; fd < report; fd++)
            (void)close(fd);
        execute(launch, shell);
        code = err_set(&err, -errno, "exec: \"%.200s\": %s", launch->argv[0], strerror(errno));
    }
    err.code = code;
    (void)!write(report, &err, sizeof err);
    _exit(EXIT_NOT_STARTED);
}

/* Handlers of ours must not run in it: they would act on our memory, in its place. */
static pid_t begin(const struct launch *launch, const char **shell, int report)
{
    pid_t parent = getpid();
    sigset_t all, before;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    // NOLINTNEXTLINE(bugprone-unsafe-functions,cert-msc24-c,cert-msc33-c): posix_spawn() enters no groups and no mounts
    pid_t pid = vfork();
    if (pid == 0)
        run(launch, shell, parent, report);
    int code = errno;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return pid;
}

int launch(const struct launch *launch, pid_t *ret_pid, struct err *err)
{
    _cleanup_(freep) const char **shell = NULL;
    struct err report = {0};
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return fail(err, "a pipe");
    shell = shell_words(launch->argv);
    pid_t pid = begin(launch, shell, ends[1]);
    int code = pid < 0 ? fail(err, "a process") : 0;
    (void)close(ends[1]);
    /* The end of the pipe says that the program runs. */
    ssize_t n = 0;
    while (code == 0 && (n = read(ends[0], &report, sizeof report)) < 0 && errno == EINTR) {
    }
    (void)close(ends[0]);
    if (code == 0 && n == (ssize_t)sizeof report) {
        report.text[sizeof report.text - 1] = '\0';
        code = err_set(err, report.code < 0 ? report.code : -EIO, "%s", report.text);
    }
    if (code < 0 && pid > 0) {
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    if (code == 0)
        *ret_pid = pid;
    return code;
}
