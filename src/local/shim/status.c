/* SPDX-License-Identifier: Apache-2.0 */

/*
 * status.json: the status of the pod as the API has it, and what a process that takes the pod over has to know. It is
 * replaced as a whole, and synced where the next step depends on it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/client/meta.h"
#include "local/cgroup/cgroup.h"
#include "local/controllers/values.h"
#include "local/server/files.h"
#include "local/shim/process_id.h"
#include "local/shim/shim.h"
#include "local/shim/shim_internal.h"
#include "text/json.h"

enum { STATUS_BYTES_MAX = 4 << 20, EXIT_LOST = 137, NAMES_MAX = 4096 };

static void add_time(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, nsec_t time)
{
    char text[TIME_TEXT_MAX];

    (void)yyjson_mut_obj_add_strcpy(doc, to, key, time_format(time - time % NSEC_PER_SEC, text));
}

static void add_terminated(yyjson_mut_doc *doc, yyjson_mut_val *state, const struct container *container,
                           const struct ending *ending)
{
    yyjson_mut_val *terminated = yyjson_mut_obj_add_obj(doc, state, "terminated");

    (void)yyjson_mut_obj_add_int(doc, terminated, "exitCode", ending->exit_code);
    if (ending->signal)
        (void)yyjson_mut_obj_add_int(doc, terminated, "signal", ending->signal);
    (void)yyjson_mut_obj_add_str(doc, terminated, "reason", ending->reason);
    if (ending->message && *ending->message)
        (void)yyjson_mut_obj_add_str(doc, terminated, "message", ending->message);
    add_time(doc, terminated, "startedAt", ending->started);
    add_time(doc, terminated, "finishedAt", ending->ended);
    (void)yyjson_mut_obj_add_str(doc, terminated, "containerID", container->id);
}

static void add_state(yyjson_mut_doc *doc, yyjson_mut_val *status, const struct container *container)
{
    yyjson_mut_val *state = yyjson_mut_obj_add_obj(doc, status, "state");
    yyjson_mut_val *last = yyjson_mut_obj_add_obj(doc, status, "lastState");
    bool is_over = container->state == CONTAINER_ENDED;
    const struct ending *before = is_over ? &container->before : &container->last;

    if (container->state == CONTAINER_RUNNING) {
        add_time(doc, yyjson_mut_obj_add_obj(doc, state, "running"), "startedAt", container->started);
    } else if (is_over) {
        add_terminated(doc, state, container, &container->last);
    } else {
        yyjson_mut_val *waiting = yyjson_mut_obj_add_obj(doc, state, "waiting");

        (void)yyjson_mut_obj_add_str(doc, waiting, "reason", container->waiting);
        if (container->waiting_message)
            (void)yyjson_mut_obj_add_str(doc, waiting, "message", container->waiting_message);
    }
    if (before->reason)
        add_terminated(doc, last, container, before);
}

static void add_container(yyjson_mut_doc *doc, yyjson_mut_val *statuses, const struct container *container)
{
    yyjson_mut_val *status = yyjson_mut_arr_add_obj(doc, statuses);
    const char *image = kube_text(container->spec, "image");
    bool is_running = container->state == CONTAINER_RUNNING;
    bool is_passed =
        container->kind == CONTAINER_INIT && container->state == CONTAINER_ENDED && container->last.exit_code == 0;

    (void)yyjson_mut_obj_add_str(doc, status, "name", container->name);
    (void)yyjson_mut_obj_add_str(doc, status, "image", image);
    (void)yyjson_mut_obj_add_str(doc, status, "imageID", kube_text(container->plan, "imageID"));
    if (container->has_run)
        (void)yyjson_mut_obj_add_str(doc, status, "containerID", container->id);
    (void)yyjson_mut_obj_add_bool(doc, status, "ready", (is_running && container->is_ready) || is_passed);
    (void)yyjson_mut_obj_add_bool(doc, status, "started", is_running && container->is_up);
    (void)yyjson_mut_obj_add_uint(doc, status, "restartCount", container->restarts);
    add_state(doc, status, container);
}

static void add_containers(yyjson_mut_doc *doc, yyjson_mut_val *status, const struct shim *shim)
{
    yyjson_mut_val *statuses = NULL;

    for (uint32_t i = 0; i < shim->count; i++) {
        if (i == 0 || i == shim->init_count)
            statuses = yyjson_mut_obj_add_arr(doc, status,
                                              i < shim->init_count ? "initContainerStatuses" : "containerStatuses");
        add_container(doc, statuses, &shim->containers[i]);
    }
}

/* --- conditions and phase --- */

static bool is_initialized(const struct shim *shim, struct strbuf *missing)
{
    for (uint32_t i = 0; i < shim->init_count; i++) {
        const struct container *container = &shim->containers[i];

        if (container->kind == CONTAINER_SIDECAR
                ? !container->is_up && !shim->is_over
                : container->state != CONTAINER_ENDED || container->last.exit_code != 0)
            strbuf_addf(missing, "%s%s", missing->len > 0 ? " " : "", container->name);
    }
    return missing->len == 0;
}

static bool are_ready(const struct shim *shim, struct strbuf *unready)
{
    for (uint32_t i = 0; i < shim->count; i++) {
        const struct container *container = &shim->containers[i];

        if (container->kind != CONTAINER_INIT && (container->state != CONTAINER_RUNNING || !container->is_ready))
            strbuf_addf(unready, "%s%s", unready->len > 0 ? " " : "", container->name);
    }
    return unready->len == 0;
}

static const char *phase_of(const struct shim *shim)
{
    bool has_begun = false, has_failed = shim->reason || shim->is_failed_init;

    for (uint32_t i = shim->init_count; i < shim->count; i++) {
        const struct container *container = &shim->containers[i];

        has_begun |= container->has_run;
        has_failed |= container->state != CONTAINER_ENDED || container->last.exit_code != 0;
    }
    if (shim->is_over)
        return has_failed ? "Failed" : "Succeeded";
    return has_begun ? "Running" : "Pending";
}

static void add_condition(yyjson_mut_doc *doc, yyjson_mut_val *conditions, struct shim *shim, enum shim_condition which,
                          bool is_true, const char *reason, const char *message)
{
    static const char *const types[_SHIM_CONDITION_MAX] = {
        [SHIM_CAN_START] = "PodReadyToStartContainers",
        [SHIM_INITIALIZED] = "Initialized",
        [SHIM_CONTAINERS_READY] = "ContainersReady",
        [SHIM_READY] = "Ready",
    };
    yyjson_mut_val *condition = yyjson_mut_arr_add_obj(doc, conditions);

    if (shim->conditions[which].since == 0 || shim->conditions[which].is_true != is_true) {
        shim->conditions[which].is_true = is_true;
        shim->conditions[which].since = nsec_now_wall();
    }
    (void)yyjson_mut_obj_add_str(doc, condition, "type", types[which]);
    (void)yyjson_mut_obj_add_str(doc, condition, "status", is_true ? "True" : "False");
    (void)yyjson_mut_obj_add_int(doc, condition, "observedGeneration",
                                 number_at(shim->pod, 1, "metadata", "generation"));
    (void)yyjson_mut_obj_add_null(doc, condition, "lastProbeTime");
    add_time(doc, condition, "lastTransitionTime", shim->conditions[which].since);
    /* Conditions are merged: what does not hold any more is taken away. */
    if (reason)
        (void)yyjson_mut_obj_add_str(doc, condition, "reason", reason);
    else
        (void)yyjson_mut_obj_add_null(doc, condition, "reason");
    if (message)
        (void)yyjson_mut_obj_add_strcpy(doc, condition, "message", message);
    else
        (void)yyjson_mut_obj_add_null(doc, condition, "message");
}

static void add_conditions(yyjson_mut_doc *doc, yyjson_mut_val *status, struct shim *shim, const char *phase)
{
    yyjson_mut_val *conditions = yyjson_mut_obj_add_arr(doc, status, "conditions");
    const char *over = !shim->is_over ? NULL : strcmp(phase, "Succeeded") == 0 ? "PodCompleted" : "PodFailed";
    struct strbuf unready, missing;

    strbuf_init(&unready, NAMES_MAX);
    strbuf_init(&missing, NAMES_MAX);
    bool is_passed = is_initialized(shim, &missing), is_ready = are_ready(shim, &unready) && !shim->is_over;
    char message[NAMES_MAX + 64], incomplete[NAMES_MAX + 64];
    (void)snprintf(incomplete, sizeof incomplete, "containers with incomplete status: [%s]", missing.text);
    strbuf_done(&missing);
    (void)snprintf(message, sizeof message, "containers with unready status: [%s]", unready.text);
    strbuf_done(&unready);
    add_condition(doc, conditions, shim, SHIM_CAN_START, !shim->is_over, NULL, NULL);
    add_condition(doc, conditions, shim, SHIM_INITIALIZED, is_passed,
                  is_passed ? (over && !strcmp(over, "PodCompleted") ? over : NULL) : "ContainersNotInitialized",
                  is_passed ? NULL : incomplete);
    for (enum shim_condition i = SHIM_CONTAINERS_READY; i <= SHIM_READY; i++)
        add_condition(doc, conditions, shim, i, is_ready,
                      is_ready ? NULL
                      : over   ? over
                               : "ContainersNotReady",
                      is_ready || over ? NULL : message);
}

static void add_runs(yyjson_mut_doc *doc, yyjson_mut_val *root, const struct shim *shim)
{
    yyjson_mut_val *runs = yyjson_mut_obj_add_obj(doc, root, "runs");

    for (uint32_t i = 0; i < shim->count; i++) {
        const struct container *container = &shim->containers[i];
        yyjson_mut_val *run = yyjson_mut_obj_add_obj(doc, runs, container->name);

        (void)yyjson_mut_obj_add_bool(doc, run, "hasRun", container->has_run);
        (void)yyjson_mut_obj_add_bool(doc, run, "isFinal", container->is_final);
        (void)yyjson_mut_obj_add_int(doc, run, "pid", container->pid);
        (void)yyjson_mut_obj_add_uint(doc, run, "pidStart", container->pid_start);
        (void)yyjson_mut_obj_add_int(doc, run, "started", container->started);
        (void)yyjson_mut_obj_add_int(doc, run, "backoff", container->backoff);
    }
}

void status_write(struct shim *shim, bool is_synced)
{
    _cleanup_(freep) char *path = file_path(shim->folder, POD_STATUS);
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);
    yyjson_mut_val *status = yyjson_mut_obj_add_obj(doc, root, "status");
    const char *phase = phase_of(shim);
    char boot[BOOT_ID_MAX];
    struct err err = {0};
    size_t len = 0;

    (void)yyjson_mut_obj_add_str(doc, status, "phase", phase);
    add_time(doc, status, "startTime", shim->started);
    if (shim->reason)
        (void)yyjson_mut_obj_add_str(doc, status, "reason", shim->reason);
    if (shim->message)
        (void)yyjson_mut_obj_add_str(doc, status, "message", shim->message);
    add_conditions(doc, status, shim, phase);
    add_containers(doc, status, shim);
    (void)yyjson_mut_obj_add_bool(doc, root, "isOver", shim->is_over);
    (void)yyjson_mut_obj_add_int(doc, root, "started", shim->started);
    (void)yyjson_mut_obj_add_strcpy(doc, root, "boot", boot_id(boot));
    add_runs(doc, root, shim);
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);
    yyjson_mut_doc_free(doc);
    int r = is_synced ? file_replace(path, text, len, &err) : file_put(path, text, len, &err);
    free(text);
    if (r == 0 && is_synced)
        (void)fsync(shim->folder_fd);
    if (r < 0)
        (void)fprintf(stderr, "%s: %s\n", path, strerror(-r));
    control_notify(shim);
}

/* --- a pod that another process had --- */

static const char *known_reason(const char *text)
{
    static const char *const reasons[] = {"Completed", "Error", "OOMKilled", "StartError", "ContainerStatusUnknown"};

    for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
        if (strcmp(reasons[i], text) == 0)
            return reasons[i];
    }
    return "Error";
}

static void load_ending(struct ending *ending, yyjson_val *terminated)
{
    const char *message = kube_text(terminated, "message");

    if (!terminated)
        return;
    *ending = (struct ending){
        .exit_code = (int)number_at(terminated, 0, "exitCode"),
        .signal = (int)number_at(terminated, 0, "signal"),
        .reason = known_reason(kube_text(terminated, "reason")),
        .message = *message ? xstrdup(message) : NULL,
        .started = time_at(terminated, "startedAt"),
        .ended = time_at(terminated, "finishedAt"),
    };
}

/* It was running when the process beside it ended. Nobody knows how far it came, and nothing of it may be left. */
static void lose(struct container *container, yyjson_val *run, bool is_same_boot)
{
    if (is_same_boot)
        process_kill_same((pid_t)number_at(run, 0, "pid"), yyjson_get_uint(value_at(run, "pidStart")));
    for (int i = 0; i < 1000 && cgroup_has_processes(container->group); i++) {
        cgroup_kill(container->group);
        (void)usleep(10000);
    }
    container->before = container->last;
    container->last = (struct ending){
        .exit_code = EXIT_LOST,
        .reason = "ContainerStatusUnknown",
        .message = xstrdup("the process that watches the container ended while the container ran"),
        .started = number_at(run, 0, "started"),
        .ended = nsec_now_wall(),
    };
    container->state = CONTAINER_ENDED;
    container->is_final = !container_may_restart(container);
    if (!container->is_final)
        container_wait(container, "ContainerCreating", NULL);
}

static void load_container(struct container *container, yyjson_val *status, yyjson_val *run, bool is_same_boot)
{
    yyjson_val *terminated = value_at(status, "state", "terminated");

    container->has_run = bool_at(run, "hasRun");
    container->is_final = bool_at(run, "isFinal");
    container->backoff = number_at(run, 0, "backoff");
    container->restarts = (uint32_t)number_at(status, 0, "restartCount");
    load_ending(terminated ? &container->before : &container->last, value_at(status, "lastState", "terminated"));
    if (value_at(status, "state", "running")) {
        lose(container, run, is_same_boot);
    } else if (terminated) {
        load_ending(&container->last, terminated);
        container->state = CONTAINER_ENDED;
    }
}

int status_load(struct shim *shim, struct err *err)
{
    _cleanup_(freep) char *path = file_path(shim->folder, POD_STATUS);
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    char boot[BOOT_ID_MAX];
    int r = access(path, F_OK) < 0 ? -ENOENT : json_read_file(path, STATUS_BYTES_MAX, &doc, err);

    if (r == -ENOENT)
        return 0;
    if (r < 0)
        return r;
    yyjson_val *root = yyjson_doc_get_root(doc);
    bool is_same_boot = strcmp(kube_text(root, "boot"), boot_id(boot)) == 0;
    shim->is_over = bool_at(root, "isOver");
    shim->started = number_at(root, shim->started, "started");
    for (uint32_t i = 0; i < shim->count && !shim->is_over; i++) {
        struct container *container = &shim->containers[i];
        bool is_init = i < shim->init_count;
        yyjson_val *list = value_at(root, "status", is_init ? "initContainerStatuses" : "containerStatuses");

        load_container(container, yyjson_arr_get(list, is_init ? i : i - shim->init_count),
                       value_at(root, "runs", container->name), is_same_boot);
    }
    return 0;
}
