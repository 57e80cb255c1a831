/* SPDX-License-Identifier: Apache-2.0 */

/* The runs of one container: start, end, restart. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "kube/client/meta.h"
#include "local/cgroup/cgroup.h"
#include "local/controllers/values.h"
#include "local/server/files.h"
#include "local/shim/control_internal.h"
#include "local/shim/process_id.h"
#include "local/shim/shim_internal.h"
#include "local/shim/signals.h"

enum { EXIT_START_ERROR = 128, EXIT_SIGNAL = 128, MESSAGE_MAX = 4096, TAIL_BYTES = 2048, TAIL_LINES = 80 };

#define BACKOFF_FIRST (10 * NSEC_PER_SEC)
#define BACKOFF_MAX (300 * NSEC_PER_SEC)
#define BACKOFF_FORGOTTEN (10 * NSEC_PER_MIN)
#define GRACE_MIN (2 * NSEC_PER_SEC)

static void on_restart(void *arg)
{
    struct container *container = arg;

    container_start(container);
    shim_changed(container->shim);
}

static void kill_all(struct container *container)
{
    cgroup_kill(container->group);
    if (container->pid > 0) {
        (void)kill(-container->pid, SIGKILL);
        (void)kill(container->pid, SIGKILL);
    }
}

static void on_kill(void *arg)
{
    kill_all(arg);
}

void container_init(struct container *container, struct shim *shim, yyjson_val *spec, enum container_kind kind)
{
    const char *pods = kube_text(shim->plan, "group");

    *container = (struct container){
        .shim = shim,
        .spec = spec,
        .name = kube_text(spec, "name"),
        .kind = kind,
        .waiting = shim->init_count > 0 ? "PodInitializing" : "ContainerCreating",
        .terminal = -1,
        .outputs = {{.fd = -1}, {.fd = -1}},
        .in = {.fd = -1},
    };
    container->plan = value_at(shim->plan, "containers", container->name);
    (void)snprintf(container->id, sizeof container->id, "process://%.36s/%.63s",
                   kube_text(shim->pod, "metadata", "uid"), container->name);
    if (*pods)
        (void)snprintf(container->group, sizeof container->group, "%s/%s", pods, container->name);
    loop_timer_init(&container->restart, shim->loop, on_restart, container);
    loop_timer_init(&container->kill, shim->loop, on_kill, container);
}

static void ending_done(struct ending *ending)
{
    free(ending->message);
    *ending = (struct ending){0};
}

void container_done(struct container *container)
{
    container_probes_stop(container);
    action_cancel(&container->hook);
    output_close(container);
    loop_timer_done(&container->restart);
    loop_timer_done(&container->kill);
    ending_done(&container->last);
    ending_done(&container->before);
    free(container->waiting_message);
}

void container_wait(struct container *container, const char *reason, const char *message)
{
    container->state = CONTAINER_WAITING;
    container->waiting = reason;
    free(container->waiting_message);
    container->waiting_message = message ? xstrdup(message) : NULL;
}

bool container_may_restart(const struct container *container)
{
    const struct shim *shim = container->shim;
    bool is_failure = container->last.exit_code != 0;

    if (shim->is_stopping)
        return false;
    if (container->kind == CONTAINER_SIDECAR)
        return true;
    if (container->kind == CONTAINER_INIT)
        return is_failure && (shim->is_restart_always || shim->is_restart_failures);
    return shim->is_restart_always || (shim->is_restart_failures && is_failure);
}

/* A run has ended, or could not begin. */
static void ended(struct container *container, const struct ending *ending)
{
    bool was_long = ending->ended - ending->started >= BACKOFF_FORGOTTEN;

    ending_done(&container->before);
    container->before = container->last;
    container->last = *ending;
    container->is_ready = container->is_up = container->is_killing = false;
    container->pid = 0;
    container->state = CONTAINER_ENDED;
    container->is_final = !container_may_restart(container);
    if (container->is_final)
        return;
    /* The first restart is at once; from then on each waits longer, until one has run for a while. */
    nsec_t wait = was_long ? 0 : container->backoff;
    container->backoff = wait == 0 ? BACKOFF_FIRST : MIN(wait * 2, BACKOFF_MAX);
    if (wait > 0) {
        char text[TIME_TEXT_MAX], message[512];

        (void)snprintf(message, sizeof message, "back-off %s restarting failed container=%s pod=%s_%s(%s)",
                       duration_format(wait, text), container->name,
                       kube_text(container->shim->pod, "metadata", "name"),
                       kube_text(container->shim->pod, "metadata", "namespace"),
                       kube_text(container->shim->pod, "metadata", "uid"));
        container_wait(container, "CrashLoopBackOff", message);
        status_event(container->shim, "Warning", "BackOff", "Back-off restarting failed container %s in pod %s_%s(%s)",
                     container->name, kube_text(container->shim->pod, "metadata", "name"),
                     kube_text(container->shim->pod, "metadata", "namespace"),
                     kube_text(container->shim->pod, "metadata", "uid"));
    } else {
        container_wait(container, "ContainerCreating", NULL);
    }
    loop_timer_start(&container->restart, wait);
}

static void start_failed(struct container *container, const struct err *err)
{
    nsec_t now = nsec_now_wall();

    status_event(container->shim, "Warning", "Failed", "Error: %s", err->text);
    ended(container, &(struct ending){
                         .exit_code = EXIT_START_ERROR,
                         .reason = "StartError",
                         .message = xstrdup(err->text),
                         .started = now,
                         .ended = now,
                     });
}

static void on_post_start(void *arg, bool is_good, const char *message)
{
    struct container *container = arg;

    if (is_good)
        return;
    status_event(container->shim, "Warning", "FailedPostStartHook", "PostStartHook failed: %s", message);
    container_stop(container, container_grace(container), "its PostStartHook failed");
}

static void started(struct container *container)
{
    yyjson_val *post_start = value_at(container->spec, "lifecycle", "postStart");
    bool has_startup = value_at(container->spec, "startupProbe") != NULL;

    container->state = CONTAINER_RUNNING;
    container->started = nsec_now_wall();
    container->pid_start = process_start_time(container->pid);
    container->is_up = !has_startup;
    container->is_ready = !has_startup && !value_at(container->spec, "readinessProbe");
    container->oom_kills = cgroup_oom_kills(container->group);
    status_event(container->shim, "Normal", "Created", "Created container: %s", container->name);
    status_event(container->shim, "Normal", "Started", "Started container %s", container->name);
    container_probes_start(container);
    if (post_start)
        action_start(&container->hook, container, post_start, 0, on_post_start, container);
}

static void close_ends(const struct launch *launch)
{
    if (launch->in >= 0)
        (void)close(launch->in);
    if (launch->out >= 0 && launch->out != launch->in)
        (void)close(launch->out);
    if (launch->err >= 0 && launch->err != launch->in && launch->err != launch->out)
        (void)close(launch->err);
}

static void empty_message(const struct container *container)
{
    const char *path = kube_text(container->plan, "messageFile");
    int fd = *path ? open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW) : -1;

    if (fd >= 0)
        (void)close(fd);
}

void container_start(struct container *container)
{
    struct launching launching;
    struct err err = {0};

    /* Whoever reads this after we were killed knows that the run may have begun, and never begins it again. */
    container->restarts += container->has_run;
    container->has_run = true;
    container->state = CONTAINER_RUNNING;
    container->started = nsec_now_wall();
    container->pid = 0;
    status_write(container->shim, true);
    empty_message(container);
    launching_init(&launching, container);
    int r = output_open(container, &launching.launch, &err);
    if (r == 0)
        r = launching_start(&launching, container, &container->pid, &err);
    close_ends(&launching.launch);
    launching_done(&launching);
    if (r < 0) {
        output_close(container);
        start_failed(container, &err);
    } else {
        started(container);
    }
}

nsec_t container_grace(const struct container *container)
{
    return number_at(container->shim->pod, 30, "spec", "terminationGracePeriodSeconds") * NSEC_PER_SEC;
}

/* --- the end --- */

static void send_signal(struct container *container)
{
    if (container->pid > 0 && container->state == CONTAINER_RUNNING)
        (void)kill(container->pid, signal_number(kube_text(container->spec, "lifecycle", "stopSignal")));
}

static void on_pre_stop(void *arg, bool is_good, const char *message)
{
    struct container *container = arg;

    if (!is_good)
        status_event(container->shim, "Warning", "FailedPreStopHook", "PreStopHook failed: %s", message);
    send_signal(container);
}

void container_stop(struct container *container, nsec_t grace, const char *why)
{
    yyjson_val *pre_stop = value_at(container->spec, "lifecycle", "preStop");

    grace = MAX(grace, GRACE_MIN);
    if (container->state != CONTAINER_RUNNING) {
        loop_timer_stop(&container->restart);
        container->is_final = true;
        if (container->state == CONTAINER_WAITING && container->last.reason)
            container->state = CONTAINER_ENDED;
        return;
    }
    /* Whoever asks again can only shorten the time. */
    if (container->is_killing) {
        if (grace <= GRACE_MIN)
            loop_timer_start(&container->kill, grace);
        return;
    }
    container->is_killing = true;
    container_probes_stop(container);
    action_cancel(&container->hook);
    status_event(container->shim, "Normal", "Killing", "%s %s%s%s", why ? "Container" : "Stopping container",
                 container->name, why ? " will be restarted: " : "", why ? why : "");
    loop_timer_start(&container->kill, grace);
    if (pre_stop)
        action_start(&container->hook, container, pre_stop, grace, on_pre_stop, container);
    else
        send_signal(container);
}

/* What the program said about its end. */
static char *read_message(const struct container *container, int exit_code)
{
    const char *path = kube_text(container->plan, "messageFile");
    char text[MESSAGE_MAX + 1];
    int fd = *path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    ssize_t n = fd < 0 ? 0 : read(fd, text, MESSAGE_MAX);
    char *tail = NULL;

    if (fd >= 0)
        (void)close(fd);
    if (n > 0)
        return xstrndup(text, strnlen(text, (size_t)n));
    if (exit_code != 0 && strcmp(kube_text(container->spec, "terminationMessagePolicy"), "FallbackToLogsOnError") == 0)
        output_tail(container, TAIL_BYTES, TAIL_LINES, &tail);
    return tail;
}

static const char *reason_of(const struct container *container, int exit_code)
{
    if (cgroup_oom_kills(container->group) > container->oom_kills)
        return "OOMKilled";
    return exit_code == 0 ? "Completed" : "Error";
}

void container_exited(struct container *container, int status)
{
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    int code = signal ? EXIT_SIGNAL + signal : WEXITSTATUS(status);

    container_probes_stop(container);
    action_cancel(&container->hook);
    loop_timer_stop(&container->kill);
    /* There is no namespace of processes that would end with its first one. */
    kill_all(container);
    output_close(container);
    for (struct list_link *link = container->clients.first, *next; link; link = next) {
        next = link->next;
        client_attached_end(list_item(link, struct client, in_container));
    }
    ended(container, &(struct ending){
                         .exit_code = code,
                         .signal = signal,
                         .reason = reason_of(container, code),
                         .message = read_message(container, code),
                         .started = container->started,
                         .ended = nsec_now_wall(),
                     });
}
