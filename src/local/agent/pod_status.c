/* SPDX-License-Identifier: Apache-2.0 */
#include "local/agent/pod_status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/client/meta.h"
#include "text/json.h"

enum { CONTAINERS_BYTES_MAX = 1 << 20, ID_MAX = 512 };

void pod_containers_read(struct pod_containers *containers, yyjson_val *pod)
{
    struct strbuf text;
    size_t i, max;
    yyjson_val *container;

    *containers = (struct pod_containers){0};
    strbuf_init(&text, CONTAINERS_BYTES_MAX);
    yyjson_arr_foreach(yyjson_obj_get(yyjson_obj_get(pod, "spec"), "containers"), i, max, container)
    {
        const char *name = kube_text(container, "name"), *image = kube_text(container, "image");

        if (text.len + strlen(name) + strlen(image) + 2 >= CONTAINERS_BYTES_MAX)
            break;
        strbuf_add(&text, name, strlen(name) + 1);
        strbuf_add(&text, image, strlen(image) + 1);
        containers->count++;
    }
    containers->text = strbuf_take(&text);
}

void pod_containers_done(struct pod_containers *containers)
{
    free(containers->text);
    *containers = (struct pod_containers){0};
}

static void add_time(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, nsec_t time)
{
    char text[TIME_TEXT_MAX];

    (void)yyjson_mut_obj_add_strcpy(doc, to, key, time_format(time - time % NSEC_PER_SEC, text));
}

static void add_condition(yyjson_mut_doc *doc, yyjson_mut_val *conditions, const struct pod_status *pod,
                          const char *type, bool is_true, nsec_t since)
{
    yyjson_mut_val *condition = yyjson_mut_arr_add_obj(doc, conditions);
    bool is_over = pod->status.state == RUNTIME_ENDED;

    (void)yyjson_mut_obj_add_str(doc, condition, "type", type);
    (void)yyjson_mut_obj_add_str(doc, condition, "status", is_true ? "True" : "False");
    (void)yyjson_mut_obj_add_int(doc, condition, "observedGeneration", pod->generation);
    (void)yyjson_mut_obj_add_null(doc, condition, "lastProbeTime");
    add_time(doc, condition, "lastTransitionTime", since);
    if (!is_true && is_over && strcmp(type, "PodReadyToStartContainers") != 0)
        (void)yyjson_mut_obj_add_str(doc, condition, "reason",
                                     pod->status.exit_code == 0 ? "PodCompleted" : "PodFailed");
}

static void add_terminated(yyjson_mut_doc *doc, yyjson_mut_val *state, const struct pod_status *pod, const char *id)
{
    yyjson_mut_val *terminated = yyjson_mut_obj_add_obj(doc, state, "terminated");

    (void)yyjson_mut_obj_add_int(doc, terminated, "exitCode", pod->status.exit_code);
    (void)yyjson_mut_obj_add_strcpy(doc, terminated, "reason", pod->status.reason);
    add_time(doc, terminated, "startedAt", pod->status.started);
    add_time(doc, terminated, "finishedAt", pod->status.ended);
    (void)yyjson_mut_obj_add_strcpy(doc, terminated, "containerID", id);
}

static void add_container(yyjson_mut_doc *doc, yyjson_mut_val *statuses, const struct pod_status *pod, const char *name,
                          const char *image)
{
    yyjson_mut_val *status = yyjson_mut_arr_add_obj(doc, statuses);
    bool is_running = pod->status.state == RUNTIME_RUNNING;
    char id[ID_MAX];

    (void)snprintf(id, sizeof id, "pretended://%s/%s", pod->uid, name);
    (void)yyjson_mut_obj_add_strcpy(doc, status, "name", name);
    (void)yyjson_mut_obj_add_strcpy(doc, status, "image", image);
    (void)yyjson_mut_obj_add_strcpy(doc, status, "imageID", image);
    (void)yyjson_mut_obj_add_strcpy(doc, status, "containerID", id);
    (void)yyjson_mut_obj_add_bool(doc, status, "ready", is_running);
    (void)yyjson_mut_obj_add_bool(doc, status, "started", is_running);
    (void)yyjson_mut_obj_add_int(doc, status, "restartCount", pod->status.restarts);
    (void)yyjson_mut_obj_add_obj(doc, status, "lastState");
    yyjson_mut_val *state = yyjson_mut_obj_add_obj(doc, status, "state");
    if (is_running)
        add_time(doc, yyjson_mut_obj_add_obj(doc, state, "running"), "startedAt", pod->status.started);
    else
        add_terminated(doc, state, pod, id);
}

static const char *phase_of(const struct runtime_status *status)
{
    if (status->state == RUNTIME_RUNNING)
        return "Running";
    return status->exit_code == 0 ? "Succeeded" : "Failed";
}

static void add_addresses(yyjson_mut_doc *doc, yyjson_mut_val *status, const char *one, const char *many,
                          const char *address)
{
    (void)yyjson_mut_obj_add_strcpy(doc, status, one, address);
    (void)yyjson_mut_obj_add_strcpy(doc, yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, status, many)), "ip",
                                    address);
}

yyjson_mut_doc *pod_status_patch(const struct pod_status *pod)
{
    bool is_running = pod->status.state == RUNTIME_RUNNING;
    nsec_t since = is_running ? pod->status.started : pod->status.ended;
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);
    const char *at = pod->containers->text;

    (void)yyjson_mut_obj_add_strcpy(doc, yyjson_mut_obj_add_obj(doc, root, "metadata"), "uid", pod->uid);
    yyjson_mut_val *status = yyjson_mut_obj_add_obj(doc, root, "status");
    (void)yyjson_mut_obj_add_str(doc, status, "phase", phase_of(&pod->status));
    (void)yyjson_mut_obj_add_int(doc, status, "observedGeneration", pod->generation);
    if (is_running) {
        add_time(doc, status, "startTime", pod->status.started);
        add_addresses(doc, status, "hostIP", "hostIPs", pod->host_address);
        add_addresses(doc, status, "podIP", "podIPs", pod->address);
    }
    yyjson_mut_val *conditions = yyjson_mut_obj_add_arr(doc, status, "conditions");
    add_condition(doc, conditions, pod, "PodReadyToStartContainers", is_running, since);
    if (is_running)
        add_condition(doc, conditions, pod, "Initialized", true, since);
    add_condition(doc, conditions, pod, "ContainersReady", is_running, since);
    add_condition(doc, conditions, pod, "Ready", is_running, since);
    yyjson_mut_val *statuses = yyjson_mut_obj_add_arr(doc, status, "containerStatuses");
    for (uint32_t i = 0; i < pod->containers->count; i++) {
        const char *name = at, *image = name + strlen(name) + 1;

        at = image + strlen(image) + 1;
        add_container(doc, statuses, pod, name, image);
    }
    return doc;
}
