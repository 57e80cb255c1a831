/* SPDX-License-Identifier: Apache-2.0 */

/* The life of the pod: init containers one after the other, then the others, until none is left. */
#include "local/shim/shim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "kube/client/meta.h"
#include "local/cgroup/cgroup.h"
#include "local/controllers/values.h"
#include "local/server/files.h"
#include "local/shim/process_id.h"
#include "local/shim/shim_internal.h"
#include "net/http.h"
#include "text/json.h"

enum { CONTAINERS_MAX = 1024 };

/* Clients have this long to take the last news; and longer while there are events that none has taken. */
#define LAST_WORDS (50 * NSEC_PER_MSEC)
#define UNTOLD_WORDS (1 * NSEC_PER_SEC)

struct container *shim_find(struct shim *shim, const char *name)
{
    for (uint32_t i = 0; i < shim->count; i++) {
        if (strcmp(shim->containers[i].name, name) == 0)
            return &shim->containers[i];
    }
    return NULL;
}

/* --- children --- */

void helper_add(struct shim *shim, struct helper *helper)
{
    list_push(&shim->helpers, &helper->in_shim);
}

void helper_kill(struct shim *shim, struct helper *helper)
{
    list_remove(&shim->helpers, &helper->in_shim);
    (void)kill(-helper->pid, SIGKILL);
    (void)kill(helper->pid, SIGKILL);
    helper->pid = 0;
}

static void reaped(struct shim *shim, pid_t pid, int status)
{
    for (uint32_t i = 0; i < shim->count; i++) {
        if (shim->containers[i].pid == pid) {
            container_exited(&shim->containers[i], status);
            shim_changed(shim);
            return;
        }
    }
    for (struct list_link *link = shim->helpers.first; link; link = link->next) {
        struct helper *helper = list_item(link, struct helper, in_shim);

        if (helper->pid == pid) {
            list_remove(&shim->helpers, link);
            (void)kill(-pid, SIGKILL);
            helper->on_exit(helper->arg, status);
            return;
        }
    }
}

static void on_child(void *arg, int number)
{
    int status;
    pid_t pid;

    (void)number;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        reaped(arg, pid, status);
}

/* Processes that left their session and lost their parent are ours now. */
static void kill_strays(void)
{
    char path[64];

    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    processes_kill_listed(path);
}

/* --- steps --- */

static bool is_idle(const struct container *container)
{
    return container->state == CONTAINER_WAITING && !loop_timer_is_running(&container->restart) && !container->is_final;
}

static bool any_runs(const struct shim *shim, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        if (shim->containers[i].state == CONTAINER_RUNNING)
            return true;
    }
    return false;
}

/* Returns whether all init containers have done their part. */
static bool step_init(struct shim *shim)
{
    for (uint32_t i = 0; i < shim->init_count; i++) {
        struct container *container = &shim->containers[i];

        if (is_idle(container))
            container_start(container);
        if (container->kind == CONTAINER_SIDECAR) {
            if (!container->is_up)
                return false;
            continue;
        }
        if (container->state == CONTAINER_ENDED && container->is_final && container->last.exit_code != 0) {
            shim->is_failed_init = shim->is_stopping = true;
            return false;
        }
        if (container->state != CONTAINER_ENDED)
            return false;
    }
    return true;
}

static void step_main(struct shim *shim)
{
    bool is_over = true;

    for (uint32_t i = shim->init_count; i < shim->count; i++) {
        struct container *container = &shim->containers[i];

        if (is_idle(container))
            container_start(container);
        is_over &= container->state == CONTAINER_ENDED && container->is_final;
    }
    shim->is_stopping |= is_over;
}

static void finish(struct shim *shim)
{
    shim->is_over = true;
    kill_strays();
    for (uint32_t i = 0; i < shim->count; i++)
        cgroup_remove(shim->containers[i].group);
    cgroup_remove(kube_text(shim->plan, "group"));
    status_write(shim, true);
    loop_timer_start(&shim->end, shim->events.len > 0 ? UNTOLD_WORDS : LAST_WORDS);
}

void shim_told(struct shim *shim)
{
    if (shim->is_over)
        loop_timer_start(&shim->end, LAST_WORDS);
}

/* Containers end first, then sidecars, the last one first. */
static void step_stop(struct shim *shim)
{
    nsec_t grace = MAX(shim->stop_by - nsec_now_boot(), 0);

    for (uint32_t i = 0; i < shim->count; i++) {
        struct container *container = &shim->containers[i];

        if (container->kind != CONTAINER_SIDECAR && !container->is_final && !container->is_killing)
            container_stop(container, grace, NULL);
    }
    if (any_runs(shim, shim->init_count, shim->count))
        return;
    for (uint32_t i = shim->init_count; i-- > 0;) {
        struct container *container = &shim->containers[i];

        if (container->state == CONTAINER_RUNNING) {
            if (!container->is_killing)
                container_stop(container, grace, NULL);
            return;
        }
        if (!container->is_final)
            container_stop(container, grace, NULL);
    }
    finish(shim);
}

static void step(void *arg)
{
    struct shim *shim = arg;

    if (shim->is_over)
        return;
    if (!shim->is_stopping && step_init(shim))
        step_main(shim);
    if (shim->is_stopping) {
        if (shim->stop_by == 0)
            shim->stop_by =
                nsec_now_boot() + number_at(shim->pod, 30, "spec", "terminationGracePeriodSeconds") * NSEC_PER_SEC;
        step_stop(shim);
    }
    if (!shim->is_over)
        status_write(shim, false);
}

void shim_changed(struct shim *shim)
{
    loop_task_queue(&shim->step);
}

void shim_stop(struct shim *shim, nsec_t grace)
{
    nsec_t by = nsec_now_boot() + grace;
    bool is_sooner = shim->stop_by > 0 && by < shim->stop_by;

    shim->is_stopping = true;
    if (shim->stop_by == 0 || is_sooner)
        shim->stop_by = by;
    for (uint32_t i = 0; is_sooner && i < shim->count; i++) {
        if (shim->containers[i].is_killing)
            loop_timer_start(&shim->containers[i].kill, MAX(grace, 2 * NSEC_PER_SEC));
    }
    shim_changed(shim);
}

static void on_deadline(void *arg)
{
    struct shim *shim = arg;

    shim->reason = "DeadlineExceeded";
    shim->message = "Pod was active on the node longer than the specified deadline";
    shim_stop(shim, number_at(shim->pod, 30, "spec", "terminationGracePeriodSeconds") * NSEC_PER_SEC);
}

void shim_set_deadline(struct shim *shim, int64_t seconds)
{
    if (seconds > 0 && !shim->is_stopping)
        loop_timer_start(&shim->deadline, MAX(shim->started + seconds * NSEC_PER_SEC - nsec_now_wall(), 0));
    else if (seconds == 0)
        loop_timer_stop(&shim->deadline);
}

static void on_end(void *arg)
{
    loop_stop(((struct shim *)arg)->loop);
}

/* --- opening --- */

static void add_containers(struct shim *shim, yyjson_val *list, bool is_init)
{
    size_t i, max;
    yyjson_val *spec;

    yyjson_arr_foreach(list, i, max, spec)
    {
        bool is_sidecar = is_init && strcmp(kube_text(spec, "restartPolicy"), "Always") == 0;

        if (shim->count < CONTAINERS_MAX)
            container_init(&shim->containers[shim->count++], shim, spec,
                           is_sidecar ? CONTAINER_SIDECAR
                           : is_init  ? CONTAINER_INIT
                                      : CONTAINER_MAIN);
    }
}

static int read_plan(struct shim *shim, struct err *err)
{
    _cleanup_(freep) char *path = file_path(shim->folder, POD_PLAN);
    int r = json_read_file(path, POD_PLAN_BYTES_MAX, &shim->doc, err);

    if (r < 0)
        return r;
    shim->plan = yyjson_doc_get_root(shim->doc);
    shim->pod = value_at(shim->plan, "pod");
    yyjson_val *init = value_at(shim->pod, "spec", "initContainers"), *rest = value_at(shim->pod, "spec", "containers");
    const char *policy = kube_text(shim->pod, "spec", "restartPolicy");
    if (yyjson_arr_size(rest) == 0 || yyjson_arr_size(rest) + yyjson_arr_size(init) > CONTAINERS_MAX)
        return err_set(err, -EINVAL, "%s: no containers, or too many", path);
    shim->is_restart_always = strcmp(policy, "Always") == 0;
    shim->is_restart_failures = strcmp(policy, "OnFailure") == 0;
    shim->has_limits = bool_at(shim->plan, "hasLimits");
    shim->init_count = (uint32_t)yyjson_arr_size(init);
    shim->containers = xcalloc(yyjson_arr_size(rest) + shim->init_count, sizeof *shim->containers);
    add_containers(shim, init, true);
    add_containers(shim, rest, false);
    return 0;
}

/* A run is recorded on disk before it begins, and means nothing without the plan. The folder is synced with the record. */
static int sync_plan(const struct shim *shim, struct err *err)
{
    int fd = openat(shim->folder_fd, POD_PLAN, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int r = fd < 0 || fsync(fd) < 0 ? -errno : 0;

    if (fd >= 0)
        (void)close(fd);
    return r < 0 ? err_set(err, r, "%s/" POD_PLAN ": %s", shim->folder, strerror(-r)) : 0;
}

static int take_lock(struct shim *shim, struct err *err)
{
    shim->folder_fd = open(shim->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (shim->folder_fd >= 0)
        shim->lock = openat(shim->folder_fd, POD_LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (shim->folder_fd < 0 || shim->lock < 0 || flock(shim->lock, LOCK_EX | LOCK_NB) < 0)
        return err_set(err, -errno, "%s/" POD_LOCK ": %s", shim->folder, strerror(errno));
    return 0;
}

static int open_shim(struct shim *shim, struct err *err)
{
    _cleanup_(freep) char *staging = file_path(shim->folder, "staging");
    int r = read_plan(shim, err);

    loop_task_init(&shim->step, shim->loop, step, shim);
    if (r == 0)
        r = status_load(shim, err);
    if (r == 0 && !shim->is_over)
        r = sync_plan(shim, err);
    if (r < 0 || shim->is_over)
        return r;
    if (faccessat(shim->folder_fd, POD_STOP, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        shim_stop(shim, 0);
    if (mkdir(staging, 0755) < 0 && errno != EEXIST)
        return err_set(err, -errno, "%s: %s", staging, strerror(errno));
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    r = loop_on_signal(shim->loop, SIGCHLD, on_child, shim, err);
    return r < 0 ? r : control_open(shim, err);
}

static void run(struct shim *shim)
{
    loop_timer_init(&shim->deadline, shim->loop, on_deadline, shim);
    loop_timer_init(&shim->end, shim->loop, on_end, shim);
    shim_set_deadline(shim, number_at(shim->pod, 0, "spec", "activeDeadlineSeconds"));
    lease_watch_open(shim);
    shim_changed(shim);
    loop_run(shim->loop);
    lease_watch_close(shim);
    loop_timer_done(&shim->deadline);
    loop_timer_done(&shim->end);
}

static void close_shim(struct shim *shim)
{
    loop_task_cancel(&shim->step);
    control_close(shim);
    for (uint32_t i = 0; i < shim->count; i++)
        container_done(&shim->containers[i]);
    free(shim->containers);
    http_client_free(shim->http);
    loop_free(shim->loop);
    yyjson_doc_free(shim->doc);
    if (shim->lock >= 0)
        (void)close(shim->lock);
    if (shim->folder_fd >= 0)
        (void)close(shim->folder_fd);
    free(shim->folder);
}

int shim_main(const char *folder)
{
    struct shim shim = {.folder = xstrdup(folder), .folder_fd = -1, .lock = -1, .listener = -1};
    struct err err = {0};

    shim.started = nsec_now_wall();
    int r = take_lock(&shim, &err);
    if (r < 0) {
        /* Another one has the pod, or the pod is gone. */
        free(shim.folder);
        return r == -EWOULDBLOCK || r == -ENOENT ? 0 : 1;
    }
    shim.loop = loop_new();
    r = open_shim(&shim, &err);
    if (r < 0)
        (void)fprintf(stderr, "%s\n", err.text);
    else if (!shim.is_over)
        run(&shim);
    close_shim(&shim);
    return r < 0 ? 1 : 0;
}
