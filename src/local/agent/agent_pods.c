/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The life of a pod: it is started when it is bound, its status follows the runtime's, and when it is deleted it is ended
 * and removed. Each is one request at a time, decided by what is known then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/client/meta.h"
#include "local/agent/agent_internal.h"
#include "local/controllers/pod_write.h"
#include "local/controllers/values.h"
#include "objects/keys.h"
#include "text/json.h"

static enum pod_phase phase_of(yyjson_val *pod)
{
    const char *phase = kube_text(pod, "status", "phase");

    if (strcmp(phase, "Running") == 0)
        return POD_PHASE_RUNNING;
    return strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0 ? POD_PHASE_OVER : POD_PHASE_PENDING;
}

static void on_change(void *arg)
{
    struct agent_pod *pod = arg;

    work_add(pod->node->agent->pod_work, &pod->work);
}

static void start(struct agent_pod *pod, yyjson_val *object)
{
    struct agent *agent = pod->node->agent;
    yyjson_val *first = yyjson_arr_get_first(value_at(object, "status", "containerStatuses"));

    pod->restarts = (uint32_t)number_at(first, 0, "restartCount");
    pod->run = agent->kind->start(agent->runtime, &(struct runtime_request){
                                                      .pod = object,
                                                      .started = time_at(first, "state", "running", "startedAt"),
                                                      .restarts = pod->restarts,
                                                      .on_change = on_change,
                                                      .arg = pod,
                                                  });
}

static struct agent_pod *pod_new(struct agent_node *node, const struct kube_meta *meta, yyjson_val *object)
{
    struct agent_pod *pod = xcalloc(1, sizeof *pod);
    const char *gpu = kube_text(object, "metadata", "annotations", KEY_RESERVED_GPU);
    const char *dash = strrchr(gpu, '-');

    pod->node = node;
    pod->namespace = xstrdup(meta->namespace);
    pod->name = xstrdup(meta->name);
    pod->uid = xstrdup(meta->uid);
    pod->address = node->agent->addresses++;
    pod->is_reservation = strcmp(meta->namespace, KEY_RESERVATION_NAMESPACE) == 0;
    pod->gpu = dash ? (int32_t)strtol(dash + 1, NULL, 10) : -1;
    pod_containers_read(&pod->containers, object);
    list_push(&node->pods, &pod->in_node);
    (void)strmap_put(&node->agent->pods, "", pod->uid, pod);
    return pod;
}

void agent_put_pod(struct agent *agent, yyjson_val *object)
{
    int64_t index = fleet_find(&agent->fleet, kube_text(object, "spec", "nodeName"));
    struct kube_meta meta;

    if (index < 0 || !kube_meta_read(object, &meta))
        return;
    struct agent_pod *pod = strmap_get(&agent->pods, "", meta.uid);
    if (!pod)
        pod = pod_new(&agent->nodes[index], &meta, object);
    pod->generation = number_at(object, 1, "metadata", "generation");
    pod->is_ending = value_at(object, "metadata", "deletionTimestamp") != NULL;
    pod->has_finalizers = yyjson_arr_size(value_at(object, "metadata", "finalizers")) > 0;
    /* A state that is older than what was written comes now and then, and says nothing new. */
    enum pod_phase phase = phase_of(object);
    if (phase > pod->phase)
        pod->phase = phase;
    if (!pod->run && pod->phase != POD_PHASE_OVER && !pod->is_ending)
        start(pod, object);
    work_add(agent->pod_work, &pod->work);
}

void agent_drop_pod(struct agent *agent, const char *uid)
{
    struct agent_pod *pod = strmap_remove(&agent->pods, "", uid);

    if (!pod)
        return;
    if (pod->call)
        kube_cancel(TAKE_PTR(pod->call));
    work_drop(agent->pod_work, &pod->work);
    if (pod->run)
        agent->kind->forget(pod->run);
    list_remove(&pod->node->pods, &pod->in_node);
    pod_containers_done(&pod->containers);
    free(pod->namespace);
    free(pod->name);
    free(pod->uid);
    free(pod);
}

/* Requests. */

static void on_done(void *arg, const struct kube_answer *answer)
{
    struct agent_pod *pod = arg;
    struct agent *agent = pod->node->agent;
    struct err err = answer->err;

    pod->call = NULL;
    /* Gone, or another one of that name: the watch says so. */
    if (answer->status == 404 || answer->status == 409)
        err.code = 0;
    if (err.code < 0)
        log_warn(agent->service->log, "the status of a pod on a fake node could not be written; trying again later",
                 log_str("namespace", pod->namespace), log_str("pod", pod->name), log_error(&err));
    else if (answer->err.code == 0)
        work_add(agent->pod_work, &pod->work);
    work_done(agent->pod_work, &pod->work, &err);
}

static struct pod_write write_of(struct agent_pod *pod)
{
    return (struct pod_write){
        .client = pod->node->agent->service->client,
        .namespace = pod->namespace,
        .name = pod->name,
        .uid = pod->uid,
        .on_done = on_done,
        .arg = pod,
    };
}

static void write_status(struct agent_pod *pod, const struct runtime_status *status)
{
    char host[FLEET_ADDRESS_MAX], address[FLEET_ADDRESS_MAX];

    (void)snprintf(address, sizeof address, "10.%u.%u.%u", 128 + (pod->address >> 16 & 127), pod->address >> 8 & 255,
                   pod->address & 255);
    pod->phase = status->state == RUNTIME_ENDED ? POD_PHASE_OVER : POD_PHASE_RUNNING;
    pod->restarts = status->restarts;
    pod->call = pod_patch_status(write_of(pod), pod_status_patch(&(struct pod_status){
                                                    .containers = &pod->containers,
                                                    .uid = pod->uid,
                                                    .host_address = fleet_address(pod->node->index, host),
                                                    .address = address,
                                                    .generation = pod->generation,
                                                    .status = *status,
                                                }));
}

static void remove_pod(struct agent_pod *pod)
{
    pod->call = pod_delete(write_of(pod));
}

/* The pod that holds a GPU for others says which one it got. The lowest that no other such pod of the node holds. */
static void write_gpu(struct agent_pod *pod)
{
    yyjson_mut_val *root = NULL;
    uint64_t taken = 0;
    char gpu[64];

    for (struct list_link *link = pod->node->pods.first; link; link = link->next) {
        const struct agent_pod *other = list_item(link, struct agent_pod, in_node);

        if (other->gpu >= 0 && other->gpu < FLEET_GPUS_MAX)
            taken |= UINT64_C(1) << other->gpu;
    }
    pod->gpu = taken == UINT64_MAX ? 0 : __builtin_ctzll(~taken);
    (void)snprintf(gpu, sizeof gpu, "GPU-fake-%05u-%d", pod->node->index, pod->gpu);
    yyjson_mut_doc *doc = json_new_object(&root);
    yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(doc, root, "metadata");
    (void)yyjson_mut_obj_add_strcpy(doc, metadata, "uid", pod->uid);
    (void)yyjson_mut_obj_add_strcpy(doc, yyjson_mut_obj_add_obj(doc, metadata, "annotations"), KEY_RESERVED_GPU, gpu);
    pod->call = pod_patch(write_of(pod), doc);
}

/* A pod that is deleted. One that somebody counts says how it ended before it goes. */
static bool end(struct agent_pod *pod, struct agent *agent, const struct runtime_status *status)
{
    if (pod->run && status->state != RUNTIME_ENDED) {
        agent->kind->stop(pod->run, 0);
        return false;
    }
    if (pod->run && pod->phase != POD_PHASE_OVER && pod->has_finalizers) {
        write_status(pod, status);
        return true;
    }
    if (pod->is_removed)
        return false;
    pod->is_removed = true;
    remove_pod(pod);
    return true;
}

static bool act(struct agent_pod *pod, struct agent *agent)
{
    struct runtime_status status = {0};

    if (pod->node->is_lost)
        return false;
    if (pod->run)
        agent->kind->status(pod->run, &status);
    if (pod->is_ending)
        return end(pod, agent, &status);
    if (!pod->run || pod->phase == POD_PHASE_OVER)
        return false;
    if (pod->is_reservation && pod->gpu < 0) {
        write_gpu(pod);
        return true;
    }
    if (status.state == RUNTIME_ENDED ||
        (status.state == RUNTIME_RUNNING && (pod->phase == POD_PHASE_PENDING || pod->restarts != status.restarts))) {
        write_status(pod, &status);
        return true;
    }
    return false;
}

void agent_work_on_pod(void *arg, struct work_item *item)
{
    struct agent *agent = arg;

    if (!act(list_item(&item->in_work, struct agent_pod, work.in_work), agent))
        work_done(agent->pod_work, item, NULL);
}
