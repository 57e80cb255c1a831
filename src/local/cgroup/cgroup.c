/* SPDX-License-Identifier: Apache-2.0 */
#include "local/cgroup/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "local/cgroup/devices.h"
#include "local/shim/process_id.h"

enum { PATH_BYTES = 4096 + 128, TEXT_MAX = 4096, SHARES_MAX = 262144 };

/* Reads a small file. Returns its length, or -errno. */
static ssize_t read_text(const char *path, char text[static TEXT_MAX])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, TEXT_MAX - 1);
    ssize_t r = n < 0 ? -errno : n;

    text[n < 0 ? 0 : n] = '\0';
    if (fd >= 0)
        (void)close(fd);
    return r;
}

static int write_text(const char *folder, const char *name, const char *text)
{
    char path[PATH_BYTES];
    int fd;
    int r = 0;

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (write(fd, text, strlen(text)) < 0)
        r = -errno;
    (void)close(fd);
    return r;
}

/* Where version 2 is mounted. */
static bool find_mount(char ret_path[static TEXT_MAX])
{
    FILE *file = fopen("/proc/self/mountinfo", "re");
    char line[TEXT_MAX];
    bool is_found = false;

    while (file && !is_found && fgets(line, sizeof line, file)) {
        const char *type = strstr(line, " - cgroup2 ");

        is_found = type && sscanf(line, "%*s %*s %*s %*s %4095s", ret_path) == 1;
    }
    if (file)
        (void)fclose(file);
    return is_found;
}

/* Our own group below the mount: "/" or "/system.slice/muster.service". */
static bool find_own(char ret_path[static TEXT_MAX])
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    char line[TEXT_MAX];
    bool is_found = false;

    while (file && !is_found && fgets(line, sizeof line, file)) {
        if (strncmp(line, "0::", 3) != 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        (void)snprintf(ret_path, TEXT_MAX, "%s", line + 3);
        is_found = true;
    }
    if (file)
        (void)fclose(file);
    return is_found;
}

static bool has_controllers(const char *folder)
{
    static const char *const wanted[] = {"cpu", "memory", "pids"};
    char path[PATH_BYTES], text[TEXT_MAX], padded[TEXT_MAX + 2];

    (void)snprintf(path, sizeof path, "%s/cgroup.controllers", folder);
    if (read_text(path, text) < 0)
        return false;
    text[strcspn(text, "\n")] = '\0';
    (void)snprintf(padded, sizeof padded, " %s ", text);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        char word[16];

        (void)snprintf(word, sizeof word, " %s ", wanted[i]);
        if (!strstr(padded, word))
            return false;
    }
    return true;
}

static bool is_there(const char *path)
{
    return mkdir(path, 0755) == 0 || errno == EEXIST;
}

static bool enable(const char *folder)
{
    return write_text(folder, "cgroup.subtree_control", "+cpu +memory +pids") == 0;
}

/* A group that has children with limits holds no processes itself, the topmost one excepted. Only this process moves:
 * others that the group may have are not ours. */
static bool leave(const char *base)
{
    char daemon[PATH_BYTES];

    (void)snprintf(daemon, sizeof daemon, "%s/daemon", base);
    return is_there(daemon) && write_text(daemon, "cgroup.procs", "0") == 0;
}

/* The processes that hold the unit for pods open are there for nothing else, and all of them move. */
static bool leave_to_pods(const char *base)
{
    char daemon[PATH_BYTES], path[PATH_BYTES], line[64];
    bool is_left = true;

    (void)snprintf(daemon, sizeof daemon, "%s/daemon", base);
    (void)snprintf(path, sizeof path, "%s/cgroup.procs", base);
    FILE *file = is_there(daemon) ? fopen(path, "re") : NULL;
    if (!file)
        return false;
    while (fgets(line, sizeof line, file)) {
        int r = write_text(daemon, "cgroup.procs", line);

        is_left = is_left && (r == 0 || r == -ESRCH);
    }
    (void)fclose(file);
    return is_left;
}

/* The group beside that of our own unit which is there for pods. */
static bool find_pods_unit(const char *mount, const char *own, char ret_path[static TEXT_MAX])
{
    static const char suffix[] = ".service";
    size_t len = strlen(own), suffix_len = sizeof suffix - 1;

    if (len <= suffix_len || strcmp(own + len - suffix_len, suffix) != 0)
        return false;
    int n = snprintf(ret_path, TEXT_MAX, "%.2000s%.*s-pods%s", mount, (int)MIN(len - suffix_len, (size_t)2000), own,
                     suffix);
    return n > 0 && n < TEXT_MAX && access(ret_path, F_OK) == 0;
}

void cgroup_tree_open(struct cgroup_tree *tree, const char *name)
{
    char mount[TEXT_MAX] = "", own[TEXT_MAX] = "", base[TEXT_MAX], pods[PATH_BYTES];

    *tree = (struct cgroup_tree){0};
    if (!find_mount(mount) || !find_own(own)) {
        (void)snprintf(tree->why, sizeof tree->why, "control groups version 2 are not mounted");
        return;
    }
    bool is_top = strcmp(own, "/") == 0;
    /* A daemon that is started again finds itself in the group that the last one made. */
    size_t len = strlen(own), daemon_len = strlen("/daemon");
    if (len > daemon_len && strcmp(own + len - daemon_len, "/daemon") == 0)
        own[len - daemon_len] = '\0';
    if (strlen(mount) + strlen(own) + strlen(name) + 64 > sizeof base) {
        (void)snprintf(tree->why, sizeof tree->why, "the path of the control group is too long");
        return;
    }
    bool is_beside = find_pods_unit(mount, own, base);
    if (!is_beside)
        (void)snprintf(base, sizeof base, "%.2000s%.2000s", mount, is_top ? "" : own);
    bool has_limits = has_controllers(base);
    if (has_limits && !is_top)
        has_limits = is_beside ? leave_to_pods(base) : leave(base);
    if (has_limits)
        has_limits = enable(base);
    (void)snprintf(base + strlen(base), sizeof base - strlen(base), "/muster-%.40s", name);
    (void)snprintf(pods, sizeof pods, "%s/pods", base);
    if (!is_there(base) || !is_there(pods)) {
        (void)snprintf(tree->why, sizeof tree->why, "groups cannot be created in %.150s: %s", base, strerror(errno));
        return;
    }
    (void)snprintf(tree->pods, sizeof tree->pods, "%.4000s", pods);
    tree->mount_len = strlen(mount);
    tree->has_devices = devices_can_restrict();
    tree->has_limits = has_limits && enable(base) && enable(pods);
    if (!tree->has_limits)
        (void)snprintf(tree->why, sizeof tree->why,
                       "the controllers cpu, memory and pids are not delegated to this process");
}

void cgroup_tree_close(const struct cgroup_tree *tree)
{
    char base[sizeof tree->pods];

    (void)snprintf(base, sizeof base, "%s", tree->pods);
    char *slash = strrchr(base, '/');
    if (!slash)
        return;
    /* Groups with pods that go on are not empty, and stay. */
    *slash = '\0';
    if (rmdir(tree->pods) == 0)
        (void)rmdir(base);
}

static int set_limits(const char *path, const struct cgroup_limits *limits)
{
    char text[64];
    int r = 0;

    if (limits->cpu_milli > 0) {
        const long long quota = limits->cpu_milli * 100;

        (void)snprintf(text, sizeof text, "%lld 100000", quota);
        r = write_text(path, "cpu.max", text);
    }
    int64_t shares = CLAMP(limits->cpu_request_milli * 1024 / 1000, 2, SHARES_MAX);
    const long long weight = 1 + (shares - 2) * 9999 / (SHARES_MAX - 2);
    (void)snprintf(text, sizeof text, "%lld", weight);
    if (r == 0)
        r = write_text(path, "cpu.weight", text);
    if (r == 0 && limits->memory_bytes > 0) {
        (void)snprintf(text, sizeof text, "%lld", (long long)limits->memory_bytes);
        r = write_text(path, "memory.max", text);
        /* Kernels without swap have no such file. */
        (void)write_text(path, "memory.swap.max", "0");
        (void)write_text(path, "memory.oom.group", "1");
    }
    if (r == 0 && limits->processes > 0) {
        (void)snprintf(text, sizeof text, "%lld", (long long)limits->processes);
        r = write_text(path, "pids.max", text);
    }
    return r;
}

int cgroup_make(const char *path, bool has_limits, const struct cgroup_limits *limits, struct err *err)
{
    char parent[PATH_BYTES];

    (void)snprintf(parent, sizeof parent, "%s", path);
    char *slash = strrchr(parent, '/');
    if (slash)
        *slash = '\0';
    if (!is_there(parent) || !is_there(path))
        return err_set(err, -errno, "control group %s: %s", path, strerror(errno));
    if (!has_limits)
        return 0;
    if (!enable(parent))
        return err_set(err, -EIO, "control group %s: limits cannot be enabled", parent);
    int r = set_limits(path, limits);
    return r < 0 ? err_set(err, r, "limits of control group %s: %s", path, strerror(-r)) : 0;
}

int cgroup_entrance(const char *path)
{
    char procs[PATH_BYTES];

    (void)snprintf(procs, sizeof procs, "%s/cgroup.procs", path);
    int fd = open(procs, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

void cgroup_kill(const char *path)
{
    char procs[PATH_BYTES];

    (void)snprintf(procs, sizeof procs, "%s/cgroup.procs", path);
    /* Kernels before 5.14 have no cgroup.kill. */
    if (*path && write_text(path, "cgroup.kill", "1") == -ENOENT)
        processes_kill_listed(procs);
}

/* The number behind a word at the beginning of a line; 0 without one. */
static int64_t number_in(const char *path, const char *file, const char *word)
{
    char name[PATH_BYTES], text[TEXT_MAX];
    size_t len = strlen(word);

    (void)snprintf(name, sizeof name, "%s/%s", path, file);
    if (read_text(name, text) < 0)
        return 0;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, word, len) == 0 && line[len] == ' ')
            return strtoll(line + len, NULL, 10);
    }
    return 0;
}

bool cgroup_has_processes(const char *path)
{
    return *path && number_in(path, "cgroup.events", "populated") > 0;
}

int64_t cgroup_oom_kills(const char *path)
{
    return *path ? number_in(path, "memory.events", "oom_kill") : 0;
}

void cgroup_remove(const char *path)
{
    if (*path)
        (void)rmdir(path);
}
