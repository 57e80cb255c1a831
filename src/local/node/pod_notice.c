/* SPDX-License-Identifier: Apache-2.0 */

/* Patches of a pod's status. */
#include <string.h>

#include "base/time.h"
#include "kube/client/meta.h"
#include "kube/client/resource.h"
#include "kube/client/verbs.h"
#include "local/controllers/values.h"
#include "local/node/node_internal.h"
#include "text/json.h"

static yyjson_mut_doc *new_patch(yyjson_val *pod, yyjson_mut_val **ret_status)
{
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);

    (void)yyjson_mut_obj_add_strcpy(doc, yyjson_mut_obj_add_obj(doc, root, "metadata"), "uid",
                                    kube_text(pod, "metadata", "uid"));
    *ret_status = yyjson_mut_obj_add_obj(doc, root, "status");
    (void)yyjson_mut_obj_add_int(doc, *ret_status, "observedGeneration", number_at(pod, 1, "metadata", "generation"));
    return doc;
}

struct waiting_words {
    const char *container;  // NULL: all of them
    const char *reason, *message;
    const char *others;  // the reason of the others
};

static void add_waiting(yyjson_mut_doc *doc, yyjson_mut_val *statuses, yyjson_val *containers,
                        const struct waiting_words *words)
{
    size_t i, max;
    yyjson_val *container;

    yyjson_arr_foreach(containers, i, max, container)
    {
        const char *name = kube_text(container, "name");
        bool is_it = !words->container || strcmp(words->container, name) == 0;
        yyjson_mut_val *status = yyjson_mut_arr_add_obj(doc, statuses);

        (void)yyjson_mut_obj_add_strcpy(doc, status, "name", name);
        (void)yyjson_mut_obj_add_strcpy(doc, status, "image", kube_text(container, "image"));
        (void)yyjson_mut_obj_add_str(doc, status, "imageID", "");
        (void)yyjson_mut_obj_add_bool(doc, status, "ready", false);
        (void)yyjson_mut_obj_add_bool(doc, status, "started", false);
        (void)yyjson_mut_obj_add_int(doc, status, "restartCount", 0);
        (void)yyjson_mut_obj_add_obj(doc, status, "lastState");
        yyjson_mut_val *waiting = yyjson_mut_obj_add_obj(doc, yyjson_mut_obj_add_obj(doc, status, "state"), "waiting");
        (void)yyjson_mut_obj_add_str(doc, waiting, "reason", is_it ? words->reason : words->others);
        if (is_it && *words->message)
            (void)yyjson_mut_obj_add_strcpy(doc, waiting, "message", words->message);
    }
}

yyjson_mut_doc *notice_waiting(yyjson_val *pod, const char *container, const char *reason, const char *message)
{
    yyjson_val *init = value_at(pod, "spec", "initContainers");
    bool has_init = container && yyjson_arr_size(init) > 0;
    struct waiting_words words = {.container = container,
                                  .reason = reason,
                                  .message = message,
                                  .others = has_init ? "PodInitializing" : "ContainerCreating"};
    yyjson_mut_val *status = NULL;
    yyjson_mut_doc *doc = new_patch(pod, &status);

    (void)yyjson_mut_obj_add_str(doc, status, "phase", "Pending");
    if (has_init)
        add_waiting(doc, yyjson_mut_obj_add_arr(doc, status, "initContainerStatuses"), init, &words);
    add_waiting(doc, yyjson_mut_obj_add_arr(doc, status, "containerStatuses"), value_at(pod, "spec", "containers"),
                &words);
    return doc;
}

static void add_addresses(yyjson_mut_doc *doc, yyjson_mut_val *status, const char *address)
{
    static const char *const names[][2] = {{"hostIP", "hostIPs"}, {"podIP", "podIPs"}};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        (void)yyjson_mut_obj_add_strcpy(doc, status, names[i][0], address);
        (void)yyjson_mut_obj_add_strcpy(
            doc, yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, status, names[i][1])), "ip", address);
    }
}

/* A condition of the pod as the API has it. */
static yyjson_val *find_condition(yyjson_val *pod, const char *type)
{
    size_t i, max;
    yyjson_val *condition;

    yyjson_arr_foreach(value_at(pod, "status", "conditions"), i, max, condition)
    {
        if (strcmp(kube_text(condition, "type"), type) == 0)
            return condition;
    }
    return NULL;
}

/* The first readiness gate that is not open; NULL: none. */
static const char *closed_gate(yyjson_val *pod)
{
    size_t i, max;
    yyjson_val *gate;

    yyjson_arr_foreach(value_at(pod, "spec", "readinessGates"), i, max, gate)
    {
        const char *type = kube_text(gate, "conditionType");

        if (strcmp(kube_text(find_condition(pod, type), "status"), "True") != 0)
            return type;
    }
    return NULL;
}

static void set_text(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, const char *text)
{
    (void)yyjson_mut_obj_remove_key(to, key);
    (void)yyjson_mut_obj_add_strcpy(doc, to, key, text);
}

/* Containers that are ready make a pod ready once its gates are open, which others do. */
static void apply_gates(yyjson_mut_doc *doc, yyjson_mut_val *status, yyjson_val *pod)
{
    const char *gate = closed_gate(pod);
    yyjson_val *known = find_condition(pod, "Ready");
    size_t i, max;
    yyjson_mut_val *condition;

    if (yyjson_arr_size(value_at(pod, "spec", "readinessGates")) == 0)
        return;
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(status, "conditions"), i, max, condition)
    {
        const char *now = yyjson_mut_get_str(yyjson_mut_obj_get(condition, "status"));
        char text[TIME_TEXT_MAX];
        nsec_t time = nsec_now_wall();

        if (!yyjson_mut_equals_str(yyjson_mut_obj_get(condition, "type"), "Ready"))
            continue;
        if (gate && now && strcmp(now, "True") == 0) {
            set_text(doc, condition, "status", now = "False");
            set_text(doc, condition, "reason", "ReadinessGatesNotReady");
            set_text(doc, condition, "message", "corresponding condition of pod readiness gate is not \"True\"");
        }
        /* It changes when a gate does, of which the process beside the pod does not know. */
        bool is_change = now && strcmp(kube_text(known, "status"), now) != 0;
        const char *since = kube_text(known, "lastTransitionTime");
        set_text(doc, condition, "lastTransitionTime",
                 is_change || !*since ? time_format(time - time % NSEC_PER_SEC, text) : since);
    }
}

yyjson_mut_doc *notice_status(const struct node_pod *pod, yyjson_val *status)
{
    yyjson_mut_val *to = NULL;
    yyjson_mut_doc *doc = new_patch(yyjson_doc_get_root(pod->object), &to);
    size_t i, max;
    yyjson_val *key, *value;

    yyjson_obj_foreach(status, i, max, key, value)
    {
        (void)yyjson_mut_obj_add_val(doc, to, yyjson_get_str(key), yyjson_val_mut_copy(doc, value));
    }
    add_addresses(doc, to, pod->node->machine.address);
    apply_gates(doc, to, yyjson_doc_get_root(pod->object));
    return doc;
}

yyjson_mut_doc *notice_reservation(const struct node_pod *pod)
{
    static const char *const conditions[] = {"PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"};
    yyjson_val *object = yyjson_doc_get_root(pod->object);
    yyjson_mut_val *status = NULL;
    yyjson_mut_doc *doc = new_patch(object, &status);
    nsec_t now = nsec_now_wall();
    char text[TIME_TEXT_MAX];

    (void)time_format(now - now % NSEC_PER_SEC, text);
    (void)yyjson_mut_obj_add_str(doc, status, "phase", "Running");
    (void)yyjson_mut_obj_add_strcpy(doc, status, "startTime", text);
    add_addresses(doc, status, pod->node->machine.address);
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, status, "conditions");
    for (size_t i = 0; i < ARRAY_LEN(conditions); i++) {
        yyjson_mut_val *condition = yyjson_mut_arr_add_obj(doc, list);

        (void)yyjson_mut_obj_add_str(doc, condition, "type", conditions[i]);
        (void)yyjson_mut_obj_add_str(doc, condition, "status", "True");
        (void)yyjson_mut_obj_add_strcpy(doc, condition, "lastTransitionTime", text);
    }
    return doc;
}

struct kube_call *notice_send(struct node_pod *pod, yyjson_mut_doc *doc, kube_done_fn on_done)
{
    return kube_send_doc(pod->node->service->client,
                         &(struct kube_request){
                             .verb = KUBE_PATCH_STRATEGIC,
                             .resource = kube_known(KUBE_PODS),
                             .namespace = pod->namespace,
                             .name = pod->name,
                             .subresource = "status",
                             .is_repeatable = true,
                             .on_done = on_done,
                             .arg = pod,
                         },
                         doc);
}
